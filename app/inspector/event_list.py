"""The events as table rows: bounded, filtered, and exported as text or JSON. GUI thread."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt

from app.inspector.event_words import words
from app.inspector.logbook import MAX_EVENTS, Entry, Journal
from app.inspector.row_table import Index, RowModel
from app.inspector.table_column import Column
from app.look.figures import count, decimal
from app.look.plain_text import as_tooltip
from app.look.words import mark, tr, tr_said
from app.protocol.events import Event, EventKind

TRIM = 500  # lines are removed in batches, so that not every new one costs a removal
_ROOT = QModelIndex()

EventEntry = Entry[Event]

KINDS = {
    EventKind.LEASE: mark("lease"),
    EventKind.RELEASE: mark("release"),
    EventKind.SHARE: mark("share"),
    EventKind.FORK: mark("fork"),
    EventKind.HIBERNATE: mark("hibernate"),
    EventKind.RESTORE: mark("restore"),
    EventKind.EVICT: mark("evict"),
    EventKind.CLEAR: mark("clear"),
    EventKind.SHIFT: mark("shift"),
    EventKind.PIN: mark("pin"),
    EventKind.PAUSE: mark("pause"),
    EventKind.RESUME: mark("resume"),
    EventKind.ABORT: mark("abort"),
    EventKind.OVERFLOW: mark("overflow"),
    EventKind.GRAMMAR: mark("grammar"),
    EventKind.TOOL: mark("tool"),
    EventKind.DRAFT: mark("draft model"),
    EventKind.ENCODE: mark("encode"),
    EventKind.VERIFY: mark("verify"),
    EventKind.NATIVE: mark("native log"),
}
COLUMNS = (
    Column(mark("step"), widest="999,999", is_number=True, is_muted=True),
    Column(mark("time"), widest="00:00:00.000", is_muted=True),
    Column(mark("kind"), widest=tuple(KINDS.values())),
    Column(mark("seq"), widest="00", is_sequence=True),
    Column(mark("tab"), width=88),
    Column(mark("event"), stretches=True),
)
STEP, TIME, KIND, SEQ, TAB, TEXT = range(len(COLUMNS))


def kind_text(kind: EventKind) -> str:
    return tr(KINDS[kind])


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events are shown. `seq_id` None means all sequences."""

    kinds: frozenset[EventKind] = frozenset(EventKind)
    seq_id: int | None = None
    needle: str = ""

    def fits(self, event: Event, title: str) -> bool:
        if event.kind not in self.kinds or self.seq_id not in (None, event.seq_id):
            return False
        return self.needle.casefold() in f"{kind_text(event.kind)} {title} {tr_said(words(event))}".casefold()


@dataclass(frozen=True, slots=True)
class Clock:
    """Writes `time.perf_counter()` seconds: as time of day, or as seconds since `start`."""

    start: float | None = None
    epoch: float = time.time() - time.perf_counter()

    def text(self, started_at: float) -> str:
        if self.start is not None:
            return tr("{number} s", number=decimal(started_at - self.start, 3))
        moment = datetime.fromtimestamp(self.epoch + started_at)  # noqa: DTZ006  the user's own time of day
        return moment.strftime("%H:%M:%S.") + f"{moment.microsecond // 1000:03}"


class EventList(RowModel):
    """The newest at the end."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.filter = EventFilter()
        self.clock = Clock()
        self._journal: Journal[Event] = Journal(1)
        self._num_seen = 0
        self._titles: Mapping[str, str] = {}
        self._shown: list[EventEntry] = []

    def follow(self, journal: Journal[Event]) -> None:
        """Show these from now on."""
        self._journal = journal
        self._show_all()

    def set_filter(self, wanted: EventFilter) -> None:
        if wanted != self.filter:
            self.filter = wanted
            self._show_all()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        if self._shown:
            self.dataChanged.emit(self.index(0, TAB), self.index(len(self._shown) - 1, TAB))

    def read_on(self) -> bool:
        """Take new events. False: none of them is shown."""
        new = [entry for entry in self._journal.new_since(self._num_seen) if self._fits(entry)]
        self._num_seen = self._journal.num_seen
        if not new:
            return False
        self.beginInsertRows(_ROOT, len(self._shown), len(self._shown) + len(new) - 1)
        self._shown += new
        self.endInsertRows()
        if (num_over := len(self._shown) - MAX_EVENTS) > TRIM:
            self.beginRemoveRows(_ROOT, 0, num_over - 1)
            del self._shown[:num_over]
            self.endRemoveRows()
        return True

    def entry_at(self, row: int) -> EventEntry:
        return self._shown[row]

    def texts_of(self, entry: EventEntry) -> tuple[str, ...]:
        event = entry.what
        return (
            count(entry.step),
            self.clock.text(entry.started_at),
            kind_text(event.kind),
            "" if event.seq_id is None else str(event.seq_id),
            self._title_of(event),
            tr_said(words(event)),
        )

    def as_text(self, rows: Iterable[int]) -> str:
        """One line for each, its parts with a tab between them."""
        return "".join("\t".join(self.texts_of(self._shown[row])) + "\n" for row in rows)

    def as_json_lines(self, rows: Iterable[int]) -> str:
        return "".join(json.dumps(self._as_json(self._shown[row]), ensure_ascii=False) + "\n" for row in rows)

    def num_rows(self) -> int:
        return len(self._shown)

    def text_at(self, row: int, column: int) -> str:
        return self.texts_of(self._shown[row])[column]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tooltip(tr_said(words(self._shown[index.row()].what)))
        return super().data(index, role)

    def _show_all(self) -> None:
        self.beginResetModel()
        self._shown = [entry for entry in self._journal.entries if self._fits(entry)]
        self._num_seen = self._journal.num_seen
        self.endResetModel()

    def _fits(self, entry: EventEntry) -> bool:
        return self.filter.fits(entry.what, self._title_of(entry.what))

    def _title_of(self, event: Event) -> str:
        return self._titles.get(event.chat_id, "") if event.chat_id else ""

    def _as_json(self, entry: EventEntry) -> dict[str, object]:
        event = entry.what
        return {
            "step": entry.step,
            "time": self.clock.text(entry.started_at),
            "kind": event.kind.value,
            "seq_id": event.seq_id,
            "chat_id": event.chat_id,
            "tab": self._title_of(event) or None,
            "text": words(event),
        }
