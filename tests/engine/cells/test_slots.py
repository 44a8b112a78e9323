"""Slots against a backend that remembers what it was told."""

from math import inf

import pytest

from app.engine.batch import Batch
from app.engine.cells.event_log import TOKENS_SHOWN
from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.kept_cells import KeptCells
from app.engine.cells.ledger import check_cells
from app.engine.cells.prefix import MIN_MOVED_TOKENS, common_prefix, moved_run
from app.engine.cells.slots import MIN_SHARED_TOKENS, SlotPool
from app.engine.detokenizer import Detokenizer
from app.engine.sequence import Sequence
from app.inspector.event_words import words
from app.protocol.errors import PositionMismatchError
from app.protocol.load import CellStore
from app.protocol.output import PrefixEnd
from app.protocol.report import SlotState
from app.protocol.request import Message, Role
from tests.driver import request, rows
from tests.fakes import CountingBackend

LONG = list(range(100, 100 + 2 * MIN_SHARED_TOKENS))


@pytest.fixture
def backend():
    return CountingBackend(n_seq_max=2)


@pytest.fixture
def pool(backend):
    return SlotPool(backend, HibernatedChats(ram_bytes=2**20))


def sequence(backend: CountingBackend, tokens: list[int], chat: str, **options: object) -> Sequence:
    one = request("text", chat, **options)
    return Sequence(one, list(tokens), 8, backend.new_sampler(one.sampling, []), Detokenizer(lambda _: b""))


def compute(backend: CountingBackend, pool: SlotPool, seq: Sequence) -> None:
    """Put the rest of the sequence into the cells, as a decode would."""
    assert seq.slot is not None
    while seq.num_pending_tokens:
        batch = Batch(backend.model.n_batch)
        batch.add(seq, min(seq.num_pending_tokens, batch.capacity))
        backend.decode(batch)
        pool.memory.note_decoded(batch)


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
    backend.decode(rows(backend, (0, 0, [7])))
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


def test_what_others_computed_is_left_to_them_where_the_caller_wants_that(backend, pool):
    slots = [chat_in_slot(backend, pool, [*LONG, 1], f"chat {number}") for number in range(len(pool.slots))]
    for slot in slots:
        pool.release(slot)
    seq = sequence(backend, [*LONG, 2], "new", shares_prefix=False)
    assert (pool.best_prefix(seq), pool.num_new_cells(seq)) == (0, len(seq.token_ids))
    slot = pool.lease(seq)
    assert (seq.num_shared_tokens, backend.pos_max(slot.seq_id)) == (0, -1)
    compute(backend, pool, seq)
    pool.release(slot)
    again = sequence(backend, [*LONG, 2, 3], "new", shares_prefix=False)
    pool.lease(again)
    assert (again.num_reused_tokens, again.num_shared_tokens) == (len(LONG) + 1, 0)


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
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    pool.release(chat_in_slot(backend, pool, [1, 2, 3], "a"))
    seq = sequence(backend, [1, 2, 9, 9], "a")
    slot = pool.lease(seq)
    assert (seq.num_reused_tokens, backend.tokens_of(slot.seq_id)) == (0, [])


def test_a_recurrent_model_can_go_on():
    backend = CountingBackend(is_recurrent=True)
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    pool.release(chat_in_slot(backend, pool, [1, 2, 3], "a"))
    seq = sequence(backend, [1, 2, 3, 9], "a")
    pool.lease(seq)
    assert seq.num_reused_tokens == 3


def test_after_a_broken_decode_the_librarys_word_counts():
    backend = CountingBackend(n_seq_max=2, n_ubatch=2)
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    seq = sequence(backend, [1, 2, 3, 4], "a")
    slot = pool.lease(seq)
    batch = Batch(backend.model.n_batch)
    batch.add(seq, 4)
    backend.memory.decode([(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 4)], num_ubatches=1)
    pool.resync(batch)
    assert slot.token_ids == [1, 2]
    assert pool.cells.num_used == 2
    pool.memory.verify()
    assert check_cells(backend, pool.cells).difference == ""


