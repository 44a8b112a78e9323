"""Pictures and sounds among the tokens of a sequence. Pure functions and values; any thread.

Each of their rows stands there as a negative number made of the file's hash and the row's place in it. So
whatever compares, keeps or saves tokens does the same with pictures, and two pictures are equal where their
content is. The first row of a part also says how many positions the part takes, and whether its rows share
one (a plane): no table beside the tokens must agree with them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import xxhash

from app.protocol.errors import InvalidRequestError
from app.protocol.media import Media, is_media
from app.system.said import said

_FIRST, _SINGLE, _PLANE = 1 << 30, 1 << 29, 1 << 28
_FOLLOWS = 1 << 29
_POSITIONS_SHIFT = 14
MAX_POSITIONS = (1 << 14) - 1  # of one part


@dataclass(frozen=True, slots=True)
class MediaPart:
    """Of what stands in a prompt for a picture or a sound: tokens, or rows that are encoded.

    In a plane all rows have one position, and `width` rows lie beside each other; 0: one row follows the
    other. `is_whole` rows see each other and must be computed in one step.
    """

    tokens: tuple[int, ...] = ()
    num_rows: int = 0
    num_positions: int = 0
    width: int = 0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows of one part in a sequence: `num_rows` tokens from number `first` on.

    `index` counts the encoded parts of `media`.
    """

    first: int
    media: Media
    index: int
    part: MediaPart

    @property
    def end(self) -> int:
        return self.first + self.part.num_rows


@dataclass(frozen=True, slots=True)
class RowRun:
    """Rows of one part as a list of tokens has them, which may end before the part does."""

    first: int
    num_rows: int
    num_positions: int  # of the whole part
    is_plane: bool

    @property
    def end(self) -> int:
        return self.first + self.num_rows


def row_ids(media: Media, index: int, part: MediaPart, projector: str = "") -> list[int]:
    """What stands for the rows of a part, as this projector makes them.

    Raises InvalidRequestError for one that is too long.
    """
    if part.num_positions > MAX_POSITIONS:
        raise InvalidRequestError(
            said(
                "A picture or sound needs {tokens:,} tokens at once, which is too many.",
                tokens=part.num_positions,
            )
        )
    seed = f"{projector}:{media.sha256}:{index}:{part.num_rows}:{part.num_positions}:{part.width}"
    hashes = [xxhash.xxh32_intdigest(f"{seed}:{row}".encode()) for row in range(part.num_rows)]
    if part.num_rows == 1:
        return [~(_FIRST | _SINGLE | hashes[0] & (_SINGLE - 1))]
    head = _FIRST | (_PLANE if part.width else 0) | part.num_positions << _POSITIONS_SHIFT
    first = head | hashes[0] & ((1 << _POSITIONS_SHIFT) - 1)
    return [~first, *(~(_FOLLOWS | one & (_FOLLOWS - 1)) for one in hashes[1:])]


def follows(token_id: int) -> bool:
    """It is a row of a part, but not the first one: no sequence is cut there."""
    return is_media(token_id) and not ~token_id & _FIRST


def border(token_ids: Sequence[int], num_tokens: int) -> int:
    """So many tokens, or fewer, so that no part is cut in two. There are more than that."""
    while num_tokens and follows(token_ids[num_tokens]):
        num_tokens -= 1
    return num_tokens


def runs_in(token_ids: Sequence[int]) -> tuple[RowRun, ...]:
    if min(token_ids, default=0) >= -1:  # as a rule
        return ()
    return tuple(_runs(token_ids))


def _runs(token_ids: Sequence[int]) -> Iterator[RowRun]:
    index, count = 0, len(token_ids)
    while index < count:
        token_id = token_ids[index]
        if not is_media(token_id):
            index += 1
            continue
        first = index
        index += 1
        while index < count and follows(token_ids[index]):
            index += 1
        bits = ~token_id
        if bits & _SINGLE:
            yield RowRun(first, index - first, 1, is_plane=False)
        else:
            num_positions = bits >> _POSITIONS_SHIFT & MAX_POSITIONS
            yield RowRun(first, index - first, num_positions, is_plane=bool(bits & _PLANE))


def planes_in(token_ids: Sequence[int]) -> tuple[RowRun, ...]:
    """The runs whose rows share a position: where there are none, a token's position is its number."""
    return tuple(run for run in runs_in(token_ids) if run.is_plane)


def position_of(planes: Sequence[RowRun], index: int) -> int:
    """Of token number `index`, which comes in or behind these planes of its sequence."""
    if not planes:
        return index
    before = bisect_right(planes, index, key=lambda plane: plane.end)
    shift = sum(plane.num_positions - plane.num_rows for plane in planes[:before])
    inside = before < len(planes) and planes[before].first <= index
    return (planes[before].first if inside else index) + shift


def positions_of(planes: Sequence[RowRun], num_tokens: int) -> npt.NDArray[np.int32]:
    """Of the first tokens of a sequence."""
    positions = np.arange(num_tokens, dtype=np.int32)
    for plane in planes:
        first, end = plane.first, plane.end
        if first >= num_tokens:
            break
        positions[end:] += plane.num_positions - plane.num_rows
        positions[first:end] = positions[first]
    return positions


def plane_places(chunk: Chunk, first_pos: int, start: int, num_rows: int) -> npt.NDArray[np.int32]:
    """The four positions of rows of a chunk that begins at `first_pos`, of shape (4, num_rows).

    As llama.cpp's own helper sets them: of a plane time, row, column and nothing; else one for all.
    """
    rows = np.arange(start, start + num_rows, dtype=np.int32)
    width = chunk.part.width
    if not width:
        return np.tile(first_pos + rows, (4, 1))
    return np.stack(
        [np.full_like(rows, first_pos), first_pos + rows // width, first_pos + rows % width, rows * 0]
    )
