"""A tree of turns as lines from row to row, and the sequences that hold each turn's cells. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.chats.branches import Branch
from app.chats.chat import Turn
from app.protocol.output import Usage
from app.protocol.request import Role

if TYPE_CHECKING:
    from app.protocol.report import CellMap

Seqs = tuple[int, ...]


@dataclass(slots=True)
class Strokes:
    """The lines in one row. Each is named by the rows that it leads to.

    `above` comes down to the row's own dot, from `bend` where that is another lane; `below` leaves it;
    `through` are the lanes that pass.
    """

    above: int | None = None
    bend: int | None = None
    below: list[int] = field(default_factory=list)
    through: dict[int, list[int]] = field(default_factory=dict)


def strokes_of(branches: Sequence[Branch]) -> list[Strokes]:
    strokes = [Strokes() for _ in branches]
    for row, branch in enumerate(branches):
        if branch.parent is None:
            continue
        lane = branches[branch.parent].lane
        strokes[branch.parent].below.append(row)
        strokes[row].above = row
        strokes[row].bend = lane if lane != branch.lane else None
        for between in strokes[branch.parent + 1 : row]:
            between.through.setdefault(lane, []).append(row)
    return strokes


def token_ranges(path: Sequence[Turn]) -> list[tuple[int, int]]:
    """The positions of each turn on a path from the first turn on, as its answers tell; (0, 0) if unknown."""
    ranges, begin = list[tuple[int, int]](), 0
    for place, turn in enumerate(path):
        asked = path[place + 1] if turn.role is Role.USER and place + 1 < len(path) else turn
        usage = asked.usage
        end = usage.num_prompt_tokens + (usage.num_generated_tokens if asked is turn else 0)
        ranges.append((begin, end) if end > begin else (0, 0))
        begin = max(begin, end)
    return ranges


def num_tokens(branches: Sequence[Branch], row: int, followers: Sequence[int]) -> int:
    """Of one turn, as its answers tell; 0 if unknown."""
    turn, parent = branches[row].turn, branches[row].parent
    if turn.role is not Role.USER:
        return turn.usage.num_generated_tokens
    asked = max((branches[follower].turn.usage.num_prompt_tokens for follower in followers), default=0)
    before = branches[parent].turn.usage if parent is not None else Usage()
    return max(asked - before.num_prompt_tokens - before.num_generated_tokens, 0)


def holders_of(cells: CellMap | None, seq_id: int, ranges: Sequence[tuple[int, int]]) -> list[Seqs]:
    """The sequences that hold most cells of each range, among the cells of `seq_id`, which comes first.

    Without a map it is the only one.
    """
    if cells is None:
        return [(seq_id,) if end > begin else () for begin, end in ranges]
    import numpy as np

    own = (cells.holders[:, seq_id // 64] >> np.uint64(seq_id % 64)) & np.uint64(1) != 0
    positions, words = cells.pos[own], cells.holders[own]
    held = []
    for begin, end in ranges:
        in_range = words[(positions >= begin) & (positions < end)]
        held.append(_most(in_range, seq_id) if len(in_range) else ())
    return held


def _most(words: object, seq_id: int) -> Seqs:
    import numpy as np

    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    held = np.flatnonzero(2 * bits.sum(axis=0, dtype=np.int64) > len(bits)).tolist()
    return tuple(sorted(held, key=lambda other: (other != seq_id, other)))


def together(seqs: Mapping[int, Seqs], rows: Sequence[int]) -> Seqs:
    """All sequences that hold one of these rows."""
    return tuple(sorted({seq_id for row in rows for seq_id in seqs.get(row, ())}))
