"""Decides what the next step computes.

Works on counts alone: never decodes, never samples. Engine thread only.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from app.engine.batching.awaited_media import AwaitedMedia
from app.engine.cells.prefix import common_prefix
from app.engine.cells.slots import MIN_SHARED_TOKENS
from app.protocol.events import Paused, PauseReason
from app.protocol.report import WaitingRequest, WaitReason
from app.protocol.request import Caller, by_turn, owes

if TYPE_CHECKING:
    from app.engine.batch import Batch
    from app.engine.batching.draft_planner import DraftPlanner
    from app.engine.batching.step_budget import StepBudget
    from app.engine.cells.slots import SlotPool
    from app.engine.sequence import Sequence

# An answer is admitted only if every running one can grow this much: otherwise a paused one would be admitted
# at once and paused again in the next step.
HEADROOM_TOKENS = 64
# Of each step's prompt rows this part is the oldest prompt's, so that none waits for ever.
OLDEST_PROMPTS_SHARE = 1 / 4


class Scheduler:
    """Sequences wait in order of arrival, run in a slot, and are paused, not failed, when cells run out.

    Callers take turns: one who has fewer slots than another gets one, and the other's answer goes on later.
    """

    def __init__(
        self,
        slots: SlotPool,
        budget: StepBudget,
        draft_planner: DraftPlanner,
        awaited_media: AwaitedMedia | None = None,
    ) -> None:
        self._slots = slots
        self._awaited_media = awaited_media or AwaitedMedia(None, slots.event_log)
        self._num_since_media = 0  # steps of tokens since the last one of a picture's rows
        self._budget = budget
        self._draft_planner = draft_planner
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []  # in the order of admission
        self.refitting: list[Sequence] = []  # waiting for a shorter prompt
        self._leaders: dict[Sequence, tuple[Sequence, int]] = {}
        self._is_crowded = False  # nobody is let in beside those who run, until one of them has ended
        self._rests_until: dict[str, float] = {}  # by program

    @property
    def sequences(self) -> list[Sequence]:
        return [*self.running, *self.waiting, *self.refitting]

    @property
    def num_decoding(self) -> int:
        return sum(seq.is_decoding for seq in self.running)

    @property
    def has_work(self) -> bool:
        """Something can be computed now: those who wait for an encoding are woken by its end."""
        return bool(self.running) or any(not self._awaited_media.is_waiting(seq) for seq in self.waiting)

    def add(self, seq: Sequence) -> None:
        self.waiting.append(seq)

    def remove(self, seq: Sequence) -> None:
        """The sequence has ended: give its slot back."""
        self._awaited_media.forget(seq)
        if seq.slot:
            self._slots.release(seq.slot)
            self.running.remove(seq)
            self._is_crowded = False
            return
        (self.waiting if seq in self.waiting else self.refitting).remove(seq)
        self._leaders.pop(seq, None)
        if not seq.request.keep_cells:
            self._slots.forget(seq.request.chat_id)
        elif seq.leased_at:
            self._slots.note_ended(seq)

    def set_aside(self, seq: Sequence) -> None:
        """The sequence continues after `put_back`. Its cells are kept as long as there is room."""
        assert seq.slot is not None
        self._slots.set_aside(seq.slot)
        seq.paused_at = time.perf_counter()
        self.running.remove(seq)
        self._is_crowded = False
        self.refitting.append(seq)

    def put_back(self, seq: Sequence) -> None:
        self.refitting.remove(seq)
        self.waiting.appendleft(seq)

    def schedule(self, batch: Batch) -> None:
        """Fill `batch`: the next token of every running answer, then prompts, else draft tokens.

        Or the next rows of a picture or sound, which cannot stand in one step with tokens.
        """
        for seq in [one for one in self.running if one.chunks and one.next_chunk not in (None, *one.rows)]:
            self._pause(seq, PauseReason.ENCODING)  # a decode that broke off has cost it a picture's cells
        self._admit()
        self._make_room_for_answers()
        if self._takes_media(batch):
            return
        self._num_since_media += 1
        rows = self._rows()
        while self.running and not rows and self.make_room():
            if self._takes_media(batch):
                return
            rows = self._rows()
        if self._rests_until:
            rows = self._of_those_who_do_not_rest(rows)
        drafted = self._drafted(batch.capacity) if self._draft_planner.is_on else {}
        # Rows sorted by seq_id: separate streams and recurrent models need it to compute them together.
        for seq in sorted(rows, key=_seq_id):
            batch.add(seq, rows[seq], drafted.get(seq))

    def _takes_media(self, batch: Batch) -> bool:
        """By turns: after such a step one of answers alone, so that none waits longer than for a prompt, and
        then one with prompts, if there are any.
        """
        seq = self._next_with_media()
        if seq is None:
            return False
        others = [one for one in self.running if not one.next_chunk]
        if others and self._num_since_media < (1 if all(one.is_decoding for one in others) else 2):
            return False
        num_rows = self._media_rows(seq, self.num_decoding)
        if num_rows:
            batch.add_media(seq, num_rows)
            self._num_since_media = 0
        return num_rows > 0

    def _next_with_media(self) -> Sequence | None:
        """Whose picture is computed next: the front tab's, else the oldest."""
        with_media = [seq for seq in self.running if seq.chunks and seq.next_chunk]
        return min(with_media, key=lambda seq: (not self._is_in_front(seq), seq.submitted_at), default=None)

    def _media_rows(self, seq: Sequence, num_decoding: int) -> int:
        """How many of the picture's next rows a step computes; 0: there are no cells for them now."""
        chunk = seq.next_chunk
        assert chunk is not None
        num_left = chunk.end - seq.num_computed_tokens
        wanted = num_left
        if not chunk.part.is_whole:
            begins = seq.num_computed_tokens == chunk.first
            wanted = min(num_left, self._budget.media_rows(num_decoding, begins=begins))
        room = self._room_for_prompts(num_decoding, wanted)
        if chunk.part.is_whole:
            return wanted if room >= wanted else 0
        return min(wanted, room)

    def note_slow(self, seq: Sequence, seconds: float) -> None:
        """One token took its sampler so long that for as long, only other programs' answers go on."""
        program, now = seq.request.caller.program, time.perf_counter()
        self._rests_until[program] = max(now, self._rests_until.get(program, now)) + seconds

    def waiting_requests(self) -> tuple[WaitingRequest, ...]:
        """Every sequence without a slot, in the order of admission."""
        if not self.waiting and not self.refitting:
            return ()
        now = time.perf_counter()
        return tuple(self._waiting_request(seq, now) for seq in [*self.refitting, *self._by_turn()])

    def make_room(self) -> bool:
        """Free some cells: an idle chat's first, then the youngest answer's. False when there are none."""
        return self._slots.hibernate_oldest() or self.pause_youngest()

    def make_room_for_good(self) -> bool:
        """After the library had no cells where our books have some: it would refuse again at once."""
        self._is_crowded = True
        return self.make_room()

    def pause_youngest(self) -> bool:
        """Send the sequence admitted last back to the queue, a protected chat's only if there is no other.

        Its state is saved, so its answer continues later. False when only one is running.
        """
        if len(self.running) < 2:
            return False
        self._pause((self._unprotected() or self.running)[-1])
        return True

    def _pause(self, seq: Sequence, reason: PauseReason = PauseReason.NO_CELLS) -> None:
        assert seq.slot is not None
        self._slots.event_log.add(Paused(seq.slot.seq_id, seq.slot.chat_id, reason))
        self._slots.suspend(seq.slot)
        seq.paused_at = time.perf_counter()
        self.running.remove(seq)
        self.waiting.appendleft(seq)

    def _unprotected(self) -> list[Sequence]:
        return [seq for seq in self.running if not self._slots.is_protected(seq.request.chat_id)]

    def _is_in_front(self, seq: Sequence) -> bool:
        return seq.request.chat_id == self._slots.front_chat_id

    # Who gets a slot.

    def _admit(self) -> None:
        """Lease slots by turn, the front tab first, while prompts fit beside the running ones."""
        if not self.waiting:
            return
        for seq in self._by_turn():
            if self.running and self._is_crowded:
                return
            if not self._may_enter(seq):
                continue
            if self._waits_for_prefix(seq) or not self._awaited_media.is_ready(seq, self._cached(seq)):
                continue
            while not self._has_place(seq):
                if not (self._pause_for_front(seq) or self._pause_for_turn(seq)):
                    return
            if self._slots.lease(seq) is None:
                return
            self.waiting.remove(seq)
            self._leaders.pop(seq, None)
            self.running.append(seq)
            if not self._awaited_media.is_ready(seq, seq.num_computed_tokens):
                self._pause(seq, PauseReason.ENCODING)  # less of its prefix was there than was to be expected

    def _cached(self, seq: Sequence) -> int:
        return self._slots.best_prefix(seq) if seq.chunks else 0

    @property
    def _has_free_slot(self) -> bool:
        return len(self.running) < len(self._slots.slots)

    def _may_enter(self, seq: Sequence) -> bool:
        """There is a slot, or there will be one if another answer is paused."""
        return self._has_free_slot or self._is_in_front(seq) or bool(self._owing(seq))

    def _has_place(self, seq: Sequence) -> bool:
        return not self.running or (self._has_free_slot and self._fits(seq))

    def _pause_for_front(self, seq: Sequence) -> bool:
        """Send the youngest answer that is not protected back to the queue. False if that would not help."""
        if not self._is_in_front(seq):
            return False
        others = self._unprotected()
        left = [one for one in self.running if one not in others]
        num_cells = sum(len(one.token_ids) + self._headroom(one) for one in [*left, seq])
        if not others or num_cells > self._slots.cells.num_total:
            return False
        self._pause(others[-1], PauseReason.FRONT)
        return True

    def _pause_for_turn(self, seq: Sequence) -> bool:
        """Send the shortest answer of the caller who has most back to the queue. False: nobody has more.

        The shortest, since its state must be saved before anything else is computed.
        """
        owing = self._owing(seq)
        if not owing:
            return False
        counts = Counter(self._callers)
        shortest = min(owing, key=lambda one: (-counts[one.request.caller], one.num_computed_tokens))
        self._pause(shortest, PauseReason.TURNS)
        return True

    def _owing(self, seq: Sequence) -> list[Sequence]:
        """Running sequences of callers with more of them than that of `seq`."""
        callers = self._callers
        if set(callers) == {seq.request.caller}:  # as a rule
            return []
        owing = {caller for caller in set(callers) if owes(caller, seq.request.caller, callers)}
        return [one for one in self._unprotected() if one.request.caller in owing] if owing else []

    @property
    def _callers(self) -> list[Caller]:
        return [seq.request.caller for seq in self.running]

    def _by_turn(self) -> list[Sequence]:
        waiting = by_turn(self.waiting, self._callers, lambda seq: seq.request.caller)
        return sorted(waiting, key=lambda seq: not self._is_in_front(seq))

    def _waiting_request(self, seq: Sequence, now: float) -> WaitingRequest:
        return WaitingRequest(
            seq.request.request_id,
            seq.request.chat_id,
            self._wait_reason(seq),
            seq.num_prompt_tokens,
            seq.num_generated_tokens,
            round(now - (seq.paused_at or seq.submitted_at), 6),
        )

    def _wait_reason(self, seq: Sequence) -> WaitReason:
        if seq in self.refitting:
            return WaitReason.REFITTING
        if self._awaited_media.is_waiting(seq):
            return WaitReason.ENCODING
        if seq.paused_at:
            return WaitReason.PAUSED
        return WaitReason.SHARES_PREFIX if seq in self._leaders else WaitReason.QUEUED

    def _waits_for_prefix(self, seq: Sequence) -> bool:
        """Whether a running prompt computes a prefix of this one, which can be shared then."""
        leader, num_tokens = self._leaders.get(seq) or self._find_leader(seq)
        if leader not in self.running or leader.num_computed_tokens >= num_tokens:
            self._leaders.pop(seq, None)
            return False
        self._leaders[seq] = leader, num_tokens
        self._slots.checkpoints.add_cut(leader, num_tokens)
        return True

    def _find_leader(self, seq: Sequence) -> tuple[Sequence, int]:
        """The running prompt that has most in common with `seq`, and how much; itself if none pays."""
        if not (self._slots.gives_prefixes and seq.request.shares_prefix):
            return seq, 0
        prompts = [other for other in self.running if not other.is_decoding]
        leader = max(prompts, key=lambda other: common_prefix(other.token_ids, seq.token_ids), default=seq)
        num_tokens = common_prefix(leader.token_ids, seq.token_ids)
        if leader.slot and leader.slot.shifted_from is not None:
            num_tokens = min(num_tokens, leader.slot.shifted_from)
        if leader is seq or num_tokens < self._slots.best_prefix(seq) + MIN_SHARED_TOKENS:
            return seq, 0
        return leader, num_tokens

    def _fits(self, seq: Sequence) -> bool:
        """Whether all running sequences and `seq` find cells without a pause. Idle chats give way."""
        num_growing = sum(other.num_pending_tokens + self._headroom(other) for other in self.running)
        num_new = self._slots.num_new_cells(seq) + self._headroom(seq)
        return self._slots.num_cells_of_running + num_growing + num_new <= self._slots.cells.num_total

    def _headroom(self, seq: Sequence) -> int:
        """Cells to keep free for the tokens that the sequence may still make."""
        return min(HEADROOM_TOKENS, seq.max_tokens - seq.num_generated_tokens)

    # Who gets rows.

    def _rows(self) -> dict[Sequence, int]:
        decoding: list[Sequence] = []
        prompts: list[Sequence] = []
        for seq in self.running:
            if not (seq.chunks and seq.next_chunk):
                (decoding if seq.is_decoding else prompts).append(seq)
        answer_rows = dict.fromkeys(decoding, 1)
        if not prompts or (decoding and self._num_since_media == 1):  # behind a picture's rows
            return answer_rows
        num_rows = self._budget.prompt_rows(len(decoding))
        if self.running[0].is_ahead:  # the only one
            num_rows = self._budget.rows_ahead()
        return answer_rows | self._prompt_rows(prompts, num_rows, num_decoding=len(decoding))

    def _of_those_who_do_not_rest(self, rows: dict[Sequence, int]) -> dict[Sequence, int]:
        """All `rows` where nobody else has any."""
        now = time.perf_counter()
        self._rests_until = {program: until for program, until in self._rests_until.items() if until > now}
        others = {seq: rows[seq] for seq in rows if seq.request.caller.program not in self._rests_until}
        return others or rows

    def _drafted(self, capacity: int) -> dict[Sequence, list[int]]:
        """Draft tokens for free cells. None while a prompt runs: that uses the rest of the batch."""
        num_answers = len(self.running)
        if not num_answers or self.num_decoding < num_answers:
            return {}
        num_rows = min(capacity, self._slots.cells.num_free) - num_answers
        return self._draft_planner.choose(self.running, num_rows)

    def _make_room_for_answers(self) -> None:
        cells = self._slots.cells
        # The first is nearly always false already, and the second takes longer.
        while cells.num_free < len(self.running) and cells.num_free < self.num_decoding:
            if not self.make_room():
                return

    def _prompt_rows(self, prompts: list[Sequence], budget: int, num_decoding: int) -> dict[Sequence, int]:
        """The front tab first, then the shortest rest, so that no short question waits for a document."""
        oldest = min(prompts, key=lambda seq: seq.submitted_at)
        if self._slots.takes_one_prompt_a_step:
            prompts = [oldest]
        reserved = min(int(budget * OLDEST_PROMPTS_SHARE), oldest.num_tokens_to_cut)
        rows: dict[Sequence, int] = {}
        for seq in sorted(prompts, key=lambda seq: (not self._is_in_front(seq), seq.num_pending_tokens)):
            left = budget - sum(rows.values())
            wanted = min(seq.num_tokens_to_cut, left if seq is oldest or oldest in rows else left - reserved)
            num_rows = min(wanted, self._room_for_prompts(num_decoding + sum(rows.values()), wanted))
            if num_rows > 0:
                rows[seq] = num_rows
        return rows

    def _room_for_prompts(self, num_taken: int, wanted: int) -> int:
        """Free cells beyond `num_taken`. Idle chats are evicted for them, running answers are not paused."""
        while self._slots.cells.num_free - num_taken < wanted:
            if not self._slots.hibernate_oldest():
                break
        return max(self._slots.cells.num_free - num_taken, 0)


def _seq_id(seq: Sequence) -> int:
    assert seq.slot is not None
    return seq.slot.seq_id
