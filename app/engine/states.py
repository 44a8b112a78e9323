"""A saved state and the checkpoints of its sequence, as one array of bytes. Pure functions.

In order: the state, the checkpoints, for each its number of tokens and its size, how many they are, and a
mark. A state that was saved without has no mark.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

State = npt.NDArray[np.uint8]
Table = npt.NDArray[np.int64]  # of shape (num_checkpoints, 2): numbers of tokens, sizes in bytes

MARK = np.frombuffer(b"\x93SkeinCk", np.int64)
NUMBER_BYTES = 8


def packed(state: State, checkpoints: dict[int, State]) -> State:
    places = sorted(checkpoints)
    table = [number for place in places for number in (place, checkpoints[place].nbytes)]
    tail = np.array([*table, len(places), *MARK], np.int64).view(np.uint8)
    return np.concatenate([state, *(checkpoints[place] for place in places), tail])


def unpacked(whole: State) -> tuple[State, dict[int, State]]:
    """The state, a view, and the checkpoints, copied so that they do not keep it in memory."""
    table, end = _table(whole)
    checkpoints: dict[int, State] = {}
    for place, num_bytes in reversed(table.tolist()):
        checkpoints[place] = whole[end - num_bytes : end].copy()
        end -= num_bytes
    return whole[:end], checkpoints


def places_in(whole: State) -> tuple[int, ...]:
    """The checkpoints in it, by their numbers of tokens."""
    return tuple(_table(whole)[0][:, 0].tolist())


def _table(whole: State) -> tuple[Table, int]:
    """And where it begins. Without a mark, or with one that cannot be true: an empty one, at the end."""
    none = np.empty((0, 2), np.int64), whole.nbytes
    tail = _numbers(whole, whole.nbytes, 2)
    if tail.size < 2 or tail[1] != MARK[0]:
        return none
    end = whole.nbytes - 2 * NUMBER_BYTES
    table = _numbers(whole, end, 2 * max(int(tail[0]), 0)).reshape(-1, 2)
    is_true = len(table) == tail[0] and bool((table > 0).all()) and table[:, 1].sum() <= end - table.nbytes
    return (table, end - table.nbytes) if is_true else none


def _numbers(whole: State, end: int, count: int) -> npt.NDArray[np.int64]:
    """So many before `end`; none if there are fewer."""
    start = end - NUMBER_BYTES * count
    return np.frombuffer(whole[start:end].tobytes(), np.int64) if start >= 0 else np.empty(0, np.int64)
