"""One answer being generated. Knows its tokens and slot, makes no decisions. Engine thread only."""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from app.engine.media.rows import Chunk, RowRun, planes_in, position_of
from app.protocol.output import FinishReason, PrefixEnd, SampledToken, Usage
from app.protocol.report import Section, SlotState
from app.protocol.request import Request
from app.system.said import together

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from app.engine.detokenizer import Detokenizer
    from app.engine.drafter import Drafter
    from app.engine.prompt import CachedPrefix, Prompt
    from app.protocol.answer_format import AnswerFormat

    Rows = npt.NDArray[np.float32]


class Sampler(Protocol):
    """Chooses the next tokens of one sequence and owns the native memory for that. Engine thread only."""

    @property
    def waits_for_trigger(self) -> bool:
        """It has a grammar that does not hold yet."""

    def sample(self, row: int) -> int:
        """Choose from the logits of batch row `row` of the last decode, and remember the choice.

        Raises BadLogitsError if the logits are not numbers, GrammarError if the grammar allows no token or
        takes too long, SamplingInterruptedError if the backend is interrupted meanwhile.
        """

    def sample_with_logprobs(self, row: int, num_logprobs: int) -> SampledToken:
        """As `sample`, with the probabilities of the token and of so many others."""

    def close(self) -> None:
        """Free it. A second call does nothing."""


