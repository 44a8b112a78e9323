"""The list of all chats beside the tabs: a filter, folders, and all actions on a chat.

What changes one chat alone the chat library does; the rest is asked for. GUI thread.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QMenu, QToolButton, QWidget

from app.look.buttons import IconButton
from app.look.icons import icon
from app.look.layouts import STRETCH, hbox, vbox
from app.look.marks import Mark
from app.look.plain_text import PlainLabel, as_tab_text, search_field
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import tr
from app.services.chat_library import ChatLibrary
from app.storage.list_rows import ChatSummary
from app.ui.base.keyboard import keeps_escape
from app.ui.base.proportions import MIN_LIST_WIDTH
from app.ui.chats.sidebar_delegate import SidebarDelegate
from app.ui.chats.sidebar_model import RowKind, SidebarModel, SidebarRow, local_today

_LOOK_AT_CLOCK_MS = 60_000


class Sidebar(QWidget):
    export_requested = Signal(object)  # tuple of chat ids
    delete_requested = Signal(object)  # tuple of chat ids
    folder_requested = Signal(object)  # a new one for these chats: a tuple of their ids
    folder_deleted = Signal(str)
    new_requested = Signal()
    new_in_folder_requested = Signal(str)
    project_requested = Signal(str)  # its page, for a folder
    search_requested = Signal()
    left = Signal()  # Escape: back to the message

    def __init__(self, library: ChatLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self.model = SidebarModel(self)
        self.filter = search_field(tr("Filter chats"), self, tr("Filter chats by title"))
        self.list = _List(self)
        self._nothing = PlainLabel("", self, "muted", wraps=True)
        self._day = local_today()
        self._clock = QTimer(self, interval=_LOOK_AT_CLOCK_MS)
        self._lay_out()
        self._connect()
        self._nothing.hide()  # nothing is known yet
        self._clock.start()

    def apply(
        self, chats: Sequence[ChatSummary], folders: Sequence[str], projects: Collection[str] = ()
    ) -> None:
        self.model.apply(chats, folders, projects)
        self._show_nothing()

    def set_marks(self, mark_by_id: Mapping[str, Mark], current_id: str) -> None:
        self.model.set_marks(mark_by_id, current_id)
        if not self.list.hasFocus():  # else it would look as if two chats were the current one
            self.list.clearSelection()

    def select(self, kind: RowKind, key: str) -> None:
        """Makes a row the one the keyboard is on."""
        index = self.model.index_of((kind, key))
        if index.isValid():
            self.list.setCurrentIndex(index)
            self.list.scrollTo(index)

    def rename(self, kind: RowKind, key: str) -> None:
        """Puts a field in the place of its name."""
        self.select(kind, key)
        if self.list.currentIndex().isValid():
            self.list.setFocus()
            self.list.edit(self.list.currentIndex())

    def selected_rows(self) -> list[SidebarRow]:
        rows = (self.model.row_at(index) for index in sorted(self.list.selectedIndexes()))
        return [row for row in rows if row]

    def _lay_out(self) -> None:
        self.setMinimumWidth(MIN_LIST_WIDTH)
        self.setAccessibleName(tr("All chats"))
        self.filter.addAction(icon("list-filter"), QLineEdit.ActionPosition.LeadingPosition)
        self.list.setModel(self.model)
        self.list.setItemDelegate(SidebarDelegate(self.list))
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        new_chat = QToolButton(self)
        new_chat.setText(tr("New chat"))
        new_chat.setIcon(icon("plus"))
        new_chat.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        new_chat.setProperty("kind", "action")
        new_chat.setToolTip(tr("New chat (Ctrl+T)"))
        new_chat.setProperty("command", "chat.new")
        new_chat.clicked.connect(self.new_requested)
        search = IconButton("search", tr("Search all messages (Ctrl+K)"), 28, self)
        search.setProperty("command", "chat.search")
        search.clicked.connect(self.search_requested)
        folder = IconButton("folder-plus", tr("New folder"), 28, self)
        folder.clicked.connect(lambda: self.folder_requested.emit(()))
        vbox(
            hbox(new_chat, STRETCH, search, folder, margins=(8, 6, 6, 0), spacing=2),
            hbox(self.filter, margins=(8, 4, 8, 4)),
            self._nothing,
            (self.list, 1),
            on=self,
            margins=(0, 0, 1, 0),
            spacing=0,
        )
        for before, after in pairwise((new_chat, search, folder, self.filter, self.list)):
            QWidget.setTabOrder(before, after)
        self.setFocusProxy(self.list)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._on_filter_changed)
        self.model.renamed.connect(self._on_renamed)
        self.model.dropped.connect(self._library.move)
        self.list.opened.connect(self._on_opened)
        self.list.clicked_on.connect(self._on_clicked)
        self.list.delete_pressed.connect(self._on_delete)
        self.list.folder_toggled.connect(self.model.set_folder_open)
        self.list.menu_requested.connect(self._on_menu_requested)
        self.list.left.connect(self.left)
        self._clock.timeout.connect(self._on_minute)

    def _show_nothing(self) -> None:
        self._nothing.setVisible(not self.model.rows)
        self._nothing.setText(tr("No title matches.") if self.filter.text() else tr("No chats yet."))

    @Slot(str)
    def _on_filter_changed(self, text: str) -> None:
        self.model.set_wanted(text)
        self._show_nothing()

    @Slot()
    def _on_minute(self) -> None:
        """Dates may have changed from today to yesterday."""
        if local_today() != self._day:
            self._day = local_today()
            self.model.make_rows()

    @Slot(object, str)
    def _on_renamed(self, row: SidebarRow, name: str) -> None:
        if row.kind is RowKind.FOLDER:
            self._library.rename_folder(row.folder, name)
        else:
            self._library.rename(row.chat_id, name)

    @Slot(object)
    def _on_opened(self, row: SidebarRow) -> None:
        if row.kind is RowKind.CHAT:
            self._library.open(row.chat_id)
        elif row.kind is RowKind.FOLDER:
            self.model.set_folder_open(row.folder, not row.is_open)

    @Slot(object)
    def _on_clicked(self, row: SidebarRow) -> None:
        if row.kind is RowKind.CHAT:
            self._library.look_at(row.chat_id)
        else:
            self._on_opened(row)

    @Slot()
    def _on_delete(self) -> None:
        rows = self.selected_rows()
        chats = tuple(row.chat_id for row in rows if row.kind is RowKind.CHAT)
        if chats:
            self._leave_rows(rows)
            self.delete_requested.emit(chats)
        elif rows and rows[0].kind is RowKind.FOLDER:
            self.folder_deleted.emit(rows[0].folder)

    def _leave_rows(self, rows: Sequence[SidebarRow]) -> None:
        """Keeps the focus near: on the next chat, or the previous one."""
        gone = {row.key for row in rows}
        places = [place for place, row in enumerate(self.model.rows) if row.key in gone]
        after = [row for row in self.model.rows[places[-1] + 1 :] if row.kind is RowKind.CHAT]
        before = [row for row in self.model.rows[: places[0]] if row.kind is RowKind.CHAT]
        if near := (after or before[::-1])[:1]:
            self.select(RowKind.CHAT, near[0].chat_id)

    @Slot(object, QPoint, bool)
    def _on_menu_requested(self, row: SidebarRow | None, place: QPoint, is_new: bool) -> None:
        """For the selected rows or, without any, to create. Not `exec`: that would stop every coroutine."""
        rows = self.selected_rows() if row else []
        chats = [each for each in rows if each.kind is RowKind.CHAT]
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if chats:
            self._fill_for_chats(menu, chats)
        elif rows:
            folder, is_project = rows[0].folder, rows[0].is_project
            words = tr("&Project…") if is_project else tr("Make it a &project…")
            menu.addAction(tr("&New chat in this folder"), partial(self.new_in_folder_requested.emit, folder))
            menu.addAction(words, partial(self.project_requested.emit, folder))
            menu.addSeparator()
            menu.addAction(tr("&Rename folder"), partial(self.rename, *rows[0].key))
            menu.addAction(tr("&Delete folder, keep its chats"), self._on_delete)
        else:
            menu.addAction(tr("&New chat"), self.new_requested.emit)
            menu.addAction(tr("New &folder"), partial(self.folder_requested.emit, ()))
        if is_new:  # selected for the menu alone; its actions come before this
            menu.aboutToHide.connect(self.list.clearSelection, Qt.ConnectionType.QueuedConnection)
        menu.popup(place)

    def _fill_for_chats(self, menu: Menu, chats: Sequence[SidebarRow]) -> None:
        ids, library = tuple(row.chat_id for row in chats), self._library
        if len(ids) == 1:
            menu.addAction(tr("&Open"), partial(library.open, ids[0]))
            menu.addAction(tr("Open in split &view"), partial(library.open_beside, ids[0]))
            menu.addSeparator()
            menu.addAction(tr("&Rename"), partial(self.rename, *chats[0].key))
            menu.addAction(tr("&Fork"), partial(library.fork, ids[0]))
        are_pinned = all(row.is_pinned for row in chats)
        pin = partial(library.set_pinned, ids, not are_pinned)
        menu.addAction(tr("Un&pin") if are_pinned else tr("&Pin"), pin)
        menu.addMenu(self._folder_menu(menu, chats, ids))
        menu.addAction(tr("&Export…"), partial(self.export_requested.emit, ids))
        menu.addSeparator()
        menu.addAction(tr("&Delete"), self._on_delete)

    def _folder_menu(self, parent: Menu, chats: Sequence[SidebarRow], ids: tuple[str, ...]) -> QMenu:
        menu = Menu(tr("&Move to folder"), parent)
        for folder in self.model.folders:
            action = menu.addAction(as_tab_text(folder), partial(self._library.move, ids, folder))
            action.setEnabled(any(row.folder != folder for row in chats))
        if self.model.folders:
            menu.addSeparator()
        out = menu.addAction(tr("&No folder"), partial(self._library.move, ids, ""))
        out.setEnabled(any(row.folder for row in chats))
        menu.addAction(tr("New &folder…"), partial(self.folder_requested.emit, ids))
        return menu

    def event(self, event: QEvent) -> bool:
        return keeps_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """From the filter down into the list."""
        if event.key() == Qt.Key.Key_Down and self.filter.hasFocus():
            self.list.setFocus()
            self.list.go_to_first()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.filter.hasFocus():
            self.list.go_to_first()
            if row := self.model.row_at(self.list.currentIndex()):
                self._on_opened(row)
        elif event.key() == Qt.Key.Key_Escape and self.filter.hasFocus() and self.filter.text():
            self.filter.clear()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.surface))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), QColor(tokens.hairline))


class _List(QListView):
    opened = Signal(object)  # a Row, by Enter or a double click
    clicked_on = Signal(object)  # a Row, by one click
    delete_pressed = Signal()
    folder_toggled = Signal(str, bool)
    menu_requested = Signal(object, QPoint, bool)  # a Row or None, a place on the screen, newly selected
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chats")
        self.setAccessibleName(tr("All chats"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(False)  # a black frame
        self.setDragDropOverwriteMode(True)  # onto rows, never between them
        self.viewport().setAutoFillBackground(False)

    def go_to_first(self) -> None:
        model = self._model()
        for place, row in enumerate(model.rows):
            if row.kind is RowKind.CHAT:
                self.setCurrentIndex(model.index(place))
                return

    def _model(self) -> SidebarModel:
        model = self.model()
        assert isinstance(model, SidebarModel)
        return model

    def _row(self, index: QModelIndex) -> SidebarRow | None:
        return self._model().row_at(index)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Skips headings, which have no actions."""
        index = super().moveCursor(action, modifiers)
        up = QAbstractItemView.CursorAction
        step = -1 if action in (up.MoveUp, up.MovePrevious, up.MovePageUp, up.MoveLeft) else 1
        place = index.row()
        rows = self._model().rows
        while 0 <= place < len(rows) and rows[place].kind is RowKind.HEADING:
            place += step
        return self._model().index(place) if 0 <= place < len(rows) else self.currentIndex()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self._row(self.currentIndex())
        key = event.key()
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
        elif row and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(row)
        elif row and key == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        elif row and row.kind is RowKind.FOLDER and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.folder_toggled.emit(row.folder, key == Qt.Key.Key_Right)
        elif row and row.folder and row.kind is RowKind.CHAT and key == Qt.Key.Key_Left:
            self.setCurrentIndex(self._model().index_of((RowKind.FOLDER, row.folder)))
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.RightButton:
            return  # the menu selects, and for as long as it is open
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """One click looks at a chat; with Ctrl or Shift it selects."""
        pressed = self.state() == QAbstractItemView.State.DraggingState
        super().mouseReleaseEvent(event)
        row = self._row(self.indexAt(event.position().toPoint()))
        if row and _is_plain(event) and not pressed and len(self.selectedIndexes()) == 1:
            self.clicked_on.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Keeps the tab that its first click opened. A folder takes each click by itself."""
        super().mouseDoubleClickEvent(event)
        row = self._row(self.indexAt(event.position().toPoint()))
        if row and row.kind is RowKind.CHAT and _is_plain(event):
            self.opened.emit(row)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        self._point_at(self._row(index) if event.isAccepted() else None)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._point_at(None)

    def dropEvent(self, event: QDropEvent) -> None:
        super().dropEvent(event)
        self._point_at(None)

    def _point_at(self, row: SidebarRow | None) -> None:
        """Shows the drop target of dragged chats."""
        self._model().set_target(row.folder if row else "")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            place = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        else:
            index, place = self.indexAt(event.pos()), event.globalPos()
        row = self._row(index)
        is_new = row and row.kind is not RowKind.HEADING and index not in self.selectedIndexes()
        if is_new:
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.menu_requested.emit(row if row and row.kind is not RowKind.HEADING else None, place, is_new)


def _is_plain(event: QMouseEvent) -> bool:
    return event.button() is Qt.MouseButton.LeftButton and not event.modifiers()
