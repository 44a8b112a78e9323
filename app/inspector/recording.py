"""The flight recorder: the last steps of the engine, always kept, in bounded memory.

Works on reports alone and knows no widget. GUI thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice

from app.engine.types import ModelInfo, StepReport

MAX_STEPS = 10_000


class Recording:
    """What the panels show. `num_seen` counts all reports there ever were: each panel asks for the new ones."""

    def __init__(self, max_steps: int = MAX_STEPS) -> None:
        self.model: ModelInfo | None = None
        self.steps: deque[StepReport] = deque(maxlen=max_steps)
        self.num_seen = 0

    @property
    def newest(self) -> StepReport | None:
        return self.steps[-1] if self.steps else None

    def start(self, model: ModelInfo | None) -> None:
        """A new model is a new context: what was seen of the old one goes."""
        self.model = model
        self.steps.clear()

    def append(self, reports: Iterable[StepReport]) -> None:
        for report in reports:
            self.steps.append(report)
            self.num_seen += 1

    def new_since(self, num_seen: int) -> list[StepReport]:
        """The reports after the first `num_seen`, as far as they are still kept, oldest first."""
        num_new = min(self.num_seen - num_seen, len(self.steps))
        return list(islice(self.steps, len(self.steps) - num_new, None))
