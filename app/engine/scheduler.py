"""Decides what the next step computes.

Works on counts alone: never decodes, never samples. Engine thread only.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

# An answer is let in only where every running one could grow this much: otherwise one that was paused would
# come back at once, compute its whole prompt again and be paused in the next step.
HEADROOM_TOKENS = 64

if TYPE_CHECKING:
    from app.engine.batch import Batch
    from app.engine.sequence import Sequence
    from app.engine.slots import SlotPool
    from app.engine.step_budget import StepBudget


class Scheduler:
    """Sequences wait in order of arrival, run in a slot, and are paused, not failed, for want of cells."""

    def __init__(self, slots: SlotPool, budget: StepBudget) -> None:
        self._slots = slots
        self._budget = budget
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []  # in order of arrival
        self.events: list[str] = []  # since the engine last took them

    @property
    def sequences(self) -> list[Sequence]:
        return [*self.running, *self.waiting]

    def add(self, seq: Sequence) -> None:
        self.waiting.append(seq)

    def remove(self, seq: Sequence) -> None:
        """The sequence has ended: give its slot back."""
        if seq.slot:
            self._slots.release(seq.slot)
            self.running.remove(seq)
        else:
            self.waiting.remove(seq)

    def schedule(self, batch: Batch) -> None:
        """Fill `batch`: the next token of every running answer, then prompts with what is left."""
        self._admit()
        self._make_room_for_answers()
        rows = self._rows()
        while self.running and not rows and self.make_room():
            rows = self._rows()
        # Rows sorted by seq_id: separate streams and recurrent models need it to compute them together.
        for seq in sorted(rows, key=lambda seq: seq.slot.seq_id if seq.slot else -1):
            batch.add(seq, rows[seq])

    def pause_youngest(self) -> bool:
        """Send the running sequence that came last back to the queue, its cells freed.

        Its tokens are kept, so its answer goes on where it was. False when only one is running.
        """
        if len(self.running) < 2:
            return False
        seq = self.running.pop()
        assert seq.slot is not None
        slot = seq.slot
        self.events.append(f"paused the answer in sequence {slot.seq_id}: no free cells")
        self._slots.release(slot)
        self._slots.clear(slot)
        self.waiting.appendleft(seq)
        return True

    def make_room(self) -> bool:
        """Free some cells: an idle chat's first, then the youngest answer's. False when there are none."""
        return self._evict() or self.pause_youngest()

    def _evict(self) -> bool:
        """Free the cells of the chat idle for longest. False when none is idle."""
        evicted = self._slots.evict()
        if evicted is None:
            return False
        self.events.append(f"evicted sequence {evicted.seq_id}: its cells are needed")
        return True

    def _rows(self) -> dict[Sequence, int]:
        decoding = [seq for seq in self.running if seq.is_decoding]
        return dict.fromkeys(decoding, 1) | self._prompt_rows(num_decoding=len(decoding))

    def _admit(self) -> None:
        """Lease slots in order of arrival while prompts fit beside what is running."""
        while self.waiting:
            seq = self.waiting[0]
            if self.running and not self._fits(seq):
                return
            if self._slots.lease(seq) is None:
                return
            self.running.append(self.waiting.popleft())

    def _fits(self, seq: Sequence) -> bool:
        """Whether all running sequences and `seq` find cells without a pause. Idle chats give way."""
        wanted = sum(len(other.token_ids) + HEADROOM_TOKENS for other in (*self.running, seq))
        return wanted <= self._slots.cells.num_total

    def _make_room_for_answers(self) -> None:
        while self._slots.cells.num_free < sum(seq.is_decoding for seq in self.running):
            if not self.make_room():
                return

    def _prompt_rows(self, num_decoding: int) -> dict[Sequence, int]:
        """Shortest rest first, so that a short question never waits behind a pasted document."""
        prompts = sorted(
            (seq for seq in self.running if not seq.is_decoding), key=lambda seq: seq.num_pending_tokens
        )
        budget = self._budget.num_prompt_tokens(num_decoding)
        rows: dict[Sequence, int] = {}
        for seq in prompts:
            wanted = min(seq.num_pending_tokens, budget)
            num_rows = min(wanted, self._room_for_prompts(num_decoding + sum(rows.values()), wanted))
            if num_rows == 0:
                break
            rows[seq] = num_rows
            budget -= num_rows
        return rows

    def _room_for_prompts(self, num_taken: int, wanted: int) -> int:
        """Free cells beside `num_taken`; idle chats are evicted for them, running answers are not paused."""
        while self._slots.cells.num_free - num_taken < wanted:
            if not self._evict():
                break
        return max(self._slots.cells.num_free - num_taken, 0)
