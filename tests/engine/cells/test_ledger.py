"""The ledger against a plain port of llama.cpp's own cells: the same ones are used, whatever happens."""

from __future__ import annotations

from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.cells.ledger import CellLedger, CellWatch
from app.engine.engine import Engine
from app.protocol.commands import WatchCells
from tests.driver import request, rows, run
from tests.fake_cells import FakeCells
from tests.fakes import CountingBackend, model_info

NUM_SEQS = 4


def ledger_of(**model):
    return CellLedger(model_info(**{"n_ctx": 40, "n_seq_max": NUM_SEQS, "n_ubatch": 8} | model))


def append(ledger: CellLedger, *spans: tuple[int, int]) -> None:
    """(seq_id, number of tokens) each; the tokens count from 100 on."""
    starts = [ledger.num_cells(seq_id) for seq_id, _ in spans]
    ledger.append(
        rows(
            CountingBackend(),
            *(
                (seq_id, start, list(range(100 + start, 100 + start + num_tokens)))
                for (seq_id, num_tokens), start in zip(spans, starts, strict=True)
            ),
        )
    )


def places_of(ledger: CellLedger, seq_id: int) -> list[int]:
    """In order of position."""
    cells = ledger.map()
    held = np.flatnonzero(cells.holders[:, seq_id // 64] >> np.uint64(seq_id % 64) & np.uint64(1))
    return [int(place) for place in held[np.argsort(cells.pos[held])]]


# How many


def test_a_new_ledger_is_free():
    ledger = ledger_of()
    assert (ledger.usage.num_used, ledger.usage.num_shared, ledger.usage.num_free) == (0, 0, 40)


def test_shared_cells_are_used_once():
    ledger = ledger_of()
    append(ledger, (0, 10))
    ledger.share(0, 1, 6)
    append(ledger, (1, 2))
    assert ledger.usage.num_used == 12
    assert ledger.usage.num_shared == 6
    assert (ledger.num_cells(0), ledger.num_cells(1)) == (10, 8)
    assert (ledger.num_shared_cells(0), ledger.num_shared_cells(1)) == (6, 6)


def test_cells_of_several_sequences_are_counted_once_also_beyond_64_of_them():
    ledger = ledger_of(n_seq_max=70)
    append(ledger, (0, 10))
    assert ledger.num_cells_of_any([0, 1]) == 10
    ledger.share(0, 1, 6)
    ledger.share(0, 69, 4)
    append(ledger, (1, 2), (69, 3))
    assert ledger.num_cells_of_any([]) == 0
    assert ledger.num_cells_of_any([1]) == 8
    assert ledger.num_cells_of_any([1, 69]) == 11
    assert ledger.num_cells_of_any([0, 1, 69]) == ledger.usage.num_used == 15
    assert ledger.num_also_held(0, 10, [1, 69]) == 6
    assert ledger.num_also_held(0, 5, [69]) == 4
    assert ledger.num_also_held(1, 8, []) == 0


def test_a_shared_cell_is_freed_by_its_last_holder():
    ledger = ledger_of()
    append(ledger, (0, 10))
    ledger.share(0, 1, 10)
    ledger.truncate(0, 0)
    assert ledger.usage.num_used == 10
    assert ledger.num_shared_cells(1) == 0
    ledger.truncate(1, 4)
    assert ledger.usage.num_used == 4


def test_sharing_into_a_sequence_that_holds_cells_is_refused():
    ledger = ledger_of()
    append(ledger, (0, 4), (1, 1))
    with pytest.raises(AssertionError, match="merge"):
        ledger.share(0, 1, 4)


def test_more_cells_than_there_are_cannot_be_booked():
    with pytest.raises(AssertionError, match="more cells"):
        append(ledger_of(), (0, 41))


def test_the_high_water_mark_stays_when_cells_are_freed():
    ledger = ledger_of()
    append(ledger, (0, 30))
    ledger.truncate(0, 5)
    append(ledger, (1, 3))
    assert ledger.map().high_water == 30


# Where they are


def test_sequences_that_are_computed_together_lie_in_turns():
    ledger = ledger_of()
    for _ in range(3):
        append(ledger, (0, 1), (1, 1))
    assert places_of(ledger, 0) == [0, 2, 4]
    assert places_of(ledger, 1) == [1, 3, 5]


def test_freed_cells_are_used_again_from_the_lowest_on():
    ledger = ledger_of()
    append(ledger, (0, 8), (1, 4))
    ledger.truncate(0, 5)
    append(ledger, (2, 5))
    assert places_of(ledger, 2) == [5, 6, 7, 12, 13]


def test_cells_that_moved_down_stay_where_they_are():
    ledger = ledger_of()
    append(ledger, (0, 10))
    ledger.remove(0, 2, 6)
    assert places_of(ledger, 0) == [0, 1, 6, 7, 8, 9]
    assert list(ledger.map().pos[:10]) == [0, 1, -1, -1, -1, -1, 2, 3, 4, 5]


def test_separate_streams_have_a_part_of_the_context_each():
    ledger = ledger_of(is_unified=False)
    append(ledger, (0, 2), (3, 3))
    assert places_of(ledger, 0) == [0, 1]
    assert places_of(ledger, 3) == [30, 31, 32]


def test_a_restored_state_keeps_the_order_in_which_its_cells_lay():
    ledger = ledger_of()
    ledger.restore(1, [7, 8, 9], np.array([2, 0, 1], np.int32))
    cells = ledger.map()
    assert list(cells.pos[:4]) == [2, 0, 1, -1]
    assert list(cells.token_ids[:4]) == [9, 7, 8, -1]


def test_a_map_is_a_copy_that_cannot_be_changed():
    ledger = ledger_of()
    append(ledger, (0, 3))
    cells = ledger.map()
    append(ledger, (0, 3))
    assert list(cells.token_ids[:4]) == [100, 101, 102, -1]
    with pytest.raises(ValueError):
        cells.pos[0] = 7


@pytest.mark.parametrize("seq_id", [0, 63, 64, 255])
def test_each_of_256_sequences_has_its_bit(seq_id):
    ledger = ledger_of(n_seq_max=256, n_ctx=512)
    append(ledger, (seq_id, 2))
    ledger.share(seq_id, 130, 1)
    assert ledger.used_cells().listed() == [(0, tuple(sorted({seq_id, 130}))), (1, (seq_id,))]
    assert ledger.num_shared_cells(130) == 1


# Whatever happens

seq_ids = st.integers(0, NUM_SEQS - 1)
lengths = st.integers(1, 14)
operations = st.one_of(
    st.tuples(st.just("decode"), st.dictionaries(seq_ids, lengths, min_size=1), st.none()),
    st.tuples(st.just("decode"), st.dictionaries(seq_ids, lengths, min_size=1), st.integers(0, 3)),
    st.tuples(st.just("share"), seq_ids, seq_ids, lengths),
    st.tuples(st.just("truncate"), seq_ids, st.integers(0, 14)),
    st.tuples(st.just("remove"), seq_ids, st.integers(0, 10), lengths),
    st.tuples(st.just("move"), seq_ids, seq_ids),
)


class Twins:
    """A ledger and llama.cpp's cells, which are told the same."""

    def __init__(self, **model: object) -> None:
        info = model_info(n_ctx=40, n_seq_max=NUM_SEQS, **model)
        self.can_share = info.can_share_cells
        self.ledger, self.cells = CellLedger(info), FakeCells(info)
        self.tokens: list[list[int]] = [[] for _ in range(NUM_SEQS)]
        self._new_tokens = count(100)

    def decode(self, lengths_of: dict[int, int], num_ubatches: int | None) -> None:
        new = {seq_id: list(islice(self._new_tokens, lengths_of[seq_id])) for seq_id in sorted(lengths_of)}
        start = {seq_id: len(self.tokens[seq_id]) for seq_id in new}
        plain = [
            (seq_id, start[seq_id] + at, token) for seq_id in new for at, token in enumerate(new[seq_id])
        ]
        room = [
            self.ledger.num_free if self.can_share else 10 - self.ledger.num_cells(seq_id) for seq_id in new
        ]
        if sum(map(len, new.values())) > self.ledger.num_free or any(
            len(tokens) > cells for tokens, cells in zip(new.values(), room, strict=True)
        ):
            return
        num_rows = self.cells.decode(plain, num_ubatches)
        batch = rows(CountingBackend(), *((seq_id, start[seq_id], tokens) for seq_id, tokens in new.items()))
        self.ledger.append(batch, None if num_ubatches is None else num_rows)
        for seq_id in lengths_of:
            self.tokens[seq_id] = [cell.token_id for cell in self.cells.of(seq_id)]

    def share(self, source: int, target: int, num_cells: int) -> None:
        num_cells = min(num_cells, len(self.tokens[source]))
        if self.can_share and num_cells and not self.tokens[target]:
            self.cells.seq_cp(source, target, num_cells)
            self.ledger.share(source, target, num_cells)
            self.tokens[target] = self.tokens[source][:num_cells]

    def truncate(self, seq_id: int, num_cells: int) -> None:
        if num_cells <= len(self.tokens[seq_id]):
            self.cells.seq_rm(seq_id, num_cells)
            self.ledger.truncate(seq_id, num_cells)
            del self.tokens[seq_id][num_cells:]

    def remove(self, seq_id: int, start: int, num_cells: int) -> None:
        end = min(start + num_cells, len(self.tokens[seq_id]))
        if start < end and not self.ledger.has_shared_cells_from(seq_id, start):
            self.cells.seq_rm(seq_id, start, end)
            self.cells.seq_add(seq_id, end, start - end)
            self.ledger.remove(seq_id, start, end)
            del self.tokens[seq_id][start:end]

    def move(self, seq_id: int, target: int) -> None:
        """Save, clear, restore."""
        saved = self.cells.saved(seq_id)
        if not saved or seq_id == target:
            return
        self.truncate(seq_id, 0)
        self.truncate(target, 0)
        self.cells.restore(target, saved)
        self.tokens[target] = [token for _, token in sorted(saved)]
        self.ledger.restore(target, self.tokens[target], np.array([pos for pos, _ in saved], np.int32))

    def check(self) -> None:
        cells, booked = self.cells.cells, self.ledger.map()
        assert {int(place) for place in np.flatnonzero(booked.pos >= 0)} == cells.keys()
        for index, cell in cells.items():
            assert (booked.pos[index], booked.token_ids[index]) == (cell.pos, cell.token_id)
            assert booked.holders[index, 0] == sum(1 << seq_id for seq_id in cell.seq_ids)
        usage = self.ledger.usage
        assert usage.num_used == len(cells)
        assert usage.num_used + usage.num_free == usage.num_total == 40
        assert usage.num_shared == sum(len(cell.seq_ids) > 1 for cell in cells.values())
        for seq_id, tokens in enumerate(self.tokens):
            held = self.cells.of(seq_id)
            assert self.ledger.num_cells(seq_id) == len(held) == len(tokens)
            assert self.ledger.num_shared_cells(seq_id) == sum(len(cell.seq_ids) > 1 for cell in held)


@settings(max_examples=200)
@given(st.lists(operations, max_size=40), st.booleans(), st.sampled_from([1, 3, 8, 64]))
def test_the_ledger_knows_which_cells_the_library_uses(steps, is_unified, n_ubatch):
    twins = Twins(is_unified=is_unified, n_ubatch=n_ubatch)
    for name, *arguments in steps:
        getattr(twins, name)(*arguments)
        twins.check()


# Watching


def test_a_map_is_made_at_most_ten_times_a_second():
    watch = CellWatch(ledger_of())
    watch.watch(True)
    times = [50.0 + 0.03 * number for number in range(20)]
    assert [watch.take(now, is_last=False) is not None for now in times].count(True) == 5


def test_the_last_map_before_a_rest_is_never_left_out():
    watch = CellWatch(ledger_of())
    watch.watch(True)
    assert watch.take(50.0, is_last=False)
    assert watch.take(50.01, is_last=True)


def test_nothing_is_copied_while_nobody_watches(monkeypatch):
    ledger = ledger_of()
    monkeypatch.setattr(ledger, "map", lambda: pytest.fail("nobody wants it"))
    watch = CellWatch(ledger)
    assert watch.take(50.0, is_last=True) is None
    watch.watch(True)
    watch.watch(False)
    assert watch.take(60.0, is_last=True) is None


def test_reports_have_the_map_of_the_cells_after_their_step():
    engine = Engine(CountingBackend(n_ctx=512))
    assert run(engine, request("hello")).reports[-1].cell_map is None
    engine.obey(WatchCells(True))
    one = request("hello", max_tokens=4)
    report = run(engine, one).reports[-1]
    cells, slot = report.cell_map, next(slot for slot in report.slots if slot.chat_id == one.chat_id)
    held = np.flatnonzero(cells.holders[:, 0] & np.uint64(1 << slot.seq_id))
    by_position = held[np.argsort(cells.pos[held])]
    assert cells.token_ids[by_position].tolist() == engine.slots.slots[slot.seq_id].token_ids
    assert (cells.pos >= 0).sum() == report.cells.num_used
