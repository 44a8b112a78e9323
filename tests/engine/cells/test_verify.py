"""Our books against the cells of the library: they agree whatever happens, and a lie is found."""

import pytest

from app.engine.cells.ledger import CellLedger, check_cells
from tests.driver import rows
from tests.fakes import CountingBackend

NUM_SEQS = 4


class Books:
    """A backend and a ledger that are told the same."""

    def __init__(self, backend) -> None:
        self.backend = backend
        self.ledger = CellLedger(backend.model)
        for seq_id in range(NUM_SEQS):
            backend.truncate(seq_id, 0)

    def append(self, seq_id: int, num_cells: int) -> None:
        if 0 < num_cells <= self.ledger.num_free:
            batch = rows(self.backend, (seq_id, self.ledger.num_cells(seq_id), [5] * num_cells))
            self.backend.decode(batch)
            self.ledger.append(batch)

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


@pytest.fixture
def books(backend):
    """Two chats that share a prefix, and one of its own."""
    books = Books(backend)
    books.append(0, 20)
    books.share(0, 1, 12)
    books.append(1, 5)
    books.append(3, 7)
    assert check_cells(backend, books.ledger).difference == ""
    return books


LIES = {
    "a cell too many in the library": lambda books: books.backend.decode(rows(books.backend, (3, 7, [5]))),
    "a cell too few in the library": lambda books: books.backend.truncate(3, 6),
    "a holder too few": lambda books: books.backend.truncate(1, 0),
    "a holder too many": lambda books: books.backend.share_prefix(0, 2, 5),
    "others than we think share": lambda books: (
        books.ledger.truncate(1, 0),
        books.ledger.append(rows(books.backend, (1, 0, [5] * 17))),
    ),
    "cells at other positions": lambda books: books.backend.remove_and_shift(3, 2, 4),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_disagreement_is_found(books, lie):
    lie(books)
    assert not check_cells(books.backend, books.ledger).agrees


def test_the_message_shows_both_sides(books):
    books.backend.truncate(3, 6)
    books.ledger.truncate(0, 19)
    difference = check_cells(books.backend, books.ledger).difference
    assert "the library has 31, among them [(19, (0,))]" in difference
    assert "our books have 31, among them [(6, (3,))]" in difference


def test_wrong_counts_of_our_own_are_found(books):
    books.ledger._num_shared += 1
    difference = check_cells(books.backend, books.ledger).difference
    assert "32 used and 13 shared cells, but list 32 and 12" in difference


def test_the_same_cells_in_another_order_are_a_disagreement(books):
    books.truncate(3, 0)
    books.backend.decode(rows(books.backend, (2, 0, [5]), (3, 0, [5])))
    books.ledger.append(rows(books.backend, (3, 0, [5]), (2, 0, [5])))
    check = check_cells(books.backend, books.ledger)
    assert "used cell number 25 is (0, (2,)) there and (0, (3,)) here" in check.difference


def test_a_check_tells_when_it_was_made_and_of_how_many_cells(books):
    check = check_cells(books.backend, books.ledger, step=7)
    assert (check.step, check.num_cells, check.agrees, check.can_compare) == (7, 32, True, True)


def test_the_order_is_not_compared_where_the_library_chooses_cells_by_other_rules():
    backend = CountingBackend(n_swa=128)
    ledger = CellLedger(backend.model)
    backend.decode(rows(backend, (0, 0, [5]), (1, 0, [5])))
    ledger.append(rows(backend, (1, 0, [5]), (0, 0, [5])))
    assert check_cells(backend, ledger).agrees


def test_a_recurrent_model_has_nothing_to_compare():
    backend = CountingBackend(is_recurrent=True)
    check = check_cells(backend, CellLedger(backend.model))
    assert (check.can_compare, check.agrees) == (False, True)
