"""What passes here beside what passes on llama-server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of one file. `differences`: what llama-server passes and Skein fails on purpose, with reasons."""

    file: str
    ours: frozenset[str]
    theirs: frozenset[str]
    differences: dict[str, str]

    @property
    def missing(self) -> frozenset[str]:
        """What llama-server passes, Skein does not, and no note explains."""
        return self.theirs - self.ours - self.differences.keys()

    @property
    def line(self) -> str:
        return (
            f"{self.file}: Skein passes {len(self.ours)}, llama-server {len(self.theirs)}, "
            f"{len(self.differences)} differ on purpose, {len(self.missing)} missing, "
            f"{len(self.ours - self.theirs)} pass on Skein only"
        )


def compare(file: str, ours: set[str], theirs: set[str], reasons: Mapping[str, str]) -> Comparison:
    """`reasons` are by the name of a test, or by what stands before its parameters, for all of those."""
    failed = theirs - ours
    explained = {name: reasons.get(name) or reasons.get(name.partition("[")[0]) for name in failed}
    differences = {name: reason for name, reason in explained.items() if reason}
    return Comparison(file, frozenset(ours), frozenset(theirs), differences)
