"""How draft tokens did in the last steps: by their place in the draft, and in time. GUI thread."""

from collections import deque
from statistics import median

from app.look.figures import count, decimal
from app.look.words import sentences, tr
from app.protocol.report import StepReport

NUM_STEPS = 500
FEWEST = 10  # steps with draft tokens, before their speed is told
MAX_PLACES = 8  # told of


class DraftSteps:
    def __init__(self) -> None:
        # Duration in ms, 0 where it has prompts or failed; of each answer its draft and accepted tokens.
        self._steps: deque[tuple[float, list[tuple[int, int]]]] = deque(maxlen=NUM_STEPS)

    def note(self, report: StepReport) -> None:
        if report.spans:
            is_plain = not (report.return_code or any(span.is_prefill for span in report.spans))
            took_ms = report.schedule_ms + report.decode_ms + report.update_ms if is_plain else 0.0
            self._steps.append((took_ms, [(span.num_drafted, span.num_kept) for span in report.spans]))

    @property
    def by_place(self) -> list[tuple[int, int]]:
        """For each place in a draft: accepted tokens, and all before which none had been rejected."""
        drafts = [draft for _, step in self._steps for draft in step]
        return [
            (
                sum(kept > place for _, kept in drafts),
                sum(drafted > place <= kept for drafted, kept in drafts),
            )
            for place in range(max((drafted for drafted, _ in drafts), default=0))
        ]

    @property
    def speedup(self) -> float | None:
        """Time per token without draft tokens over that with them, between steps of as many answers."""
        alone: dict[int, list[float]] = {}
        for took_ms, step in self._steps:
            if took_ms and not any(drafted for drafted, _ in step):
                alone.setdefault(len(step), []).append(took_ms)
        usual_ms = {number: median(times) for number, times in alone.items()}
        compared = [
            (took_ms, usual_ms[len(step)] * (1 + sum(kept for _, kept in step) / len(step)))
            for took_ms, step in self._steps
            if took_ms and len(step) in usual_ms and any(drafted for drafted, _ in step)
        ]
        with_ms, without_ms = map(sum, zip(*compared, strict=True)) if compared else (0.0, 0.0)
        return without_ms / with_ms if len(compared) >= FEWEST else None

    def in_words(self) -> str:
        """Empty where nothing was drafted."""
        drafts = [draft for _, step in self._steps for draft in step]
        figures = {
            "right": count(sum(kept for _, kept in drafts)),
            "drafted": count(sum(drafted for drafted, _ in drafts)),
        }
        if not self.by_place:
            return ""
        if (speedup := self.speedup) is None:
            return tr("{right} of the last {drafted} draft tokens were right.", **figures)
        return tr(
            "{right} of the last {drafted} draft tokens were right; answers came {factor} times as fast.",
            factor=decimal(speedup, 1),
            **figures,
        )

    def all_in_words(self) -> str:
        """Also place by place."""
        places = ", ".join(
            tr("{place}: {right} of {checked}", place=place, right=count(right), checked=count(checked))
            for place, (right, checked) in enumerate(self.by_place[:MAX_PLACES], 1)
            if checked
        )
        return sentences(self.in_words(), tr("By position {places}.", places=places)) if places else ""