@pytest.mark.parametrize("family", ["is_recurrent", "is_hybrid"])
def test_after_a_broken_decode_nobody_knows_a_recurrent_state(family):
    """The graph moves the states of idle chats, too, and those of answers without rows in this step."""
    backend = CountingBackend(**{family: True})
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    running = chat_in_slot(backend, pool, [1, 2, 3], "a")
    idle = chat_in_slot(backend, pool, [4, 5, 6], "b")
    pool.release(idle)
    seq = sequence(backend, [7, 8], "c")
    pool.lease(seq)
    batch = Batch(backend.model.n_batch)
    batch.add(seq, 2)
    pool.event_log.take()
    pool.resync(batch)
    assert [words(event) for event in pool.event_log.take()[0]] == ["cleared sequence 1: 3 tokens"]
    assert [slot.token_ids for slot in pool.slots] == [[]] * 4
    assert [running.chat_id, idle.chat_id, seq.slot.chat_id] == ["a", None, "c"]
    assert backend.cells == []
    pool.memory.verify()


def test_a_cell_that_vanished_is_a_loud_error(backend, pool):
    chat_in_slot(backend, pool, [1, 2, 3], "a")
    backend.truncate(0, 2)
    with pytest.raises(PositionMismatchError, match="sequence 0: the library is at position 1"):
        pool.memory.verify()


# Why more was not there already


def held_chat(pool, backend, tokens, chat, num_prompt_tokens=None, **options):
    """A chat that was answered and is idle now: the tokens after the prompt are its answer."""
    seq = sequence(backend, tokens[:num_prompt_tokens], chat, **options)
    slot = pool.lease(seq)
    seq.token_ids[:] = tokens
    compute(backend, pool, seq)
    pool.release(slot)
    return seq


def reason_of(pool, backend, tokens, chat, **options):
    pool.lease(sequence(backend, tokens, chat, **options))
    return pool.event_log.leases[-1].prefix_end


def test_nothing_was_held_of_a_new_chat(backend, pool):
    assert reason_of(pool, backend, LONG, "a") is PrefixEnd.NEW_CHAT


def test_all_that_was_held_is_used(backend, pool):
    held_chat(pool, backend, LONG, "a")
    assert reason_of(pool, backend, [*LONG, 1, 2], "a") is PrefixEnd.NEW_TEXT


def test_an_edited_message_is_told_with_the_tokens_on_both_sides(backend, pool):
    held_chat(pool, backend, [*LONG, 1, 2, 3], "a", history=(Message(Role.USER, "before"),))
    pool.lease(sequence(backend, [*LONG, 9, 9], "a"))
    lease = pool.event_log.leases[-1]
    assert lease.prefix_end is PrefixEnd.EDITED
    assert lease.num_common_tokens == lease.num_reused_tokens == len(LONG)
    assert (lease.wanted, lease.held) == ((9, 9), (1, 2, 3))
    assert lease.common == tuple(LONG[-TOKENS_SHOWN:])


def test_the_same_messages_in_other_tokens_are_the_templates_doing(backend, pool):
    first = held_chat(pool, backend, [*LONG, 1, 2, 3], "a")
    answered = (*first.request.messages, Message(Role.ASSISTANT, "an answer"))
    assert reason_of(pool, backend, [*LONG, 9, 9], "a", history=answered) is PrefixEnd.TEMPLATE


def test_an_edited_last_answer_is_told_as_such(backend, pool):
    tokens = [*LONG, *b"yes"]
    first = held_chat(pool, backend, tokens, "a", num_prompt_tokens=len(LONG))
    answered = (*first.request.messages, Message(Role.ASSISTANT, "no"))
    assert reason_of(pool, backend, [*LONG, *b"no", 7], "a", history=answered) is PrefixEnd.ANSWER


def test_an_answer_that_the_template_changes_is_not_an_edited_one(backend, pool):
    tokens = [*LONG, *b"yes"]
    first = held_chat(pool, backend, tokens, "a", num_prompt_tokens=len(LONG))
    answered = (*first.request.messages, Message(Role.ASSISTANT, "yes"))
    assert reason_of(pool, backend, [*LONG, *b"YES", 7], "a", history=answered) is PrefixEnd.TEMPLATE


def test_turns_that_were_left_out_are_told(backend, pool):
    held_chat(pool, backend, [*LONG, 1, 2, 3], "a")
    seq = sequence(backend, [*LONG, 9, 9], "a")
    seq.is_shortened = True
    pool.lease(seq)
    assert seq.prefix_end is PrefixEnd.DROPPED


def test_a_model_that_cannot_step_back_is_told():
    backend = CountingBackend(is_recurrent=True)
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    held_chat(pool, backend, [*LONG, 1], "a")
    assert reason_of(pool, backend, [*LONG, 2, 3], "a") is PrefixEnd.NO_ROLLBACK


# Hibernated chats


@pytest.fixture
def hungry_pool(backend):
    """Nothing can be saved."""
    return SlotPool(backend, HibernatedChats(ram_bytes=0))


