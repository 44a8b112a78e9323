"""Attention weights from queries and keys, as llama.cpp computes them. Pure functions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def attention_weights(
    queries: Floats,
    keys: Floats,
    mask: Floats | None,
    sinks: Floats | None = None,
    *,
    scale: float,
    max_bias: float = 0.0,
    softcap: float = 0.0,
) -> Floats:
    """How much of its attention each query gives to each key: shape (heads, queries, keys).

    `queries`: (heads, queries, length), `keys`: (key heads, keys, length): each key head serves as many
    heads, which follow each other. `mask`: (queries, keys), added. `sinks`: (heads,), the logit of a key
    that has no cell: with one, the weights of a query add up to less than 1.
    """
    num_heads, num_queries, length = queries.shape
    num_key_heads, num_keys, _ = keys.shape
    grouped = queries.reshape(num_key_heads, -1, length)
    logits = (grouped @ keys.transpose(0, 2, 1)).reshape(num_heads, num_queries, num_keys) * np.float32(scale)
    if softcap:
        logits = np.float32(softcap) * np.tanh(logits / np.float32(softcap))
    if mask is not None:
        slopes = alibi_slopes(num_heads, max_bias)
        logits = logits + (mask if slopes is None else slopes[:, None, None] * mask)
    largest = logits.max(axis=-1, keepdims=True)
    if sinks is not None:
        largest = np.maximum(largest, sinks[:, None, None])
    weights = np.exp(logits - largest)
    total = weights.sum(axis=-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks[:, None, None] - largest)
    return np.asarray(weights / total, np.float32)


def alibi_slopes(num_heads: int, max_bias: float) -> Floats | None:
    if not max_bias:
        return None
    low = 2 ** int(math.log2(num_heads))
    base, between = 2.0 ** (-max_bias / low), 2.0 ** (-max_bias / 2 / low)
    return np.array(
        [
            base ** (head + 1) if head < low else between ** (2 * (head - low) + 1)
            for head in range(num_heads)
        ],
        np.float32,
    )


class LensCells:
    """Which position each cell of a sequence holds that is alone in its cache.

    As in the library, a new token takes the lowest free cell.
    """

    def __init__(self) -> None:
        self._positions: list[int] = []  # -1: free

    def hold(self, positions: npt.NDArray[np.int32]) -> None:
        """From the first cell on, as a restored state is."""
        self._positions = positions.tolist()

    def truncate(self, num_tokens: int) -> None:
        self._positions = [pos if pos < num_tokens else -1 for pos in self._positions]

    def add(self, first_pos: int, num_tokens: int) -> None:
        free = [cell for cell, pos in enumerate(self._positions) if pos < 0][:num_tokens]
        for number, cell in enumerate(free):
            self._positions[cell] = first_pos + number
        self._positions += range(first_pos + len(free), first_pos + num_tokens)

    @property
    def in_order(self) -> npt.NDArray[np.int32]:
        """The positions of the cells in use, as the library lists them."""
        return np.array([pos for pos in self._positions if pos >= 0], np.int32)

    def cells_of(self, num_tokens: int) -> npt.NDArray[np.intp]:
        """The cell of each position from 0 on."""
        cells = np.full(num_tokens, -1, np.intp)
        for cell, pos in enumerate(self._positions):
            if 0 <= pos < num_tokens:
                cells[pos] = cell
        assert (cells >= 0).all(), "every position has a cell"
        return cells
