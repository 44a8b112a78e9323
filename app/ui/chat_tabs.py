"""The tabs and their pages, following the workspace. Knows what is unread, but no engine. GUI thread."""

from PySide6.QtCore import QPoint, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.bridge.chat_session import ChatSession
from app.bridge.workspace import Workspace
from app.engine.types import StepReport
from app.look.sequence_colours import colour_of
from app.ui.chat_view import ChatView
from app.ui.notices import Notices
from app.ui.tab_menu import TabMenu
from app.ui.tab_strip import TabStrip


class ChatTabs(QWidget):
    """The workspace says which chats there are and which is current; this shows it and passes on clicks."""

    titles_changed = Signal(object)  # dict of chat_id -> title
    current_state_changed = Signal()  # another chat is current, or it became busy or idle
    num_busy_changed = Signal(int)  # how many chats are being answered
    tokens_requested = Signal(object, object)  # a ChatSession, the Turn whose tokens somebody wants to see

    def __init__(self, workspace: Workspace, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._views: list[ChatView] = []  # in tab order
        self._zoom = 0
        self._n_ctx = 0
        self.strip = TabStrip(self)
        self._pages = QStackedWidget(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.strip)
        column.addWidget(notices)
        column.addWidget(self._pages, 1)
        self._connect()
        for index, session in enumerate(workspace.sessions):
            self._on_opened(session, index)
        self._on_workspace_current_changed(workspace.current)

    @property
    def views(self) -> tuple[ChatView, ...]:
        return tuple(self._views)

    @property
    def current(self) -> ChatView | None:
        page = self._pages.currentWidget()
        return page if isinstance(page, ChatView) else None

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for view in self._views:
            view.set_zoom(zoom)

    def set_n_ctx(self, n_ctx: int) -> None:
        """There is a new context: nobody holds a slot in it yet."""
        self._n_ctx = n_ctx
        for view in self._views:
            view.is_hibernated = False
            view.set_slot(None, n_ctx)
            self._show_mark(view)

    def show_limits(self) -> None:
        """The settings for all chats have changed."""
        for view in self._views:
            view.show_limits()

    def apply(self, report: StepReport) -> None:
        slots = {slot.chat_id: slot for slot in report.slots if slot.chat_id}
        hibernated = {chat.chat_id for chat in report.hibernated}
        for view in self._views:
            view.is_hibernated = view.session.chat.id in hibernated
            view.set_slot(slots.get(view.session.chat.id), self._n_ctx, report.pause is not None)
            self._show_mark(view)

    def show_chat(self, chat_id: str) -> None:
        for view in self._views:
            if view.session.chat.id == chat_id:
                self._workspace.set_current(view.session)
                view.setFocus()

    def show_index(self, index: int) -> None:
        if 0 <= index < len(self._views):
            self._workspace.set_current(self._views[index].session)

    def show_next(self, step: int) -> None:
        """`step` tabs to the right, round the end."""
        if self.current:
            self.show_index((self._views.index(self.current) + step) % len(self._views))

    def close_current(self) -> None:
        if self.current:
            self._workspace.close(self.current.session)

    def fork_current(self) -> None:
        if self.current:
            self._workspace.fork(self.current.session)

    def fork_chat(self, chat_id: str) -> None:
        if session := self._workspace.session_of(chat_id):
            self._workspace.fork(session)

    def open_chat_settings(self) -> None:
        if self.current:
            self.current.composer.settings.open_settings()

    def _connect(self) -> None:
        self._workspace.opened.connect(self._on_opened)
        self._workspace.closed.connect(self._on_closed)
        self._workspace.current_changed.connect(self._on_workspace_current_changed)
        self.strip.new_requested.connect(self._on_new_requested)
        self.strip.close_requested.connect(self._on_close_requested)
        self.strip.current_changed.connect(self._on_strip_current_changed)
        self.strip.moved.connect(self._on_moved)
        self.strip.menu_requested.connect(self._on_menu_requested)

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, index: int) -> None:
        view = ChatView(session, self)
        view.set_zoom(self._zoom)
        view.set_slot(None, self._n_ctx)
        view.changed.connect(self._on_view_changed)
        view.fork_requested.connect(self._on_fork_requested)
        view.tokens_requested.connect(self.tokens_requested)
        self._views.insert(index, view)
        self._pages.addWidget(view)
        self.strip.insert(index, view.title)
        self._show_mark(view)
        self._tell_titles()

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        view = next(view for view in self._views if view.session is session)
        index = self._views.index(view)
        self._views.remove(view)
        self._pages.removeWidget(view)
        view.deleteLater()
        self.strip.remove(index)
        self._tell_titles()
        self._tell_num_busy()

    @Slot(object)
    def _on_workspace_current_changed(self, session: ChatSession | None) -> None:
        view = next((view for view in self._views if view.session is session), None)
        if view is None:
            return
        view.is_unread = False
        self.strip.bar.setCurrentIndex(self._views.index(view))
        self._pages.setCurrentWidget(view)
        self._show_mark(view)
        view.setFocus()
        self.current_state_changed.emit()

    @Slot(object)
    def _on_view_changed(self, view: ChatView) -> None:
        view.is_unread = not view.session.is_busy and view is not self.current
        self.strip.set_title(self._views.index(view), view.title)
        self._show_mark(view)
        self._tell_titles()
        self._tell_num_busy()
        if view is self.current:
            self.current_state_changed.emit()

    @Slot()
    def _on_new_requested(self) -> None:
        self._workspace.new_chat()

    @Slot(int)
    def _on_close_requested(self, index: int) -> None:
        self._workspace.close(self._views[index].session)

    @Slot(object, int)
    def _on_fork_requested(self, view: ChatView, num_turns: int) -> None:
        self._workspace.fork(view.session, num_turns)

    @Slot(int, QPoint)
    def _on_menu_requested(self, index: int, place: QPoint) -> None:
        session = self._views[index].session
        menu = TabMenu(self)
        menu.fork_requested.connect(lambda: self._workspace.fork(session))
        menu.settings_requested.connect(lambda: self._open_settings_of(session))
        menu.close_requested.connect(lambda: self._workspace.close(session))
        menu.popup(place)

    def _open_settings_of(self, session: ChatSession) -> None:
        self._workspace.set_current(session)
        self.open_chat_settings()

    @Slot(int)
    def _on_strip_current_changed(self, index: int) -> None:
        self.show_index(index)

    @Slot(int, int)
    def _on_moved(self, old: int, new: int) -> None:
        view = self._views.pop(old)
        self._views.insert(new, view)
        self._workspace.move(view.session, new)

    def _show_mark(self, view: ChatView) -> None:
        sequence = view.slot.seq_id if view.slot else None
        colour = colour_of(sequence) if sequence is not None else None
        self.strip.set_mark(self._views.index(view), view.mark, view.title, sequence, colour)

    def _tell_num_busy(self) -> None:
        self.num_busy_changed.emit(sum(view.session.is_busy for view in self._views))

    def _tell_titles(self) -> None:
        self.titles_changed.emit({view.session.chat.id: view.title for view in self._views})