def fill_with_others(pool, backend):
    for chat in ("x", "y"):
        held_chat(pool, backend, [ord(chat)], chat)


def test_a_chat_whose_slot_was_needed_comes_back_with_all_its_tokens(backend, pool):
    held_chat(pool, backend, LONG, "a")
    fill_with_others(pool, backend)
    assert [chat.chat_id for chat in pool.hibernated.chats()] == ["a"]
    seq = sequence(backend, [*LONG, 1, 2], "a")
    slot = pool.lease(seq)
    assert (seq.num_restored_tokens, seq.num_pending_tokens) == (len(LONG), 2)
    assert backend.tokens_of(slot.seq_id) == LONG
    assert seq.prefix_end is PrefixEnd.NEW_TEXT
    assert pool.hibernated.chats() == ()
    pool.memory.verify()


def test_cells_that_another_chat_holds_are_shared_rather_than_restored(backend, pool):
    held_chat(pool, backend, LONG, "a")
    fill_with_others(pool, backend)
    pool.memory.clear(pool.slots[0])
    held_chat(pool, backend, LONG, "other")
    seq = sequence(backend, [*LONG, 1], "a")
    pool.lease(seq)
    assert (seq.num_shared_tokens, seq.num_restored_tokens) == (len(LONG), 0)
    assert pool.cells.usage.num_shared == len(LONG)
    assert seq.prefix_end is PrefixEnd.NEW_TEXT


def test_of_a_saved_state_only_what_is_still_right_is_kept(backend, pool):
    held_chat(pool, backend, [*LONG, 1, 2], "a")
    fill_with_others(pool, backend)
    seq = sequence(backend, [*LONG, 9, 9], "a")
    slot = pool.lease(seq)
    assert seq.num_restored_tokens == len(LONG)
    assert backend.tokens_of(slot.seq_id) == LONG
    pool.memory.verify()


def test_what_could_not_be_saved_is_computed_again_and_said_so(backend, hungry_pool):
    held_chat(hungry_pool, backend, LONG, "a")
    fill_with_others(hungry_pool, backend)
    assert reason_of(hungry_pool, backend, [*LONG, 1], "a") is PrefixEnd.EVICTED


def test_a_damaged_state_is_computed_again_and_said_so(backend, pool):
    held_chat(pool, backend, LONG, "a")
    fill_with_others(pool, backend)
    pool.hibernated._saved["a"].state[-1] ^= 1
    seq = sequence(backend, [*LONG, 1], "a")
    pool.lease(seq)
    assert (seq.num_restored_tokens, seq.prefix_end) == (0, PrefixEnd.DOUBTED)
    pool.memory.verify()


def test_a_state_that_the_library_refuses_is_computed_again(backend, pool, monkeypatch):
    held_chat(pool, backend, LONG, "a")
    fill_with_others(pool, backend)
    monkeypatch.setattr(backend, "restore_state", lambda _seq_id, _state: False)
    assert reason_of(pool, backend, [*LONG, 1], "a") is PrefixEnd.DOUBTED
    pool.memory.verify()


def test_idle_chats_do_not_make_way_for_a_state_that_is_hardly_used():
    backend = CountingBackend(n_seq_max=3)
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    held_chat(pool, backend, [*LONG, *[1] * 350], "a")
    pool.hibernate_chat("a")
    held_chat(pool, backend, [2] * 200, "b")
    held_chat(pool, backend, [3] * 200, "c")
    seq = sequence(backend, [*LONG, 9], "a")
    assert pool.num_new_cells(seq) == len(seq.token_ids)
    pool.lease(seq)
    assert {slot.chat_id for slot in pool.slots} == {"a", "b", "c"}
    assert seq.num_restored_tokens == 0


def test_idle_chats_make_way_for_a_state_that_saves_enough():
    backend = CountingBackend(n_seq_max=3)
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    held_chat(pool, backend, [*[1] * 350, *LONG], "a")
    pool.hibernate_chat("a")
    held_chat(pool, backend, [2] * 200, "b")
    held_chat(pool, backend, [3] * 200, "c")
    seq = sequence(backend, [*[1] * 200, 9], "a")
    assert pool.num_new_cells(seq) == 350 + len(LONG)
    pool.lease(seq)
    assert seq.num_restored_tokens == 200
    assert "b" in pool.hibernated


def test_cells_that_only_idle_chats_share_make_way_for_a_saved_state():
    backend = CountingBackend()
    pool = SlotPool(backend, HibernatedChats(ram_bytes=2**20))
    held_chat(pool, backend, [1] * 300, "a")
    pool.hibernate_chat("a")
    held_chat(pool, backend, [2] * 300, "b")
    assert pool.fork("b", "c")
    assert pool.restore_chat("a")


