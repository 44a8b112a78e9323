"""The cells of llama.cpp's KV cache, one by one: `llama_kv_cache` and `llama_batch_allocr`, line by line.

Slow and plain, so that `CellLedger`, which does the same with arrays, can be measured against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from app.protocol.model import ModelInfo

Row = tuple[int, int, int]  # seq_id, position, token id
Found = dict[int, list[int]]  # indices of cells by stream


@dataclass(eq=False)
class Cell:
    """One KV cell: held by every sequence in `seq_ids`."""

    token_id: int
    pos: int
    seq_ids: set[int] = field(default_factory=set)


class NoRoomError(Exception):
    pass


class FakeCells:
    """The used cells by index, and for each stream the head from which a free one is searched."""

    def __init__(self, model: ModelInfo) -> None:
        self.num_streams = 1 if model.is_unified else model.n_seq_max
        self.stream_size = model.n_ctx // self.num_streams
        self.n_ubatch = model.n_ubatch
        self.cells: dict[int, Cell] = {}
        self.heads = [0] * self.num_streams

    @property
    def used(self) -> list[Cell]:
        return [self.cells[index] for index in sorted(self.cells)]

    def held(self, seq_id: int) -> list[Cell]:
        return [cell for cell in self.cells.values() if seq_id in cell.seq_ids]

    def of(self, seq_id: int) -> list[Cell]:
        """In order of position."""
        return sorted(self.held(seq_id), key=attrgetter("pos"))

    def decode(self, rows: Sequence[Row], num_ubatches: int | None = None) -> int:
        """Put in all rows, or so many micro-batches and then break off in the next. How many rows are in.

        Raises NoRoomError.
        """
        num_rows = 0
        for number, (ubatch, places) in enumerate(self.prepare(list(self.split(rows)))):
            self.apply_ubatch(ubatch, places)
            if number == num_ubatches:
                for seq_id in sorted({seq_id for seq_id, _, _ in ubatch}):
                    self.seq_rm(seq_id, min(pos for other, pos, _ in ubatch if other == seq_id))
                break
            num_rows += len(ubatch)
        return num_rows

    def prepare(self, ubatches: Sequence[list[Row]]) -> list[tuple[list[Row], Found]]:
        """Which cells each micro-batch gets. They are put in one after another, and taken out again."""
        planned: list[tuple[list[Row], Found]] = []
        heads: list[list[int]] = []
        try:
            for ubatch in ubatches:
                planned.append((ubatch, self.find_slots(ubatch)))
                heads.append(list(self.heads))
                self.apply_ubatch(*planned[-1])
        finally:
            for (_, found), old in zip(reversed(planned), reversed(heads), strict=True):
                for number, (stream, places) in enumerate(found.items()):
                    for place in places:
                        del self.cells[place]
                    self.heads[stream] = old[number]  # sic: the head of another stream
        return planned

    def find_slots(self, rows: Sequence[Row]) -> Found:
        num_rows = Counter(self.stream_of(seq_id) for seq_id, _, _ in rows)
        return {stream: self.find_slot(stream, number) for stream, number in num_rows.items()}

    def apply_ubatch(self, rows: Sequence[Row], found: Found) -> None:
        for stream, places in found.items():
            mine = [row for row in rows if self.stream_of(row[0]) == stream]
            for place, (seq_id, pos, token_id) in zip(places, mine, strict=True):
                assert place not in self.cells
                self.cells[place] = Cell(token_id, pos, {seq_id})
            self.heads[stream] = places[-1] + 1 - stream * self.stream_size

    def find_slot(self, stream: int, num_tokens: int) -> list[int]:
        first, size = stream * self.stream_size, self.stream_size
        num_used = sum(first <= index < first + size for index in self.cells)
        head = self.heads[stream]
        if head > num_used + 2 * num_tokens:
            head = 0
        places: list[int] = []
        num_tested = 0
        while len(places) < num_tokens:
            if num_tested >= size:
                raise NoRoomError
            if head + 1 > size:
                head = 0
            if first + head not in self.cells:
                places.append(first + head)
            head += 1
            num_tested += 1
        return places

    def seq_rm(self, seq_id: int, start: int, end: int = 2**31) -> None:
        stream = self.stream_of(seq_id)
        for index, cell in sorted(self.cells.items(), key=lambda item: item[0]):
            if seq_id not in cell.seq_ids or not start <= cell.pos < end:
                continue
            cell.seq_ids.remove(seq_id)
            if not cell.seq_ids:
                del self.cells[index]
                self.heads[stream] = min(self.heads[stream], index - stream * self.stream_size)

    def seq_cp(self, source: int, target: int, num_cells: int) -> None:
        for cell in self.cells.values():
            if source in cell.seq_ids and cell.pos < num_cells:
                cell.seq_ids.add(target)

    def seq_add(self, seq_id: int, start: int, shift: int) -> None:
        for cell in self.cells.values():
            if seq_id in cell.seq_ids and cell.pos >= start:
                cell.pos += shift
        self.heads[self.stream_of(seq_id)] = 0

    def saved(self, seq_id: int) -> list[tuple[int, int]]:
        """Position and token of each cell, in the order of the cells."""
        return [(cell.pos, cell.token_id) for cell in self.used if seq_id in cell.seq_ids]

    def restore(self, seq_id: int, saved: Sequence[tuple[int, int]]) -> None:
        """Raises NoRoomError."""
        self.seq_rm(seq_id, 0)
        if saved:
            rows = [(seq_id, pos, token_id) for pos, token_id in saved]
            self.apply_ubatch(rows, self.find_slots(rows))

    def stream_of(self, seq_id: int) -> int:
        return 0 if self.num_streams == 1 else seq_id

    def split(self, rows: Sequence[Row]) -> Iterator[list[Row]]:
        return self._split_simple(rows) if self.num_streams == 1 else self._split_equal(rows)

    def _split_simple(self, rows: Sequence[Row]) -> Iterator[list[Row]]:
        for start in range(0, len(rows), self.n_ubatch):
            yield list(rows[start : start + self.n_ubatch])

    def _split_equal(self, rows: Sequence[Row]) -> Iterator[list[Row]]:
        left = list(rows)
        while left:
            seq_ids: list[int] = []
            for seq_id, _, _ in left:
                if seq_id not in seq_ids and (not seq_ids or seq_id == seq_ids[-1] + 1):
                    seq_ids.append(seq_id)
                    if len(seq_ids) > self.n_ubatch:
                        break
            of = {seq_id: [row for row in left if row[0] == seq_id] for seq_id in seq_ids}
            num_each = 0
            while all(num_each < len(mine) for mine in of.values()):
                num_each += 1
                if (num_each + 1) * len(seq_ids) > self.n_ubatch:
                    break
            ubatch = [row for mine in of.values() for row in mine[:num_each]]
            left = [row for row in left if row not in ubatch]
            yield ubatch
