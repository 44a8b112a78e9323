"""The ledger against the plainest possible model of it: a set of holders for each cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.cells import CellLedger

NUM_CELLS, NUM_SEQS = 40, 4


def test_a_new_ledger_is_free():
    ledger = CellLedger(NUM_CELLS, NUM_SEQS)
    assert (ledger.usage.num_used, ledger.usage.num_shared, ledger.usage.num_free) == (0, 0, NUM_CELLS)


def test_shared_cells_are_used_once():
    ledger = CellLedger(NUM_CELLS, NUM_SEQS)
    ledger.append(0, 10)
    ledger.share(0, 1, 6)
    ledger.append(1, 2)
    assert ledger.usage.num_used == 12
    assert ledger.usage.num_shared == 6
    assert (ledger.num_cells(0), ledger.num_cells(1)) == (10, 8)
    assert (ledger.num_shared_cells(0), ledger.num_shared_cells(1)) == (6, 6)


def test_a_shared_cell_is_freed_by_its_last_holder():
    ledger = CellLedger(NUM_CELLS, NUM_SEQS)
    ledger.append(0, 10)
    ledger.share(0, 1, 10)
    ledger.truncate(0, 0)
    assert ledger.usage.num_used == 10
    assert ledger.num_shared_cells(1) == 0
    ledger.truncate(1, 4)
    assert ledger.usage.num_used == 4


def test_sharing_into_a_sequence_that_holds_cells_is_refused():
    ledger = CellLedger(NUM_CELLS, NUM_SEQS)
    ledger.append(0, 4)
    ledger.append(1, 1)
    with pytest.raises(AssertionError, match="merge"):
        ledger.share(0, 1, 4)


operations = st.tuples(
    st.sampled_from(["append", "share", "truncate"]),
    st.integers(0, NUM_SEQS - 1),
    st.integers(0, NUM_SEQS - 1),
    st.integers(0, 12),
)


@given(st.lists(operations, max_size=40))
def test_used_plus_free_is_all_cells_whatever_happens(steps):
    ledger = CellLedger(NUM_CELLS, NUM_SEQS)
    held: list[list[object]] = [[] for _ in range(NUM_SEQS)]
    for operation, seq_id, other, count in steps:
        if operation == "append" and count <= ledger.num_free:
            ledger.append(seq_id, count)
            held[seq_id] += [object() for _ in range(count)]
        elif operation == "share" and not held[other] and seq_id != other:
            num_cells = min(count, len(held[seq_id]))
            ledger.share(seq_id, other, num_cells)
            held[other] = held[seq_id][:num_cells]
        elif operation == "truncate":
            ledger.truncate(seq_id, count)
            held[seq_id] = held[seq_id][:count]
        distinct = {id(cell) for cells in held for cell in cells}
        shared = [c for c in distinct if sum(any(id(x) == c for x in cells) for cells in held) > 1]
        assert ledger.usage.num_used == len(distinct)
        assert ledger.usage.num_used + ledger.usage.num_free == NUM_CELLS
        assert ledger.usage.num_shared == len(shared)
        for seq, cells in enumerate(held):
            assert ledger.num_cells(seq) == len(cells)
            assert ledger.num_shared_cells(seq) == sum(id(cell) in shared for cell in cells)
