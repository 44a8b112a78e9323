"""Slots against a backend that remembers what it was told."""

import pytest

from app.engine.detokenizer import Detokenizer
from app.engine.errors import PositionMismatchError
from app.engine.sequence import Sequence
from app.engine.slots import MIN_SHARED_TOKENS, SlotPool, common_prefix
from app.engine.types import SlotState
from tests.driver import request
from tests.fakes import Cell, CountingBackend

LONG = list(range(100, 100 + 2 * MIN_SHARED_TOKENS))


@pytest.fixture
def backend():
    return CountingBackend(n_seq_max=2)


@pytest.fixture
def pool(backend):
    return SlotPool(backend)


def sequence(backend: CountingBackend, tokens: list[int], chat: str, **options: object) -> Sequence:
    one = request("text", chat, **options)
    return Sequence(one, list(tokens), 8, backend.new_sampler(one.sampling, []), Detokenizer(lambda _: b""))


def compute(backend: CountingBackend, pool: SlotPool, seq: Sequence) -> None:
    """Put the rest of the sequence into the cells, as a decode would."""
    assert seq.slot is not None
    new = seq.token_ids[seq.num_computed_tokens :]
    start = seq.num_computed_tokens
    backend.cells += [Cell(token, start + i, {seq.slot.seq_id}) for i, token in enumerate(new)]
    pool.note_decoded(seq.slot, new)


def chat_in_slot(backend, pool, tokens, chat, **options):
    seq = sequence(backend, tokens, chat, **options)
    slot = pool.lease(seq)
    compute(backend, pool, seq)
    return slot


def test_the_lowest_empty_slot_is_leased_first(backend, pool):
    assert chat_in_slot(backend, pool, [1, 2], "a").seq_id == 0
    assert chat_in_slot(backend, pool, [3, 4], "b").seq_id == 1


def test_there_is_no_slot_while_all_are_leased(backend, pool):
    chat_in_slot(backend, pool, [1], "a")
    chat_in_slot(backend, pool, [2], "b")
    assert pool.lease(sequence(backend, [3], "c")) is None


def test_a_chat_comes_back_to_its_own_slot_with_what_is_still_right(backend, pool):
    chat_in_slot(backend, pool, [1], "a")
    slot = chat_in_slot(backend, pool, [5, 6, 7, 8], "b")
    pool.release(slot)
    seq = sequence(backend, [5, 6, 9, 9], "b")
    assert pool.lease(seq) is slot
    assert (seq.num_reused_tokens, backend.tokens_of(slot.seq_id)) == (2, [5, 6])


def test_the_last_token_of_a_prompt_is_always_computed(backend, pool):
    pool.release(chat_in_slot(backend, pool, [5, 6, 7], "a"))
    seq = sequence(backend, [5, 6, 7], "a")
    pool.lease(seq)
    assert seq.num_pending_tokens == 1


def test_with_no_empty_slot_the_one_idle_for_longest_goes(backend, pool):
    older, newer = chat_in_slot(backend, pool, [1, 2], "a"), chat_in_slot(backend, pool, [3, 4], "b")
    pool.release(older)
    pool.release(newer)
    slot = pool.lease(sequence(backend, [9, 9], "c"))
    assert slot is older
    assert backend.tokens_of(slot.seq_id) == []


def test_cells_that_the_books_do_not_know_are_cleared_before_reuse(backend, pool):
    backend.cells.append(Cell(7, 0, {0}))
    slot = pool.lease(sequence(backend, [1, 2], "a"))
    assert slot.seq_id == 0
    assert backend.tokens_of(0) == []


def test_a_one_off_leaves_no_cells(backend, pool):
    slot = chat_in_slot(backend, pool, [1, 2, 3], "a", keep_cells=False)
    pool.release(slot)
    assert backend.cells == []
    assert slot.state is SlotState.EMPTY


def test_a_forgotten_chat_leaves_no_cells(backend, pool):
    pool.release(chat_in_slot(backend, pool, [1, 2, 3], "a"))
    pool.release(chat_in_slot(backend, pool, [4, 5, 6], "b"))
    pool.forget("a")
    assert [cell.token_id for cell in backend.cells] == [4, 5, 6]


def test_a_long_common_prefix_is_shared_without_new_cells(backend, pool):
    chat_in_slot(backend, pool, [*LONG, 1], "a")
    seq = sequence(backend, [*LONG, 2], "b")
    slot = pool.lease(seq)
    assert seq.num_shared_tokens == len(LONG)
    assert backend.tokens_of(slot.seq_id) == LONG
    assert len(backend.cells) == pool.cells.num_used == len(LONG) + 1
    assert pool.cells.num_shared_cells(slot.seq_id) == len(LONG)


def test_a_short_common_prefix_is_computed_again(backend, pool):
    short = LONG[: MIN_SHARED_TOKENS - 1]
    chat_in_slot(backend, pool, [*short, 1], "a")
    seq = sequence(backend, [*short, 2], "b")
    pool.lease(seq)
    assert seq.num_shared_tokens == 0


def test_a_chats_own_prefix_is_kept_when_no_other_is_longer(backend, pool):
    chat_in_slot(backend, pool, [*LONG, 1], "a")
    pool.release(chat_in_slot(backend, pool, [*LONG, 2], "b"))
    seq = sequence(backend, [*LONG, 2, 3], "b")
    pool.lease(seq)
    assert (seq.num_reused_tokens, seq.num_shared_tokens) == (len(LONG) + 1, 0)


def test_a_recurrent_model_cannot_step_back_and_starts_again():
    backend = CountingBackend(is_recurrent=True)
    pool = SlotPool(backend)
    pool.release(chat_in_slot(backend, pool, [1, 2, 3], "a"))
    seq = sequence(backend, [1, 2, 9, 9], "a")
    slot = pool.lease(seq)
    assert (seq.num_reused_tokens, backend.tokens_of(slot.seq_id)) == (0, [])


def test_a_recurrent_model_can_go_on():
    backend = CountingBackend(is_recurrent=True)
    pool = SlotPool(backend)
    pool.release(chat_in_slot(backend, pool, [1, 2, 3], "a"))
    seq = sequence(backend, [1, 2, 3, 9], "a")
    pool.lease(seq)
    assert seq.num_reused_tokens == 3


def test_after_a_broken_decode_the_librarys_word_counts(backend, pool):
    seq = sequence(backend, [1, 2, 3, 4], "a")
    slot = pool.lease(seq)
    backend.cells += [Cell(1, 0, {slot.seq_id}), Cell(2, 1, {slot.seq_id})]
    pool.resync(slot)
    assert slot.token_ids == [1, 2]
    assert pool.cells.num_used == 2
    pool.verify()


def test_a_cell_that_vanished_is_a_loud_error(backend, pool):
    chat_in_slot(backend, pool, [1, 2, 3], "a")
    backend.cells.pop()
    with pytest.raises(PositionMismatchError, match="sequence 0: the library is at position 1"):
        pool.verify()


@pytest.mark.parametrize(
    ("held", "wanted", "length"),
    [
        ([], [1, 2], 0),
        ([1, 2, 3], [1, 2, 3], 2),
        ([1, 2], [1, 2, 3], 2),
        ([1, 9], [1, 2, 3], 1),
        ([1], [1], 0),
    ],
)
def test_common_prefix(backend, held, wanted, length):
    assert common_prefix(held, sequence(backend, wanted, "a")) == length
