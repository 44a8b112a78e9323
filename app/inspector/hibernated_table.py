"""The chats whose cells were saved to make room: how long they are, and where they lie. GUI thread."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from app.engine.types import HibernatedChat
from app.inspector.row_table import RowTable
from app.look.figures import count, mebibytes

Index = QModelIndex | QPersistentModelIndex
NUM_COLUMNS = 4
TAB, TOKENS, SIZE, PLACE = range(NUM_COLUMNS)
WIDEST = {TOKENS: "9,999,999 tokens", SIZE: "99,999.9 MiB", PLACE: "RAM disk"}
ROW_HEIGHT = 24
MAX_ROWS = 6  # more are scrolled to
_ROOT = QModelIndex()
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def row_texts(chat: HibernatedChat, title: str) -> tuple[str, str, str, str]:
    place = "disk" if chat.is_on_disk else "RAM"
    return title, f"{count(chat.num_tokens)} tokens", mebibytes(chat.size_bytes), place


def total_text(chats: tuple[HibernatedChat, ...]) -> str:
    """How many, and what they take of the memory; what is on disk takes none of it."""
    if not chats:
        return ""
    in_ram = sum(chat.size_bytes for chat in chats if not chat.is_on_disk)
    chats_text = "1 chat" if len(chats) == 1 else f"{count(len(chats))} chats"
    return f"{chats_text} · {mebibytes(in_ram)} of RAM"


class HibernatedModel(QAbstractTableModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats: tuple[HibernatedChat, ...] = ()
        self._titles: Mapping[str, str] = {}

    def apply(self, chats: tuple[HibernatedChat, ...]) -> None:
        if chats != self._chats:
            self.beginResetModel()
            self._chats = chats
            self.endResetModel()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        if self._chats:
            self.dataChanged.emit(self.index(0, TAB), self.index(len(self._chats) - 1, TAB))

    def chat_at(self, row: int) -> HibernatedChat:
        return self._chats[row]

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._chats)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else NUM_COLUMNS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        chat = self._chats[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row_texts(chat, self._titles.get(chat.chat_id, "closed chat"))[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() in (TOKENS, SIZE) else _LEFT
        return None


class HibernatedTable(RowTable):
    chat_activated = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Hibernated chats", parent)
        self.chats = HibernatedModel(self)
        self.setModel(self.chats)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.horizontalHeader().setSectionResizeMode(TAB, QHeaderView.ResizeMode.Stretch)
        for column, widest in WIDEST.items():
            self.setColumnWidth(column, self.fontMetrics().horizontalAdvance(widest) + 12)
        self.clicked.connect(self._on_chosen)
        self.activated.connect(self._on_chosen)

    def apply(self, chats: tuple[HibernatedChat, ...]) -> None:
        self.chats.apply(chats)
        self.setFixedHeight(min(len(chats), MAX_ROWS) * ROW_HEIGHT + 4)

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self.chats.set_titles(titles)

    def _on_chosen(self, index: QModelIndex) -> None:
        self.chat_activated.emit(self.chats.chat_at(index.row()).chat_id)
