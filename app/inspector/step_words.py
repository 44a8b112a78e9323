"""One step of a recording in words. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from app.inspector.recording import Recording
from app.look.figures import count, milliseconds, rows

PHASES = ("schedule", "decode", "sample", "deliver")


@dataclass(frozen=True, slots=True)
class StepWords:
    name: str
    rows: str
    times: tuple[tuple[str, str], ...]  # of each phase
    causes: tuple[str, ...]  # of what held it up, sentences

    @property
    def head(self) -> str:
        return f"{self.name} · {self.rows}"

    @property
    def all_times(self) -> str:
        return " · ".join(f"{phase} {length}" for phase, length in self.times)


def step_words(recording: Recording, index: int) -> StepWords:
    """`index` is a row of the recording's columns."""
    figures = recording.columns.figures[index]
    return StepWords(
        f"Step {count(int(figures['step']))}",
        rows(int(figures["num_rows"])),
        tuple((phase, _length(float(figures[f"{phase}_ms"]))) for phase in PHASES),
        tuple(cause.text for cause in recording.causes_at(index)),
    )


def _length(duration_ms: float) -> str:
    """A small model's phases take hundredths of a millisecond."""
    return f"{duration_ms:.2f} ms" if duration_ms < 10 else milliseconds(duration_ms)
