"""Our books against the cells of the library: they agree whatever happens, and a lie is found."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.cells import CellLedger
from app.engine.errors import PositionMismatchError
from app.engine.verify import verify_cells
from tests.driver import rows
from tests.fakes import CountingBackend

NUM_SEQS = 4


class Books:
    """A backend and a ledger that are told the same."""

    def __init__(self, backend) -> None:
        self.backend = backend
        self.ledger = CellLedger(backend.model.n_ctx, backend.model.n_seq_max)
        for seq_id in range(NUM_SEQS):
            backend.truncate(seq_id, 0)

    def append(self, seq_id: int, num_cells: int) -> None:
        if 0 < num_cells <= self.ledger.num_free:
            first_pos = self.ledger.num_cells(seq_id)
            self.backend.decode(rows(self.backend, (seq_id, first_pos, [5] * num_cells)))
            self.ledger.append(seq_id, num_cells)

    def share(self, source: int, target: int, num_cells: int) -> None:
        num_cells = min(num_cells, self.ledger.num_cells(source))
        if num_cells and source != target:
            self.truncate(target, 0)
            self.backend.share_prefix(source, target, num_cells)
            self.ledger.share(source, target, num_cells)

    def truncate(self, seq_id: int, num_cells: int) -> None:
        if num_cells <= self.ledger.num_cells(seq_id):
            self.backend.truncate(seq_id, num_cells)
            self.ledger.truncate(seq_id, num_cells)

    def remove(self, seq_id: int, start: int, num_cells: int) -> None:
        end = min(start + num_cells, self.ledger.num_cells(seq_id))
        if start < end and not self.ledger.has_shared_cells_from(seq_id, start):
            self.backend.remove_and_shift(seq_id, start, end)
            self.ledger.remove(seq_id, start, end)

    def move(self, seq_id: int, target: int) -> None:
        """Save, clear, restore: new cells in another order."""
        self.append(seq_id, 1)  # rotates what was shifted
        num_cells = self.ledger.num_cells(seq_id)
        if num_cells == 0 or seq_id == target:
            return
        state = self.backend.save_state(seq_id)
        self.truncate(seq_id, 0)
        self.truncate(target, 0)
        if num_cells <= self.ledger.num_free and self.backend.restore_state(target, state):
            self.ledger.append(target, num_cells)


seq_ids = st.integers(0, NUM_SEQS - 1)
counts = st.integers(0, 60)
operations = st.one_of(
    st.tuples(st.just("append"), seq_ids, counts),
    st.tuples(st.just("share"), seq_ids, seq_ids, counts),
    st.tuples(st.just("truncate"), seq_ids, counts),
    st.tuples(st.just("remove"), seq_ids, counts, counts),
    st.tuples(st.just("move"), seq_ids, seq_ids),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(operations, max_size=30))
def test_books_and_library_agree_whatever_happens(backend, steps):
    books = Books(backend)
    for name, *arguments in steps:
        getattr(books, name)(*arguments)
        verify_cells(backend, books.ledger)


@pytest.fixture
def books(backend):
    """Two chats that share a prefix, and one of its own."""
    books = Books(backend)
    books.append(0, 20)
    books.share(0, 1, 12)
    books.append(1, 5)
    books.append(3, 7)
    verify_cells(backend, books.ledger)
    return books


LIES = {
    "a cell too many in the library": lambda books: books.backend.decode(rows(books.backend, (3, 7, [5]))),
    "a cell too few in the library": lambda books: books.backend.truncate(3, 6),
    "a holder too few": lambda books: books.backend.truncate(1, 0),
    "a holder too many": lambda books: books.backend.share_prefix(0, 2, 5),
    "others than we think share": lambda books: (books.ledger.truncate(1, 0), books.ledger.append(1, 17)),
    "cells at other positions": lambda books: books.backend.remove_and_shift(3, 2, 4),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_disagreement_is_found(books, lie):
    lie(books)
    with pytest.raises(PositionMismatchError):
        verify_cells(books.backend, books.ledger)


def test_the_message_shows_both_sides(books):
    books.backend.truncate(3, 6)
    books.ledger.truncate(0, 19)
    with pytest.raises(PositionMismatchError) as caught:
        verify_cells(books.backend, books.ledger)
    assert "the library has 31, among them [(19, (0,))]" in str(caught.value)
    assert "our books have 31, among them [(6, (3,))]" in str(caught.value)


def test_wrong_counts_of_our_own_are_found(books):
    books.ledger.num_used += 1
    with pytest.raises(PositionMismatchError, match="33 used and 12 shared cells, but list 32 and 12"):
        verify_cells(books.backend, books.ledger)


def test_a_recurrent_model_has_nothing_to_compare():
    backend = CountingBackend(is_recurrent=True)
    verify_cells(backend, CellLedger(backend.model.n_ctx, NUM_SEQS))