def test_a_forgotten_chat_leaves_no_saved_state(backend, pool):
    held_chat(pool, backend, LONG, "a")
    fill_with_others(pool, backend)
    pool.forget("a")
    assert pool.hibernated.chats() == ()
    assert reason_of(pool, backend, LONG, "a") is PrefixEnd.NEW_CHAT


def test_the_slot_of_another_chat_gives_its_prefix_before_it_goes(backend, pool):
    """The system prompt of the chat that has to go is the new chat's, too."""
    held_chat(pool, backend, [*LONG, 1], "a")
    chat_in_slot(backend, pool, [2], "b")
    seq = sequence(backend, [*LONG, 3], "c")
    pool.lease(seq)
    assert seq.num_shared_tokens == len(LONG)
    assert "a" in pool.hibernated


def test_a_pinned_chat_is_not_hibernated_to_make_others_faster(backend, pool):
    held_chat(pool, backend, LONG, "a")
    assert pool.oldest_idle(min_cells=1) is pool.slots[0]
    pool.pin("a", is_pinned=True)
    assert pool.oldest_idle(min_cells=1) is None


def test_the_front_tab_gives_way_last(backend, pool):
    held_chat(pool, backend, LONG, "front")
    held_chat(pool, backend, [1] * 20, "b")
    pool.front_chat_id = "front"
    pool.lease(sequence(backend, [5, 5], "c"))
    assert [chat.chat_id for chat in pool.hibernated.chats()] == ["b"]


# Forks


def test_a_fork_costs_no_cells_until_it_goes_its_own_way(backend, pool):
    held_chat(pool, backend, LONG, "a")
    num_used = pool.cells.num_used
    assert pool.fork("a", "b")
    assert pool.cells.num_used == num_used
    seq = sequence(backend, [*LONG, 1, 2], "b")
    pool.lease(seq)
    assert seq.num_reused_tokens == len(LONG)
    compute(backend, pool, seq)
    assert pool.cells.num_used == num_used + 2
    pool.memory.verify()


def test_without_an_empty_slot_a_fork_shares_when_it_speaks(backend, pool):
    held_chat(pool, backend, LONG, "a")
    held_chat(pool, backend, [1], "x")
    assert not pool.fork("a", "b")
    seq = sequence(backend, [*LONG, 1], "b")
    pool.lease(seq)
    assert seq.num_shared_tokens == len(LONG)


# Turns that were left out


SYSTEM, OLD, KEPT = [1] * 20, [2] * 40, list(range(50, 100))


def shifted(backend, pool, donor_holds=None):
    held_chat(pool, backend, [*SYSTEM, *OLD, *KEPT, 7], "a")
    if donor_holds:
        pool.fork("a", "b")
    seq = sequence(backend, [*SYSTEM, *KEPT, 8, 9], "a")
    seq.is_shortened = True
    return seq, pool.lease(seq)


def test_the_cells_behind_turns_that_were_left_out_move_down(backend, pool):
    seq, slot = shifted(backend, pool)
    assert seq.num_reused_tokens == len(SYSTEM) + len(KEPT)
    assert backend.tokens_of(slot.seq_id) == [*SYSTEM, *KEPT]
    assert pool.cells.num_used == len(SYSTEM) + len(KEPT)
    assert "shifted 50 cells of sequence 0 down by 40" in [words(event) for event in pool.event_log.events]
    pool.memory.verify()


def test_cells_that_others_hold_are_not_moved(backend, pool):
    seq, slot = shifted(backend, pool, donor_holds=True)
    assert seq.num_reused_tokens == len(SYSTEM)
    assert backend.tokens_of(slot.seq_id) == SYSTEM
    assert backend.tokens_of(1) == [*SYSTEM, *OLD, *KEPT, 7]
    pool.memory.verify()


def shifted_chat(backend, pool):
    """Idle now. Its cells from the end of the system prompt on have seen what was left out."""
    seq, slot = shifted(backend, pool)
    compute(backend, pool, seq)
    pool.release(slot)
    return seq


def test_what_has_seen_a_turn_that_was_left_out_is_not_shared_with_a_chat_that_never_had_it(backend, pool):
    tokens = shifted_chat(backend, pool).token_ids
    other = sequence(backend, [*tokens, 5], "b")
    assert pool.best_prefix(other) == len(SYSTEM)
    pool.lease(other)
    assert other.num_shared_tokens == len(SYSTEM)
    compute(backend, pool, other)
    third = sequence(backend, [*tokens, 6], "c")
    pool.release(other.slot)
    pool.lease(third)
    assert third.num_shared_tokens == len(tokens), "what the second has computed, it may have"


