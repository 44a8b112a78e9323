"""The books of the unified KV cache: which sequences hold which cells.

Knows numbers, not tokens. The library never tells who shares a cell with whom, so every change of its
memory is entered here by `SlotPool`, its only user. Engine thread only.
"""

from itertools import count, repeat

from app.engine.types import CellUsage


class CellLedger:
    """Cells in order of position for each `seq_id`; a cell held by several is used once and shared."""

    def __init__(self, num_cells: int, num_seqs: int) -> None:
        self.num_total = num_cells
        self.num_used = 0
        self._names = count()
        self._cells: list[list[int]] = [[] for _ in range(num_seqs)]
        self._sharers: dict[int, set[int]] = {}  # only cells with two holders or more
        self._num_shared_of = [0] * num_seqs

    @property
    def num_free(self) -> int:
        return self.num_total - self.num_used

    @property
    def usage(self) -> CellUsage:
        return CellUsage(self.num_total, self.num_used, len(self._sharers))

    def num_cells(self, seq_id: int) -> int:
        return len(self._cells[seq_id])

    def num_shared_cells(self, seq_id: int) -> int:
        return self._num_shared_of[seq_id]

    def num_own_cells(self, seq_id: int) -> int:
        """Cells that nobody else holds."""
        return self.num_cells(seq_id) - self.num_shared_cells(seq_id)

    def has_shared_cells_from(self, seq_id: int, pos: int) -> bool:
        return any(cell in self._sharers for cell in self._cells[seq_id][pos:])

    def holders(self) -> list[tuple[int, tuple[int, ...]]]:
        """Each used cell once: its position and who holds it, in order of `seq_id`."""
        cells: list[tuple[int, tuple[int, ...]]] = []
        for seq_id, names in enumerate(self._cells):
            if not self._num_shared_of[seq_id]:
                cells += zip(range(len(names)), repeat((seq_id,)), strict=False)
                continue
            last = alone = {seq_id}
            holders: tuple[int, ...] = (seq_id,)
            for pos, name in enumerate(names):
                sharers = self._sharers.get(name, alone)
                if sharers != last:  # neighbours mostly have the same ones
                    last, holders = sharers, tuple(sorted(sharers))
                if holders[0] == seq_id:
                    cells.append((pos, holders))
        return cells

    def append(self, seq_id: int, num_cells: int) -> None:
        assert num_cells <= self.num_free, "more cells booked than the cache has"
        self._cells[seq_id].extend(next(self._names) for _ in range(num_cells))
        self.num_used += num_cells

    def share(self, source: int, target: int, num_cells: int) -> None:
        assert not self._cells[target], "seq_cp into a sequence that holds cells would merge the two"
        assert num_cells <= len(self._cells[source])
        for cell in self._cells[source][:num_cells]:
            if cell not in self._sharers:
                self._sharers[cell] = {source}
                self._num_shared_of[source] += 1
            self._sharers[cell].add(target)
            self._cells[target].append(cell)
        self._num_shared_of[target] += num_cells

    def truncate(self, seq_id: int, num_cells: int) -> None:
        self.remove(seq_id, num_cells, len(self._cells[seq_id]))

    def remove(self, seq_id: int, start: int, end: int) -> None:
        """Drop the cells at positions start … end - 1; those behind them move down."""
        for cell in self._cells[seq_id][start:end]:
            self._drop(seq_id, cell)
        del self._cells[seq_id][start:end]

    def _drop(self, seq_id: int, cell: int) -> None:
        sharers = self._sharers.get(cell)
        if sharers is None:
            self.num_used -= 1
            return
        sharers.remove(seq_id)
        self._num_shared_of[seq_id] -= 1
        if len(sharers) == 1:
            self._num_shared_of[sharers.pop()] -= 1
            del self._sharers[cell]
