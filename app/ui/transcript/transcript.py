"""The turns of one chat on a scrolling page.

Only visible turns, and a few around them, have widgets, which are reused. `Page` knows where each turn is.
Hidden, it only notes that something changed. Visible, it draws growing text at most 30 times a second, less
often when drawing is slow. Follows the end only while scrolled there. GUI thread.
"""

import time
from dataclasses import replace

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QLabel, QScrollBar, QWidget

from app.bridge.drafts import Drafts
from app.chats.chat import Chat, Turn
from app.look.words import tr
from app.protocol.request import Role
from app.ui.base.frame_budget import frame_budget
from app.ui.base.proportions import COLUMN_MARGIN as MARGIN
from app.ui.base.thumbnails import Thumbnails
from app.ui.message.text_part import SelectedText, TextPart
from app.ui.message.tool_words import Naming
from app.ui.transcript.answer_view import FOOTER, AnswerView
from app.ui.transcript.compare_view import CompareView
from app.ui.transcript.jump_button import EdgeFade, JumpButton
from app.ui.transcript.page import Anchor, Page
from app.ui.transcript.queue_view import QueueView
from app.ui.transcript.selecting import FocusLine, PageFocus, Selecting, SelectionMenu
from app.ui.transcript.selection import PageSelection
from app.ui.transcript.turn_actions import Place, TurnAction
from app.ui.transcript.turn_view import NO_PROGRESS, AnswerProgress, TurnView
from app.ui.transcript.user_view import UserView
from app.ui.transcript.view_pool import ViewPool

STICKY_PX = 40
MIN_FRAME_MS = 33
REST_PER_COST = 50  # what took 2 ms is followed by 100 ms of rest; painting takes about as much again
MAX_REST_MS = 400
NUM_AROUND = 3  # rows with widgets on each side of what is in sight
MAX_PASSES = 8
FREE_AFTER_MS = 60_000  # a hidden chat needs no widgets


