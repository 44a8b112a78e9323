"""What a benchmark prints: every raw number, the median, and whether that is good enough."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence


class Verdict:
    """Prints each figure as it is judged, and remembers whether one fell short."""

    def __init__(self) -> None:
        self._num_short = 0

    @property
    def exit_code(self) -> int:
        return int(self._num_short > 0)

    def at_most(self, name: str, value: float, wanted: float) -> None:
        self._judge(f"{name} {value:.3f}, wanted at most {wanted:g}", value <= wanted, "TOO SLOW")

    def at_least(self, name: str, value: float, wanted: float) -> None:
        self._judge(f"{name} {value:.3f}, wanted at least {wanted:g}", value >= wanted, "TOO SLOW")

    def equal(self, name: str, found: object, wanted: object) -> None:
        """For counts: there is no noise in them."""
        self._judge(f"{name}: {found}, wanted {wanted}", found == wanted, "WRONG")

    def _judge(self, text: str, is_good: bool, shortcoming: str) -> None:
        self._num_short += not is_good
        print(f"  => {text}: {'ok' if is_good else shortcoming}")


def show(name: str, values: Iterable[float], unit: str, digits: int = 1) -> float:
    """One line with the median and all raw numbers; returns the median."""
    values = list(values)
    median = statistics.median(values)
    raw = " ".join(f"{value:.{digits}f}" for value in values)
    print(f"  {name:<34} {median:10.{digits}f} {unit:<8}  raw: {raw}")
    return median


def show_ms(name: str, seconds: Iterable[float], digits: int = 1) -> float:
    """As `show`, for seconds that are told in milliseconds. Returns milliseconds."""
    return show(name, [value * 1000 for value in seconds], "ms", digits)


def in_runs(values: Sequence[int]) -> str:
    """`[64, 64, 64, 8]` as `3x64 8`."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][1] == value:
            runs[-1][0] += 1
        else:
            runs.append([1, value])
    return " ".join(f"{count}x{value}" if count > 1 else str(value) for count, value in runs)
