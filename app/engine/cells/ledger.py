"""The books of the KV cache: each cell's position, token and holders, by the cell's index.

The library reports neither which sequences share a cell nor where a cell lies. So every change of its memory
is entered here by `SlotMemory`, its only user, and llama.cpp's choice of cells is replicated step by step:
`find_slot`, `apply_ubatch` and `seq_rm` of its llama-kv-cache.cpp, `split_simple` and `split_equal` of its
llama-batch.cpp. Where a model's memory is more than plain cells (sliding window, recurrent), the counts are
right but the indices are only estimates. Engine thread only.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from app.engine.backend import WORD_BITS, UsedCells, Words
from app.protocol.report import CellCheck, CellMap, CellUsage

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.batch import Batch
    from app.protocol.model import ModelInfo

Places = npt.NDArray[np.intp]  # cell indices
FoundPlaces = range | list[int]  # cell indices of the few rows of a step
Ints = npt.NDArray[np.int32]
Chunk = tuple[slice, FoundPlaces]  # rows of a batch, and their cells

WATCH_PERIOD_S = 0.1
FREE = -1


class CellLedger:
    """A cell held by several sequences is used once and shared."""

    def __init__(self, model: ModelInfo) -> None:
        self.num_total = model.n_ctx
        self.high_water = 0  # the most cells used so far
        num_seqs = model.n_seq_max
        num_streams = 1 if model.is_unified else num_seqs
        self._n_ubatch = model.n_ubatch
        self._stream_size = model.n_ctx // num_streams
        self._stream_of = [0] * num_seqs if num_streams == 1 else list(range(num_seqs))
        self._heads = [0] * num_streams  # where the library looks next, counted from the stream's first cell
        self._num_used_in = [0] * num_streams
        self._num_shared = 0
        self._pos = np.full(model.n_ctx, FREE, np.int32)
        self._token_ids = np.full(model.n_ctx, FREE, np.int32)
        self._holders = np.zeros((num_words(num_seqs), model.n_ctx), np.uint64)
        # The same memory, for a few cells at a time: numpy takes as long for one as for a hundred.
        self._pos_view, self._token_id_view = self._pos.data, self._token_ids.data
        self._holders_views = [words.data for words in self._holders]
        self._word_of, self._bit_of = words_and_bits(num_seqs)
        self._places = [array("i") for _ in range(num_seqs)]  # by position
        self._shared_counts: dict[int, int] = {}  # of sequences, since sharing last changed

    @property
    def num_used(self) -> int:
        return sum(self._num_used_in)

    @property
    def num_free(self) -> int:
        return self.num_total - self.num_used

    @property
    def usage(self) -> CellUsage:
        return CellUsage(self.num_total, self.num_used, self._num_shared)

    def num_cells(self, seq_id: int) -> int:
        return len(self._places[seq_id])

    def num_shared_cells(self, seq_id: int) -> int:
        if seq_id not in self._shared_counts:
            self._shared_counts[seq_id] = int(self._shared_from(seq_id, 0).sum())
        return self._shared_counts[seq_id]

    def num_own_cells(self, seq_id: int) -> int:
        """Cells that no other sequence holds."""
        return self.num_cells(seq_id) - self.num_shared_cells(seq_id)

    def num_cells_of_any(self, seq_ids: Sequence[int]) -> int:
        """Cells that at least one of the sequences holds."""
        if not self._num_shared:
            return sum(map(self.num_cells, seq_ids))
        return int(self._are_held_by_any(seq_ids, self._holders).sum())

    def num_also_held(self, seq_id: int, num_cells: int, others: Sequence[int]) -> int:
        """Of the first cells of `seq_id`, those that at least one of the others holds, too."""
        holders = self._holders[:, self._places_of(seq_id, 0, num_cells)]
        return int(self._are_held_by_any(others, holders).sum())

    def has_shared_cells_from(self, seq_id: int, pos: int) -> bool:
        return bool(self._shared_from(seq_id, pos).any())

    def used_cells(self) -> UsedCells:
        used = np.flatnonzero(self._pos != FREE)
        return UsedCells(self._pos[used], self._holders[:, used].T)

    def map(self) -> CellMap:
        """A snapshot of all cells."""
        copies = self._pos.copy(), self._token_ids.copy(), self._holders.copy()
        for copy in copies:
            copy.setflags(write=False)
        pos, token_ids, holders = copies
        return CellMap(pos, token_ids, holders.T, self.high_water)

    def append(self, batch: Batch, num_rows: int | None = None) -> None:
        """The rows of a decode got cells. `num_rows`: if it was interrupted, how many kept theirs."""
        for rows, places in self._filled(batch) if num_rows is None else self._broken_off(batch, num_rows):
            for row, place in enumerate(places, rows.start):
                self._places[batch.seq_ids[row]].append(place)
        self.high_water = max(self.high_water, self.num_used)

    def restore(
        self, seq_id: int, token_ids: Sequence[int], order: Ints | None, positions: Ints | None = None
    ) -> None:
        """A saved state was put into the empty sequence. `order`: its positions, as its cells lay.

        `positions` are those of the tokens, where they are not their numbers.
        """
        assert not self._places[seq_id]
        if positions is None:
            positions = np.arange(len(token_ids), dtype=np.int32)
        order = positions if order is None else order
        places = _array(self._find(self._stream_of[seq_id], order.size))
        by_position = places[np.argsort(order, kind="stable")]
        self._pos[places] = order
        self._token_ids[by_position] = np.array(token_ids, np.int32)
        self._holders[self._word_of[seq_id], places] = self._bit_of[seq_id]
        self._note_filled(self._stream_of[seq_id], places.size, int(places[-1]))
        self._places[seq_id].extend(by_position.tolist())
        self.high_water = max(self.high_water, self.num_used)

    def share(self, source: int, target: int, num_cells: int) -> None:
        assert not self._places[target], "seq_cp into a sequence that holds cells would merge the two"
        assert num_cells <= self.num_cells(source)
        places = self._places_of(source, 0, num_cells)
        self._num_shared += int(np.count_nonzero(~is_shared(self._holders[:, places])))
        self._holders[self._word_of[target], places] |= self._bit_of[target]
        self._places[target] = self._places[source][:num_cells]
        self._shared_counts.clear()

    def truncate(self, seq_id: int, num_cells: int) -> None:
        self._drop(seq_id, num_cells, self.num_cells(seq_id))

    def remove(self, seq_id: int, start: int, end: int) -> None:
        """Drop the cells at positions start … end - 1. Those behind move down, but lie where they lay."""
        self._drop(seq_id, start, end)
        self._pos[self._places_of(seq_id, start, self.num_cells(seq_id))] -= end - start
        self._heads[self._stream_of[seq_id]] = 0  # by seq_add

    # Replicates what the library does.

    def _ubatches(self, batch: Batch) -> Iterable[list[slice]]:
        """The rows of each micro-batch, those of one stream together."""
        if len(self._heads) > 1:
            return self._ubatches_of_streams(batch)
        starts = range(0, batch.num_rows, self._n_ubatch)
        return [[slice(start, min(start + self._n_ubatch, batch.num_rows))] for start in starts]

    def _ubatches_of_streams(self, batch: Batch) -> Iterator[list[slice]]:
        left = [(span.seq_id, span.first_row, span.num_rows) for span in batch.spans]
        while left:  # consecutive streams only, and equally many rows of each
            num_seqs = next((n for n in range(1, len(left)) if left[n][0] != left[n - 1][0] + 1), len(left))
            num_seqs = min(num_seqs, self._n_ubatch + 1)
            num_rows = min(rows for _, _, rows in left[:num_seqs])
            num_rows = min(num_rows, max(self._n_ubatch // num_seqs, 1))
            yield [slice(first, first + num_rows) for _, first, _ in left[:num_seqs]]
            rest = [(seq_id, first + num_rows, rows - num_rows) for seq_id, first, rows in left[:num_seqs]]
            left = [one for one in rest if one[2]] + left[num_seqs:]

    def _filled(self, batch: Batch) -> Iterator[Chunk]:
        for ubatch in self._ubatches(batch):
            for rows in ubatch:
                places = self._find(self._stream_of[batch.seq_ids[rows.start]], rows.stop - rows.start)
                self._fill(batch, rows, places)
                yield rows, places

    def _broken_off(self, batch: Batch, num_rows: int) -> Iterator[Chunk]:
        """The computed micro-batches, `num_rows` rows in all. The next one got cells and lost them."""
        for chunks in self._planned(batch):
            for rows, places in chunks:
                self._fill(batch, rows, places)
            if num_rows == 0:
                for _, places in chunks:
                    self._free(_array(places))
                return
            yield from chunks
            num_rows -= sum(len(places) for _, places in chunks)
            assert num_rows >= 0, "a decode breaks off between two micro-batches"

    def _planned(self, batch: Batch) -> list[list[Chunk]]:
        """The cells of each micro-batch, as `prepare` finds them: it fills all in, and undoes that."""
        planned: list[list[Chunk]] = []
        heads: list[list[int]] = []
        for ubatch in self._ubatches(batch):
            heads.append(list(self._heads))
            planned.append([])
            for rows in ubatch:
                places = self._find(self._stream_of[batch.seq_ids[rows.start]], rows.stop - rows.start)
                self._fill(batch, rows, places)
                planned[-1].append((rows, places))
        for chunks, old in zip(reversed(planned), reversed(heads), strict=True):
            for number, (rows, places) in enumerate(chunks):
                self._free(_array(places))
                # Not the head that this stream had: the library takes the one of stream `number`.
                self._heads[self._stream_of[batch.seq_ids[rows.start]]] = old[number]
        return planned

    def _fill(self, batch: Batch, rows: slice, places: FoundPlaces) -> None:
        for row, place in enumerate(places, rows.start):
            seq_id = batch.seq_ids[row]
            self._pos_view[place] = batch.positions[row]
            self._token_id_view[place] = batch.token_ids[row]
            self._holders_views[seq_id // WORD_BITS][place] = 1 << seq_id % WORD_BITS
        self._note_filled(self._stream_of[batch.seq_ids[rows.start]], len(places), places[-1])

    def _find(self, stream: int, wanted: int) -> FoundPlaces:
        """The cells that `wanted` tokens get: the free ones from the head on, then from the beginning."""
        assert wanted <= self._stream_size - self._num_used_in[stream], "more cells booked than there are"
        head = self._heads[stream]
        if head > self._num_used_in[stream] + 2 * wanted:
            head = 0
        first = stream * self._stream_size
        if head + wanted <= self._stream_size:
            run = range(first + head, first + head + wanted)
            for place in run:
                if self._pos_view[place] != FREE:
                    break
            else:
                return run
        cells = self._pos[first : first + self._stream_size]
        found = _free_cells(cells, head, wanted)
        if found.size < wanted:
            found = np.concatenate([found, _free_cells(cells, 0, wanted - found.size)])
        places: list[int] = (found + first).tolist()
        return places

    def _note_filled(self, stream: int, num_cells: int, last: int) -> None:
        """Cells were filled, the one at `last` last."""
        self._heads[stream] = last + 1 - stream * self._stream_size
        self._num_used_in[stream] += num_cells

    def _drop(self, seq_id: int, start: int, end: int) -> None:
        places = self._places_of(seq_id, start, end)
        if not places.size:
            return
        del self._places[seq_id][start:end]
        before = self._holders[:, places]
        after = before.copy()
        after[self._word_of[seq_id]] &= ~self._bit_of[seq_id]
        self._holders[self._word_of[seq_id], places] = after[self._word_of[seq_id]]
        if (was_shared := is_shared(before)).any():
            self._num_shared -= int((was_shared & ~is_shared(after)).sum())
            self._shared_counts.clear()
        self._free(places[~after.any(axis=0)])

    def _free(self, places: Places) -> None:
        """Cells of one stream that no sequence holds any more."""
        if not places.size:
            return
        self._pos[places] = FREE
        self._token_ids[places] = FREE
        self._holders[:, places] = 0
        stream, lowest = divmod(int(places.min()), self._stream_size)
        self._num_used_in[stream] -= places.size
        self._heads[stream] = min(self._heads[stream], lowest)

    def _places_of(self, seq_id: int, start: int, end: int) -> Places:
        return np.array(self._places[seq_id][start:end], np.intp)

    def _are_held_by_any(self, seq_ids: Sequence[int], holders: Words) -> npt.NDArray[np.bool_]:
        bits = np.zeros((len(holders), 1), np.uint64)
        for seq_id in seq_ids:
            bits[self._word_of[seq_id]] |= self._bit_of[seq_id]
        return np.asarray((holders & bits).any(axis=0))

    def _shared_from(self, seq_id: int, pos: int) -> npt.NDArray[np.bool_]:
        return is_shared(self._holders[:, self._places_of(seq_id, pos, self.num_cells(seq_id))])


class CellWatch:
    """Copies the cell map for the inspector, at most ten times a second, and only while it is watched."""

    def __init__(self, cells: CellLedger) -> None:
        self._cells = cells
        self.is_watching = False
        self._last_at = 0.0

    def watch(self, is_watching: bool) -> None:
        self.is_watching = is_watching
        self._last_at = 0.0

    def take(self, now: float, is_last: bool) -> CellMap | None:
        """A map, if one is due at `now` seconds. `is_last`: no other report may come for long."""
        if not self.is_watching or not (is_last or now - self._last_at >= WATCH_PERIOD_S):
            return None
        self._last_at = now
        return self._cells.map()


def num_words(num_seqs: int) -> int:
    """Words of 64 bits that hold one bit for each sequence."""
    return -(-num_seqs // WORD_BITS)


def words_and_bits(num_seqs: int) -> tuple[Places, Words]:
    """For each sequence, in which word its bit is, and that bit."""
    seq_ids = np.arange(num_seqs)
    return seq_ids // WORD_BITS, np.left_shift(np.uint64(1), (seq_ids % WORD_BITS).astype(np.uint64))


def is_shared(holders: Words) -> npt.NDArray[np.bool_]:
    """Whether more than one bit is set in each column."""
    has_several_in_a_word = (holders & (holders - np.uint64(1))).any(axis=0)
    if len(holders) == 1:
        return np.asarray(has_several_in_a_word)
    return np.asarray(has_several_in_a_word | (np.count_nonzero(holders, axis=0) > 1))


def _array(places: FoundPlaces) -> Places:
    return np.arange(places.start, places.stop) if isinstance(places, range) else np.array(places, np.intp)


def _free_cells(cells: npt.NDArray[np.int32], start: int, wanted: int) -> Places:
    """The first free ones from `start` on. Looks no further than it must: there may be 100,000."""
    width = 4 * wanted + 64
    while True:
        found = np.flatnonzero(cells[start : start + width] == FREE)[:wanted]
        if found.size == wanted or start + width >= cells.size:
            return found + start
        width *= 8


NUM_SHOWN = 3  # cells of each side in the message


def check_cells(backend: Backend, cells: CellLedger, step: int = 0) -> CellCheck:
    """Checks that every used cell has the same position and holders on both sides, and that our counts are
    right.

    Reads both and changes neither: well under a millisecond for 2,000 cells. The library lists its cells in
    the order of their indices. Where it chooses them as our books do, that order must be ours, too: then each
    cell lies where we think, up to free ones in between.
    """
    found = backend.used_cells()
    if found is None:
        return CellCheck(step, 0, can_compare=False)
    booked = cells.used_cells()
    has_same_order = _is_equal(found, booked)
    if not has_same_order and not _is_equal(_sorted(found), _sorted(booked)):
        return CellCheck(step, booked.pos.size, _unknown_cells(found.listed(), booked.listed()))
    if wrong_counts := _wrong_counts(booked, cells):
        return CellCheck(step, booked.pos.size, wrong_counts)
    if not has_same_order and backend.model.has_plain_attention:
        return CellCheck(step, booked.pos.size, _other_order(found, booked), is_order_only=True)
    return CellCheck(step, booked.pos.size)


def _other_order(found: UsedCells, booked: UsedCells) -> str:
    at = next(
        n for n, pair in enumerate(zip(found.listed(), booked.listed(), strict=True)) if len(set(pair)) > 1
    )
    return (
        f"the library has the same {found.pos.size} cells as our books, but in another order: used cell "
        f"number {at} is {found.listed()[at]} there and {booked.listed()[at]} here, as (position, sequences)"
    )


def _is_equal(found: UsedCells, booked: UsedCells) -> bool:
    return np.array_equal(found.pos, booked.pos) and np.array_equal(found.holders, booked.holders)


def _sorted(cells: UsedCells) -> UsedCells:
    order = np.lexsort((*cells.holders.T, cells.pos))
    return UsedCells(cells.pos[order], cells.holders[order])


def _unknown_cells(
    found: list[tuple[int, tuple[int, ...]]], booked: list[tuple[int, tuple[int, ...]]]
) -> str:
    only_found = sorted(set(found) - set(booked))[:NUM_SHOWN]
    only_booked = sorted(set(booked) - set(found))[:NUM_SHOWN]
    return (
        "cells as (position, sequences that hold it): "
        f"the library has {len(found)}, among them {only_found or 'none'} that our books do not have; "
        f"our books have {len(booked)}, among them {only_booked or 'none'} that the library does not have"
    )


def _wrong_counts(booked: UsedCells, cells: CellLedger) -> str:
    num_shared = int(is_shared(booked.holders.T).sum())
    usage = cells.usage
    if (booked.pos.size, num_shared) == (usage.num_used, usage.num_shared):
        return ""
    return (
        f"our books count {usage.num_used} used and {usage.num_shared} shared cells, "
        f"but list {booked.pos.size} and {num_shared}"
    )
