"""Navigation to any chat: the sidebar with all chats, and the search over all messages. GUI thread.

Connects the two with the library and the tabs; draws nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QSplitter,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.look.buttons import dialog_button
from app.look.layouts import STRETCH, hbox, vbox
from app.look.marks import Mark
from app.look.plain_text import PlainLabel
from app.look.popups import come_up, resize_to_fit
from app.look.words import tr, tr_n
from app.services.chat_library import ChatLibrary, ChatSearch
from app.services.projects import Projects
from app.storage.list_rows import TRASH_DAYS, ChatSummary
from app.ui.base.actions import command
from app.ui.base.notices import Notices, UndoToast
from app.ui.base.proportions import LIST_WIDTH, has_list
from app.ui.base.titles import shown_title
from app.ui.chats.search_popup import Known, SearchPopup
from app.ui.chats.sidebar import Sidebar
from app.ui.chats.sidebar_model import RowKind
from app.ui.tabs.chat_tabs import ChatTabs


class Navigation(QObject):
    def __init__(
        self,
        chat_library: ChatLibrary,
        search: ChatSearch,
        projects: Projects,
        workspace: Workspace,
        tabs: ChatTabs,
        middle: QSplitter,
        notices: Notices,
        undo: UndoToast,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._chat_library = chat_library
        self._search = search
        self._projects = projects
        self._workspace = workspace
        self._tabs = tabs
        self._middle = middle
        self._undo = undo
        self._window = window
        self.choice: bool | None = None  # whether the list is shown; None: depends on the window's width
        self._width = LIST_WIDTH
        self._deleted_last: set[str] = set()  # chat ids that the undo can still bring back
        self._deleted_text = ""
        self._hit = ("", "", "")  # to be shown when its chat is loaded: chat id, turn id, words
        self.sidebar = Sidebar(chat_library, middle)
        self.popup = SearchPopup(window)
        self.show_sidebar = command(window, "view.sidebar", self.toggle_sidebar)
        self.show_sidebar.setCheckable(True)
        self._marks_timer = QTimer(self, singleShot=True, interval=0)  # once, even if 1,000 tabs open
        middle.insertWidget(0, self.sidebar)
        middle.setCollapsible(0, False)
        middle.setStretchFactor(0, 0)
        middle.setStretchFactor(1, 1)
        self._connect(notices)
        middle.installEventFilter(self)
        self._fit()

    # Saved state

    @property
    def width(self) -> int:
        """The width of the list, also while it is hidden."""
        return self.sidebar.width() if self.sidebar.isVisible() else self._width

    def restore(self, width: int, choice: bool | None, closed_folders: Iterable[str]) -> None:
        self._width, self.choice = width, choice
        self._fit()
        for folder in closed_folders:
            self.sidebar.model.set_folder_open(folder, False)

    def toggle_sidebar(self) -> None:
        self.choice = not self.sidebar.isVisible()
        self._fit()
        if self.choice:
            self.sidebar.setFocus()
        else:
            self._tabs.focus_current()

    def focus_filter(self) -> None:
        self._show_list()
        self.sidebar.filter.setFocus()
        self.sidebar.filter.selectAll()

    def open_search(self) -> None:
        self.popup.open(Known(self._chat_library.chats, self._mark_by_id()))

    def show_turn(self, chat_id: str, turn_id: str) -> None:
        self._hit = (chat_id, turn_id, "")
        self._chat_library.open(chat_id)

    def open_tab_list(self) -> None:
        """Lists all open chats in the same popup, below the button for it."""
        self.popup.field.clear()
        known = Known(self._chat_library.chats, self._mark_by_id())
        self.popup.open(known, below=self._tabs.strip.list)

    def new_folder(self, chat_ids: tuple[str, ...] = ()) -> None:
        """Creates a folder and edits its name in place."""
        name = self._chat_library.create_folder(tr("New folder"))
        self._chat_library.move(chat_ids, name)
        self._show_list()
        self._show_chats()
        self.sidebar.rename(RowKind.FOLDER, name)

    @cached_property
    def trash(self) -> TrashDialog:
        """Made when it is first asked for."""
        dialog = TrashDialog(self._window)
        for leaves in (dialog.restore_requested, dialog.purge_requested):
            leaves.connect(self._on_left_trash)
        dialog.restore_requested.connect(self._chat_library.undelete)
        dialog.purge_requested.connect(self._chat_library.purge)
        self._chat_library.trash_listed.connect(dialog.apply)
        return dialog

    def show_trash(self) -> None:
        self._chat_library.list_trash()
        come_up(self.trash)

    def delete_current(self) -> None:
        if session := self._workspace.current:
            self._on_delete_requested((session.chat.id,))

    def _connect(self, notices: Notices) -> None:
        for listed in (self._chat_library, self._projects):
            listed.changed.connect(self._show_chats)
        self._chat_library.failed.connect(notices.show_error)
        self._chat_library.opened.connect(self._on_opened)
        self._search.found.connect(self.popup.show_hits)
        self._search.failed.connect(notices.show_error)
        self._tabs.marks_changed.connect(self._marks_timer.start)
        self._tabs.strip.list.clicked.connect(self.open_tab_list)
        self._tabs.strip.sidebar.clicked.connect(self.toggle_sidebar)
        self._marks_timer.timeout.connect(self._show_marks)
        self.popup.typed.connect(self._search.look_for)
        self.popup.chosen.connect(self._on_chosen)
        self.popup.beside_chosen.connect(self._chat_library.open_beside)
        side = self.sidebar
        side.delete_requested.connect(self._on_delete_requested)
        side.new_requested.connect(self._workspace.new_chat)
        side.new_in_folder_requested.connect(self._workspace.new_chat)
        side.search_requested.connect(self.open_search)
        side.folder_requested.connect(self.new_folder)
        side.folder_deleted.connect(self._on_folder_deleted)
        side.left.connect(self._tabs.focus_current)

    def _show_list(self) -> None:
        if not self.sidebar.isVisible():
            self.choice = True
            self._fit()

    def _fit(self) -> None:
        is_wanted = has_list(self.choice, self._window.width(), self._middle.width())
        if is_wanted == self.sidebar.isHidden():
            self._width = self.width
            self.sidebar.setVisible(is_wanted)
            if is_wanted:
                self._middle.setSizes([self._width, max(1, self._middle.width() - self._width)])
        self.show_sidebar.setChecked(is_wanted)
        self._tabs.strip.sidebar.setVisible(not is_wanted)

    def _mark_by_id(self) -> dict[str, Mark]:
        return {tab.session.chat.id: tab.mark for tab in self._tabs.tabs}

    @Slot()
    def _show_chats(self) -> None:
        projects = tuple(one.folder for one in self._projects.all)
        self.sidebar.apply(self._chat_library.chats, self._chat_library.folders, projects)
        self._show_marks()

    @Slot()
    def _show_marks(self) -> None:
        current = self._workspace.current
        self.sidebar.set_marks(self._tabs.marks, current.chat.id if current else "")

    @Slot(object)
    def _on_delete_requested(self, chat_ids: tuple[str, ...]) -> None:
        known = [summary for chat_id in chat_ids if (summary := self._chat_library.chat(chat_id))]
        if not known:
            return
        were_open = self._chat_library.delete(chat_ids)
        if len(known) == 1:
            text = tr("Deleted “{title}”.", title=shown_title(known[0].title))
        else:
            text = tr_n("Deleted {n} chat.", "Deleted {n} chats.", len(known))
        self._deleted_last, self._deleted_text = set(chat_ids), text
        self._undo.offer(text, lambda: self._chat_library.undelete(chat_ids, were_open))

    @Slot(object)
    def _on_left_trash(self, chat_ids: tuple[str, ...]) -> None:
        self._deleted_last.difference_update(chat_ids)
        if not self._deleted_last:
            self._undo.withdraw(self._deleted_text)

    @Slot(str)
    def _on_folder_deleted(self, name: str) -> None:
        index = self._chat_library.folders.index(name)
        inside = self._chat_library.delete_folder(name)
        take_back = partial(self._chat_library.put_back_folder, name, index, inside)
        self._undo.offer(tr("Deleted the folder “{name}”. Its chats are kept.", name=name), take_back)

    @Slot(str, str, str)
    def _on_chosen(self, chat_id: str, turn_id: str, words: str) -> None:
        self._hit = (chat_id, turn_id, words)
        self._chat_library.look_at(chat_id)

    @Slot(str)
    def _on_opened(self, chat_id: str) -> None:
        """The chat is open and loaded."""
        wanted_id, turn_id, words = self._hit
        tab = self._tabs.tab_of(chat_id)
        if tab is None or tab.view is None:
            return
        tab.view.setFocus()
        if chat_id != wanted_id or not turn_id:
            return
        self._hit = ("", "", "")
        turn = next((turn for turn in tab.session.chat.all_turns() if turn.id == turn_id), None)
        if turn:
            if turn not in tab.session.chat.turns:
                tab.session.show_version(turn)
            if words:
                tab.view.show_words(turn, said_words(turn.text, words))
            else:
                tab.view.transcript.show_turn(turn)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._middle and event.type() == QEvent.Type.Resize:
            self._fit()
        return False


def chat_titles(chat_library: ChatLibrary) -> list[tuple[str, str]]:
    """Ids and titles of all chats, the newest first."""
    newest = sorted(chat_library.chats, key=lambda chat: chat.updated_at, reverse=True)
    return [(chat.id, shown_title(chat.title)) for chat in newest]


def said_words(text: str, words: str) -> str:
    """The matched words if they are adjacent, else the first match."""
    folded = text.casefold()
    wanted = [words.strip('"'), *words.replace('"', " ").split()]
    return next((each for each in wanted if each.casefold() in folded), wanted[0])


SIZE = QSize(520, 420)


class TrashDialog(QDialog):
    restore_requested = Signal(object)  # tuple of chat ids
    purge_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Trash"))
        resize_to_fit(self, SIZE)
        self.list = QListWidget(self)
        self.list.setObjectName("lines")
        self.list.setAccessibleName(tr("Deleted chats"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.note = PlainLabel("", self, "muted", wraps=True)
        self.restore = dialog_button(tr("&Restore"), self._on_restore, self)
        self.purge = dialog_button(tr("&Delete permanently"), self._on_purge, self)
        close = dialog_button(tr("Close"), self.close, self)
        buttons = hbox(self.restore, self.purge, STRETCH, close)
        vbox(self.note, (self.list, 1), buttons, on=self, margins=16)
        self.list.itemSelectionChanged.connect(self._show_state)
        self.list.itemActivated.connect(lambda _item: self._on_restore())
        self.finished.connect(self.list.clear)
        self._show_state()

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(item.data(Qt.ItemDataRole.UserRole) for item in self.list.selectedItems())

    @Slot(object)
    def apply(self, chats: Sequence[ChatSummary]) -> None:
        if self.isHidden():  # they are listed anew when it is shown
            return
        self.list.clear()
        for chat in chats:
            item = QListWidgetItem(shown_title(chat.title), self.list)
            item.setData(Qt.ItemDataRole.UserRole, chat.id)
        kept = tr("Deleted chats are kept here for {days} days.", days=TRASH_DAYS)
        self.note.setText(kept if chats else tr("The trash is empty."))
        self.note.setAlignment(Qt.AlignmentFlag.AlignLeading if chats else Qt.AlignmentFlag.AlignCenter)
        self.list.setVisible(bool(chats))
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        for button in (self.restore, self.purge):
            button.setEnabled(bool(self.chosen))

    def _on_restore(self) -> None:
        self.restore_requested.emit(self.chosen)

    def _on_purge(self) -> None:
        self.purge_requested.emit(self.chosen)
