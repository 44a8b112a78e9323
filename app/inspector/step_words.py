"""One step of a recording in words. Pure functions."""

from dataclasses import dataclass

from app.inspector.recording import Recording
from app.look.figures import count, decimal, milliseconds, rows
from app.look.words import mark, tr
from app.protocol.events import Encoded
from app.protocol.report import StepReport

PHASES = ("schedule", "decode", "sample", "deliver")
PHASE_WORDS = {
    "schedule": mark("schedule"),
    "decode": mark("decode"),
    "sample": mark("sample"),
    "deliver": mark("deliver"),
}


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
        tr("Step {number}", number=count(figures["step"])),
        rows(int(figures["num_rows"])),
        tuple((tr(PHASE_WORDS[phase]), _length(float(figures[f"{phase}_ms"]))) for phase in PHASES),
        tuple(cause.text for cause in recording.causes_at(index)),
    )


def encode_times(report: StepReport | None) -> str:
    """Of pictures and sounds that were ready for this step, not in its time. Empty without any."""
    events = report.events if report else ()
    times = [event.ms for event in events if isinstance(event, Encoded) and event.ms]
    return tr("encoding before it {time}", time=" + ".join(map(milliseconds, times))) if times else ""


def _length(duration_ms: float) -> str:
    """A small model's phases take hundredths of a millisecond."""
    return (
        tr("{number} ms", number=decimal(duration_ms, 2)) if duration_ms < 10 else milliseconds(duration_ms)
    )
