"""The turns of one chat on a scrolling page.

Only what is in sight, and a little around it, has widgets; they are given from turn to turn. The rest of the
page is heights: measured or estimated. When a real height takes the place of an estimate, what the reader
looks at stays where it is. Hidden, it only remembers that something changed. Shown, it draws growing text at
most 30 times a second, and less often when drawing is slow. Follows the end only while the reader is there.
GUI thread.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontMetrics, QHideEvent, QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QScrollBar, QWidget

from app.chats.chat import Chat, Turn, TurnState
from app.look.fonts import reading_font
from app.ui.jump_button import JumpButton
from app.ui.queue_view import QueueView
from app.ui.row_heights import LineFit, RowHeights
from app.ui.safe_browser import LINE_HEIGHT
from app.ui.turn_actions import Place
from app.ui.turn_views import FOOTER, NO_PROGRESS, AnswerView, Progress, TurnView, kind_of

COLUMN_CHARS = 76
MARGIN = 24
STICKY_PX = 40
MIN_FRAME_MS = 33
REST_PER_COST = 4  # a frame that took 20 ms is followed by 80 ms of rest
NUM_AROUND = 3  # rows with widgets on each side of what is in sight
MAX_VIEWS = 32  # more only while more are in sight
MAX_PASSES = 8
FREE_AFTER_MS = 60_000  # out of sight, a chat needs its text only


@dataclass(frozen=True, slots=True)
class Anchor:
    """What stays where it is: the point at that `share` of a row's height, `y` pixels below the top edge."""

    row: int
    y: int
    share: float = 0.0


def column_width(available: int, zoom: int) -> int:
    """A comfortable line, or what there is."""
    characters = QFontMetrics(reading_font(zoom)).averageCharWidth() * COLUMN_CHARS
    return max(160, min(available - 2 * MARGIN, characters))


