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
from itertools import pairwise
from string import ascii_lowercase

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFontMetrics,
    QHideEvent,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QScrollBar, QWidget

from app.chats.chat import Chat, Turn
from app.engine.types import Role
from app.look.fonts import reading_font
from app.look.words import tr
from app.ui.message.safe_browser import LINE_HEIGHT
from app.ui.transcript.answer_view import FOOTER, AnswerView
from app.ui.transcript.compare_view import CompareView
from app.ui.transcript.jump_button import JumpButton
from app.ui.transcript.queue_view import QueueView
from app.ui.transcript.row_heights import LineFit, RowHeights
from app.ui.transcript.turn_actions import Place
from app.ui.transcript.turn_view import NO_PROGRESS, Progress, TurnView
from app.ui.transcript.user_view import UserView
from app.ui.transcript.view_pool import ViewPool

COLUMN_CHARS = 76
MARGIN = 24
STICKY_PX = 40
MIN_FRAME_MS = 33
REST_PER_COST = 50  # what took 2 ms is followed by 100 ms of rest; painting takes about as much again
MAX_REST_MS = 400
NUM_AROUND = 3  # rows with widgets on each side of what is in sight
MAX_PASSES = 8
NOT_FITTED = (0, 0)
FREE_AFTER_MS = 60_000  # out of sight, a chat needs its text only


@dataclass(frozen=True, slots=True)
class Anchor:
    """What stays where it is: the point at that `share` of a row's height, `y` pixels below the top edge."""

    row: int
    y: int
    share: float = 0.0


def column_width(available: int, zoom: int) -> int:
    """A comfortable line, or what there is."""
    metrics = QFontMetrics(reading_font(zoom))
    # By its Latin letters: what a font calls its average character is twice as wide in one with Chinese.
    characters = metrics.horizontalAdvance(ascii_lowercase) * COLUMN_CHARS // len(ascii_lowercase)
    return max(160, min(available - 2 * MARGIN, characters))