@dataclass(eq=False, slots=True)
class Sequence:
    """Prompt and answer in one list of tokens; what the slot does not hold yet is the work left.

    Times are `time.perf_counter()` seconds, 0 for "not yet".
    """

    request: Request
    token_ids: list[int]
    max_tokens: int  # the request's own limit, or what the context leaves
    sampler: Sampler
    detokenizer: Detokenizer
    format: AnswerFormat | None = None  # until its first output has told it
    num_prompt_tokens: int = field(init=False)  # tokens of `token_ids` that were not sampled
    num_start_tokens: int = 0  # the last ones of the prompt: the answer's beginning, given by the caller
    num_prefill_tokens: int = 0  # the prompt, and what had been generated when that was made anew
    num_reported_tokens: int = 0  # generated tokens that were reported in an output
    texts: list[str] = field(default_factory=list)  # that were reported
    slot: Slot | None = None
    finish_reason: FinishReason | None = None
    notice: str = ""  # what was left out of the prompt, or why it ended early
    num_reused_tokens: int = 0
    num_shared_tokens: int = 0
    num_restored_tokens: int = 0
    num_checkpoint_tokens: int = 0  # of these, found by a checkpoint
    num_ahead_tokens: int = 0  # of these, computed before it was sent
    has_new_prompt: bool = True  # it has had no slot since its prompt was made
    is_shortened: bool = False  # not all of the chat is in the prompt
    prefix_end: PrefixEnd = PrefixEnd.NEW_CHAT
    is_ahead: bool = False  # of a prompt that was not sent yet: it makes no answer, and its end is not told
    cuts: list[int] = field(default_factory=list)  # numbers of tokens at which a step ends: see `checkpoints`
    num_rows_computed: int = 0  # more than its tokens if it was paused or draft tokens were rejected
    drafter: Drafter | None = None  # its draft tokens and acceptance rates
    chunks: tuple[Chunk, ...] = ()  # pictures and sounds of the prompt
    sections: tuple[Section, ...] = ()  # of the prompt
    planes: tuple[RowRun, ...] = ()
    rows: dict[Chunk, Rows] = field(default_factory=dict)  # of chunks, encoded and not computed yet
    submitted_at: float = field(default_factory=time.perf_counter)
    leased_at: float = 0.0
    paused_at: float = 0.0  # while its answer has begun and it has no slot
    first_token_at: float = 0.0
    last_token_at: float = 0.0

    def __post_init__(self) -> None:
        self.num_prompt_tokens = len(self.token_ids)

    @property
    def num_computed_tokens(self) -> int:
        return len(self.slot.token_ids) if self.slot else 0

    @property
    def num_pending_tokens(self) -> int:
        return len(self.token_ids) - self.num_computed_tokens

    @property
    def num_tokens_to_cut(self) -> int:
        """How many of them the next step may compute: up to the next cut, and none beyond a border between
        tokens and rows of a picture.
        """
        start, at = self.num_computed_tokens, bisect_right(self.cuts, self.num_computed_tokens)
        end = self.cuts[at] if at < len(self.cuts) else len(self.token_ids)
        if self.chunks:
            borders = (border for chunk in self.chunks for border in (chunk.first, chunk.end))
            end = min(end, min((border for border in borders if border > start), default=end))
        return end - start

    @property
    def next_chunk(self) -> Chunk | None:
        """The picture or sound whose row comes next; None: a token does."""
        start = self.num_computed_tokens
        return next((chunk for chunk in self.chunks if chunk.first <= start < chunk.end), None)

    def position_of(self, index: int) -> int:
        """Of token number `index`, in the library."""
        return position_of(self.planes, index)

    def drop_computed_rows(self) -> None:
        """Of pictures and sounds that are in its cells now."""
        computed = self.num_computed_tokens
        self.rows = {chunk: rows for chunk, rows in self.rows.items() if chunk.end > computed}

    @property
    def num_generated_tokens(self) -> int:
        return len(self.token_ids) - self.num_prompt_tokens

    @property
    def unreported_token_ids(self) -> tuple[int, ...]:
        """Generated since the last output."""
        return tuple(self.token_ids[self.num_prompt_tokens + self.num_reported_tokens :])

    @property
    def has_all_that_was_asked(self) -> bool:
        """Whether it has as many tokens as the request's own limit allows."""
        return self.num_generated_tokens == self.request.max_tokens

    @property
    def is_decoding(self) -> bool:
        """Only its newest token is left to compute, and that one belongs to the answer."""
        num_tokens, slot = len(self.token_ids), self.slot
        return slot is not None and len(slot.token_ids) + 1 == num_tokens > self.num_prompt_tokens

    @property
    def usage(self) -> Usage:
        drafter, leased_at, first_token_at = self.drafter, self.leased_at, self.first_token_at
        return Usage(
            num_prompt_tokens=self.num_prompt_tokens,
            num_reused_tokens=self.num_reused_tokens,
            num_shared_tokens=self.num_shared_tokens,
            num_restored_tokens=self.num_restored_tokens,
            num_checkpoint_tokens=self.num_checkpoint_tokens,
            num_ahead_tokens=self.num_ahead_tokens,
            prefix_end=self.prefix_end,
            num_computed_tokens=self.num_rows_computed,
            num_generated_tokens=len(self.token_ids) - self.num_prompt_tokens,
            num_drafted_tokens=drafter.num_drafted if drafter else 0,
            num_kept_tokens=drafter.num_accepted if drafter else 0,
            num_model_drafted_tokens=drafter.model.num_drafted if drafter else 0,
            num_model_kept_tokens=drafter.model.num_accepted if drafter else 0,
            queue_s=round(leased_at - self.submitted_at, 6) if leased_at else 0.0,
            prompt_s=round((first_token_at or time.perf_counter()) - leased_at, 6) if leased_at else 0.0,
            time_to_first_token_s=round(first_token_at - self.submitted_at, 6) if first_token_at else 0.0,
            decode_s=round(self.last_token_at - first_token_at, 6),
        )

    def note_lease(self, prefix: CachedPrefix, prefix_end: PrefixEnd, num_ahead: int = 0) -> None:
        """It got a slot, for the first time or after a pause. The figures of a prompt are of its first."""
        if self.has_new_prompt:
            self._note_prefix(prefix, num_ahead)
        if self.paused_at:
            self._leave_out_pause(time.perf_counter() - self.paused_at)
        if not self.leased_at:
            self.prefix_end = prefix_end
            self.leased_at = time.perf_counter()

    def _note_prefix(self, prefix: CachedPrefix, num_ahead: int) -> None:
        """Cells of what was generated before the prompt was made anew are none of the prompt's."""
        limit = self.num_prompt_tokens
        self.num_reused_tokens = min(prefix.num_reused, limit)
        self.num_shared_tokens = min(prefix.num_shared, limit)
        self.num_restored_tokens = min(prefix.num_restored, limit)
        self.num_checkpoint_tokens = min(prefix.num_tokens, limit) if prefix.is_from_checkpoint else 0
        self.num_ahead_tokens = num_ahead
        self.has_new_prompt = False

    def refit(self, prompt: Prompt, max_context_tokens: int) -> None:
        """Replace the prompt before what was generated so far. It leaves room for at least one more token."""
        generated = self.token_ids[self.num_prompt_tokens :]
        self.token_ids = [*prompt.token_ids, *generated]
        self.num_prompt_tokens = len(prompt.token_ids)
        self.num_start_tokens = prompt.num_start_tokens
        self.num_prefill_tokens = len(self.token_ids)
        self.chunks, self.sections = prompt.chunks, prompt.sections
        self.planes = planes_in(prompt.token_ids) if prompt.chunks else ()
        room = max_context_tokens - self.num_prompt_tokens
        assert room > len(generated), "a prompt leaves room for its answer"
        self.max_tokens = room if self.request.max_tokens is None else min(self.request.max_tokens, room)
        self.is_shortened = bool(prompt.notice)
        self.has_new_prompt = True
        self.notice = prompt.notice
        if self.drafter:
            self.drafter.forget_text()

    def _leave_out_pause(self, seconds: float) -> None:
        """It had no slot for so long: before its first token that is one more wait for a slot."""
        if self.first_token_at:
            self.leave_out(seconds)
        else:
            self.leased_at += seconds
        self.paused_at = 0.0

    def leave_out(self, seconds: float) -> None:
        """It, or the engine, was paused for so long, until now, which belongs to no time of this answer."""
        now = time.perf_counter()
        for name in ("submitted_at", "leased_at", "paused_at", "first_token_at", "last_token_at"):
            if moment := getattr(self, name):  # 0.0: it has not come
                setattr(self, name, min(moment + seconds, now))

    def append(self, token_id: int) -> None:
        """Take a token that was just sampled."""
        self.token_ids.append(token_id)
        self.last_token_at = time.perf_counter()
        self.first_token_at = self.first_token_at or self.last_token_at

    def finish(self, reason: FinishReason, notice: str = "") -> None:
        assert self.finish_reason is None, "a sequence ends once"
        self.finish_reason = reason
        self.notice = together(notice, self.notice)


