"""How draft tokens did in the last steps: by their position in the draft, and in time. GUI thread."""

from collections import defaultdict, deque
from statistics import median
from typing import NamedTuple

from app.look.figures import count, decimal
from app.look.words import tr
from app.protocol.report import StepReport

NUM_STEPS = 500
FEWEST = 10  # steps with draft tokens, before their speed is told
MAX_TOLD = 8  # positions


class _Step(NamedTuple):
    took_ms: float  # 0: it has prompts or failed
    num_answers: int
    drafts: list[tuple[int, int]]  # of answers with draft tokens: their number, and how many were accepted


class DraftSteps:
    def __init__(self) -> None:
        self._steps: deque[_Step] = deque(maxlen=NUM_STEPS)

    def note(self, report: StepReport) -> None:
        spans = report.spans
        is_plain = not (report.return_code or any(span.is_prefill for span in spans))
        took_ms = report.schedule_ms + report.decode_ms + report.update_ms if is_plain else 0.0
        drafts = [(span.num_drafted, span.num_kept) for span in spans if span.num_drafted]
        self._steps.append(_Step(took_ms, len(spans), drafts))

    @property
    def by_position(self) -> list[tuple[int, int]]:
        """How many tokens were accepted, of those before which none had been rejected."""
        drafts = [draft for step in self._steps for draft in step.drafts]
        return [
            (sum(kept > place for _, kept in drafts), sum(number > place <= kept for number, kept in drafts))
            for place in range(max((number for number, _ in drafts), default=0))
        ]

    @property
    def speedup(self) -> float | None:
        """What the tokens had taken in steps of as many answers without draft tokens, over what they took."""
        alone = defaultdict[int, list[float]](list)
        for step in self._steps:
            if step.took_ms and not step.drafts:
                alone[step.num_answers].append(step.took_ms)
        drafting = [one for one in self._steps if one.took_ms and one.drafts and one.num_answers in alone]
        if len(drafting) < FEWEST:
            return None
        alone_ms = sum(map(sum, alone.values()))
        as_alone_ms = sum(
            median(alone[step.num_answers]) * (1 + sum(kept for _, kept in step.drafts) / step.num_answers)
            for step in drafting
        )
        return (alone_ms + as_alone_ms) / (alone_ms + sum(step.took_ms for step in drafting))

    def in_words(self) -> str:
        """Empty where nothing was drafted."""
        drafts = [draft for step in self._steps for draft in step.drafts]
        if not drafts:
            return ""
        drafted, right = (count(sum(numbers)) for numbers in zip(*drafts, strict=True))
        if (speedup := self.speedup) is None:
            return tr("{right} of the last {drafted} draft tokens were right.", right=right, drafted=drafted)
        return tr(
            "{right} of the last {drafted} draft tokens were right; answers came {factor} times as fast.",
            right=right,
            drafted=drafted,
            factor=decimal(speedup, 1),
        )

    def all_in_words(self) -> str:
        """Also by position, in a second line."""
        places = ", ".join(
            tr("{place}: {right} of {checked}", place=place, right=count(right), checked=count(checked))
            for place, (right, checked) in enumerate(self.by_position[:MAX_TOLD], 1)
            if checked
        )
        return self.in_words() + "\n" + tr("By position {places}.", places=places) if places else ""
