"""The search results as a Qt model. GUI thread."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.look import marks
from app.look.list import ROW
from app.look.marks import Mark
from app.look.words import tr
from app.storage.list_rows import ChatSummary
from app.storage.search import SearchHit
from app.ui.chats.search_rows import FoundMessages, Heading, hit_rows, title_rows

Index = QModelIndex | QPersistentModelIndex


class SearchModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._titles: list[Heading | FoundMessages] = []
        self._hits: list[Heading | FoundMessages] = []
        self._marks: Mapping[str, Mark] = {}

    @property
    def rows(self) -> Sequence[Heading | FoundMessages]:
        return [*self._titles, *self._hits]

    def set_titles(self, words: str, chats: Sequence[ChatSummary], marks: Mapping[str, Mark]) -> None:
        """Drops messages found for former words."""
        self.beginResetModel()
        self._marks = marks
        self._titles, self._hits = title_rows(words, chats, marks), []
        self.endResetModel()

    def set_hits(self, hits: Sequence[SearchHit]) -> None:
        """Adds messages below the titles, which keep their selection."""
        rows = hit_rows(hits, self._marks)
        if not self._titles or self._hits:
            self.beginResetModel()
            self._hits = rows
            self.endResetModel()
        elif rows:
            first = len(self._titles)
            self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
            self._hits = rows
            self.endInsertRows()

    def found_at(self, index: Index) -> FoundMessages | None:
        row = self._row(index)
        return row if isinstance(row, FoundMessages) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._titles) + len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._row(index)
        if row is None:
            return None
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text if isinstance(row, Heading) else row.plain_title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.text if isinstance(row, Heading) else _spoken(row)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        return usual | Qt.ItemFlag.ItemIsSelectable if self.found_at(index) else usual

    def _row(self, index: Index) -> Heading | FoundMessages | None:
        place, num_titles = index.row(), len(self._titles)
        if not index.isValid() or place >= num_titles + len(self._hits):
            return None
        return self._titles[place] if place < num_titles else self._hits[place - num_titles]


def _spoken(found: FoundMessages) -> str:
    parts = [found.plain_title, found.excerpt]
    if found.mark is not None:
        parts.append(tr("open") if found.mark is marks.IDLE else found.mark.word)
    return ", ".join(part for part in parts if part)
