"""The list of all chats: headings, grouping and order, and the Qt model with drag and drop. GUI thread."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum, auto
from math import inf
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QDate,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.look import marks
from app.look.list import ROW
from app.look.marks import Mark
from app.look.plain_text import as_tooltip
from app.look.words import locale, mark, tr, tr_n
from app.storage.list_rows import ChatSummary
from app.ui.base.titles import shown_title

RECENT_DAYS = 7


class RowKind(IntEnum):
    HEADING = auto()
    FOLDER = auto()
    CHAT = auto()


class SidebarRow(NamedTuple):
    """A tuple, because 10,000 of them are created and compared whenever a chat changes."""

    kind: RowKind
    text: str  # heading, folder's name, or title
    chat_id: str = ""
    folder: str = ""  # the folder it is, or is in
    is_pinned: bool = False
    is_open: bool = False  # a folder whose chats are listed
    num_chats: int = 0  # in the folder
    is_project: bool = False

    @property
    def key(self) -> tuple[RowKind, str]:
        """Identifies a row that moves or is renamed."""
        return self.kind, self.chat_id or self.text


def local_today() -> date:
    return datetime.now(tz=UTC).astimezone().date()


def rows_of(
    chats: Iterable[ChatSummary],
    folders: Sequence[str],
    today: date,
    wanted: str = "",
    closed: Collection[str] = (),
    projects: Collection[str] = (),
) -> list[SidebarRow]:
    """Pinned chats, folders, then the rest by age. With `wanted`, only titles that contain it."""
    words = wanted.casefold().split()
    found = [(shown_title(chat.title), chat) for chat in chats]
    if words:
        found = [(title, chat) for title, chat in found if _has_all(f"{title} {chat.folder}", words)]
    found.sort(key=lambda each: each[1].updated_at, reverse=True)
    pinned = [each for each in found if each[1].is_pinned]
    rest = [each for each in found if not each[1].is_pinned]
    return [
        *_section(tr("Pinned"), pinned),
        *_folder_rows(rest, folders, () if words else closed, projects, hides_empty=bool(words)),
        *_rows_by_age([each for each in rest if each[1].folder not in folders], today),
    ]


def _has_all(title: str, words: Iterable[str]) -> bool:
    folded = title.casefold()
    return all(word in folded for word in words)


def _folder_rows(
    found: Sequence[tuple[str, ChatSummary]],
    folders: Sequence[str],
    closed: Collection[str],
    projects: Collection[str],
    hides_empty: bool,
) -> list[SidebarRow]:
    inside: dict[str, list[tuple[str, ChatSummary]]] = {folder: [] for folder in folders}
    for title, chat in found:
        if chat.folder in inside:
            inside[chat.folder].append((title, chat))
    rows: list[SidebarRow] = []
    for folder, chats in inside.items():
        if hides_empty and not chats:
            continue
        is_open, is_project = folder not in closed, folder in projects
        shown = SidebarRow(RowKind.FOLDER, folder, folder=folder, is_open=is_open)
        rows.append(shown._replace(num_chats=len(chats), is_project=is_project))
        rows += [_chat_row(title, chat) for title, chat in chats] if is_open else []
    return [SidebarRow(RowKind.HEADING, tr("Folders")), *rows] if rows else []


def _rows_by_age(found: Sequence[tuple[str, ChatSummary]], today: date) -> list[SidebarRow]:
    midnight = datetime.combine(today, datetime.min.time()).timestamp()
    yesterday = datetime.combine(today - timedelta(days=1), datetime.min.time()).timestamp()
    recent = datetime.combine(today - timedelta(days=RECENT_DAYS), datetime.min.time()).timestamp()
    ages = (
        (tr("Today"), [each for each in found if each[1].updated_at >= midnight]),
        (tr("Yesterday"), [each for each in found if yesterday <= each[1].updated_at < midnight]),
        (tr("Previous 7 days"), [each for each in found if recent <= each[1].updated_at < yesterday]),
    )
    rows = [row for heading, chats in ages for row in _section(heading, chats)]
    month_start = inf
    for title, chat in found:
        if chat.updated_at >= recent:
            continue
        if chat.updated_at < month_start:
            first = datetime.fromtimestamp(chat.updated_at, tz=UTC).astimezone().replace(day=1)
            month_start = datetime.combine(first.date(), datetime.min.time()).timestamp()
            rows.append(SidebarRow(RowKind.HEADING, month_name(first.year, first.month)))
        rows.append(_chat_row(title, chat))
    return rows


def _section(heading: str, found: Sequence[tuple[str, ChatSummary]]) -> list[SidebarRow]:
    return [SidebarRow(RowKind.HEADING, heading), *(_chat_row(*each) for each in found)] if found else []


def _chat_row(title: str, chat: ChatSummary) -> SidebarRow:
    return SidebarRow(RowKind.CHAT, title, chat.id, chat.folder, chat.is_pinned)


def month_name(year: int, month: int) -> str:
    """In the user's language: "November 2026"."""
    name = locale().toString(QDate(year, month, 1), tr("MMMM yyyy"))
    return name[:1].upper() + name[1:]


CHATS_TYPE = "application/x-skein-chats"
MARK = Qt.ItemDataRole.UserRole + 1

Index = QModelIndex | QPersistentModelIndex


class SidebarModel(QAbstractListModel):
    renamed = Signal(object, str)  # a Row, its new name
    dropped = Signal(object, str)  # tuple of chat ids, the folder or ""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._chats: Sequence[ChatSummary] = ()
        self.folders: Sequence[str] = ()
        self._projects: Collection[str] = ()
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

    def apply(
        self, chats: Sequence[ChatSummary], folders: Sequence[str], projects: Collection[str] = ()
    ) -> None:
        self._chats, self.folders, self._projects = chats, folders, projects
        self.make_rows()

    def set_wanted(self, wanted: str) -> None:
        """Shows only titles with these words."""
        if wanted != self._wanted:
            self._wanted = wanted
            self.make_rows()

    def set_marks(self, mark_by_id: Mapping[str, Mark], current: str) -> None:
        """The marks of the open chats, and which chat is current."""
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
        self.make_rows()

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

    def make_rows(self) -> None:
        """Anew: a chat has changed, or the day has."""
        rows = rows_of(self._chats, self.folders, local_today(), self._wanted, self._closed, self._projects)
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
        return row.folder if row.folder in self.folders else ""

    def _spoken(self, row: SidebarRow) -> str:
        if row.kind is RowKind.FOLDER:
            chats = tr_n("{n} chat", "{n} chats", row.num_chats)
            words = mark("Project {name}, {chats}") if row.is_project else mark("Folder {name}, {chats}")
            return tr(words, name=row.text, chats=chats)
        return self._tooltip(row).replace("\n", ", ") if row.kind is RowKind.CHAT else row.text

    def _tooltip(self, row: SidebarRow) -> str:
        mark = self._marks.get(row.chat_id)
        states = [tr("pinned")] if row.is_pinned else []
        if mark is not None:
            states += [tr("open")] if mark is marks.IDLE else [tr("open"), mark.word]
        return f"{row.text}\n{' · '.join(states)}" if states else row.text
