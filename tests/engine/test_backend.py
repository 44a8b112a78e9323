"""What the engine may rely on, of the fake as of llama.cpp."""

import numpy as np
import pytest

from app.protocol.errors import DecodeInterruptedError, NoKvCellsError
from tests.driver import GREEDY, rows


def fill(backend, seq_id: int, num_tokens: int, *, first_token: int = 3) -> None:
    """Give the empty `seq_id` so many cells."""
    token_ids = [first_token + index % 50 for index in range(num_tokens)]
    for pos in range(0, num_tokens, backend.model.n_batch):
        backend.decode(rows(backend, (seq_id, pos, token_ids[pos : pos + backend.model.n_batch])))


def answer(backend, seq_id: int, token_id: int = 60, num_tokens: int = 8) -> list[int]:
    """The greedy tokens after `token_id`."""
    sampler = backend.new_sampler(GREEDY, [])
    tokens = [token_id]
    for _ in range(num_tokens):
        backend.decode(rows(backend, (seq_id, backend.pos_max(seq_id) + 1, [tokens[-1]])))
        tokens.append(sampler.sample(0))
    sampler.close()
    return tokens[1:]


# Saving and restoring


def test_a_restored_chat_goes_on_as_if_it_had_stayed(backend):
    fill(backend, 0, 40)
    state = backend.save_state(0)
    expected = answer(backend, 0)
    backend.truncate(0, 0)
    fill(backend, 1, 30, first_token=7)
    assert backend.restore_state(2, state)
    assert (backend.pos_min(2), backend.pos_max(2)) == (0, 39)
    assert answer(backend, 2) == expected


def test_restoring_replaces_what_the_sequence_held(backend):
    fill(backend, 0, 40)
    state = backend.save_state(0)
    fill(backend, 1, 100, first_token=7)
    assert backend.restore_state(1, state)
    assert backend.pos_max(1) == 39
    assert len(backend.used_cells().listed()) == 80


def test_a_saved_state_has_no_part_of_who_shares_it(backend):
    fill(backend, 0, 40)
    backend.share_prefix(0, 1, 30)
    state = backend.save_state(1)
    backend.truncate(0, 0)
    backend.truncate(1, 0)
    assert backend.restore_state(3, state)
    assert backend.used_cells().listed() == [(pos, (3,)) for pos in range(30)]


def test_a_state_that_finds_no_room_leaves_the_sequence_empty_and_the_others_alone(backend):
    fill(backend, 0, 300)
    state = backend.save_state(0)
    assert not backend.restore_state(1, state)  # 512 cells in all
    assert [backend.pos_max(seq_id) for seq_id in range(4)] == [299, -1, -1, -1]
    fill(backend, 1, 212)


@pytest.mark.parametrize("damage", ["nothing", "half", "one byte less", "one byte more", "zeros"])
def test_what_is_not_a_whole_state_is_refused(backend, damage):
    fill(backend, 0, 40)
    state = backend.save_state(0)
    damaged = {
        "nothing": state[:0],
        "half": state[: state.size // 2],
        "one byte less": state[:-1],
        "one byte more": np.append(state, np.uint8(0)),
        "zeros": np.zeros_like(state),
    }[damage]
    fill(backend, 1, 10)
    assert not backend.restore_state(1, damaged)
    assert backend.pos_max(1) == -1
    assert answer(backend, 0)


# Moving positions


def test_cells_behind_a_removed_part_close_the_gap(backend):
    fill(backend, 0, 40)
    backend.remove_and_shift(0, 10, 25)
    assert (backend.pos_min(0), backend.pos_max(0)) == (0, 24)
    assert sorted(backend.used_cells().listed()) == [(pos, (0,)) for pos in range(25)]
    assert answer(backend, 0)


def test_nothing_can_be_saved_until_a_decode_has_rotated_the_keys(backend):
    """A state saved before would hold keys of the old positions."""
    fill(backend, 0, 40)
    fill(backend, 1, 5)
    backend.remove_and_shift(0, 10, 25)
    backend.share_prefix(0, 2, 20)
    for seq_id in (0, 2):
        with pytest.raises(AssertionError):
            backend.save_state(seq_id)
    backend.save_state(1)
    fill(backend, 3, 1)  # anybody's decode rotates them
    state = backend.save_state(0)
    expected = answer(backend, 0)
    assert backend.restore_state(3, state)
    assert answer(backend, 3) == expected


def test_an_emptied_sequence_has_no_keys_to_rotate(backend):
    fill(backend, 0, 40)
    backend.remove_and_shift(0, 10, 25)
    backend.truncate(0, 0)
    backend.save_state(0)


def test_cells_that_others_hold_are_not_moved(backend):
    fill(backend, 0, 40)
    backend.share_prefix(0, 1, 30)
    with pytest.raises(AssertionError, match="others"):
        backend.remove_and_shift(0, 10, 20)
    backend.remove_and_shift(0, 30, 35)  # behind what is shared
    assert backend.pos_max(1) == 29


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 5), (9, 3), (5, 41)])
def test_only_positions_that_are_held_can_be_removed(backend, start, end):
    fill(backend, 0, 40)
    with pytest.raises(AssertionError, match="no positions"):
        backend.remove_and_shift(0, start, end)


# What the cells hold


def test_every_cell_tells_its_holders(backend):
    fill(backend, 0, 20)
    backend.share_prefix(0, 2, 15)
    backend.share_prefix(2, 1, 10)
    fill(backend, 3, 4)
    backend.truncate(0, 5)
    expected = [(pos, (0, 1, 2)) for pos in range(5)] + [(pos, (1, 2)) for pos in range(5, 10)]
    expected += [(pos, (2,)) for pos in range(10, 15)] + [(pos, (3,)) for pos in range(4)]
    assert sorted(backend.used_cells().listed()) == sorted(expected)


def test_an_empty_context_has_no_used_cells(backend):
    assert backend.used_cells().listed() == []


# Interrupts


def test_after_an_interrupt_every_decode_breaks_off_until_it_is_taken_back(backend):
    fill(backend, 0, 10)
    backend.interrupt()
    for _ in range(2):
        with pytest.raises(DecodeInterruptedError):
            backend.decode(rows(backend, (0, 10, [1])))
    backend.resume()
    backend.decode(rows(backend, (0, 10, [1])))
    assert backend.pos_max(0) == 10


# A call that would end the process, or spoil the cache, is refused


@pytest.mark.parametrize("seq_id", [-1, 4, 300])
def test_a_sequence_that_does_not_exist_is_refused(backend, seq_id):
    fill(backend, 0, 4)
    state = backend.save_state(0)
    for call in (
        lambda: backend.save_state(seq_id),
        lambda: backend.restore_state(seq_id, state),
        lambda: backend.truncate(seq_id, 0),
        lambda: backend.share_prefix(0, seq_id, 1),
        lambda: backend.share_prefix(seq_id, 1, 1),
        lambda: backend.remove_and_shift(seq_id, 0, 1),
    ):
        with pytest.raises(AssertionError, match="out of range"):
            call()


def test_a_full_cache_is_said_so_and_stays_as_it_was(backend):
    fill(backend, 0, 500)
    with pytest.raises(NoKvCellsError):
        fill(backend, 1, 20)
    assert (backend.pos_max(0), backend.pos_max(1)) == (499, -1)
