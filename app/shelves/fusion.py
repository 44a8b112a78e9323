"""Joins several orders of the same things, by weights and reciprocal rank (Cormack and others, 2009)."""

from __future__ import annotations

from collections.abc import Sequence

K = 60  # how little a place at the very top counts more than the next ones; the paper's


def fused(rankings: Sequence[tuple[float, Sequence[int]]]) -> tuple[int, ...]:
    """Of weights and orders. The best first; of equals the one that comes first in an earlier order."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for place, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + weight / (K + place)
    return tuple(sorted(scores, key=lambda one: -scores[one]))
