"""Why did it recompute? For each request, the sources of its prompt and where its prefix ended.

GUI thread.
"""

from collections.abc import Mapping
from itertools import groupby

from PySide6.QtCore import QModelIndex, QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from app.inspector.chat_names import chat_name
from app.inspector.dock_panel import DockPanel
from app.inspector.prefix_view import (
    PartingView,
    SourceBar,
    head_of_lease,
    num_prompt_tokens,
    share_text,
    what_happened,
    what_it_cost,
    what_to_do,
)
from app.inspector.recording import (
    LAST_TEXT,
    MAX_LEASES,
    JournalEntry,
    LeasedPrompt,
    Recording,
    kind_text,
    shown,
)
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.layouts import vbox
from app.look.plain_text import PlainLabel, heading
from app.look.table import Column, RowModel, RowTable
from app.look.words import mark, sentences, tr
from app.protocol.report import Lease

COLUMNS = (
    Column("step", widest="9,999,999", is_number=True, is_muted=True),
    Column("seq", "A chat's place in the shared context (llama.cpp's seq_id)", "00", is_sequence=True),
    Column("tab", width=110),
    Column("prompt", widest="9,999,999", is_number=True),
    Column("cached", widest="100%", is_number=True),
    Column("computed", widest="9,999,999", is_number=True),
    Column("why", stretches=True),
)
TAB, COMPUTED, WHY = 2, 5, 6
NOTHING = mark("No request yet. Send a message to see what was computed, and why.")
_ROOT = QModelIndex()

LeaseEntry = JournalEntry[LeasedPrompt]


class PrefixPanel(DockPanel):
    NAME = "prefix"
    TITLE = mark("Why did it recompute?")

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.requests = _Requests(self)
        self.table = RowTable(tr("Requests"), self.requests, self)
        self.head = heading("", self)
        self.reason = PlainLabel(tr(NOTHING), self, wraps=True)
        self.reason.setFont(tabular(small_font()))
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sources = SourceBar(self)
        self.parting = PartingView(self)
        self._shown: LeaseEntry | None = None
        self._lay_out()
        self.setFocusProxy(self.table)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.doubleClicked.connect(self._on_double_clicked)
        self.reset()

    def draw(self) -> None:
        self._read_on()
        self.requests.redraw(COMPUTED, COMPUTED)
        self._show()

    def reset(self) -> None:
        self._shown = None
        self.requests.clear()
        self._show()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        super().set_titles(titles)
        self.requests.set_titles(dict(self.recording.titles) | dict(titles))

    def select_sequence(self, seq_id: int) -> None:
        """Its newest request, unless one of its own is shown: this panel itself may have chosen that."""
        self._read_on()
        if self._shown and self._shown.what.lease.seq_id == seq_id:
            return
        if (row := self.requests.newest_of(seq_id)) is not None:
            self.table.setCurrentIndex(self.requests.index(row, 0))

    def _read_on(self) -> None:
        """The newest request is shown until the user chooses another one."""
        follows = not self.requests.rowCount() or self.table.currentIndex().row() <= 0
        if self.requests.read_on(self.recording) and follows:
            self.table.setCurrentIndex(self.requests.index(0, 0))

    def _lay_out(self) -> None:
        words = vbox(self.head, self.sources, self.parting, self.reason, margins=(12, 4, 12, 0), spacing=6)
        vbox((self.table, 1), words, on=self, margins=(0, 0, 0, 8), spacing=4)

    @Slot(QModelIndex)
    def _on_current_changed(self, current: QModelIndex) -> None:
        self._shown = self.requests.entry_at(current.row()) if current.isValid() else None
        self._show()
        if self._shown and self.table.hasFocus():
            self.sequence_selected.emit(self._shown.what.lease.seq_id)

    @Slot(QModelIndex)
    def _on_double_clicked(self, index: QModelIndex) -> None:
        self.chat_activated.emit(self.requests.entry_at(index.row()).what.lease.chat_id)

    # One request.

    def _show(self) -> None:
        if not self.isVisible():
            return  # `draw` comes when it appears
        prompt = self._shown.what if self._shown else None
        for part in (self.head, self.sources, self.parting):
            part.setVisible(prompt is not None)
        if prompt is None:
            self.reason.setText(tr(NOTHING))
            return
        lease, model = prompt.lease, self.recording.model
        self.head.setText(f"{head_of_lease(lease)} · {self.requests.title_of(lease)}")
        cost = what_it_cost(prompt, is_running=self._is_running(lease))
        self.reason.setText(sentences(what_happened(lease, model), cost, what_to_do(lease, model)))
        self.sources.apply(prompt)
        self.ask_for_texts((*lease.common, *lease.held, *lease.wanted))
        self.parting.apply(self._texts(lease.common), self._texts(lease.held), self._texts(lease.wanted))

    def _is_running(self, lease: Lease) -> bool:
        newest = self.recording.newest
        return newest is not None and any(slot.request_id == lease.request_id for slot in newest.slots)

    def _texts(self, token_ids: tuple[int, ...]) -> list[str]:
        """The number of a token whose text is not known yet. The rows of a picture stand together."""
        known = self.recording.token_texts
        texts: list[str] = []
        for is_media, run in groupby(token_ids, lambda token: token < LAST_TEXT):
            if is_media:
                texts.append(f"[{kind_text(None)}]")
            else:
                texts += [shown(known[token]) if token in known else str(token) for token in run]
        return texts


class _Requests(RowModel):
    """Leases, the newest first."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(COLUMNS, parent)
        self._entries: list[LeaseEntry] = []
        self._num_seen = 0
        self._titles: Mapping[str, str] = {}

    def clear(self) -> None:
        self.beginResetModel()
        self._entries.clear()
        self._num_seen = 0
        self.endResetModel()

    def read_on(self, recording: Recording) -> bool:
        """Take new leases. False: there are none."""
        leases = recording.leases
        new = leases.new_since(self._num_seen)[::-1]
        self._num_seen = leases.num_seen
        if not new:
            return False
        self.beginInsertRows(_ROOT, 0, len(new) - 1)
        self._entries[:0] = new
        self.endInsertRows()
        if len(self._entries) > MAX_LEASES:
            self.beginRemoveRows(_ROOT, MAX_LEASES, len(self._entries) - 1)
            del self._entries[MAX_LEASES:]
            self.endRemoveRows()
        return True

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        self.redraw(TAB, TAB)

    def entry_at(self, row: int) -> LeaseEntry:
        return self._entries[row]

    def newest_of(self, seq_id: int) -> int | None:
        return next((row for row, one in enumerate(self._entries) if one.what.lease.seq_id == seq_id), None)

    def title_of(self, lease: Lease) -> str:
        return chat_name(lease.chat_id, self._titles)

    def num_rows(self) -> int:
        return len(self._entries)

    def tip_at(self, row: int, column: int) -> str:
        return self.text_at(row, column) if column == WHY else ""

    def text_at(self, row: int, column: int) -> str:
        entry = self._entries[row]
        lease = entry.what.lease
        texts = (
            count(entry.step),
            str(lease.seq_id),
            self.title_of(lease),
            count(num_prompt_tokens(lease)),
            share_text(lease),
            count(entry.what.num_computed),
            head_of_lease(lease),
        )
        return texts[column]