def test_a_chat_that_is_shown_whole_again_does_not_go_on_from_moved_cells(backend, pool):
    tokens = shifted_chat(backend, pool).token_ids
    seq = sequence(backend, [*tokens, 5], "a")
    slot = pool.lease(seq)
    assert seq.num_reused_tokens == len(SYSTEM)
    assert slot.shifted_from is None


def test_a_shortened_chat_goes_on_from_moved_cells(backend, pool):
    tokens = shifted_chat(backend, pool).token_ids
    seq = sequence(backend, [*tokens, 5], "a")
    seq.is_shortened = True
    pool.lease(seq)
    assert seq.num_reused_tokens == len(tokens)


@pytest.mark.parametrize("is_shortened", [False, True])
@pytest.mark.parametrize("wants_it", [False, True], ids=["when it speaks", "before it speaks"])
def test_a_saved_state_remembers_that_cells_were_moved(backend, pool, is_shortened, wants_it):
    tokens = shifted_chat(backend, pool).token_ids
    assert pool.hibernate_chat("a")
    if wants_it:
        assert pool.restore_chat("a")
    seq = sequence(backend, [*tokens, 5], "a")
    seq.is_shortened = is_shortened
    pool.lease(seq)
    num_there = len(tokens) if is_shortened else len(SYSTEM)
    assert seq.num_reused_tokens + seq.num_restored_tokens == num_there


def test_a_fork_of_a_shortened_chat_remembers_that_cells_were_moved(backend, pool):
    tokens = shifted_chat(backend, pool).token_ids
    assert pool.fork("a", "b")
    pool.forget("a")
    other = sequence(backend, [*tokens, 5], "c")
    pool.lease(other)
    assert other.num_shared_tokens == len(SYSTEM)


def test_moved_cells_are_not_kept_for_the_next_start(backend, pool, tmp_path):
    pool.hibernated.kept = KeptCells(CellStore(tmp_path, bytes(32)), backend.fingerprint)
    pool.hibernated.saved_chat_ids.add("a")
    shifted_chat(backend, pool)
    pool.keep_all(inf)
    pool.hibernate_chat("a")
    pool.keep_all(inf)
    assert list(tmp_path.iterdir()) == []


def test_cells_of_another_chat_are_not_moved(backend, pool):
    """They have seen what that one was asked, not what this one has left out."""
    held_chat(pool, backend, [*SYSTEM, *OLD, *KEPT, 7], "b")
    held_chat(pool, backend, [3] * 9, "c")
    seq = sequence(backend, [*SYSTEM, *KEPT, 8, 9], "a")
    seq.is_shortened = True
    slot = pool.lease(seq)
    assert backend.tokens_of(slot.seq_id) == SYSTEM


def test_a_model_that_cannot_shift_computes_again():
    backend = CountingBackend(n_seq_max=2, can_shift=False)
    seq, _ = shifted(backend, SlotPool(backend, HibernatedChats(ram_bytes=2**20)))
    assert seq.num_reused_tokens == len(SYSTEM)


def test_keys_that_are_not_rotated_yet_are_never_saved(backend, pool):
    """Between the move of cells and the next decode a saved state would be wrong."""
    _, slot = shifted(backend, pool)
    pool.release(slot)
    pool.hibernate(slot)
    assert pool.hibernated.chats() == ()


RUN = list(range(100, 100 + MIN_MOVED_TOKENS))


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
def test_common_prefix(held, wanted, length):
    assert common_prefix(held, wanted) == length


LONGEST_BEGIN = 3 + len(RUN)


@pytest.mark.parametrize(
    ("held", "wanted", "run"),
    [
        ([1, 2, 3, *RUN, 9], [1, *RUN, 5, 6], (3, 3 + len(RUN))),
        ([1, 0, *RUN, 0, *RUN, 7, 8], [1, *RUN, 7, 8, 9], (LONGEST_BEGIN, LONGEST_BEGIN + len(RUN) + 2)),
        ([1, 2, *RUN[1:]], [1, *RUN[1:], 5], (1, 1)),
        ([1, 2, 3], [1, 4, 5], (1, 1)),
    ],
    ids=["behind a gap", "the longest", "too short to be worth it", "nothing to find"],
)
def test_a_run_that_moved_is_found(held, wanted, run):
    assert moved_run(held, wanted, start=1) == run