class Transcript(QAbstractScrollArea):
    acted = Signal(object, object)  # a TurnAction, the Turn
    ways_requested = Signal(int)  # so many more answers to the last message
    version_requested = Signal(object)  # the Turn to show
    edited = Signal(object, str)  # the Turn, what it shall be
    kept = Signal(object)  # the Turn chosen of several side by side
    keep_going_requested = Signal()
    drawn = Signal()  # other turns have widgets now, or they have moved

    def __init__(self, chat: Chat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat = chat  # is read, never changed
        self._rows: list[Turn] = []  # the turns as they were at the last drawing
        self._row_of_id: dict[str, int] = {}
        self._in_sight = range(0)
        self._heights = RowHeights(LineFit(1, 1, 0))
        self._fitted = NOT_FITTED  # for which width of the page and zoom the heights are
        self._column = QRect()
        self._views = ViewPool(self._new_view, self)
        self._anchor = Anchor(0, MARGIN)
        self._follows_end = True
        self._seen = (0, False)  # when the reader was last at the end: turns, and whether one was written
        self._zoom = 0
        self._progress = NO_PROGRESS
        self._compared: str | None = None  # what the versions follow that stand side by side
        self._is_dirty = True
        self._is_all_dirty = True  # not the last answer alone
        self._is_placing = False
        self._next_frame_at = 0.0
        self._focused: TurnView | None = None
        self._listens = False
        self._dress()
        self.queue = QueueView(self.viewport())
        self._jump = JumpButton(self)
        self._jump.clicked.connect(self.jump_to_end)
        self._frame = self._new_timer(self._draw)
        self._fills = self._new_timer(self._fill)
        self._frees = self._new_timer(self._views.free)
        self._frees.setInterval(FREE_AFTER_MS)

    def _dress(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBar(_QuietScrollBar(self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().setSingleStep(20)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(tr("Messages"))
        self.viewport().setAutoFillBackground(False)

    def _new_timer(self, on_timeout: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(on_timeout)
        return timer

    # What others tell

    def mark_growing(self) -> None:
        """The last answer has more text, and nothing else has changed. Draws soon, if anybody can see it."""
        self._is_dirty = True
        if self._can_be_seen and not self._frame.isActive():
            wait = max(0.0, self._next_frame_at - time.monotonic())
            self._frame.start(int(wait * 1000))

    def mark_dirty(self) -> None:
        """A turn was added, has ended, or is another one. Draws at once, if anybody can see it."""
        self._is_all_dirty = True
        self._next_frame_at = 0.0
        self._frame.stop()
        self.mark_growing()

    def set_progress(self, progress: Progress) -> None:
        before, self._progress = self._progress, progress
        if progress == before or not self.isVisible():
            return
        if replace(progress, slot=None) != replace(before, slot=None):
            self.mark_dirty()  # what is offered is other now
        last = self._views.live_view_of(self._rows[-1]) if self._rows else None
        if last:
            last.show_progress(progress)

    def set_zoom(self, zoom: int) -> None:
        """Or the font has become another one."""
        self._zoom = zoom
        self._fitted = NOT_FITTED
        for view in self._views:
            view.set_zoom(zoom)
        self.queue.set_zoom(zoom)
        self._place()

    def set_comparing(self, is_comparing: bool) -> None:
        """Whether all versions of the last answer stand side by side. Ends by itself when more is said."""
        self._compared = self._chat.turns[-1].parent_id if is_comparing and self._chat.turns else None
        self.mark_dirty()

    def follow_end(self) -> None:
        """The next drawing shows the end, wherever the reader was."""
        self._follows_end = True

    def jump_to_end(self) -> None:
        self._follows_end = True
        self._place()

    def hold(self, turn: Turn) -> None:
        """What stands at the foot of this turn stays there, whatever takes its place."""
        view = self._views.live_view_of(turn)
        row = self._row_of_id.get(turn.id)
        if view and row is not None:
            self._anchor = Anchor(row, view.y() + self._heights.height(row), share=1.0)
            self._follows_end = False

    def show_turn(self, turn: Turn) -> TurnView | None:
        """Scrolls to it, if it is not in sight; its view, or None if this chat does not show it."""
        if self._is_all_dirty:
            self._draw()
        row = self._row_of_id.get(turn.id)
        if row is None or not self.isVisible():
            return None
        if row not in self._in_sight:
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
        return self._views.live

    @property
    def focused_turn(self) -> Turn | None:
        """The one with the keyboard in it."""
        return self._focused.turn if self._focused else None

    @property
    def rows_in_sight(self) -> range:
        return self._in_sight

    def plain_text(self) -> str:
        return "\n".join(view.plain_text() for view in self.live_views)

    # Qt's events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._frees.stop()
        self._listen_to_focus(True)
        if self._is_dirty:
            self._draw()
        else:
            self._place()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._listen_to_focus(False)
        self._set_focused(None)
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
        self._place(is_growth=False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # for the window: it makes the text larger
        else:
            super().wheelEvent(event)

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

    def _listen_to_focus(self, listens: bool) -> None:
        application = QApplication.instance()
        if listens != self._listens and isinstance(application, QApplication):
            self._listens = listens
            change = application.focusChanged.connect if listens else application.focusChanged.disconnect
            change(self._on_focus_changed)

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        is_ours = new is not None and self.viewport().isAncestorOf(new)
        self._set_focused(self._views.with_widget(new) if new and is_ours else None)

    def _set_focused(self, view: TurnView | None) -> None:
        if view is self._focused:
            return
        if self._focused:
            self._focused.set_has_focus(False)
        self._focused = view
        if view:
            view.set_has_focus(True)

    # Drawing

    @property
    def _can_be_seen(self) -> bool:
        return self.isVisible() and not self.window().isMinimized()

    @Slot()
    def _draw(self) -> None:
        if not self._can_be_seen:
            return
        begin = time.thread_time()
        is_all_dirty, self._is_dirty, self._is_all_dirty = self._is_all_dirty, False, False
        self._fit_width()
        if is_all_dirty:
            self._take_turns()
            self.queue.show_messages(self._chat.queue)
        for view in self.live_views if is_all_dirty else self.live_views[-1:]:
            self._refresh(view)
        self._place()
        rest = max(MIN_FRAME_MS / 1000, min(MAX_REST_MS / 1000, REST_PER_COST * (time.thread_time() - begin)))
        self._next_frame_at = time.monotonic() + rest

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
        row = self._anchor.row + (len(new) - len(old) if self._anchor.row >= end else 0)
        self._anchor = replace(self._anchor, row=max(0, min(row, len(new) - 1)))
        if begin < min(end, len(new) - num_after):
            self._hand_over(old[begin], new[begin])
        for turn in old[begin:end]:
            if turn.id not in self._row_of_id:
                self._views.put_away(turn)

    def _hand_over(self, turn: Turn, version: Turn) -> None:
        if turn.id not in self._row_of_id:
            self._views.hand_over(turn, version, self._kind_of(version))

    def _refresh(self, view: TurnView) -> None:
        """Draws what its turn has become, and sees how high it is now."""
        row = self._row_of_id.get(view.turn.id)
        if row is not None:
            self._apply(view, row)
            self._measure(row)

    def _apply(self, view: TurnView, row: int) -> None:
        turn, is_last = self._rows[row], row == len(self._rows) - 1
        place = Place(self._chat.versions_of(turn), is_last, self._progress.is_busy)
        view.apply(place, self._progress if is_last else NO_PROGRESS)

    # Placing

    def _place(self, is_growth: bool = True) -> None:
        """Gives what is in sight widgets and a place, and the scroll bar its range.

        Where the page has grown, a reader at its end is taken along.
        """
        if self._is_placing or not self.isVisible():
            return
        self._is_placing = True
        try:
            self._fit_width()
            self.queue.arrange(self._column.width())
            value = self._settle(follows_end=self._follows_end and is_growth)
            self._set_bar(value)
            self._anchor = self._anchor_at(value)
            self._follows_end |= value >= self._max_value
            self._show_live(value)
        finally:
            self._is_placing = False
        self._show_jump()
        self.drawn.emit()

    def _set_bar(self, value: int) -> None:
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, self._max_value)
        bar.setValue(value)

    def _settle(self, follows_end: bool) -> int:
        """Measures what comes into sight until nothing moves any more, and returns the bar's value."""
        for _ in range(MAX_PASSES):
            value = self._max_value if follows_end else self._value_of(self._anchor)
            self._in_sight = self._rows_between(value, value + self.viewport().height())
            num_news = sum(self._measure(row) for row in self._in_sight)
            if not num_news:
                break
        return self._max_value if follows_end else self._value_of(self._anchor)

    def _measure(self, row: int) -> bool:
        """Whether it is not as high as it was thought to be."""
        view = self._view_of(row)
        height = view.arrange(self._span_of(view).width())
        is_news = height != self._heights.height(row)
        self._heights.measure(row, height)
        return is_news

    def _view_of(self, row: int) -> TurnView:
        turn = self._rows[row]
        view = self._views.take(self._kind_of(turn), turn)
        if view.isHidden():
            self._apply(view, row)
            view.show()
        return view

    def _new_view(self, kind: type[TurnView], turn: Turn) -> TurnView:
        view = kind(turn, self.viewport())
        view.hide()
        view.set_zoom(self._zoom)
        view.acted.connect(self.acted)
        view.ways_requested.connect(self.ways_requested)
        view.version_requested.connect(self._on_version_requested)
        view.edited.connect(self.edited)
        view.height_changed.connect(self._on_height_changed)
        if isinstance(view, AnswerView):
            view.keep_going_requested.connect(self.keep_going_requested)
        if isinstance(view, CompareView):
            view.kept.connect(self.kept)
        return view

    def _kind_of(self, turn: Turn) -> type[TurnView]:
        if turn.role is Role.USER:
            return UserView
        is_compared = turn is self._rows[-1] and turn.parent_id == self._compared
        return CompareView if is_compared else AnswerView

    def _show_live(self, value: int) -> None:
        around = self._around()
        for view in self._views.live:
            row = self._row_of_id.get(view.turn.id, -1)
            if row in around or (row >= 0 and view.is_held):
                view.move(self._span_of(view).left(), MARGIN + self._heights.top(row) - value)
            else:
                view.hide()
        self.queue.move(self._column.left(), MARGIN + self._heights.total - value)
        if any(not self._is_ready(row) for row in around):
            self._fills.start()

    def _around(self) -> range:
        rows = self._in_sight
        return range(max(0, rows.start - NUM_AROUND), min(len(self._rows), rows.stop + NUM_AROUND))

    def _is_ready(self, row: int) -> bool:
        return self._views.live_view_of(self._rows[row]) is not None

    @Slot()
    def _fill(self) -> None:
        """One row around what is in sight, so that scrolling finds it ready."""
        row = next((row for row in self._around() if not self._is_ready(row)), None)
        if row is not None and self.isVisible():
            self._measure(row)
            self._place(is_growth=self._is_at_end)

    @Slot(object, object)
    def _on_version_requested(self, turn: Turn, version: Turn) -> None:
        self.hold(turn)
        self.version_requested.emit(version)

    @Slot(object)
    def _on_height_changed(self, view: TurnView) -> None:
        """Without its text having changed. Where somebody has done it, the top stays where it is."""
        row = self._row_of_id.get(view.turn.id)
        if row is None or not self.isVisible():
            return
        is_wanted = view.is_held or view.underMouse()
        if is_wanted:
            self._anchor = Anchor(row, view.y())
        self._refresh(view)
        self._place(is_growth=not is_wanted)
        if view.editor:
            self.scroll_to(view.editor)

    # Where things are

    def _fit_width(self) -> None:
        fitted = (self.viewport().width(), self._zoom)
        if self._fitted == fitted:
            return
        if self._rows:
            self._anchor = self._by_share(self._anchor)
        self._fitted = fitted
        width = column_width(*fitted)
        self._column = QRect(max(0, (fitted[0] - width) // 2), 0, width, 0)
        metrics = QFontMetrics(reading_font(self._zoom))
        line_px = metrics.lineSpacing() * LINE_HEIGHT / 100
        self._heights.forget(LineFit(line_px, max(1.0, width / metrics.averageCharWidth()), 2 * FOOTER))

    def _span_of(self, view: TurnView) -> QRect:
        return QRect(MARGIN, 0, self.viewport().width() - 2 * MARGIN, 0) if view.IS_WIDE else self._column

    def _by_share(self, anchor: Anchor) -> Anchor:
        """The same place in the text, however high it will be."""
        height = self._heights.height(anchor.row)
        if anchor.y >= 0 or anchor.share or not height:
            return anchor
        return Anchor(anchor.row, 0, share=min(1.0, -anchor.y / height))

    @property
    def _max_value(self) -> int:
        queue_height = self.queue.height() if self.queue.bubbles else 0
        content = MARGIN + self._heights.total + queue_height + MARGIN // 2
        return max(0, content - self.viewport().height())

    @property
    def _is_at_end(self) -> bool:
        return self.verticalScrollBar().value() >= self.verticalScrollBar().maximum()

    def _value_of(self, anchor: Anchor) -> int:
        if not self._rows:
            return 0
        point = self._heights.top(anchor.row) + round(anchor.share * self._heights.height(anchor.row))
        return max(0, min(self._max_value, MARGIN + point - anchor.y))

    def _anchor_at(self, value: int) -> Anchor:
        """The first row in sight whose height is known: what comes into sight above it must not move it."""
        rows = self._rows_between(value, value + self.viewport().height())
        row = next((row for row in rows if self._heights.is_known(row)), rows.start)
        return Anchor(row, MARGIN + self._heights.top(row) - value)

    def _rows_between(self, top: int, bottom: int) -> range:
        if not self._rows:
            return range(0)
        return range(self._heights.row_at(top - MARGIN), self._heights.row_at(bottom - MARGIN) + 1)

    def _show_jump(self) -> None:
        bar = self.verticalScrollBar()
        is_away = bar.value() < bar.maximum() - STICKY_PX
        is_busy = self._progress.is_busy
        if not is_away:
            self._seen = (len(self._rows), is_busy)
        num_seen, was_busy = self._seen
        self._jump.show_unread(max(0, len(self._rows) - num_seen) + int(was_busy and not is_busy))
        if self._jump.hasFocus() and not is_away:
            self.setFocus()  # else hiding it would move the focus, and the page with it, to the first turn
        self._jump.setVisible(is_away)
        self._jump.move(
            (self.viewport().width() - self._jump.width()) // 2, self.height() - self._jump.height() - 12
        )

    def _chain_focus(self) -> None:
        """Tab goes down the page, whatever order the widgets were made in."""
        chain: list[QWidget] = [self]
        for view in self.live_views:
            chain += view.focus_chain()
        for before, widget in pairwise([*chain, self._jump]):
            QWidget.setTabOrder(before, widget)


def _num_same(some: Iterable[Turn], others: Iterable[Turn]) -> int:
    """How many they begin with that are the same."""
    num_same = 0
    for one, other in zip(some, others, strict=False):
        if one is not other:
            break
        num_same += 1
    return num_same


class _QuietScrollBar(QScrollBar):
    """Keeps its place, so that the column stays where it is, and is seen only when needed."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.maximum() > self.minimum():
            super().paintEvent(event)