@dataclass(eq=False, slots=True)
class Slot:
    """One `seq_id`: the tokens its cells hold and whose they are. Outlives every sequence."""

    seq_id: int
    token_ids: list[int] = field(default_factory=list)
    chat_id: str | None = None
    begins_as: str = ""  # the shelf whose cells it may begin with
    leased_to: Sequence | None = None
    last_used_at: float = 0.0
    last_usage: Usage = field(default_factory=Usage)
    max_context_tokens: int = 0  # of its chat, as the last request had it
    # Cells from here on were moved, or computed behind such: they have seen what was left out of the chat.
    shifted_from: int | None = None
    # By the number of tokens it held then.
    checkpoints: dict[int, npt.NDArray[np.uint8]] = field(default_factory=dict)
    planes: tuple[RowRun, ...] = ()  # pictures among its tokens that do not take one position a row

    @property
    def pos_max(self) -> int:
        """The position of its last token, in the library. -1 without one."""
        return position_of(self.planes, len(self.token_ids) - 1) if self.token_ids else -1

    def position_of(self, index: int) -> int:
        return position_of(self.planes, index)

    @property
    def state(self) -> SlotState:
        if self.leased_to and self.leased_to.is_ahead:
            return SlotState.AHEAD
        if self.leased_to:
            return SlotState.DECODE if self.leased_to.is_decoding else SlotState.PREFILL
        return SlotState.WARM if self.token_ids else SlotState.EMPTY
