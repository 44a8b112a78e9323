"""The tabs and their pages, following the workspace. Knows what is unread, but no engine. GUI thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from app.bridge.chat_session import ChatSession
from app.bridge.workspace import Workspace
from app.look.layouts import drop, vbox
from app.look.marks import Mark
from app.look.popups import come_up
from app.protocol.report import StepReport
from app.ui.base.keyboard import has_focus
from app.ui.base.notices import Notices
from app.ui.tabs.first_view import FirstPage
from app.ui.tabs.split_pages import SplitPages
from app.ui.tabs.tab import Tab, mark_at_work
from app.ui.tabs.tab_bar import TabStrip

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView
    from app.ui.tabs.chat_window import ChatWindow

# Views kept for the chats shown last; others are recreated. A view takes about 3 MiB.
MAX_VIEWS = 12


class ChatTabs(QWidget):
    """Shows the workspace's chats as tabs, and forwards clicks."""

    titles_changed = Signal(object)  # dict of chat_id -> title
    current_state_changed = Signal()  # another chat is current, or it became busy or idle
    num_busy_changed = Signal(int)  # how many chats are being answered
    view_made = Signal(object)  # a new ChatView
    window_made = Signal(object)  # a new ChatWindow
    marks_changed = Signal()  # a tab was opened or closed, or has another mark

    def __init__(
        self,
        workspace: Workspace,
        notices: Notices,
        parent: QWidget | None = None,
        first_page: FirstPage | None = None,
    ) -> None:
        """Made before the first chat is open. Until then `first_page` is shown; a chat takes its editor."""
        super().__init__(parent)
        self._workspace = workspace
        self._first_page = first_page
        self._tabs: list[Tab] = []  # in their order
        self._by_chat_id: dict[str, Tab] = {}
        self._told_slots: set[str] = set()  # chats the last report was about
        self._shown: list[Tab] = []
        self._shown_current: Tab | None = None
        self._shown_last: list[Tab] = []  # those with a view, the one shown last at the end
        self.windows: dict[str, ChatWindow] = {}  # by the id of the chat that has one of its own
        self._zoom = 0
        self._paused: set[str] = set()  # addresses of engines
        self.strip = TabStrip(self)
        self.pages = SplitPages(self)
        self._column = vbox(self.strip, notices, (self.pages, 1), on=self, spacing=0)
        self._titles_timer = QTimer(self, singleShot=True, interval=0)  # once, even if 1,000 tabs open
        self._connect()
        if first_page:
            self.pages.show_pages([first_page], 0)

    @property
    def tabs(self) -> tuple[Tab, ...]:
        return tuple(self._tabs)

    @property
    def marks(self) -> dict[str, Mark]:
        """By chat id, also of closed chats that are still being answered."""
        at_work = self._workspace.closed_at_work
        return {
            **{tab.session.chat.id: tab.mark for tab in self._tabs},
            **{one.chat.id: mark_at_work(one, one.address in self._paused) for one in at_work},
        }

    @property
    def views(self) -> tuple[ChatView, ...]:
        """The views of all tabs that have one, in the order of the tabs."""
        return tuple(tab.view for tab in self._tabs if tab.view)

    @property
    def tabs_in_bar(self) -> tuple[Tab, ...]:
        """Without those of chats that have a window of their own."""
        return tuple(tab for tab in self._tabs if tab.session.chat.id not in self.windows)

    @property
    def shown_views(self) -> tuple[ChatView, ...]:
        """From left to right, then those in windows of their own."""
        out = (self._by_chat_id[chat_id] for chat_id in self.windows)
        return tuple(tab.view for tab in (*self._shown, *out) if tab.view)

    @property
    def current_tab(self) -> Tab | None:
        session = self._workspace.current
        return self._by_chat_id.get(session.chat.id) if session else None

    @property
    def current(self) -> ChatView | None:
        """What commands act on: the chat of the active window, or else the main window's."""
        active = (chat_id for chat_id, window in self.windows.items() if window.isActiveWindow())
        tab = self._by_chat_id.get(next(active, "")) or self.current_tab
        return tab.view if tab else None

    def tab_of(self, chat_id: str) -> Tab | None:
        return self._by_chat_id.get(chat_id)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for view in self.views:
            view.set_zoom(zoom)

    def show_contexts(self) -> None:
        """There is a new context, or one less."""
        for tab in self._tabs:
            if tab.view:
                tab.view.set_slot(tab.slot, tab.session.n_ctx, tab.is_paused, tab.is_hibernated)

    def show_limits(self) -> None:
        """The settings for all chats have changed."""
        for view in self.views:
            view.show_limits()

    def _address_of(self, chat_id: str | None) -> str:
        """Of its model. Empty: it has no tab."""
        tab = self._by_chat_id.get(chat_id or "")
        return tab.session.address if tab else ""

    def apply(self, reports: Mapping[str, StepReport]) -> None:
        """The newest of each engine, by address. Updates only tabs in these reports or the last ones."""
        # A chat that got another model may have cells in both: the one that answers counts, then its own.
        told_by = [(slot, address) for address, report in reports.items() for slot in report.slots]
        told_by.sort(
            key=lambda told: (bool(told[0].request_id), told[1] == self._address_of(told[0].chat_id))
        )
        slots = {slot.chat_id: slot for slot, _address in told_by if slot.chat_id}
        saved = {chat.chat_id for report in reports.values() for chat in report.hibernated}
        hibernated = (saved - slots.keys()) & self._by_chat_id.keys()
        encodings = {each.chat_id: each for report in reports.values() for each in report.encodings}
        told = slots.keys() | hibernated | encodings.keys()
        paused = {address for address, report in reports.items() if report.pause is not None}
        about = told | self._told_slots if paused == self._paused else set(self._by_chat_id)
        self._told_slots, self._paused = told, paused
        for chat_id in about & self._by_chat_id.keys():
            tab = self._by_chat_id[chat_id]
            mark, sequence, session = tab.mark, tab.sequence, tab.session
            tab.slot, tab.is_hibernated = slots.get(chat_id), chat_id in hibernated
            tab.is_paused = session.address in paused
            if tab.view:
                rest = (tab.is_paused, tab.is_hibernated, encodings.get(chat_id))
                tab.view.set_slot(tab.slot, session.n_ctx, *rest)
            if tab.mark is not mark or tab.sequence != sequence:
                self._show_mark(tab)
            if tab.mark is not mark:
                self.marks_changed.emit()

    @Slot()
    def focus_current(self) -> None:
        if self.current:
            self.current.setFocus()

    def show_above(self, line: QWidget) -> None:
        """Something that is about all chats, right below the tabs."""
        self._column.insertWidget(1, line)

    # Called by menus and others

    def show_chat(self, chat_id: str) -> None:
        if tab := self._by_chat_id.get(chat_id):
            self._workspace.set_current(tab.session)
            if tab.view:
                tab.view.setFocus()

    def show_index(self, index: int) -> None:
        if 0 <= index < len(self._tabs):
            self._workspace.set_current(self._tabs[index].session)

    def fork_chat(self, chat_id: str) -> None:
        if session := self._workspace.session_of(chat_id):
            self._workspace.fork(session)

    # Following the workspace

    def _connect(self) -> None:
        self._workspace.opened.connect(self._on_opened)
        self._workspace.came_back.connect(self._on_opened)
        self._workspace.let_go.connect(self._on_let_go)
        self._workspace.coming.connect(self._on_coming)
        self._workspace.closed.connect(self._on_closed)
        self._workspace.restoring.connect(self._on_restoring)
        self._workspace.shown_changed.connect(self._show_pages)
        self._workspace.current_changed.connect(self._on_workspace_current_changed)
        self._workspace.pinned.connect(self._on_pinned)
        self._workspace.kept.connect(self._on_kept)
        self._workspace.moved_out.connect(self._on_moved_out)
        self._workspace.moved_back.connect(self._on_moved_back)
        self._workspace.called.connect(self._on_called)
        self._titles_timer.timeout.connect(self._emit_titles)
        self.strip.new.clicked.connect(lambda: self._workspace.new_chat())
        self.strip.current_changed.connect(self.show_index)
        self.strip.moved.connect(self._on_moved)
        self.strip.bar.pulled.connect(self._on_pulled)
        self.strip.bar.dropped.connect(self._on_dropped)
        self.strip.bar.let_go.connect(self._put_in_order)
        self.pages.entered.connect(self._on_pane_entered)

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, index: int) -> None:
        tab = Tab(session, self)
        tab.changed.connect(self._on_tab_changed)
        tab.finished.connect(self._on_tab_finished)
        self._tabs.insert(index, tab)
        self._by_chat_id[session.chat.id] = tab
        self.strip.insert(index, tab.title)
        self._show_mark(tab)
        self._titles_timer.start()
        self.marks_changed.emit()

    @Slot(object)
    def _on_coming(self, session: ChatSession) -> None:
        self._view_of(self._by_chat_id[session.chat.id])

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        tab = self._by_chat_id.pop(session.chat.id)
        self.strip.remove(self._tabs.index(tab))
        self._tabs.remove(tab)
        self._show_pages()  # first: any other page would be drawn in the place of one that goes
        self._drop_view(tab)
        tab.blockSignals(True)  # its chat may go on
        tab.deleteLater()
        self._titles_timer.start()
        self._emit_num_busy()
        self.marks_changed.emit()

    @Slot()
    def _on_let_go(self) -> None:
        self._emit_num_busy()
        self.marks_changed.emit()

    @Slot(bool)
    def _on_restoring(self, is_restoring: bool) -> None:
        """Hidden meanwhile: a visible bar would lay out all tabs for each new one."""
        self.strip.bar.setVisible(not is_restoring)

    @Slot()
    def _show_pages(self) -> None:
        shown = [self._by_chat_id[session.chat.id] for session in self._workspace.shown]
        current = self.current_tab
        if current is None or (shown, current) == (self._shown, self._shown_current):
            return
        had_focus = has_focus(self.pages)
        views = [self._view_of(tab) for tab in shown]
        index = shown.index(current)
        self.pages.show_pages(views, index)
        for view in views:
            view.set_reading_font()
        if had_focus and not has_focus(views[index]):  # a page that changes sides loses it
            views[index].setFocus()
        self.strip.set_current(self._tabs.index(current))
        before, self._shown, self._shown_current = self._shown, shown, current
        for tab in {*shown, *before} & set(self._tabs):
            self._show_mark(tab)

    @Slot(object)
    def _on_workspace_current_changed(self, session: ChatSession | None) -> None:
        tab = self._by_chat_id.get(session.chat.id) if session else None
        if tab is None:
            return
        self._show_pages()
        tab.is_unread = False
        self._show_mark(tab)
        self._view_of(tab).setFocus()
        if self.windows:  # it was asked for in one of them, such as a fork
            self.window().activateWindow()
        self.current_state_changed.emit()
        self.marks_changed.emit()

    @Slot(object, int)
    def _on_pinned(self, session: ChatSession, index: int) -> None:
        tab = self._by_chat_id[session.chat.id]
        self.take_place(tab, index)
        self._show_mark(tab)

    @Slot(object)
    def _on_kept(self, session: ChatSession) -> None:
        self._show_mark(self._by_chat_id[session.chat.id])

    @Slot(object)
    def _on_moved_out(self, session: ChatSession) -> None:
        """With a new view: one that gets another window would be styled again, and lose its fonts."""
        from app.ui.tabs.chat_window import ChatWindow

        tab = self._by_chat_id[session.chat.id]
        self._drop_view(tab)
        window = self.windows[session.chat.id] = ChatWindow(session.chat, self)
        self.strip.set_visible(self._tabs.index(tab), False)
        window.activated.connect(self.current_state_changed)
        window.left.connect(partial(self._workspace.move_back, session))
        self.window_made.emit(window)
        tab.is_unread = False
        tab.view = self._make_view(tab, window)
        window.show_view(tab.view)
        come_up(window)

    @Slot(object)
    def _on_moved_back(self, session: ChatSession) -> None:
        tab = self._by_chat_id[session.chat.id]
        self._drop_view(tab)
        self.strip.set_visible(self._tabs.index(tab), True)
        self.window().activateWindow()

    @Slot(object)
    def _on_called(self, session: ChatSession) -> None:
        come_up(self.windows[session.chat.id])
        if self.current_tab:  # the bar may show another meanwhile
            self.strip.set_current(self._tabs.index(self.current_tab))

    @Slot(object)
    def _on_tab_changed(self, tab: Tab) -> None:
        self._show_mark(tab)
        self._titles_timer.start()
        self._emit_num_busy()
        self.marks_changed.emit()
        if tab is self.current_tab or tab.session.chat.id in self.windows:
            self.current_state_changed.emit()

    @Slot(object)
    def _on_tab_finished(self, tab: Tab) -> None:
        tab.is_unread = tab in self.tabs_in_bar and tab.session not in self._workspace.shown
        self._show_mark(tab)
        self.marks_changed.emit()

    @Slot(QWidget)
    def _on_pane_entered(self, page: QWidget) -> None:
        """Also called while a page goes, which gives its keyboard away; the pages are drawn after that."""
        tab = next((tab for tab in self._tabs if tab.view is page), None)
        if tab and tab.session in self._workspace.shown:
            self._workspace.set_current(tab.session)

    @Slot(int, int)
    def _on_moved(self, old: int, new: int) -> None:
        """The bar has moved it already. An invalid position is corrected when the mouse is released."""
        tab = self._tabs.pop(old)
        self._tabs.insert(new, tab)
        self._workspace.move(tab.session, new)

    @Slot(int, QPoint)
    def _on_pulled(self, _index: int, place: QPoint) -> None:
        self.pages.hint_drop(place if len(self._tabs) > 1 else None)

    @Slot(int, QPoint)
    def _on_dropped(self, index: int, place: QPoint) -> None:
        session = self._tabs[index].session
        if len(self._tabs) > 1 and self.pages.is_on_right(place):
            self._workspace.show_beside(session)
        elif not self.window().frameGeometry().contains(place):
            self._workspace.move_out(session)
            self.windows[session.chat.id].put_at(place)

    @Slot()
    def _put_in_order(self) -> None:
        """The order is the workspace's."""
        self.pages.hint_drop(None)
        for index, session in enumerate(self._workspace.sessions):
            self.take_place(self._by_chat_id[session.chat.id], index)

    def _view_of(self, tab: Tab) -> ChatView:
        if tab.view is None:
            tab.view = self._make_view(tab)
        if tab in self._shown_last:
            self._shown_last.remove(tab)
        self._shown_last.append(tab)
        for old in self._shown_last[: max(0, len(self._shown_last) - MAX_VIEWS)]:
            if old.view and not old.view.is_editing:
                self._drop_view(old)
        return tab.view

    def _make_view(self, tab: Tab, ground: QWidget | None = None) -> ChatView:
        from app.ui.tabs.chat_view import (
            ChatView,  # with all that reads Markdown: the window is shown without
        )

        n_ctx = tab.session.n_ctx
        view = ChatView(tab.session, n_ctx, ground or self.pages.ground, self._take_first_page(tab))
        view.set_zoom(self._zoom)
        view.set_slot(tab.slot, n_ctx, tab.is_paused, tab.is_hibernated)
        view.turn_actions.fork_requested.connect(self._workspace.fork)
        view.notebook_requested.connect(self._workspace.new_notebook)
        self.view_made.emit(view)
        return view

    def _take_first_page(self, tab: Tab) -> FirstPage | None:
        """The first page, for the first current chat only."""
        page = self._first_page if tab is self.current_tab else None
        if page:
            self._first_page = None
            self.pages.take(page)
            drop(page)
        return page

    def _drop_view(self, tab: Tab) -> None:
        if tab.view is None:
            return
        if window := self.windows.pop(tab.session.chat.id, None):
            tab.view.setParent(self.pages.ground)  # it is deleted later than its window
            window.deleteLater()
            window.hide()
        else:
            self._shown_last.remove(tab)
            self.pages.take(tab.view)
        tab.view.give_up()
        tab.view = None

    def hideEvent(self, event: QHideEvent) -> None:
        """The program ends: no other window stays behind."""
        super().hideEvent(event)
        for window in self.windows.values() if not event.spontaneous() else ():
            window.hide()

    @contextmanager
    def all_at_once(self) -> Iterator[None]:
        """Hidden meanwhile: a visible bar would lay out all tabs for each change."""
        self.strip.bar.hide()
        try:
            yield
        finally:
            self.strip.bar.show()

    def take_place(self, tab: Tab, index: int) -> None:
        old = self._tabs.index(tab)
        if old != index:
            self._tabs.insert(index, self._tabs.pop(old))
            self.strip.move_tab(old, index)

    def _show_mark(self, tab: Tab) -> None:
        session = tab.session
        is_beside = len(self._workspace.shown) > 1 and session in self._workspace.shown
        is_beside = is_beside and session is not self._workspace.current
        self.strip.apply(self._tabs.index(tab), tab, self._workspace.is_pinned(session), is_beside)

    def _emit_num_busy(self) -> None:
        sessions = (*self._workspace.sessions, *self._workspace.closed_at_work)
        self.num_busy_changed.emit(sum(session.is_busy for session in sessions))

    def _emit_titles(self) -> None:
        self.titles_changed.emit({tab.session.chat.id: tab.title for tab in self._tabs})
