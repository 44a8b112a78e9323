"""Draws the tokens of a step, and verifies draft tokens. Engine thread only."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from app.protocol.errors import BadLogitsError, GrammarError, SamplingInterruptedError
from app.protocol.output import FinishReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.batch import Batch, BatchSpan
    from app.engine.batching.answers import Answers
    from app.engine.batching.scheduler import Scheduler
    from app.engine.cells.slots import SlotPool
    from app.engine.sequence import Sequence
    from app.protocol.output import SampledToken

    Sampled = tuple[int, tuple[SampledToken, ...]]  # a token, with its log probabilities if requested


SLOW_S = 0.1  # of computing for one token: no more than a grammar needs in a vocabulary of 256,000


class Sampling:
    """What was sampled in this step, until `clear`."""

    def __init__(
        self, answers: Answers, scheduler: Scheduler, slots: SlotPool, hash_of: Callable[[int], int] | None
    ) -> None:
        """`hash_of` is `Backend.logits_hash`, where steps are recorded."""
        self._answers, self._scheduler, self._slots = answers, scheduler, slots
        self._hash_of = hash_of
        self.clear()

    def clear(self) -> None:
        self.sampled: list[tuple[Sequence, int]] = []  # including end tokens
        self.num_accepted: Counter[int] = Counter()  # draft tokens, by seq_id
        self.hashes: dict[int, bytes] = {}  # of the logits of each row that was sampled, by seq_id
        self.sample_s = 0.0

    def sample(self, batch: Batch) -> None:
        """For every sequence whose last token was in the batch."""
        # First for all: a sampler works through so much memory that the next lines leave the caches.
        began = time.perf_counter()
        drawn = [(span, self._first(span)) for span in batch.spans if span.wants_logits]
        self.sample_s = time.perf_counter() - began
        for span, sampled in drawn:
            self._advance(batch, span, sampled)

    def _first(self, span: BatchSpan) -> Sampled | None:
        """The token after a sequence's newest one. None: it was ended."""
        seq = span.seq
        if seq.max_tokens == 0:  # only its prompt was wanted
            self._answers.finish(seq, FinishReason.LENGTH)
            return None
        if seq.drafter:
            seq.drafter.note_checked(span.num_drafted)
        return self._draw(seq, span.last_row - span.num_drafted)

    def _advance(self, batch: Batch, span: BatchSpan, sampled: Sampled | None) -> None:
        """Take the next token of one sequence and, as long as it equals the draft token, the one after it."""
        seq, row = span.seq, span.last_row - span.num_drafted
        while sampled is not None:
            was_drafted = row < span.last_row and self._check_draft_token(batch, span, row + 1, sampled[0])
            self._answers.take(seq, *sampled)
            has_ended = seq.slot is None  # or waits for a shorter prompt
            if has_ended or not was_drafted:
                return
            row += 1
            began = time.perf_counter()
            sampled = self._draw(seq, row)
            self.sample_s += time.perf_counter() - began

    def _check_draft_token(self, batch: Batch, span: BatchSpan, row: int, token: int) -> bool:
        """Accept the draft token in `row` if it is the sampled one, else drop it and all after it."""
        drafter, slot = span.seq.drafter, span.seq.slot
        assert drafter is not None
        assert slot is not None
        is_right = batch.token_ids[row] == token
        drafter.learn(is_right)
        self.num_accepted[span.seq_id] += is_right
        if not is_right:
            self._slots.cut_back(slot, span.first_token + row - span.first_row)
        return is_right

    def _draw(self, seq: Sequence, row: int) -> Sampled | None:
        """The next token of one sequence. None: no valid one, so the sequence was ended."""
        was_waiting = seq.sampler.waits_for_trigger
        began = time.thread_time()
        sampled = self._drawn(seq, row)
        seconds = time.thread_time() - began
        if seconds > SLOW_S:
            self._scheduler.note_slow(seq, seconds)
        if sampled is None:
            return None
        if self._hash_of and seq.slot:  # the sampler has just read the row
            hashed = self._hash_of(row).to_bytes(4, "little")
            self.hashes[seq.slot.seq_id] = self.hashes.get(seq.slot.seq_id, b"") + hashed
        if was_waiting and not seq.sampler.waits_for_trigger:
            self._answers.note_triggered(seq)
        self.sampled.append((seq, sampled[0]))
        return sampled

    def _drawn(self, seq: Sequence, row: int) -> Sampled | None:
        try:
            if seq.request.num_logprobs:
                one = seq.sampler.sample_with_logprobs(row, seq.request.num_logprobs)
                return one.chosen.token_id, (one,)
            return seq.sampler.sample(row), ()
        except (BadLogitsError, GrammarError) as error:
            is_refused = isinstance(error, GrammarError)  # the request's own fault, not the model's
            self._answers.finish(seq, FinishReason.ERROR, str(error), is_refused=is_refused)
        except SamplingInterruptedError:
            self._answers.break_off(seq, FinishReason.ABORT)
        return None
