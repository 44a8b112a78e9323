"""Messages of the window that do not interrupt. GUI thread.

A load's progress, errors that stay until dismissed, an undo that disappears by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look.buttons import quiet_button
from app.look.figures import percent
from app.look.layouts import hbox, vbox
from app.look.painted import paint_rounded
from app.look.plain_text import PlainLabel, one_line
from app.look.strip import Offer, Strip, StripLook
from app.look.tokens import current
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.model import ModelInfo

UNDO_FOR_MS = 10_000
LOAD_SHOWN_AFTER_MS = 300
MAX_BANNERS = 3  # in sight: more would leave no room for the chat


ERROR = StripLook(
    (16, 8, 12, 8),
    icon="triangle-alert",
    icon_name=mark("Error"),
    colour="danger",
    tint=0.10,
    spacing=12,
    wraps=True,
    has_quiet_buttons=False,
    can_be_dismissed=True,
)
NOTE = replace(ERROR, icon="info", icon_name=mark("Note"), colour="accent")
LOADING = StripLook((16, 0, 12, 2), tone="muted", height=34)
PAUSED = StripLook((16, 0, 12, 0), icon="pause", icon_side=16, colour="warning", tint=0.12, height=38)
EARLIER = StripLook((44, 2, 12, 2), tone="muted")


class Notices(QWidget):
    """The area under the tab bar. Takes no room while it is empty."""

    left = Signal()  # the banner or button that had the keyboard is gone
    load_cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.progress, self.paused, self.earlier = (Strip(look, self) for look in (LOADING, PAUSED, EARLIER))
        tip = tr("Stop loading; the current model stays (Esc)")
        self._cancel = Offer(tr("Cancel"), self.load_cancelled.emit, True, tip, "chat.stop")
        self._loading = ""  # the name of a model
        self._banners: list[Strip] = []
        self._offer: Strip | None = None
        self._column = vbox(self.progress, self.paused, self.earlier, on=self, spacing=0)

    # The load of a model.

    def show_load(self, path: Path) -> None:
        """Not that of a short one: the page below would only jump down and up again."""
        self._loading = one_line(path.name)
        self.progress.say(self._load_text(0.0), self._cancel, after_ms=LOAD_SHOWN_AFTER_MS)

    def set_load_fraction(self, fraction: float) -> None:
        self.progress.reword(self._load_text(fraction), fraction)

    def _load_text(self, fraction: float) -> str:
        return tr("Loading {name}  {percent}", name=self._loading, percent=percent(fraction, 1.0))

    # Banners.

    def show_error(self, text: str, *offers: Offer) -> None:
        """One banner for each different text; it stays until it is dismissed or an offer taken."""
        text = tr_said(text)
        if all(banner.text != text for banner in self._banners):
            self._add(ERROR, text, offers)

    def show_offer(self, text: str, action: str, on_action: Callable[[], None]) -> None:
        """Not an error. One at a time, until it is taken, dismissed or withdrawn."""
        self.withdraw_offer()
        self._offer = self._add(NOTE, text, (Offer(action, on_action),))

    def show_note(self, text: str, *offers: Offer) -> Strip:
        """Not an error. It stays until it is dismissed or an offer taken; its text may change."""
        return self._add(NOTE, text, offers)

    def withdraw_offer(self) -> None:
        self._dismiss(lambda banner: banner is self._offer)

    def withdraw(self, text: str) -> None:
        """Removes a message that no longer applies."""
        self._dismiss(lambda banner: banner.text == text)

    def dismiss_offers(self) -> None:
        """There is a model again: removes offers to load one. Plain messages stay."""
        self._dismiss(_has_offer)

    def banners(self) -> list[Strip]:
        """All banners, also those out of sight. The oldest comes first."""
        return list(self._banners)

    def _add(self, look: StripLook, text: str, offers: Sequence[Offer]) -> Strip:
        banner = Strip(look, self)
        banner.dismissed.connect(lambda: self._on_dismissed(banner))
        banner.left.connect(self.left)
        self._banners.append(banner)
        self._column.addWidget(banner)
        banner.say(text, *offers)
        self._show_banners()
        return banner

    def _on_dismissed(self, banner: Strip) -> None:
        self._banners.remove(banner)
        banner.deleteLater()
        self._show_banners()

    def _show_banners(self) -> None:
        """The newest, and before those the ones with something to choose."""
        banners = sorted(self._banners, key=lambda banner: _has_offer(banner) or banner.look is NOTE)
        for number, banner in enumerate(reversed(banners)):
            banner.setVisible(number < MAX_BANNERS)
        if (number := len(banners) - MAX_BANNERS) > 0:
            text = tr_n("{n} earlier message", "{n} earlier messages", number)
            self.earlier.say(text, Offer(tr("Dismiss all"), self._dismiss_all, can_be_left=True))
        else:
            self.earlier.clear()

    def _dismiss(self, is_meant: Callable[[Strip], bool]) -> None:
        for banner in self.banners():
            if is_meant(banner):
                banner.dismiss()

    def _dismiss_all(self) -> None:
        had_focus = self.earlier.buttons[0].hasFocus()
        self._dismiss(lambda _banner: True)
        if had_focus:
            self.left.emit()


def _has_offer(banner: Strip) -> bool:
    """To restart the engine, or to load a model."""
    return banner.look is ERROR and bool(banner.offers)


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
        """There is nothing to undo any more. `text` is how the offer began."""
        if self.text.startswith(text):
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
