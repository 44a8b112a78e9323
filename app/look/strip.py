"""Strips across the window: a line of words with buttons, and the bars above and below a page. GUI thread."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget

from app.look.buttons import IconButton, IconLabel, quiet_button
from app.look.fonts import small_font
from app.look.layouts import hbox
from app.look.painted import paint_tinted
from app.look.plain_text import ElidedLabel, PlainLabel
from app.look.tokens import current
from app.look.words import tr

MAX_PROBLEMS = 4  # below each other
CROSS, SMALL_CROSS = 28, 22
LINE = 2  # of progress


class Offer(NamedTuple):
    """A button, which dismisses its strip unless that can be left to be seen."""

    label: str
    act: Callable[[], object]
    can_be_left: bool = False
    tip: str = ""
    command: str = ""  # of the menus, whose keys stand in the tip


@dataclass(frozen=True, slots=True)
class StripLook:
    margins: tuple[int, int, int, int]
    icon: str = ""
    icon_side: int = 18
    icon_name: str = ""  # for screen readers; marked
    colour: str = "muted"  # of the icon and the ground, a token
    tint: float = 0.0  # the ground's share of the colour
    tone: str = ""  # of the words
    height: int = 0  # 0: as its parts need
    spacing: int = 8
    wraps: bool = False  # else what does not fit is elided
    is_small: bool = False
    is_foot: bool = False  # below what scrolls
    has_quiet_buttons: bool = True
    can_be_dismissed: bool = False


class Strip(QWidget):
    """Takes no room while it has nothing to say. Its parts are made for the first words: most have none."""

    dismissed = Signal()  # by its cross or an offer
    left = Signal()  # it had the keyboard, and is gone

    def __init__(self, look: StripLook, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.look = look
        self.text = ""
        self.offers: tuple[Offer, ...] = ()
        self.buttons: list[QPushButton] = []
        self._row: QHBoxLayout
        self._progress: float | None = None
        self._later: Callable[[], object] = self.clear
        if look.height:
            self.setFixedHeight(look.height)
        self.hide()

    def say(self, text: str, *offers: Offer, tone: str = "", after_ms: int = 0, lasts_ms: int = 0) -> None:
        """In place of all that was said. With `after_ms` it is shown only then, unless it is already."""
        self.text, self.offers, self._progress = text, offers, None
        self._words.setText(text)
        self._words.set_tone(tone or self.look.tone)
        self.setAccessibleName(text)
        for index, offer in enumerate(offers):
            self._show_button(index, offer)
        for button in self.buttons[len(offers) :]:
            button.hide()
        if after_ms and self.isHidden():
            self._do_later(after_ms, self.show)
            return
        self._timer.stop()
        self.show()
        if lasts_ms:
            self._do_later(lasts_ms, self.clear)
        if self.isVisible() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def keep_room(self, is_kept: bool) -> None:
        """Whether it takes its room also while it has nothing to say: nothing moves when it has."""
        policy = self.sizePolicy()
        if policy.retainSizeWhenHidden() != is_kept:
            policy.setRetainSizeWhenHidden(is_kept)
            self.setSizePolicy(policy)

    def add_problem(self, text: str) -> None:
        """Below the problems before it; an offer is over."""
        before = [] if self.offers else self.text.splitlines()
        self.say("\n".join([*before, text][-MAX_PROBLEMS:]), tone="danger")

    def reword(self, text: str, progress: float | None = None) -> None:
        """Other words for the same, with a line as long as the progress of it."""
        self.text, self._progress = text, progress
        self._words.setText(text)
        self.setAccessibleName(text)
        self.update()

    def clear(self, after_ms: int = 0) -> None:
        """With `after_ms` unless something is said before."""
        if after_ms:
            if not (self.isHidden() or self._timer.isActive()):
                self._do_later(after_ms, self.clear)
            return
        if self.text:
            self._timer.stop()
        self.text, self.offers = "", ()
        self.hide()

    def dismiss(self) -> None:
        focused = QApplication.focusWidget()
        had_focus = focused is not None and self.isAncestorOf(focused)
        self.clear()
        self.dismissed.emit()
        if had_focus:
            self.left.emit()

    def _do_later(self, delay_ms: int, act: Callable[[], object]) -> None:
        self._later = act
        self._timer.start(delay_ms)

    @cached_property
    def _timer(self) -> QTimer:
        timer = QTimer(self, singleShot=True)
        timer.timeout.connect(lambda: self._later())
        return timer

    @cached_property
    def _words(self) -> PlainLabel:
        """With the row in which they stand."""
        look = self.look
        words = PlainLabel(parent=self, wraps=True) if look.wraps else ElidedLabel(parent=self)
        if look.wraps:
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if look.is_small:
            words.setFont(small_font())
        self._row = hbox((words, 1), on=self, margins=look.margins, spacing=look.spacing)
        if look.icon:
            icon = IconLabel(look.icon_side, self, look.icon, look.colour)
            icon.setAccessibleName(tr(look.icon_name))
            self._row.insertWidget(0, icon)
        if look.can_be_dismissed:
            self._row.addWidget(self.cross)
        return words

    @cached_property
    def cross(self) -> IconButton:
        side = SMALL_CROSS if self.look.is_small else CROSS
        cross = IconButton("x", tr("Dismiss"), side, self, icon_side=14)
        cross.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        cross.clicked.connect(self.dismiss)
        return cross

    def _show_button(self, index: int, offer: Offer) -> None:
        if index == len(self.buttons):
            self.buttons.append(self._new_button(index))
        button = self.buttons[index]
        if button.text() != offer.label:  # else its keys may have been corrected
            button.setText(offer.label)
            button.setToolTip(offer.tip)
            button.setProperty("command", offer.command)
        button.show()

    def _new_button(self, index: int) -> QPushButton:
        button = quiet_button("", self, "bar") if self.look.has_quiet_buttons else QPushButton(self)
        button.setAutoDefault(False)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the message
        if self.look.is_small:
            button.setFont(small_font())
        button.clicked.connect(lambda: self._take(self.offers[index]))
        end = self._row.count() - self.look.can_be_dismissed
        self._row.insertWidget(end, button)
        if self.look.can_be_dismissed:
            QWidget.setTabOrder(button, self.cross)
        return button

    def _take(self, offer: Offer) -> None:
        if not offer.can_be_left:
            self.dismiss()
        offer.act()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens, look = current(), self.look
        if look.tint:
            paint_tinted(self, getattr(tokens, look.colour), look.tint)
        painter = QPainter(self)
        if look.is_foot:
            painter.fillRect(self.rect(), QColor(tokens.raised))
            painter.fillRect(0, 0, self.width(), 1, QColor(tokens.hairline))
        if self._progress is not None:
            y, width = self.height() - LINE, self.width()
            painter.fillRect(0, y, width, LINE, QColor(tokens.hairline))
            painter.fillRect(0, y, int(width * self._progress), LINE, QColor(tokens.accent))


class Bar(QWidget):
    """A bar above its content."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(current().window))
        painter.fillRect(0, self.height() - 1, self.width(), 1, QColor(current().hairline))


class Foot(QWidget):
    """A bar below its content, which does not scroll with it."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(current().raised))
        painter.fillRect(0, 0, self.width(), 1, QColor(current().hairline))


def paint_lines_between(parts: Iterable[QWidget], ground: QWidget) -> None:
    """Parts that stand below one another on it; the first that is shown has no line."""
    painter = QPainter(ground)
    painter.setPen(QColor(current().hairline))
    for part in [part for part in parts if not part.isHidden()][1:]:
        painter.drawLine(0, part.y(), ground.width(), part.y())
