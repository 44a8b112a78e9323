"""The books and the library change together, or the difference is noticed."""

import pytest

from app.engine.cells.slot_memory import SlotMemory
from app.protocol.errors import PositionMismatchError
from tests.driver import rows
from tests.fakes import CountingBackend

TOKENS = list(range(1, 21))


@pytest.fixture
def backend() -> CountingBackend:
    return CountingBackend()


@pytest.fixture
def memory(backend: CountingBackend) -> SlotMemory:
    """Slot 0 holds TOKENS."""
    memory = SlotMemory(backend)
    compute(memory, backend, 0, TOKENS)
    return memory


def compute(memory: SlotMemory, backend: CountingBackend, seq_id: int, tokens: list[int]) -> None:
    batch = rows(backend, (seq_id, len(memory.slots[seq_id].token_ids), tokens))
    backend.decode(batch)
    memory.note_decoded(batch)


def test_what_was_decoded_is_in_slot_ledger_and_library(memory, backend):
    assert memory.slots[0].token_ids == TOKENS
    assert memory.cells.num_cells(0) == len(TOKENS)
    assert backend.pos_max(0) == len(TOKENS) - 1
    memory.verify()


def test_a_slot_that_is_cut_back_holds_its_first_tokens(memory, backend):
    assert memory.cut_back(memory.slots[0], 5)
    assert memory.slots[0].token_ids == TOKENS[:5]
    assert backend.pos_max(0) == 4
    memory.verify()


def test_a_model_that_cannot_be_cut_back_leaves_an_empty_slot():
    backend = CountingBackend(is_recurrent=True)
    memory = SlotMemory(backend)
    compute(memory, backend, 0, TOKENS)
    assert not memory.cut_back(memory.slots[0], 5)
    assert memory.slots[0].token_ids == []
    assert backend.pos_max(0) == -1


# A model that goes back to checkpoints only


@pytest.fixture
def recurrent() -> tuple[SlotMemory, CountingBackend]:
    """Slot 0 holds TOKENS, with a checkpoint at 12."""
    backend = CountingBackend(is_recurrent=True, takes_checkpoints=True)
    memory = SlotMemory(backend)
    compute(memory, backend, 0, TOKENS[:12])
    memory.slots[0].checkpoints[12] = backend.save_checkpoint(0)
    compute(memory, backend, 0, TOKENS[12:])
    return memory, backend


def test_it_is_cut_back_to_the_nearest_checkpoint(recurrent):
    memory, backend = recurrent
    slot = memory.slots[0]
    assert [memory.reach(slot, number) for number in (5, 12, 15, 20, 99)] == [0, 12, 12, 20, 20]
    assert memory.cut_back(slot, 12)
    assert slot.token_ids == TOKENS[:12]
    assert backend.pos_max(0) == 11
    memory.verify()


def test_a_checkpoint_behind_the_cut_is_gone(recurrent):
    memory, backend = recurrent
    memory.slots[0].checkpoints[20] = backend.save_checkpoint(0)
    memory.cut_back(memory.slots[0], 12)
    assert list(memory.slots[0].checkpoints) == [12]


def test_another_slot_shares_up_to_it_and_can_go_back_itself(recurrent):
    memory, _backend = recurrent
    assert memory.share(memory.slots[0], memory.slots[1], 12)
    assert memory.slots[1].token_ids == TOKENS[:12]
    assert list(memory.slots[1].checkpoints) == [12]
    assert memory.slots[0].token_ids == TOKENS
    memory.verify()


def test_after_an_interrupted_decode_each_chat_is_at_its_last_checkpoint(recurrent):
    memory, backend = recurrent
    compute(memory, backend, 1, TOKENS)
    memory.resync(rows(backend, (2, 0, TOKENS)))
    assert [slot.token_ids for slot in memory.slots] == [TOKENS[:12], [], [], []]
    assert [backend.pos_max(slot.seq_id) for slot in memory.slots] == [11, -1, -1, -1]
    memory.verify()


def test_shared_cells_are_freed_with_their_last_owner(memory):
    memory.share(memory.slots[0], memory.slots[1], 8)
    assert memory.slots[1].token_ids == TOKENS[:8]
    assert memory.cells.usage.num_used == len(TOKENS)
    memory.clear(memory.slots[0])
    assert memory.cells.usage.num_used == 8
    memory.clear(memory.slots[1])
    assert memory.cells.usage.num_used == 0
    memory.verify()


def test_a_state_comes_back_into_another_slot(memory):
    state = memory.save(memory.slots[0])
    memory.clear(memory.slots[0])
    assert memory.restore(memory.slots[2], state, TOKENS)
    assert memory.slots[2].token_ids == TOKENS
    memory.verify()


def test_a_state_of_other_tokens_leaves_the_slot_empty(memory):
    state = memory.save(memory.slots[0])
    assert not memory.restore(memory.slots[2], state, TOKENS[:-1])
    assert memory.slots[2].token_ids == []
    memory.verify()


def test_what_stands_behind_a_gap_moves_down(memory):
    memory.close_gap(memory.slots[0], 3, 6)
    assert memory.slots[0].token_ids == TOKENS[:3] + TOKENS[6:]
    assert memory.has_unrotated_keys, "nothing can be saved before the next decode"
    compute(memory, memory._backend, 0, [99])
    assert not memory.has_unrotated_keys
    memory.verify()


def test_cells_that_went_behind_our_back_are_noticed(memory, backend):
    backend.truncate(0, 3)
    with pytest.raises(PositionMismatchError, match="sequence 0"):
        memory.verify()


def test_a_snapshot_compares_only_what_has_changed(memory, backend):
    memory.snapshots(())
    backend.truncate(0, 3)
    assert memory.snapshots(())[0].num_cells == len(TOKENS), "nothing was done to it, so nobody looks"
    memory.note_change(memory.slots[0])
    with pytest.raises(PositionMismatchError):
        memory.snapshots(())