class Transcript(QAbstractScrollArea):
    acted = Signal(object, object)  # a TurnAction, the Turn
    ways_requested = Signal(int)  # so many more answers to the last message
    version_requested = Signal(object)  # the Turn to show
    edited = Signal(object, str, object)  # the Turn, its new text, its attachments
    edit_left = Signal(object, str, bool)  # the Turn, what it was to be, whether that is kept
    picture_opened = Signal(object, object)  # the Turn, the attachment to be enlarged
    media_saved = Signal(object)  # the attachment, whose file is to be saved
    kept = Signal(object)  # the Turn chosen of several side by side
    keep_going_requested = Signal()
    summary_acted = Signal(object, object)  # a SummaryAction, the Turn whose summary is meant
    summary_edited = Signal(object, str)  # the Turn, what its summary shall say
    decided = Signal(object, object)  # the ToolUse that asks, a Decision
    task_stopped = Signal(object)  # the Turn that works on a task
    drawn = Signal()  # the views have changed or moved

    def __init__(
        self,
        chat: Chat,
        parent: QWidget | None = None,
        thumbnails: Thumbnails | None = None,
        drafts: Drafts | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat = chat  # is read, never changed
        self._naming: Naming = lambda _name: None
        self._thumbnails = thumbnails  # where the small copies of pictures come from
        self._drafts = drafts or Drafts()  # of messages that are edited
        self._page = Page(2 * FOOTER)  # with the turns at the last drawing
        self.rows_in_sight = range(0)
        self._views = ViewPool(self._new_view, self)
        self._follows_end = True
        self._zoom = 0
        self._is_plain = False
        self._progress = NO_PROGRESS
        self._pointed: tuple[Turn, str] | None = None  # for what a menu was opened last: a sentence of a turn
        self._compared: str | None = None  # the parent of the versions shown side by side
        self._is_dirty = True
        self._is_all_dirty = True  # not only the last answer
        self._is_placing = False
        self._next_frame_at = 0.0
        self._dress()
        self.queue = QueueView(self.viewport())
        self._fade = EdgeFade(self)
        self._jump = JumpButton(self)
        self._jump.clicked.connect(self.jump_to_end)
        self._focus = PageFocus(self._views, self)
        self.selection = PageSelection(self._page, self._views, self._texts_of, self)
        self._selecting = Selecting(self, self._views, self.selection, self.scroll_to)
        self._focus.moved.connect(self._on_focus_moved)
        self.drawn.connect(self.selection.show)
        FocusLine(self)
        self._frame = QTimer(self, singleShot=True)
        self._frame.timeout.connect(self._draw)
        self._frees = QTimer(self, singleShot=True, interval=FREE_AFTER_MS)
        self._frees.timeout.connect(self._views.free)

    def _dress(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBar(_QuietScrollBar(self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().setSingleStep(20)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(tr("Messages"))
        self.viewport().setAutoFillBackground(False)

    def mark_growing(self) -> None:
        """The last answer has more text, and nothing else has changed. Draws soon, if visible."""
        self._is_dirty = True
        if self._can_be_seen and not self._frame.isActive():
            wait = max(0.0, self._next_frame_at - time.monotonic())
            self._frame.start(int(wait * 1000))

    def mark_dirty(self) -> None:
        """A turn was added, has ended, or was replaced. Draws at once, if visible."""
        self._is_all_dirty = True
        self._next_frame_at = 0.0
        self._frame.stop()
        self.mark_growing()

    def set_progress(self, progress: AnswerProgress) -> None:
        before, self._progress = self._progress, progress
        if progress == before or not self.isVisible():
            return
        if replace(progress, slot=None, encoding=None) != replace(before, slot=None, encoding=None):
            self.mark_dirty()  # what is offered is other now
        last = self._views.live_view_of(self._page.rows[-1]) if self._page.rows else None
        if last:
            last.show_progress(progress)

    def set_zoom(self, zoom: int) -> None:
        """Also called when the font has changed."""
        self._zoom = zoom
        self._page.forget_fit()
        for view in self._views:
            view.set_zoom(zoom)
        self.queue.set_zoom(zoom)
        self._place()

    def set_plain(self, is_plain: bool) -> None:
        """Shows all answers as they were written, without reading them as Markdown."""
        self._is_plain = is_plain
        for view in self._views:
            view.set_plain(is_plain)
        self.mark_dirty()

    def set_naming(self, naming: Naming) -> None:
        """What the tools are called whose calls are shown."""
        self._naming = naming
        for view in self._views:
            view.set_naming(naming)
        self.mark_dirty()

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
        """Keeps the foot of this turn in place, whatever replaces it."""
        view = self._views.live_view_of(turn)
        row = self._page.row_of(turn)
        if view and row is not None:
            self._page.anchor = Anchor(row, view.y() + self._page.heights.height(row), share=1.0)
            self._follows_end = False

    def show_turn(self, turn: Turn) -> TurnView | None:
        """Scrolls to it, if it is not in sight; its view, or None if this chat does not show it."""
        if self._is_all_dirty:
            self._draw()
        row = self._page.row_of(turn)
        if row is None or not self.isVisible():
            return None
        if row not in self.rows_in_sight:
            self._follows_end = False
            self._page.anchor = Anchor(row, self.viewport().height() // 4)
            self._place()
        return self._view_of(row)

    def scroll_to(self, part: QWidget, rect: QRect | None = None) -> None:
        """Scrolls the least to make a part of a turn, or a rectangle in it, visible."""
        rect = part.rect() if rect is None else rect
        top = part.mapTo(self.viewport(), rect.topLeft()).y() - MARGIN
        below = top + rect.height() + 2 * MARGIN - self.viewport().height()
        step = top if top < 0 else max(0, min(below, top))
        if step:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + step)

    # The visible turns

    @property
    def live_views(self) -> list[TurnView]:
        """The views of visible turns and those around them, from top to bottom."""
        return self._views.live

    @property
    def focused_turn(self) -> Turn | None:
        """The one with the focus."""
        return self._focus.view.turn if self._focus.view else None

    @property
    def selection_in_focus(self) -> PageSelection | None:
        """The selection, if keys are meant for it: not those in an editor of a message."""
        focused = QApplication.focusWidget()
        if focused is None or not (focused is self or self.isAncestorOf(focused)):
            return None
        has_its_own = focused.metaObject().indexOfMethod("copy()") >= 0
        return self.selection if isinstance(focused, SelectedText) or not has_its_own else None

    def pointed_sentence(self, turn: Turn) -> str:
        """For which the menu of this turn was opened, as it is shown; none: for all of it."""
        return self._pointed[1] if self._pointed and self._pointed[0] is turn else ""

    def plain_text(self) -> str:
        return "\n".join(view.plain_text() for view in self.live_views)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._frees.stop()
        self._focus.listen()
        if self._is_dirty:
            self._draw()
        else:
            self._place()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._focus.end()
        self._frees.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        if self._is_placing:
            return
        bar = self.verticalScrollBar()
        goes_up = bar.value() < self._page.value
        self._follows_end = bar.value() >= bar.maximum() - (0 if goes_up else STICKY_PX)
        self._page.hold(bar.value())
        self._place(is_growth=False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # for the window: it makes the text larger
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._selecting.press_key(event):
            return
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
        self._focus.chain(self, self._jump)
        has_moved = super().focusNextPrevChild(forward)
        focused = QApplication.focusWidget()
        if focused and self.viewport().isAncestorOf(focused):
            self.scroll_to(focused)
        return has_moved

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
        self._fit_page()
        if is_all_dirty:
            self._take_turns()
            self.queue.show_messages(self._chat.queue)
        with frame_budget().shared():
            for view in self.live_views if is_all_dirty else self.live_views[-1:]:
                self._refresh(view)
            self._place()
        rest = max(MIN_FRAME_MS / 1000, min(MAX_REST_MS / 1000, REST_PER_COST * (time.thread_time() - begin)))
        self._next_frame_at = time.monotonic() + rest

    def _take_turns(self) -> None:
        gone, come = self._page.take(self._chat.turns)
        if gone and come:
            self._hand_over(gone[0], come[0])
        for turn in gone:
            if self._page.row_of(turn) is None:
                self._views.put_away(turn)

    def _hand_over(self, turn: Turn, version: Turn) -> None:
        if self._page.row_of(turn) is None:
            self._views.hand_over(turn, version, self._kind_of(version))

    def _refresh(self, view: TurnView) -> None:
        """Draws the present state of its turn, and measures it."""
        row = self._page.row_of(view.turn)
        if row is not None:
            self._apply(view, row)
            self._measure(row)

    def _apply(self, view: TurnView, row: int) -> None:
        turn, *after = self._page.rows[row : row + 2]
        before = self._page.rows[row - 1] if row else None
        state = self._progress
        place = Place.of(
            turn,
            self._chat,
            is_last=not after,
            is_busy=state.is_busy,
            enter_saves=state.enter_sends,
            before=before,
            after=after[0] if after else None,
            summed_up=tuple(self._page.rows[: row + 1]) if turn.summary else (),
        )
        view.apply(place, NO_PROGRESS if after else self._progress)

    # Placing

    def _place(self, is_growth: bool = True) -> None:
        """Gives visible turns their widgets and places, and the scroll bar its range.

        If it was scrolled to the end, it follows the growth.
        """
        if self._is_placing or not self.isVisible():
            return
        self._is_placing = True
        try:
            self._fit_page()
            with frame_budget().shared():
                value = self._settle(self._follows_end and is_growth)
            self._set_bar(value)
            self._page.hold(value)
            self._follows_end |= value >= self._page.max_value
            self._show_live(value)
        finally:
            self._is_placing = False
        self._show_edge()
        self.drawn.emit()

    def _fit_page(self) -> None:
        width = self.viewport().width()
        self._page.fit(width, self._zoom, self.width() - width)
        self.queue.arrange(self._page.column.width())
        self._page.queue_height = self.queue.height() if self.queue.bubbles else 0
        self._page.window_height = self.viewport().height()

    def _set_bar(self, value: int) -> None:
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, self._page.max_value)
        bar.setValue(value)

    def _settle(self, follows_end: bool) -> int:
        """Measures rows that become visible until nothing moves, and returns the scroll position.

        Once the frame is spent no other row is begun. Until it is measured its height is an estimate.
        """
        for _ in range(MAX_PASSES):
            value = self._page.max_value if follows_end else self._page.value
            self.rows_in_sight = self._page.rows_in_sight(value)
            held = self.rows_in_sight.stop - 1 if follows_end else self._page.anchor.row
            rows = sorted(self.rows_in_sight, key=lambda row: row != held)
            due = (row for row in rows if row == held or self._is_ready(row) or not frame_budget().is_spent)
            num_changed = sum(self._measure(row) for row in due)
            if not num_changed:
                break
        return self._page.max_value if follows_end else self._page.value

    def _measure(self, row: int) -> bool:
        """Whether its height has changed."""
        view = self._view_of(row)
        height = view.arrange(self._span_of(view).width())
        has_changed = height != self._page.heights.height(row)
        self._page.heights.measure(row, height)
        return has_changed

    def _view_of(self, row: int) -> TurnView:
        view = self._filled_view(row)
        view.show()
        return view

    def _filled_view(self, row: int) -> TurnView:
        turn = self._page.rows[row]
        view = self._views.take(self._kind_of(turn), turn)
        if view.isHidden():
            self._apply(view, row)
        return view

    def _texts_of(self, row: int) -> list[TextPart]:
        """All of them, in sight or not."""
        view = self._filled_view(row)
        view.finish()
        return view.text_parts()

    def _new_view(self, kind: type[TurnView], turn: Turn) -> TurnView:
        view = kind(turn, self.viewport())
        view.hide()
        view.set_zoom(self._zoom)
        view.set_plain(self._is_plain)
        view.set_naming(self._naming)
        if self._thumbnails:
            view.set_thumbnails(self._thumbnails)
        view.set_drafts(self._drafts, self._chat.id)
        view.decided.connect(self.decided)
        view.acted.connect(self.acted)
        view.ways_requested.connect(self.ways_requested)
        view.version_requested.connect(self._on_version_requested)
        view.edited.connect(self.edited)
        view.edit_left.connect(self.edit_left)
        view.height_changed.connect(self._on_height_changed)
        view.menu_requested.connect(self._on_menu_requested)
        if isinstance(view, UserView):
            view.picture_opened.connect(self.picture_opened)
            view.media_saved.connect(self.media_saved)
        if isinstance(view, AnswerView):
            view.keep_going_requested.connect(self.keep_going_requested)
            view.summary_acted.connect(self.summary_acted)
            view.summary_edited.connect(self.summary_edited)
            view.turn_requested.connect(self.show_turn)
            view.task_stopped.connect(self.task_stopped)
        if isinstance(view, CompareView):
            view.kept.connect(self.kept)
        return view

    def _kind_of(self, turn: Turn) -> type[TurnView]:
        if turn.role is Role.USER:
            return UserView
        is_compared = turn is self._page.rows[-1] and turn.parent_id == self._compared
        return CompareView if is_compared else AnswerView

    def _show_live(self, value: int) -> None:
        around = self._around()
        for view in self._views.live:
            row = self._page.row_of(view.turn)
            if row is not None and (row in around or view.is_held):
                view.move(self._span_of(view).left(), self._page.top_of(row, value))
            else:
                view.hide()
        self.queue.move(self._page.column.left(), self._page.top_of(len(self._page.rows), value))
        if any(not self._is_ready(row) for row in around):
            frame_budget().wait(self, self._fill)

    def _around(self) -> range:
        rows = self.rows_in_sight
        return range(max(0, rows.start - NUM_AROUND), min(len(self._page.rows), rows.stop + NUM_AROUND))

    def _is_ready(self, row: int) -> bool:
        """It has a widget, which is as wide as it should be."""
        return self._views.live_view_of(self._page.rows[row]) is not None and self._page.heights.is_known(row)

    @Slot()
    def _fill(self) -> None:
        """Measures one row in sight or around it, so that scrolling finds it ready."""
        row = next((row for row in self._around() if not self._is_ready(row)), None)
        if self.isVisible() and row is not None:
            self._measure(row)
            self._place(is_growth=self._is_at_end)

    @Slot(object, object)
    def _on_version_requested(self, turn: Turn, version: Turn) -> None:
        self.hold(turn)
        self.version_requested.emit(version)

    @Slot(object)
    def _on_height_changed(self, view: TurnView) -> None:
        """Changed without new text. If the user did it, the top stays in place."""
        row = self._page.row_of(view.turn)
        if row is None or not self.isVisible():
            return
        is_wanted = view.is_held or view.underMouse()
        if is_wanted:
            self._page.anchor = Anchor(row, view.y())
        self._refresh(view)
        self._place(is_growth=not is_wanted)
        if view.editor:
            self.scroll_to(view.editor)

    @Slot(object, QPoint)
    def _on_menu_requested(self, view: TurnView, place: QPoint) -> None:
        """Opens the menu of the selection if that was clicked, else the menu of the message."""
        inside = self.viewport().mapFromGlobal(place)
        self._pointed = view.turn, self._selecting.sentence_at(inside)
        if self._selecting.is_selected(inside):
            menu = SelectionMenu(self.selection, self)
            if view.turn.role is Role.ASSISTANT and view.turn.text:
                menu.add_lens(lambda: self.acted.emit(TurnAction.LENS, view.turn))
            menu.popup(place)
        else:
            view.popup_menu(place)

    @Slot(bool)
    def _on_focus_moved(self, is_here: bool) -> None:
        focused = QApplication.focusWidget()
        if is_here and isinstance(focused, QLabel):
            self.selection.clear()  # such a label has one of its own
        view = self._views.with_widget(focused) if focused else None
        editor = view.editor if view else None
        is_in_edit = editor is not None and focused is not None and editor.isAncestorOf(focused)
        self.selection.light(is_here and not is_in_edit)

    def _span_of(self, view: TurnView) -> QRect:
        if view.IS_WIDE:
            return QRect(MARGIN, 0, self.viewport().width() - 2 * MARGIN, 0)
        return self._page.column

    @property
    def _is_at_end(self) -> bool:
        return self.verticalScrollBar().value() >= self.verticalScrollBar().maximum()

    def _show_edge(self) -> None:
        """The way to the end, and that there is more."""
        bar = self.verticalScrollBar()
        self._fade.place(self.viewport().width(), self.height())
        self._fade.setVisible(not self._is_at_end)
        is_away = bar.value() < bar.maximum() - STICKY_PX
        self._jump.count(len(self._page.rows), self._progress.is_busy, is_at_end=not is_away)
        if self._jump.hasFocus() and not is_away:
            self.setFocus()  # else hiding it would move the focus, and the page with it, to the first turn
        self._jump.setVisible(is_away)
        self._jump.move((self.width() - self._jump.width()) // 2, self.height() - self._jump.height() - 12)


class _QuietScrollBar(QScrollBar):
    """Always takes its room, so that the column does not move, but is visible only when needed."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.maximum() > self.minimum():
            super().paintEvent(event)
