"""Compares what two models expected at each place of one text, by the logits of both.

As `llama-perplexity --kl-divergence` does it, in double precision, over the tokens that both vocabularies
have. A text that is longer than a window is read in windows that begin half a window after one another. From
the second one on only their second half counts, so that each token has half a window before it.
llama-perplexity reads every other one of these windows, and never counts the first half. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


class Window(NamedTuple):
    """The tokens `begin … end - 1` are read, those from `first` on count."""

    begin: int
    first: int
    end: int


class Place(NamedTuple):
    """What was expected where a token stands; pairs are of the base and of the other model."""

    kl: float
    logprobs: tuple[float, float]
    ranks: tuple[int, int]
    greedy_ids: tuple[int, int]


def windows_of(num_tokens: int, first: int, size: int) -> list[Window]:
    """Each token from `first` on counts once; the very first one cannot."""
    assert 0 < first < num_tokens
    step = size // 2
    begins = range(0, max(num_tokens - size, 0) + step, step)
    windows = [Window(at, max(first, at + step if at else 0), min(at + size, num_tokens)) for at in begins]
    return [window for window in windows if window.first < window.end]


def places_of(base: Iterable[Floats], other: Iterable[Floats], token_ids: Iterable[int]) -> Iterator[Place]:
    """For each token. Both have its row of logits, in arrays of the same numbers of rows."""
    pairs = (pair for both in zip(base, other, strict=True) for pair in zip(*both, strict=True))
    for (one, two), token_id in zip(pairs, token_ids, strict=True):
        yield _place(one, two, token_id)


def _place(one: Floats, two: Floats, token_id: int) -> Place:
    num_common = min(len(one), len(two))  # the rest pads a vocabulary
    base, other = log_softmax(one[:num_common]), log_softmax(two[:num_common])
    probabilities = np.exp(base)
    is_possible = probabilities > 0
    kl = (probabilities[is_possible] * (base[is_possible] - other[is_possible])).sum()
    return Place(
        max(float(kl), 0.0),  # rounding may bring it below
        (float(base[token_id]), float(other[token_id])),
        (_rank(base, token_id), _rank(other, token_id)),
        (int(base.argmax()), int(other.argmax())),
    )


def _rank(logprobs: Doubles, token_id: int) -> int:
    return 1 + int((logprobs > logprobs[token_id]).sum())


def log_softmax(logits: Floats) -> Doubles:
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    logprobs: Doubles = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logprobs