class Transcript(QAbstractScrollArea):
    acted = Signal(object, object)  # a TurnAction, the Turn
    version_requested = Signal(object, int)  # the Turn, -1 the version before or 1 the one after
    edited = Signal(object, str)  # the Turn, what it shall be
    keep_going_requested = Signal()
    drawn = Signal()  # other turns have widgets now, or they have moved

    def __init__(self, chat: Chat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat = chat  # is read, never changed
        self._rows: list[Turn] = []  # the turns as they were at the last drawing
        self._row_of_id: dict[str, int] = {}
        self._in_sight = range(0)
        self._heights = RowHeights(LineFit(1, 1, 0))
        self._fitted: tuple[int, int] | None = None  # for which width and zoom the heights are
        self._views: dict[str, TurnView] = {}  # by turn id, the one used last at the end
        self._anchor = Anchor(0, MARGIN)
        self._follows_end = True
        self._seen = (0, False)  # when the reader was last at the end: turns, and whether one was written
        self._zoom = 0
        self._progress = NO_PROGRESS
        self._is_dirty = True
        self._is_placing = False
        self._next_frame_at = 0.0
        self._chained: list[QWidget] = []
        self._focused: TurnView | None = None
        self._dress()
        self.queue = QueueView(self.viewport())
        self._jump = JumpButton(self)
        self._jump.clicked.connect(self.jump_to_end)
        self._frame = self._new_timer(self._draw)
        self._fills = self._new_timer(self._fill)
        self._frees = self._new_timer(self._free)
        self._frees.setInterval(FREE_AFTER_MS)

    def _dress(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBar(_QuietScrollBar(self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().setSingleStep(20)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.viewport().setAutoFillBackground(False)

    def _new_timer(self, on_timeout: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(on_timeout)
        return timer

    # What others tell

    def mark_dirty(self) -> None:
        """Something was added or changed. Draws soon, if anybody can see it."""
        self._is_dirty = True
        if self.isVisible() and not self._frame.isActive():
            wait = max(0.0, self._next_frame_at - time.monotonic())
            self._frame.start(int(wait * 1000))

    def set_progress(self, progress: Progress) -> None:
        if progress == self._progress:
            return
        self._progress = progress
        last = self._views.get(self._rows[-1].id) if self._rows else None
        if last and self.isVisible():
            last.apply(self._place_of(len(self._rows) - 1), progress)
            if last.needs_arranging:
                self.mark_dirty()

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for view in self._views.values():
            view.set_zoom(zoom)
        self.queue.set_zoom(zoom)
        self._place()

    def follow_end(self) -> None:
        """The next drawing shows the end, wherever the reader was."""
        self._follows_end = True

    def jump_to_end(self) -> None:
        self._follows_end = True
        self._place()

    def hold(self, turn: Turn) -> None:
        """What stands at the foot of this turn stays there, whatever takes its place."""
        view = self._views.get(turn.id)
        if view and not view.isHidden():
            row = self._row_of(turn)
            self._anchor = Anchor(row, self._y_of(row + 1), share=1.0)
            self._follows_end = False

    def show_turn(self, turn: Turn) -> TurnView | None:
        """Scrolls to it, if it is not in sight; its view, or None if this chat does not show it."""
        row = self._row_of(turn)
        if row < 0 or not self.isVisible():
            return None
        top, bottom = self._y_of(row), self._y_of(row + 1)
        if bottom <= 0 or top >= self.viewport().height():
            self._follows_end = False
            self._anchor = Anchor(row, self.viewport().height() // 4)
            self._place()
        return self._view_of(row)

    def scroll_to(self, part: QWidget, rect: QRect | None = None) -> None:
        """Brings a part of a turn, or a rectangle in it, into sight by the shortest way."""
        rect = part.rect() if rect is None else rect
        top = part.mapTo(self.viewport(), rect.topLeft()).y() - MARGIN
        below = top + rect.height() + 2 * MARGIN - self.viewport().height()
        step = top if top < 0 else max(0, min(below, top))
        if step:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + step)

    # What there is to see

    @property
    def live_views(self) -> list[TurnView]:
        """Those in sight and around it, from top to bottom."""
        shown = [view for view in self._views.values() if not view.isHidden()]
        return sorted(shown, key=lambda view: view.y())

    @property
    def turns_in_sight(self) -> list[Turn]:
        height = self.viewport().height()
        return [view.turn for view in self.live_views if view.y() < height and view.geometry().bottom() > 0]

    def plain_text(self) -> str:
        return "\n".join(view.plain_text() for view in self.live_views)

    # Qt's events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._frees.stop()
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]
        if self._is_dirty:
            self._draw()
        else:
            self._place()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        QApplication.instance().focusChanged.disconnect(self._on_focus_changed)  # type: ignore[union-attr]
        self._fills.stop()
        self._frees.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        if self._is_placing:
            return
        bar = self.verticalScrollBar()
        goes_up = bar.value() < self._value_of(self._anchor)
        self._follows_end = bar.value() >= bar.maximum() - (0 if goes_up else STICKY_PX)
        self._anchor = self._anchor_at(bar.value())
        self._place(is_scrolled=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Home:
            self.verticalScrollBar().setValue(0)
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_end()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.mark_dirty()

    def focusNextPrevChild(self, forward: bool) -> bool:
        self._chain_focus()
        has_moved = super().focusNextPrevChild(forward)
        focused = QApplication.focusWidget()
        if focused and self.viewport().isAncestorOf(focused):
            self.scroll_to(focused)
        return has_moved

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        focused = self._view_with(new)
        if focused is self._focused:
            return
        if self._focused:
            self._focused.set_has_focus(False)
        self._focused = focused
        if focused:
            focused.set_has_focus(True)

    def _view_with(self, widget: QWidget | None) -> TurnView | None:
        if widget is None or not self.viewport().isAncestorOf(widget):
            return None
        return next((view for view in self._views.values() if view.isAncestorOf(widget)), None)

    # Drawing

    @Slot()
    def _draw(self) -> None:
        if not self.isVisible():
            return
        cost = QElapsedTimer()
        cost.start()
        self._is_dirty = False
        self._take_turns()
        self._fit_width()
        for view in self.live_views:
            self._refresh(view)
        self._place()
        rest = max(MIN_FRAME_MS, REST_PER_COST * cost.elapsed())
        self._next_frame_at = time.monotonic() + rest / 1000

    def _take_turns(self) -> None:
        """Sees which turns are others than at the last drawing; what stands before and after them is kept."""
        old, new = self._rows, list(self._chat.turns)
        if old == new:
            return
        begin = _num_same(old, new)
        num_after = _num_same(reversed(old[begin:]), reversed(new[begin:]))
        end = len(old) - num_after
        self._heights.replace(begin, end, new[begin : len(new) - num_after])
        self._rows = new
        self._row_of_id = {turn.id: row for row, turn in enumerate(new)}
        self._anchor = self._moved(self._anchor, begin, end)
        for turn in old[begin:end]:
            self._put_away(turn)

    def _moved(self, anchor: Anchor, begin: int, end: int) -> Anchor:
        """The same place on the page, or where it was: another version stands there now."""
        row = anchor.row
        if row >= end:
            row += len(self._rows) - len(self._heights_before)
        return replace(anchor, row=max(0, min(row, len(self._rows) - 1)))

    def _put_away(self, turn: Turn) -> None:
        view = self._views.get(turn.id)
        if view and turn.id not in self._row_of_id:
            view.stop_editing()
            self._hide(view)

    def _refresh(self, view: TurnView) -> None:
        """Draws what its turn has become, and sees how high it is now."""
        row = self._row_of_id.get(view.turn.id)
        if row is None:
            return
        is_last = row == len(self._rows) - 1
        view.apply(self._place_of(row), self._progress if is_last else NO_PROGRESS)
        if view.needs_arranging:
            self._measure(row)

    def _place_of(self, row: int) -> Place:
        turn, last = self._rows[row], self._rows[-1]
        versions = self._chat.versions_of(turn)
        number = next((n for n, version in enumerate(versions, start=1) if version is turn), 1)
        return Place(number, len(versions), turn is last, last.state is TurnState.STREAMING)

    # Placing

    def _place(self, is_growth: bool = True) -> None:
        """Gives what is in sight widgets and a place, and the scroll bar its range.

        Where the page has grown, a reader at its end is taken along.
        """
        if self._is_placing or not self.isVisible():
            return
        self._is_placing = True
        self._fit_width()
        value = self._settle(follows_end=self._follows_end and is_growth)
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, self._max_value)
        bar.setValue(value)
        self._anchor = self._anchor_at(value)
        self._show_live(value)
        self._is_placing = False
        self._show_jump()
        self.drawn.emit()

    def _settle(self, follows_end: bool) -> int:
        """Measures what comes into sight until nothing moves any more. Returns the value of the scroll bar."""
        for _ in range(MAX_PASSES):
            value = self._max_value if follows_end else self._value_of(self._anchor)
            self._in_sight = self._rows_between(value, value + self.viewport().height())
            if not any([self._measure(row) for row in self._in_sight]):
                return value
        return self._max_value if follows_end else self._value_of(self._anchor)

    def _measure(self, row: int) -> bool:
        """Whether it is not as high as it was thought to be."""
        height = self._view_of(row).arrange(self._fitted[0])
        is_news = height != self._heights.height(row)
        self._heights.measure(row, height)
        return is_news

    def _view_of(self, row: int) -> TurnView:
        turn = self._rows[row]
        view = self._views.pop(turn.id, None)
        if view is None:
            view = self._spare_view(turn) or self._new_view(turn)
            view.show_turn(turn)
        self._views[turn.id] = view
        if view.isHidden():
            self._refresh_hidden(view, row)
            view.show()
        return view

    def _spare_view(self, turn: Turn) -> TurnView | None:
        """The one of its kind that has been out of sight longest, if there are enough."""
        if len(self._views) < MAX_VIEWS:
            return None
        kind = kind_of(turn)
        spare = next((v for v in self._views.values() if v.isHidden() and type(v) is kind), None)
        if spare:
            del self._views[spare.turn.id]
        return spare

    def _new_view(self, turn: Turn) -> TurnView:
        view = kind_of(turn)(turn, self.viewport())
        view.hide()
        view.set_zoom(self._zoom)
        view.acted.connect(self.acted)
        view.version_requested.connect(self.version_requested)
        view.edited.connect(self.edited)
        view.height_changed.connect(self._on_height_changed)
        if isinstance(view, AnswerView):
            view.keep_going_requested.connect(self.keep_going_requested)
        return view
