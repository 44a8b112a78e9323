"""The page of an empty chat: who answers, what it can do, messages to try, other models. GUI thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFont, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QPushButton, QSizePolicy, QWidget

from app.look.buttons import quiet_button
from app.look.fonts import reading_font, small_font
from app.look.icons import app_icon
from app.look.layouts import CENTRE, Part, Stretch, vbox
from app.look.plain_text import PlainLabel, as_tab_text, heading_font, one_line
from app.look.words import tr, tr_n
from app.ui.transcript.greeting import Greeting, Primary

LOGO = 48
MARGINS = 32
TITLE_POINTS = 7  # above the reading size
MAX_WIDTH, CHIP_WIDTH = 560, 240
CHIPS_SPACE = 8
BELOW_WORDS = 8  # and the column's own space, above the button


class EmptyChat(QWidget):
    sample_chosen = Signal(str)
    model_requested = Signal()
    notebook_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # The draft has priority: this page gives way to it, part by part.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self.greeting = Greeting("")
        self._logo = _logo(self)
        self.title = _label(self, heading_font(reading_font(TITLE_POINTS)))
        self.facts = _label(self, small_font(), "muted")
        self.words = _label(self, QFont(reading_font()))
        self.primary = _primary(self)
        self.primary.clicked.connect(self._on_primary_clicked)
        self.caption = _label(self, small_font(), "muted")
        self.chips = PromptChips(self)
        self.chips.chosen.connect(self.sample_chosen)
        self.offers = ModelOffers(self)
        parts: tuple[Part, ...] = (
            Stretch(3),
            (self._logo, 0, CENTRE),
            self.title,
            self.facts,
            self.words,
            (self.primary, 0, CENTRE),
            self.caption,
            (self.chips, 0, CENTRE),
            self.offers,
            Stretch(4),
        )
        self._column = vbox(*parts, on=self, spacing=8)
        # A click leaves the keyboard in the composer: it is there when a window that it opened is closed.
        for button in (self.primary, *self.offers.buttons):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._share_room()

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        return self.chips.buttons

    def hasHeightForWidth(self) -> bool:
        """Its wrapped words would claim a height."""
        return False

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._share_room()

    def apply(self, greeting: Greeting, num_of_others: int = 0) -> None:
        """Offers the models of other programs, where one is wanted."""
        if greeting != self.greeting:
            self.greeting = greeting
            self.title.setText(one_line(greeting.title))
            self.facts.setText(greeting.facts)
            self.words.setText(one_line(greeting.words))
            self.primary.setText(greeting.label)
            self.caption.setText(greeting.caption)
            self.chips.apply(greeting.prompts)
        self.offers.apply(num_of_others)
        self._share_room()

    def _on_primary_clicked(self) -> None:
        wants_model = self.greeting.primary is Primary.GET_MODEL
        (self.model_requested if wants_model else self.notebook_requested).emit()

    def _show_wanted(self) -> list[QWidget]:
        """The name and what to try are worth most, the picture least."""
        greeting = self.greeting
        has_primary = greeting.primary is not Primary.NOTHING
        ranked: list[tuple[QWidget, bool]] = [
            (self.title, bool(greeting.title)),
            (self.primary, has_primary),
            (self.words, bool(greeting.words)),
            (self.chips, bool(greeting.prompts)),
            (self.facts, bool(greeting.facts)),
            (self.caption, has_primary and bool(greeting.caption)),
            (self.offers, greeting.primary is Primary.GET_MODEL),
            (self._logo, True),
        ]
        for part, is_wanted in ranked:
            part.setVisible(is_wanted)
        return [part for part, _ in ranked]

    def _share_room(self) -> None:
        """Measured once it is shown: until then its size changes several times."""
        wanted = self._show_wanted()
        if not self.isVisible():
            return
        width = min(self.width() - MARGINS, MAX_WIDTH)
        beside = (self.width() - width) // 2
        self._column.setContentsMargins(beside, 8, beside, 8)
        self.chips.fit(width)
        self.offers.fit(width)
        _balance(self.words, width)
        for part in reversed(wanted):
            self._column.invalidate()  # it does not ask a part that was hidden before this page was
            if self._column.totalHeightForWidth(self.width()) <= self.height():
                break
            part.hide()


class PromptChips(QWidget):
    """Messages to try, in two columns where there is room."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.buttons: tuple[QPushButton, ...] = ()
        self._prompts: Sequence[str] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 8, 0, 0)
        self._grid.setSpacing(CHIPS_SPACE)
        self._num_columns = 0

    def apply(self, prompts: Sequence[str]) -> None:
        if prompts == self._prompts:  # a new one would miss the click that has begun on the old one
            return
        self._prompts = prompts
        for button in self.buttons:
            button.setParent(None)
            button.deleteLater()
        self.buttons = tuple(self._chip(text) for text in prompts)
        self._num_columns = 0

    def fit(self, width: int) -> None:
        widest = max((button.sizeHint().width() for button in self.buttons), default=0)
        num_columns = 2 if 2 * max(widest, CHIP_WIDTH) + CHIPS_SPACE <= width else 1
        if num_columns == self._num_columns:
            return
        self._num_columns = num_columns
        for index, button in enumerate(self.buttons):
            self._grid.addWidget(button, index // num_columns, index % num_columns)
            button.show()  # now, and not later: hidden ones have no height
        self.updateGeometry()  # now, too: the page asks for the new height before its next layout

    def _chip(self, text: str) -> QPushButton:
        button = QPushButton(as_tab_text(text), self)
        button.setProperty("kind", "chip")
        button.setMinimumWidth(CHIP_WIDTH)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.chosen.emit(text))
        return button


def _logo(parent: QWidget) -> PlainLabel:
    label = PlainLabel(parent=parent)
    label.setPixmap(app_icon().pixmap(LOGO, LOGO))
    return label


def _label(parent: QWidget, font: QFont, tone: str = "") -> PlainLabel:
    label = PlainLabel("", parent, tone, wraps=True)
    label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    label.setFont(font)
    return label


def _balance(label: PlainLabel, width: int) -> None:
    """Lines of about the same length: no last one of one word, which in Chinese is one character."""
    label.setContentsMargins(0, 0, 0, 0)
    height, low, high = label.heightForWidth(width), width // 2, width
    while high - low > 4:
        middle = (low + high) // 2
        low, high = (low, middle) if label.heightForWidth(middle) <= height else (middle, high)
    label.setContentsMargins((width - high) // 2, 0, (width - high) // 2, BELOW_WORDS)


def _primary(parent: QWidget) -> QPushButton:
    button = QPushButton(parent)
    button.setProperty("kind", "first")
    button.setMinimumHeight(34)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button


SPACE = 4


class ModelOffers(QWidget):
    """Side by side where there is room, else below each other."""

    open_requested = Signal()
    library_requested = Signal()  # with the models of other programs

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.open_button = self._button(tr("Open a GGUF file…"), self.open_requested)
        self.others_button = self._button("", self.library_requested)
        self.buttons = (self.open_button, self.others_button)
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
        self.others_button.setText(use_theirs)
        self.others_button.setVisible(num_of_others > 0)

    def fit(self, room: int) -> int:
        """Arranges them in this width; returns the number of rows."""
        shown = [button for button in self.buttons if not button.isHidden()]
        is_wide = sum(button.sizeHint().width() + SPACE for button in shown) <= room
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._layout.setDirection(direction)
        self.updateGeometry()
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
