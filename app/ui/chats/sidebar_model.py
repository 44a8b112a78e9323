"""The list of all chats as a Qt model, with drag and drop. GUI thread."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.look import marks
from app.look.list import ROW
from app.look.marks import Mark
from app.look.plain_text import as_tooltip
from app.look.words import tr, tr_n
from app.storage.list_rows import ChatSummary
from app.ui.chats.sidebar_rows import RowKind, SidebarRow, local_today, rows_of

CHATS_TYPE = "application/x-skein-chats"
MARK = Qt.ItemDataRole.UserRole + 1

Index = QModelIndex | QPersistentModelIndex


class SidebarModel(QAbstractListModel):
    renamed = Signal(object, str)  # a Row, its new name
    dropped = Signal(object, str)  # tuple of chat ids, the folder or ""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._chats: Sequence[ChatSummary] = ()
        self._folders: Sequence[str] = ()
        self._closed: set[str] = set()  # folders whose chats are not listed
        self._wanted = ""
        self.rows: list[SidebarRow] = []
        self._places: dict[tuple[RowKind, str], int] = {}  # of rows, by key
        self._marks: Mapping[str, Mark] = {}  # of the chats that are open, by id
        self._current = ""
        self._target = ""  # the folder that dragged chats are over

    @property
    def closed_folders(self) -> tuple[str, ...]:
        return tuple(sorted(self._closed))

    def apply(self, chats: Sequence[ChatSummary], folders: Sequence[str], today: date | None = None) -> None:
        self._chats, self._folders = chats, folders
        self._make_rows(today)

    def set_wanted(self, wanted: str) -> None:
        """Shows only titles with these words."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._make_rows()

    def set_marks(self, mark_by_id: Mapping[str, Mark], current: str) -> None:
        """Of the chats that are open, and which one is current."""
        changed = {
            chat_id
            for chat_id in {*self._marks, *mark_by_id}
            if self._marks.get(chat_id) != mark_by_id.get(chat_id)
        }
        changed |= {self._current, current} if current != self._current else set()
        self._marks, self._current = mark_by_id, current
        for chat_id in changed:
            row = self._places.get((RowKind.CHAT, chat_id))
            if row is not None:
                self.dataChanged.emit(self.index(row), self.index(row))

    def set_folder_open(self, folder: str, is_open: bool) -> None:
        if is_open:
            self._closed.discard(folder)
        else:
            self._closed.add(folder)
        self._make_rows()

    def set_target(self, folder: str) -> None:
        """The folder under dragged chats; "" means no folder."""
        changed, self._target = {self._target, folder} - {""}, folder
        for name in changed:
            index = self.index_of((RowKind.FOLDER, name))
            self.dataChanged.emit(index, index)

    def is_target(self, row: SidebarRow) -> bool:
        return row.kind is RowKind.FOLDER and bool(self._target) and row.folder == self._target

    def row_at(self, index: Index) -> SidebarRow | None:
        return self.rows[index.row()] if index.isValid() and index.row() < len(self.rows) else None

    def index_of(self, key: tuple[RowKind, str]) -> QModelIndex:
        row = self._places.get(key)
        return QModelIndex() if row is None else self.index(row)

    def is_current(self, row: SidebarRow) -> bool:
        return bool(row.chat_id) and row.chat_id == self._current

    def is_open(self, row: SidebarRow) -> bool:
        """It has a tab."""
        return row.chat_id in self._marks

    def _make_rows(self, today: date | None = None) -> None:
        rows = rows_of(self._chats, self._folders, today or local_today(), self._wanted, self._closed)
        if rows == self.rows:
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        keys = [row.key if (row := self.row_at(index)) else None for index in before]
        self.rows = rows
        self._places = {row.key: place for place, row in enumerate(rows)}
        self.changePersistentIndexList(before, [self.index_of(key) if key else QModelIndex() for key in keys])
        self.layoutChanged.emit()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index)
        if row is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return row.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return as_tooltip(self._tooltip(row)) if row.kind is RowKind.CHAT else None
        if role == ROW:
            return row
        if role == MARK:
            return self._marks.get(row.chat_id)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row_at(index)
        if row is None:
            return Qt.ItemFlag.ItemIsDropEnabled
        if row.kind is RowKind.HEADING:
            return (
                Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsDropEnabled | Qt.ItemFlag.ItemNeverHasChildren
            )
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        drag = Qt.ItemFlag.ItemIsDragEnabled if row.kind is RowKind.CHAT else Qt.ItemFlag.NoItemFlags
        return usual | drag | Qt.ItemFlag.ItemIsDropEnabled | Qt.ItemFlag.ItemNeverHasChildren

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emits `renamed`; the chat library applies it."""
        row = self.row_at(index)
        title = " ".join(str(value).split())
        if row is None or role != Qt.ItemDataRole.EditRole or not title or title == row.text:
            return False
        self.renamed.emit(row, title)
        return True

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [CHATS_TYPE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        rows = (self.row_at(index) for index in indexes)
        data.setData(CHATS_TYPE, "\n".join(row.chat_id for row in rows if row and row.chat_id).encode())
        return data

    def canDropMimeData(
        self, data: QMimeData, _action: Qt.DropAction, _row: int, _column: int, parent: Index
    ) -> bool:
        return data.hasFormat(CHATS_TYPE) and self._folder_at(parent) is not None

    def dropMimeData(
        self, data: QMimeData, _action: Qt.DropAction, _row: int, _column: int, parent: Index
    ) -> bool:
        """Always False: rows are rebuilt from the chats' new folders, so Qt must not remove any."""
        folder = self._folder_at(parent)
        if folder is not None and data.hasFormat(CHATS_TYPE):
            ids = bytes(data.data(CHATS_TYPE).data()).decode().split("\n")
            self.dropped.emit(tuple(chat_id for chat_id in ids if chat_id), folder)
        return False

    def _folder_at(self, index: Index) -> str | None:
        """The target folder of a drop at this row: all other parts of the list mean no folder."""
        row = self.row_at(index)
        if row is None:
            return None
        return row.folder if row.folder in self._folders else ""

    def _spoken(self, row: SidebarRow) -> str:
        if row.kind is RowKind.FOLDER:
            chats = tr_n("{n} chat", "{n} chats", row.num_chats)
            return tr("Folder {name}, {chats}", name=row.text, chats=chats)
        return self._tooltip(row).replace("\n", ", ") if row.kind is RowKind.CHAT else row.text

    def _tooltip(self, row: SidebarRow) -> str:
        mark = self._marks.get(row.chat_id)
        states = [tr("pinned")] if row.is_pinned else []
        if mark is not None:
            states += [tr("open")] if mark is marks.IDLE else [tr("open"), mark.word]
        return f"{row.text}\n{' · '.join(states)}" if states else row.text
