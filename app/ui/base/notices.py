"""Messages of the window that do not interrupt. GUI thread.

A load's progress, errors that stay until dismissed, an undo that disappears by itself.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget

from app.look.buttons import IconLabel, quiet_button
from app.look.figures import percent
from app.look.icons import icon
from app.look.layouts import STRETCH, hbox, vbox
from app.look.painted import paint_rounded, paint_tinted
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import current
from app.look.words import sentences, tr, tr_n, tr_said
from app.protocol.model import ModelInfo
from app.ui.base.pause_strip import PauseStrip

UNDO_FOR_MS = 10_000
MAX_BANNERS = 3  # in sight: more would leave no room for the chat


class Offer(NamedTuple):
    """A button of a banner, which goes with it unless what it opens can be left undone."""

    label: str
    act: Callable[[], object]
    can_be_left: bool = False


class Notices(QWidget):
    """The area under the tab bar. Takes no room while it is empty."""

    left = Signal()  # the banner or button that had the keyboard is gone

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.progress = LoadStrip(self)
        self.paused = PauseStrip(self)
        self.earlier = EarlierStrip(self)
        self.earlier.dismissed.connect(self._dismiss_all)
        self._column = vbox(self.progress, self.paused, self.earlier, on=self, spacing=0)

    def show_error(self, text: str, *offers: Offer) -> None:
        """One banner for each different text; it stays until it is dismissed or an offer taken."""
        text = tr_said(text)
        if any(banner.text == text for banner in self.banners()):
            return
        self._add(Banner(text, offers, self))

    def show_offer(self, text: str, action: str, on_action: Callable[[], None]) -> None:
        """Not an error. One at a time, until it is taken, dismissed or withdrawn."""
        self.withdraw_offer()
        self._add(Banner(text, (Offer(action, on_action),), self, is_error=False))

    def show_note(self, text: str, *offers: Offer) -> "Banner":
        """Not an error. It stays until it is dismissed or an offer taken; its text may change."""
        banner = Banner(text, offers, self, is_error=False)
        self._add(banner)
        return banner

    def withdraw_offer(self) -> None:
        for banner in self.banners():
            if not banner.is_error:
                banner.dismiss()

    def withdraw(self, text: str) -> None:
        """Removes a message that no longer applies."""
        for banner in self.banners():
            if banner.text == text:
                banner.dismiss()

    def dismiss_offers(self) -> None:
        """There is a model again: removes offers to load one. Plain messages stay."""
        for banner in self.banners():
            if banner.has_offer:
                banner.dismiss()

    def banners(self) -> list["Banner"]:
        """Those that are not in sight, too. The oldest comes first."""
        return [child for child in self.children() if isinstance(child, Banner)]

    def _add(self, banner: "Banner") -> None:
        banner.dismissed.connect(self._show_banners)
        self._column.addWidget(banner)
        self._show_banners()

    def _show_banners(self) -> None:
        """The newest, and before those the ones with something to choose."""
        banners = sorted(self.banners(), key=lambda banner: banner.has_offer or not banner.is_error)
        for number, banner in enumerate(reversed(banners)):
            banner.setVisible(number < MAX_BANNERS)
        self.earlier.show_number(len(banners) - MAX_BANNERS)

    def _dismiss_all(self) -> None:
        had_focus = self.earlier.dismiss.hasFocus()
        for banner in self.banners():
            banner.dismiss()
        if had_focus:
            self.left.emit()


class EarlierStrip(QWidget):
    """How many more banners there are. They come into sight as others are dismissed."""

    dismissed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = PlainLabel(parent=self, tone="muted")
        self.dismiss = quiet_button(tr("Dismiss all"), self, "bar")
        self.dismiss.clicked.connect(self.dismissed)
        hbox(self.words, STRETCH, self.dismiss, on=self, margins=(44, 2, 12, 2))
        self.hide()

    def show_number(self, number: int) -> None:
        self.words.setText(tr_n("{n} earlier message", "{n} earlier messages", number))
        self.setVisible(number > 0)


class Banner(QWidget):
    dismissed = Signal()

    def __init__(
        self,
        text: str,
        offers: Sequence[Offer],
        parent: QWidget | None = None,
        *,
        is_error: bool = True,
    ) -> None:
        super().__init__(parent)
        self.text = text
        self.is_error = is_error
        self.has_offer = is_error and bool(offers)  # to restart the engine, or to load a model
        look = ("triangle-alert", "danger") if is_error else ("info", "accent")
        mark = IconLabel(18, self, *look)
        mark.setAccessibleName(tr("Error") if is_error else tr("Note"))
        self._words = words = PlainLabel(text, self, wraps=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._dismiss = QToolButton(self)
        self._dismiss.setAccessibleName(tr("Dismiss"))
        self._dismiss.setToolTip(tr("Dismiss"))
        self._dismiss.clicked.connect(self.dismiss)
        row = hbox(mark, (words, 1), on=self, margins=(16, 8, 12, 8), spacing=12)
        for offer in offers:
            row.addWidget(self._button(offer))
        row.addWidget(self._dismiss)
        self._dress()

    def set_text(self, text: str) -> None:
        self.text = text
        self._words.setText(text)

    def _button(self, offer: Offer) -> QPushButton:
        button = QPushButton(offer.label, self)
        button.clicked.connect(lambda _checked=False: offer.act())
        if not offer.can_be_left:
            button.clicked.connect(self.dismiss)
        return button

    def dismiss(self) -> None:
        notices, focused = self.parent(), QApplication.focusWidget()
        has_focus = focused is not None and self.isAncestorOf(focused)
        self.hide()
        self.setParent(None)
        self.deleteLater()
        self.dismissed.emit()
        if has_focus and isinstance(notices, Notices):
            notices.left.emit()

    def _dress(self) -> None:
        self._dismiss.setIcon(icon("x"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._dress()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_tinted(self, current().danger if self.is_error else current().accent, 0.10)


class LoadStrip(QWidget):
    """A model's name, how much of it is loaded, a way to call it off, and a line that grows.

    A short load is not shown at all: the page below would only jump down and up again.
    """

    cancel_requested = Signal()
    HEIGHT = 34
    SHOWN_AFTER_MS = 300

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._fraction = 0.0
        self.setFixedHeight(self.HEIGHT)
        self.setAccessibleName(tr("Loading a model"))
        self.cancel = quiet_button(tr("Cancel"), self, "bar")
        self.cancel.setProperty("command", "chat.stop")
        self.cancel.setToolTip(tr("Stop loading; the current model stays (Esc)"))
        self.cancel.clicked.connect(self.cancel_requested)
        hbox(STRETCH, self.cancel, on=self, margins=(16, 0, 12, 2))
        self._shows = QTimer(self, singleShot=True, interval=self.SHOWN_AFTER_MS)
        self._shows.timeout.connect(self.show)
        self.hide()

    @property
    def text(self) -> str:
        return tr("Loading {name}  {percent}", name=self._name, percent=percent(self._fraction, 1.0))

    def start(self, path: Path) -> None:
        self._name = one_line(path.name)
        self.set_fraction(0.0)
        self._shows.start()

    def end(self) -> None:
        self._shows.stop()
        self.hide()

    def set_fraction(self, fraction: float) -> None:
        self._fraction = min(1.0, max(0.0, fraction))
        self.setAccessibleDescription(self.text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.window))
        painter.setPen(QColor(tokens.muted))
        room = self.rect().adjusted(16, 0, -self.cancel.width() - 24, -2)
        text = self.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        painter.fillRect(0, self.height() - 2, self.width(), 2, QColor(tokens.hairline))
        painter.fillRect(0, self.height() - 2, int(self.width() * self._fraction), 2, QColor(tokens.accent))


class UndoToast(QWidget):
    """Floats above the bottom of its parent for ten seconds."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._ground = parent
        self._on_undo: Callable[[], object] | None = None
        self._words = PlainLabel(parent=self)
        self.button = quiet_button(tr("Undo"), self)
        self.button.clicked.connect(self._on_clicked)
        hbox(self._words, self.button, on=self, margins=(16, 6, 8, 6))
        self._life = QTimer(self, singleShot=True, interval=UNDO_FOR_MS)
        self._life.timeout.connect(self.hide)
        parent.installEventFilter(self)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def offer(self, text: str, on_undo: Callable[[], object]) -> None:
        self._on_undo = on_undo
        self._words.setText(text)
        self._place()
        self.show()
        self.raise_()
        self._life.start()

    def undo(self) -> None:
        """What was offered last, also if the offer has gone by itself meanwhile. Once."""
        if self._on_undo:
            self._on_clicked()

    def withdraw(self, text: str) -> None:
        """There is nothing to undo any more."""
        if self.text == text:
            self._on_undo = None
            self.hide()
            self._life.stop()

    def _on_clicked(self) -> None:
        on_undo = self._on_undo
        self.withdraw(self.text)
        if on_undo:
            on_undo()

    def _place(self) -> None:
        self.adjustSize()
        space = self._ground.size()
        self.move((space.width() - self.width()) // 2, space.height() - self.height() - 120)

    def eventFilter(self, _watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        paint_rounded(painter, self.rect(), 8, 0.5, fill=tokens.surface, edge=tokens.hairline)


def load_error_text(path: Path, message: str, model: ModelInfo | None) -> str:
    name, reason = one_line(path.name), one_line(tr_said(message))
    if name not in reason:
        reason = tr("{name} could not be opened: {reason}", name=name, reason=reason)
    return sentences(reason, tr("{name} stays loaded.", name=model.name) if model else "")


def engine_error_text(message: str) -> str:
    return tr("The engine stopped: {reason} Your chats are kept.", reason=one_line(tr_said(message)))


def recovering_text(message: str) -> str:
    return tr(
        "{reason} The model is being reloaded; the answers continue.", reason=one_line(tr_said(message))
    )


def closed_text(title: str) -> str:
    return tr("Closed “{title}”.", title=one_line(title))
