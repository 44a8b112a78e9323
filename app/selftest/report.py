"""The results of a self-test, as text and JSON. Frozen, so any thread may hold it."""

import textwrap
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from app.system.said import packed, said, unpacked

WIDTH = 100
TITLES = {
    "a": said("Ten requests in a row cost the same"),
    "b": said("Answers computed together equal answers computed alone"),
    "c": said("Positions start, continue and are rejected correctly"),
    "d": said("An aborted answer leaves before the next batch"),
    "e": said("Shared, forked, hibernated and restored cells give the same text"),
    "f": said("Afterwards every cell is free, and one chat can use them all"),
    "g": said("Native objects and memory do not grow"),
}


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"  # `seen` says why it cannot be checked with this model


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One check: what was done, and what was seen."""

    name: str  # of TITLES
    title: str
    done: str
    seen: str
    outcome: Outcome
    seconds: float

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """From `as_json`, with translatable sentences if they were `packed`."""
        done, seen = unpacked(told["done"]), unpacked(told["seen"])
        return cls(**told | {"outcome": Outcome(told["outcome"]), "done": done, "seen": seen})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def packed(self) -> dict[str, Any]:
        """Its sentences in a form that the window can translate."""
        return {"done": packed(self.done), "seen": packed(self.seen)}


@dataclass(frozen=True, slots=True)
class Report:
    model: str
    architecture: str
    n_ctx: int
    n_seq_max: int
    library: str  # its version
    lines: tuple[ReportLine, ...]
    was_cancelled: bool = False

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """From `as_json`."""
        values = {field.name: told[field.name] for field in fields(cls)}
        return cls(**values | {"lines": tuple(ReportLine.of(line) for line in told["lines"])})

    @property
    def passed(self) -> bool:
        """Nothing failed, and the test was not cancelled."""
        return not self.was_cancelled and all(line.outcome is not Outcome.FAILED for line in self.lines)

    @property
    def seconds(self) -> float:
        return sum(line.seconds for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed, "seconds": self.seconds}

    def as_text(self) -> str:
        head = (
            f"Self-test of {self.model} ({self.architecture}): {self.n_ctx:,} cells, "
            f"{self.n_seq_max} sequences, llama-cpp-python {self.library}"
        )
        return "\n".join([head, "", *map(line_as_text, self.lines), self.verdict])

    @property
    def verdict(self) -> str:
        if self.was_cancelled:
            return "Cancelled."
        counts = [
            f"{num} {outcome}"
            for outcome in Outcome
            if (num := sum(line.outcome is outcome for line in self.lines))
        ]
        return f"{', '.join(counts)} in {self.seconds:.1f} s."


def line_as_text(line: ReportLine) -> str:
    head = f"{line.outcome:8}({line.name}) {line.title}, {line.seconds:.1f} s"
    return "\n".join([head, _indented(f"Done: {line.done}"), _indented(f"Seen: {line.seen}"), ""])


def _indented(text: str) -> str:
    margin = " " * 12
    return textwrap.fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin + " " * 6)
