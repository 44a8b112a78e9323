"""The context menu of chats or a folder in the sidebar. GUI thread."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.look.plain_text import as_tab_text
from app.look.popups import Menu
from app.look.words import tr
from app.ui.chats.sidebar_rows import Kind, Row


class SidebarMenu(Menu):
    """For the selected rows or, without any, to create. Use `popup`: `exec` would stop every coroutine."""

    open_requested = Signal(str)
    beside_requested = Signal(str)
    rename_requested = Signal()
    pin_requested = Signal(object, bool)
    move_requested = Signal(object, str)
    move_to_new_requested = Signal(object)
    fork_requested = Signal(str)
    export_requested = Signal(object)
    delete_requested = Signal()
    new_requested = Signal()
    folder_requested = Signal()

    def __init__(self, rows: Sequence[Row], folders: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chats = [row for row in rows if row.kind is Kind.CHAT]
        if chats:
            self._add_chat_actions(chats, folders)
        elif rows:
            self.addAction(tr("&Rename folder")).triggered.connect(self.rename_requested)
            self.addAction(tr("&Delete folder, keep its chats")).triggered.connect(self.delete_requested)
        else:
            self.addAction(tr("&New chat")).triggered.connect(self.new_requested)
            self.addAction(tr("New &folder")).triggered.connect(self.folder_requested)

    def _add_chat_actions(self, chats: Sequence[Row], folders: Sequence[str]) -> None:
        ids = tuple(row.chat_id for row in chats)
        if len(ids) == 1:
            self.addAction(tr("&Open")).triggered.connect(partial(self.open_requested.emit, ids[0]))
            self.addAction(tr("Open in split &view")).triggered.connect(
                partial(self.beside_requested.emit, ids[0])
            )
            self.addSeparator()
            self.addAction(tr("&Rename")).triggered.connect(self.rename_requested)
            self.addAction(tr("&Fork")).triggered.connect(partial(self.fork_requested.emit, ids[0]))
        are_pinned = all(row.is_pinned for row in chats)
        pin = self.addAction(tr("Un&pin") if are_pinned else tr("&Pin"))
        pin.triggered.connect(partial(self.pin_requested.emit, ids, not are_pinned))
        self.addMenu(self._folder_menu(chats, ids, folders))
        self.addAction(tr("&Export…")).triggered.connect(partial(self.export_requested.emit, ids))
        self.addSeparator()
        self.addAction(tr("&Delete")).triggered.connect(self.delete_requested)

    def _folder_menu(self, chats: Sequence[Row], ids: tuple[str, ...], folders: Sequence[str]) -> QMenu:
        menu = Menu(tr("&Move to folder"), self)
        for folder in folders:
            action = menu.addAction(as_tab_text(folder))
            action.setEnabled(any(row.folder != folder for row in chats))
            action.triggered.connect(partial(self.move_requested.emit, ids, folder))
        if folders:
            menu.addSeparator()
        out = menu.addAction(tr("&No folder"))
        out.setEnabled(any(row.folder for row in chats))
        out.triggered.connect(partial(self.move_requested.emit, ids, ""))
        menu.addAction(tr("New &folder…")).triggered.connect(partial(self.move_to_new_requested.emit, ids))
        return menu
