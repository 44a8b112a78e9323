"""Answers that come out the same each time: whatever else is computed, and whether they were before.

A row's result depends, in its last bits, on the rows that are computed with it, on where the cells lie that
it sees, and on the steps in which those were computed; one bit can change a word that is drawn. So these
answers have a context of their own, in which a token's cell is its position, and take steps of their own,
whose rows depend on nothing but what was asked. Engine thread only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.draft_planner import DraftPlanner
from app.engine.inspection import Inspection
from app.engine.lane import Lane
from app.engine.prefix import common_prefix
from app.engine.scheduler import Scheduler
from app.engine.slots import SlotPool
from app.engine.step_budget import StepBudget
from app.protocol.errors import EngineError, RequestError
from app.system.said import said, together

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.hibernation import HibernatedChats
    from app.engine.prompt_builder import PromptBuilder
    from app.engine.sequence import Sequence, Slot
    from app.protocol.report import SlotSnapshot

# Prompt rows of a step: always these, for what is learned from step times is never the same twice. Of a model
# of 270M 32 take a fifth more time a token than 64, but other chats wait half as long for them.
CHUNK_ROWS = 32


def num_rows(seq: Sequence) -> int:
    """Of its next step. A prompt is cut at positions that are multiples of a chunk, an answer after each."""
    start = seq.num_computed_tokens
    if start >= seq.num_prefill_tokens:
        return 1
    return min(CHUNK_ROWS - start % CHUNK_ROWS, seq.num_prefill_tokens - start)


def whole_chunks(num_tokens: int) -> int:
    return num_tokens // CHUNK_ROWS * CHUNK_ROWS


def open_private(shared: Lane, prompts: PromptBuilder, *, checks_each_step: bool) -> Lane:
    """Raises RequestError when there is no room for it."""
    try:
        backend = shared.backend.open_private(CHUNK_ROWS)
    except EngineError as error:
        what = said("Repeatable answers need a context of their own, and there is no memory for it.")
        raise RequestError(together(what, str(error))) from error
    slots = RepeatableSlots(backend, shared.slots.hibernated)
    slots.front_chat_id, slots.pinned_chat_ids = shared.slots.front_chat_id, shared.slots.pinned_chat_ids
    scheduler = RepeatableScheduler(slots, StepBudget(backend.model.n_batch), DraftPlanner(backend))
    inspection = Inspection(backend, prompts, slots, scheduler, checks_each_step=checks_each_step)
    return Lane(backend, slots, scheduler, inspection)


class RepeatableSlots(SlotPool):
    """One slot: the last of its context, so that its number is no other slot's.

    Idle, it holds whole chunks of prompts only, and so does a saved state, but for that of a paused answer.
    Those are what any prompt with the same beginning would compute; the end of a prompt and an answer are
    computed in other shapes than as part of the next prompt.
    """

    def __init__(self, backend: Backend, hibernated: HibernatedChats) -> None:
        super().__init__(backend, hibernated)
        self.slots = self.memory.slots[-1:]

    def lease(self, seq: Sequence) -> Slot | None:
        slot = super().lease(seq)
        self.hibernated.saved_chat_ids.discard(seq.request.chat_id)  # what is kept fits the other context
        return slot

    def set_aside(self, slot: Slot) -> Sequence:
        seq = super().set_aside(slot)
        self.memory.cut_back(slot, whole_chunks(min(seq.num_prefill_tokens, len(slot.token_ids))))
        return seq

    def suspend(self, slot: Slot) -> None:
        """An answer that is paused goes on from all that it has computed."""
        super().set_aside(slot)
        self.hibernate(slot)

    def snapshots(self) -> tuple[SlotSnapshot, ...]:
        return self._told(super().snapshots())

    def evidence(self) -> tuple[SlotSnapshot, ...]:
        return self._told(super().evidence())

    def _told(self, slots: tuple[SlotSnapshot, ...]) -> tuple[SlotSnapshot, ...]:
        return (replace(slots[-1], is_repeatable=True),)

    def _keep_own_prefix(self, slot: Slot, seq: Sequence) -> int:
        num_tokens = common_prefix(slot.token_ids, seq.token_ids)
        if num_tokens < len(slot.token_ids):  # else all of it can be used: see above
            num_tokens = whole_chunks(num_tokens)
        return num_tokens if self.memory.cut_back(slot, num_tokens) else 0


class RepeatableScheduler(Scheduler):
    """One answer at a time, in the order in which they came."""

    def remove(self, seq: Sequence) -> None:
        if seq.paused_at:  # what was saved of half an answer is no beginning of a prompt
            self._slots.hibernated.drop(seq.request.chat_id)
        super().remove(seq)

    def _rows(self) -> dict[Sequence, int]:
        return {seq: num_rows(seq) for seq in self.running}
