"""The page of an empty chat: what to do, three messages to try, other models. GUI thread."""

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QSizePolicy, QWidget

from app.look.buttons import quiet_button
from app.look.fonts import reading_font
from app.look.icons import app_icon
from app.look.layouts import CENTRE, Part, Stretch, vbox
from app.look.plain_text import PlainLabel
from app.look.words import mark, tr, tr_n

# Always in English: the starter model, on which most people try them, knows no other language.
SAMPLES = ("What is 34 + 21?", "What is a KV cache?", "Count from 7 to 30")
HINT = mark("Write a message, or try one of these.")
LOGO = 56
MARGINS = 32


class EmptyChat(QWidget):
    sample_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # The draft has priority: this page gives way to it, part by part.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self._logo, hint = _logo(self), _hint(self)
        self.buttons = tuple(self._sample(text) for text in SAMPLES)
        self.offers = ModelOffers(self)
        samples = [(button, 0, CENTRE) for button in self.buttons]
        parts: tuple[Part, ...] = (
            Stretch(3),
            (self._logo, 0, CENTRE),
            8,
            hint,
            8,
            *samples,
            8,
            self.offers,
            Stretch(4),
        )
        vbox(*parts, on=self, margins=None)

    def hasHeightForWidth(self) -> bool:
        """Its wrapped words would claim a height."""
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def offer(self, num_of_others: int) -> None:
        """Offers other models than the open one."""
        self.offers.apply(num_of_others)
        self._share_room()

    def _share_room(self) -> None:
        """The samples are worth most, then the offers, then the picture."""
        row = self.buttons[0].sizeHint().height() + 8
        num_rows = self.height() // row
        num_offers = self.offers.fit(self.width() - MARGINS)
        self.offers.setVisible(num_rows >= len(self.buttons) + num_offers + 2)
        self._logo.setVisible(num_rows >= len(self.buttons) + num_offers + 4)
        for number, button in enumerate(self.buttons, 2):
            button.setVisible(num_rows >= number)

    def _sample(self, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("kind", "chip")
        button.setMinimumWidth(260)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.sample_chosen.emit(text))
        return button


def _logo(parent: QWidget) -> PlainLabel:
    label = PlainLabel(parent=parent)
    label.setPixmap(app_icon().pixmap(LOGO, LOGO))
    return label


def _hint(parent: QWidget) -> PlainLabel:
    label = PlainLabel(tr(HINT), parent, wraps=True)
    label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    font = QFont(reading_font())
    label.setFont(font)
    return label


SPACE = 4


class ModelOffers(QWidget):
    """Side by side where there is room, else below each other."""

    open_requested = Signal()
    download_requested = Signal()
    library_requested = Signal()  # with the models of other programs

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.open_button = self._button(tr("Open a GGUF file…"), self.open_requested)
        self.download_button = self._button(tr("Download a model that fits…"), self.download_requested)
        self.others_button = self._button("", self.library_requested)
        self.buttons = (self.open_button, self.download_button, self.others_button)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(SPACE)
        self._layout.addStretch(1)
        for button in self.buttons:
            self._layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        self._layout.addStretch(1)

    def apply(self, num_of_others: int) -> None:
        use_theirs = tr_n(
            "Use {n} model from other programs", "Use {n} models from other programs", num_of_others
        )
        self.open_button.show()
        self.download_button.show()
        self.others_button.setText(use_theirs)
        self.others_button.setVisible(num_of_others > 0)

    def fit(self, room: int) -> int:
        """Arranges them in this width; returns the number of rows."""
        shown = [button for button in self.buttons if not button.isHidden()]
        is_wide = sum(button.sizeHint().width() + SPACE for button in shown) <= room
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._layout.setDirection(direction)
        return 1 if is_wide else len(shown)

    def minimumSizeHint(self) -> QSize:
        """Side by side they would keep the chat from becoming narrow."""
        return QSize(0, super().minimumSizeHint().height())

    def _button(self, text: str, requested: SignalInstance) -> QPushButton:
        button = quiet_button(text, self)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(requested)
        button.hide()
        return button
