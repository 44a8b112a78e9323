"""The turns of one chat on a scrolling page.

Hidden, it only remembers that something changed. Shown, it draws growing text at most 30 times a second,
and less often when drawing is slow. Follows the end only while the reader is there. GUI thread.
"""

import time

from PySide6.QtCore import QElapsedTimer, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QScrollArea, QScrollBar, QToolButton, QWidget

from app.chats.chat import Turn
from app.engine.types import Role, SlotSnapshot
from app.look.fonts import reading_font
from app.look.icons import icon
from app.look.tokens import current
from app.ui.turn_views import AnswerView, TurnView, view_of

COLUMN_CHARS = 76
MARGIN = 24
GAP_AFTER_USER = 16
GAP_AFTER_ANSWER = 20
STICKY_PX = 40
MIN_FRAME_MS = 33
REST_PER_COST = 4  # a frame that took 20 ms is followed by 80 ms of rest


def column_width(available: int, zoom: int) -> int:
    """A comfortable line, or what there is."""
    characters = QFontMetrics(reading_font(zoom)).averageCharWidth() * COLUMN_CHARS
    return max(160, min(available - 2 * MARGIN, characters))


class Transcript(QScrollArea):
    fork_requested = Signal(object)  # the Turn to end with
    tokens_requested = Signal(object)  # the Turn whose tokens somebody wants to see
    keep_going_requested = Signal()

    def __init__(self, turns: list[Turn], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns = turns  # the chat's own list: it is read, never changed
        self._views: list[TurnView] = []
        self._zoom = 0
        self._slot: SlotSnapshot | None = None
        self._is_paused = False
        self._can_keep_going = False
        self._is_dirty = True
        self._follows_end = True
        self._page = QWidget()
        self.setWidget(self._page)
        self._page.setAutoFillBackground(False)  # which `setWidget` has switched on
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBar(_QuietScrollBar(self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.viewport().setAutoFillBackground(False)
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.timeout.connect(self._draw)
        self._next_frame_at = 0.0
        self._jump = _JumpButton(self)
        self._jump.clicked.connect(self.jump_to_end)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def mark_dirty(self) -> None:
        """Something was added or changed. Draws soon, if anybody can see it."""
        self._is_dirty = True
        if self.isVisible() and not self._frame.isActive():
            wait = max(0.0, self._next_frame_at - time.monotonic())
            self._frame.start(int(wait * 1000))

    def set_slot(self, slot: SlotSnapshot | None, is_paused: bool = False) -> None:
        self._slot, self._is_paused = slot, is_paused
        if self.isVisible() and self._views:
            self._views[-1].set_slot(slot, is_paused)

    def set_can_keep_going(self, can_keep_going: bool) -> None:
        """The chat stops when it is full, and has another choice."""
        self._can_keep_going = can_keep_going
        self.mark_dirty()

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for view in self._views:
            view.set_zoom(zoom)
        self._place(0)

    def follow_end(self) -> None:
        """The next drawing shows the end, wherever the reader was."""
        self._follows_end = True

    def jump_to_end(self) -> None:
        self._follows_end = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._show_jump()

    def plain_text(self) -> str:
        return "\n".join(view.plain_text() for view in self._views)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_dirty:
            self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(0)
        self._place_jump()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.mark_dirty()

    def _draw(self) -> None:
        if not self.isVisible():
            return
        cost = QElapsedTimer()
        cost.start()
        self._is_dirty = False
        self._place(self._refresh_turns())
        rest = max(MIN_FRAME_MS, REST_PER_COST * cost.elapsed())
        self._next_frame_at = time.monotonic() + rest / 1000

    def _refresh_turns(self) -> int:
        """Brings the views up to date and returns the first one that may have another height now.

        Only the last turn ever changes; the one before it may have ended since.
        """
        known = len(self._views)
        first = max(0, known - 1)
        if first < known:
            self._views[first].refresh()
        for turn in self._turns[known:]:
            self._views.append(self._new_view(turn))
        for view in self._views[first:]:
            is_last = view is self._views[-1]
            view.set_slot(self._slot if is_last else None, self._is_paused)
            view.offer_to_keep_going(is_last and self._can_keep_going and view.turn.overflowed)
        return first

    def _new_view(self, turn: Turn) -> TurnView:
        view = view_of(turn, self._page)
        view.set_zoom(self._zoom)
        if isinstance(view, AnswerView):
            view.fork_requested.connect(self.fork_requested)
            view.tokens_requested.connect(self.tokens_requested)
            view.keep_going_requested.connect(self.keep_going_requested)
        view.show()
        return view

    def _place(self, first: int) -> None:
        """Puts the views from `first` on one below the other."""
        width = column_width(self.viewport().width(), self._zoom)
        x = max(0, (self.viewport().width() - width) // 2)
        y = MARGIN if first == 0 else self._bottom_of(first - 1)
        for index in range(first, len(self._views)):
            view = self._views[index]
            height = view.arrange(width)
            view.move(x, y)
            y += height + _gap_after(view)
        self._page.resize(self.viewport().width(), max(y + MARGIN // 2, self.viewport().height()))
        if self._follows_end:
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._show_jump()

    def _bottom_of(self, index: int) -> int:
        view = self._views[index]
        return view.y() + view.height() + _gap_after(view)

    def _on_scrolled(self, value: int) -> None:
        self._follows_end = value >= self.verticalScrollBar().maximum() - STICKY_PX
        self._show_jump()

    def _show_jump(self) -> None:
        bar = self.verticalScrollBar()
        if self._jump.hasFocus():
            self.setFocus()  # else hiding it would move the focus, and the page with it, to the first turn
        self._jump.setVisible(bar.value() < bar.maximum() - STICKY_PX)

    def _place_jump(self) -> None:
        side = self._jump.width()
        self._jump.move((self.viewport().width() - side) // 2, self.height() - side - 12)


def _gap_after(view: TurnView) -> int:
    return GAP_AFTER_USER if view.turn.role is Role.USER else GAP_AFTER_ANSWER


class _QuietScrollBar(QScrollBar):
    """Keeps its place, so that the column stays where it is, and is seen only when needed."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class _JumpButton(QToolButton):
    SIDE = 34

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(self.SIDE, self.SIDE)
        self.setIconSize(QSize(16, 16))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Jump to latest")
        self.setToolTip("Jump to latest")
        self.hide()
        self._dress()

    def _dress(self) -> None:
        tokens = self._dressed_for = current()
        self.setIcon(icon("arrow-down", tokens.text))
        self.setStyleSheet(
            f"QToolButton {{ background: {tokens.window}; border: 1px solid {tokens.hairline};"
            f" border-radius: {self.SIDE // 2}px; }}"
            f"QToolButton:hover {{ background: {tokens.raised}; }}"
            f"QToolButton:focus {{ border-color: {tokens.accent}; }}"
        )

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._dressed_for is not current():
            self._dress()
