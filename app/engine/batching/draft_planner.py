"""Speculative decoding: chooses the draft tokens that the next step verifies, and their source.

Draft tokens come from prompt lookup, or from a draft model or the model's own heads. Verifying one takes
time, an accepted one saves a step; both are measured, and where drafting does not pay there is none. Engine
thread only.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from app.engine.batching.draft_model import Draft, DraftHeads, DraftModel, DraftSource
from app.engine.drafter import Drafter, Record
from app.protocol.errors import BadLogitsError, DecodeInterruptedError, EngineError

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.sequence import Sequence

FADING = 0.99  # the decay of a measurement, for each step
NUM_MEASURED = 3  # measurements of one kind
LONG_AGO = 100  # steps: older measurements are dropped
UNTRIED_ROW = 0.25  # of the time of an answer's own row, before any was measured


class DraftCosts:
    """What it costs to verify draft tokens and to run a draft model: measured, and estimated before that.

    All in units of a step without draft tokens: each draft token to verify adds a share of such a step.
    Estimates that were not measured for long decay, so that drafting is tried again.
    """

    def __init__(self, size_share: float, most: int) -> None:
        """`size_share`: the draft model's size over the main model's. At most `most` draft tokens a step."""
        self._size_share = size_share
        self._most = most
        self._step = 0
        self._alone_ms: dict[int, _Measured] = {}  # by number of answers, since the newest of them began
        # For one draft token, by the number of answers and the bit length of the number of draft tokens.
        self._shares: dict[tuple[int, int], _Measured] = {}
        self._model_ms = _Measured()  # for the next token of each answer

    def begin_step(self) -> None:
        self._step += 1

    def begin_answer(self) -> None:
        """Steps of a long chat take longer than those of a short one."""
        self._alone_ms.clear()

    def are_known(self, num_answers: int) -> bool:
        return num_answers in self._alone_ms and self._alone_ms[num_answers].is_sure

    def alone_ms(self, num_answers: int) -> float:
        return self._alone_ms[num_answers].value

    def learn(self, num_answers: int, num_drafted: int, step_ms: float) -> None:
        """Record the time of a step without prompts."""
        alone_ms = self._alone_ms.setdefault(num_answers, _Measured())
        if not num_drafted:
            alone_ms.add(step_ms, self._step)
        elif alone_ms.value > 0:
            share = max(step_ms / alone_ms.value - 1, 0.0) / num_drafted
            self._learn_share(num_answers, num_drafted.bit_length(), share)

    def learn_of_model(self, decode_ms: float) -> None:
        self._model_ms.add(decode_ms, self._step)

    def length_without(self, num_answers: int) -> float:
        """The length of a step without draft tokens."""
        return self._alone_ms[num_answers].decay(self._step)

    def length(self, num_answers: int, num_draft_tokens: int, num_written: int) -> float:
        """The length of a step with so many draft tokens, for which the draft model decodes so many times."""
        written = num_written * self._model_share(num_answers) if num_written else 0.0
        return 1 + self._expected_share(num_answers, num_draft_tokens) + written

    def _learn_share(self, num_answers: int, size: int, share: float) -> None:
        known = self._shares.get((num_answers, size))
        if known and known.is_sure and share < known.value - UNTRIED_ROW:
            self._shares.clear()  # much faster than before: the machine was busy and no longer is
        self._shares.setdefault((num_answers, size), _Measured()).add(share, self._step)

    def _expected_share(self, num_answers: int, number: int) -> float:
        """For so many draft tokens. Those beyond the tried number count as cheap: the first may cost most."""
        untried = UNTRIED_ROW / num_answers
        size = number.bit_length()
        while size and not self._is_tried(num_answers, size):
            size -= 1
        if not size:
            return number * untried
        tried = self._shares[num_answers, size]
        num_tried = min(number, (1 << size) - 1)  # the most of that size
        # The more steps another trial costs, the later it comes.
        share = tried.value * tried.decay(self._step, num_steps=max(num_tried * tried.value, 1.0))
        return num_tried * share + (number - num_tried) * min(untried, share)

    def _is_tried(self, num_answers: int, size: int) -> bool:
        share = self._shares.get((num_answers, size))
        return share is not None and share.is_sure

    def _model_share(self, num_answers: int) -> float:
        """Before it was measured, by its size: to compute a token, all weights are read once."""
        if not self._model_ms.is_sure:
            return self._size_share
        share = self._model_ms.value / self.alone_ms(num_answers)
        return share * self._model_ms.decay(self._step, num_steps=max(self._most * share, 1.0))


class _Measured:
    """The minimum of the last few measurements, since other load on the machine only adds to them."""

    def __init__(self) -> None:
        self.value = 0.0
        self._newest: deque[float] = deque(maxlen=NUM_MEASURED)
        self._at = 0

    @property
    def is_sure(self) -> bool:
        return len(self._newest) > 1

    def add(self, value: float, step: int) -> None:
        if step - self._at > LONG_AGO:
            self._newest.clear()
        self._newest.append(value)
        self.value = min(self._newest)
        self._at = step

    def decay(self, step: int, num_steps: float = 1.0) -> float:
        """The factor by which the measurement has decayed at `step`."""
        return math.pow(FADING, (step - self._at) / num_steps)


log = logging.getLogger(__name__)

WORTH_IT = 1.03  # tokens per second with draft tokens, relative to without
STRETCH_OF_OTHERS = 1.25  # of a step in which some answers have no draft and wait for those that do
READING_SHARE = 0.5  # of a step: the draft model's time for text that it has not read yet
# A draft model must read a chat before it can draft, so its record over all chats lasts longer.
MEMORY_OF_ALL, FADING_OF_ALL = 16.0, 0.997


class DraftPlanner:
    """Distributes the draft tokens that a step can verify among the running answers."""

    def __init__(self, backend: Backend, on_failure: Callable[[str], None] = log.warning) -> None:
        """`on_failure` gets a sentence when the draft model is dropped."""
        self._backend = backend
        self._on_failure = on_failure
        self._most = backend.model.num_drafted_tokens
        self.is_on = self._most > 0
        self._n_outputs_max = backend.model.n_outputs_max
        self._model = _model_of(backend) if self.is_on else None
        self._model_at_all = Record(memory=MEMORY_OF_ALL)
        self._model_ms = 0.0  # not taken yet
        self._costs = DraftCosts(_size_share(backend), self._most)

    def choose(self, answers: list[Sequence], num_rows: int) -> dict[Sequence, list[int]]:
        """The draft tokens to add to the next step for `answers`, at most `num_rows` in all."""
        self._costs.begin_step()
        self._model_at_all.fade(FADING_OF_ALL)
        num_rows = min(num_rows, self._n_outputs_max - len(answers))
        ways = self._ways(answers)
        if num_rows <= 0 or not self._costs.are_known(len(answers)):
            return {}
        plans = [self._plan(proposals, len(answers), num_rows) for proposals in ways]
        return self._carry_out(max(plans, key=attrgetter("speed")), answers)

    def learn(self, num_answers: int, num_drafted: int, step_ms: float) -> None:
        """Record the time of a step without prompts, excluding the draft model."""
        if self.is_on:
            self._costs.learn(num_answers, num_drafted, step_ms)

    def take_model_ms(self) -> float:
        """The draft model's time since the last call."""
        model_ms, self._model_ms = self._model_ms, 0.0
        return model_ms

    # Candidates.

    def _ways(self, answers: list[Sequence]) -> list[dict[Sequence, _Proposal]]:
        """By lookup alone; or by the draft model for answers where its acceptance rate is higher."""
        found: dict[Sequence, _Proposal] = {}
        likelier: dict[Sequence, _Proposal] = {}
        for seq in answers:
            drafter = self._drafter_of(seq)
            most = min(self._most_of(seq), seq.max_tokens - seq.num_generated_tokens - 1)  # behind the next
            token_ids = list(takewhile(self._can_follow, drafter.look_up(seq.token_ids, most)))
            if token_ids:
                found[seq] = likelier[seq] = _Proposal(drafter.lookup, len(token_ids), token_ids)
            is_better = bool(token_ids) and drafter.lookup.chance >= drafter.model.chance
            if self._model and most > 0 and not (seq.chunks or is_better):
                likelier[seq] = _Proposal(drafter.model, min(most, self._model.most), [])
        return [found, likelier] if self._model else [found]

    def _most_of(self, seq: Sequence) -> int:
        asked = seq.request.max_drafted_tokens
        return self._most if asked is None else min(asked, self._most)

    def _drafter_of(self, seq: Sequence) -> Drafter:
        if seq.drafter is None:
            seq.drafter = Drafter(self._model_at_all)
            self._costs.begin_answer()
        return seq.drafter

    def _can_follow(self, token_id: int) -> bool:
        """It does not end the answer, and is in the main model's vocabulary."""
        return 0 <= token_id < self._backend.model.n_vocab and not self._backend.is_end_of_generation(
            token_id
        )

    # How many of them.

    def _plan(self, proposals: dict[Sequence, _Proposal], num_answers: int, num_rows: int) -> _Plan:
        ranked = sorted(_each(proposals), key=attrgetter("chance"), reverse=True)[:num_rows]
        number, speed = self._best_number(ranked, num_answers, len(proposals) < num_answers)
        return _Plan(speed, proposals, Counter(one.seq for one in ranked[:number]))

    def _best_number(self, ranked: list[_Ranked], num_answers: int, has_others: bool) -> tuple[int, float]:
        """The number of draft tokens with the best expected throughput, and that throughput.

        0: drafting does not pay.
        """
        longest = STRETCH_OF_OTHERS if has_others else math.inf
        best, most_tokens = 0, WORTH_IT * num_answers / self._costs.length_without(num_answers)
        num_tokens, num_written = float(num_answers), 0
        for number, one in enumerate(ranked, 1):
            num_tokens += one.chance
            num_written = max(num_written, one.num_written)
            length = self._costs.length(num_answers, number, num_written)
            if length <= longest and num_tokens / length > most_tokens:
                best, most_tokens = number, num_tokens / length
        return best, most_tokens

    # Drafting.

    def _carry_out(self, plan: _Plan, answers: list[Sequence]) -> dict[Sequence, list[int]]:
        unwritten = {seq: number for seq, number in plan.numbers.items() if not plan.proposals[seq].token_ids}
        written = self._write(unwritten, answers) if unwritten else {}
        drafted: dict[Sequence, list[int]] = {}
        for seq, number in plan.numbers.items():
            source, _, token_ids = plan.proposals[seq]
            if draft := token_ids[:number] or written.get(seq):
                self._drafter_of(seq).source = source
                drafted[seq] = draft
        return drafted

    def _write(self, numbers: dict[Sequence, int], answers: list[Sequence]) -> dict[Sequence, list[int]]:
        """Drafts of the draft model, up to these numbers of tokens."""
        started = time.perf_counter()
        # The draft model sees no pictures.
        draft = self._ask({seq: numbers.get(seq, 0) for seq in answers if not seq.chunks})
        self._model_ms += (time.perf_counter() - started) * 1000
        if draft.num_decodes:
            self._costs.learn_of_model(draft.decode_ms)
        for seq, token_ids in draft.token_ids.items():
            if len(token_ids) < numbers[seq]:  # what it was not sure of would have been wrong
                self._drafter_of(seq).model.learn(is_right=False)
        return {
            seq: list(takewhile(self._can_follow, token_ids)) for seq, token_ids in draft.token_ids.items()
        }

    def _ask(self, wanted: dict[Sequence, int]) -> Draft:
        """Once the draft model has failed, it is not used again."""
        assert self._model is not None
        try:
            return self._model.propose(wanted, READING_SHARE * self._costs.alone_ms(len(wanted)))
        except DecodeInterruptedError:
            return Draft({})
        except (EngineError, BadLogitsError) as error:
            self._on_failure(self._model.farewell(str(error)))
            self._model = None
            return Draft({})


def _model_of(backend: Backend) -> DraftSource | None:
    """What drafts besides prompt lookup: the draft model that was chosen, else the model's own heads."""
    if backend.draft:
        return DraftModel(backend.draft)
    return DraftHeads(backend, backend.heads) if backend.heads else None


class _Proposal(NamedTuple):
    """Up to `most` draft tokens of one answer: found by lookup, else to be written by the draft model."""

    source: Record
    most: int
    token_ids: list[int]


class _Ranked(NamedTuple):
    """One draft token, with the chance that it and those before it are accepted."""

    chance: float
    seq: Sequence
    num_written: int  # by the draft model, up to this one


class _Plan(NamedTuple):
    speed: float  # expected tokens in the time of a step without draft tokens
    proposals: dict[Sequence, _Proposal]
    numbers: Counter[Sequence]


def _each(proposals: dict[Sequence, _Proposal]) -> Iterator[_Ranked]:
    for seq, proposal in proposals.items():
        chance = proposal.source.chance
        for place in range(1, proposal.most + 1):
            yield _Ranked(chance**place, seq, 0 if proposal.token_ids else place)


def _size_share(backend: Backend) -> float:
    return backend.draft.model.size_bytes / max(backend.model.size_bytes, 1) if backend.draft else 0.0
