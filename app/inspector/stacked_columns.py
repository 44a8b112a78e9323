"""Computes the image of a timeline: which steps share a column, and the colour of each pixel.

Pure functions over numpy arrays, constant work for a frame, whatever the number of steps. Knows no widget.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Colours = npt.NDArray[np.uint8]


def tallest(values: npt.NDArray[np.float32], first: int, per_column: int) -> Ints:
    """Of each column the index of its highest value: no slow step vanishes between fast ones.

    A column is `per_column` values whose places begin at a multiple of it; `values[0]` has place `first`.
    """
    if per_column == 1:
        return np.arange(len(values))
    before = first % per_column
    padded = _in_columns(values, before, per_column, -np.inf)
    found: Ints = padded.argmax(axis=1) + np.arange(len(padded)) * per_column - before
    return np.minimum(np.maximum(found, 0), len(values) - 1)


def worst(values: npt.NDArray[np.uint8], first: int, per_column: int) -> npt.NDArray[np.uint8]:
    """Of each column the highest value; columns as in `tallest`."""
    if per_column == 1:
        return values
    highest: npt.NDArray[np.uint8] = _in_columns(values, first % per_column, per_column, 0).max(axis=1)
    return highest


def stacked(heights: Floats, colours: Colours, height: int) -> Colours:
    """An image of `height` rows: in each column the layers stand on each other, the first at the foot.

    `heights` in pixels, shape (layers, columns). What is higher than the image is cut. 0 is the ground.
    """
    num_layers, num_columns = heights.shape
    tops = height - np.clip(np.rint(np.cumsum(heights, axis=0)), 0, height).astype(np.intp)
    # Each place holds the colour's difference to the one above it; uint8 wraps around as intended.
    changes = np.zeros((height + 1, num_columns), np.uint8)
    columns = np.arange(num_columns)
    steps = colours - np.append(colours[1:], np.uint8(0))
    for layer in range(num_layers):
        changes[tops[layer], columns] += steps[layer]
    for above, row in pairwise(changes):  # row by row: numpy's own accumulate takes four times as long
        row += above
    return changes[:height]


def scale_for(values: npt.NDArray[np.floating[Any]], least: float) -> float:
    """The top of a scale that all but one in fifty fit below: `least` times 1, 2, 5, 10 and so on.

    One slow step must not make the others invisible, and a round top seldom changes.
    """
    wanted = float(np.percentile(values, 98)) if len(values) else 0.0
    top = least
    while True:
        for factor in (1, 2, 5):
            if wanted <= top * factor:
                return top * factor
        top *= 10


def _in_columns(values: npt.NDArray[Any], before: int, per_column: int, filler: float) -> npt.NDArray[Any]:
    after = -(before + len(values)) % per_column
    return np.pad(values, (before, after), constant_values=filler).reshape(-1, per_column)
