"""Pictures and sounds among the KV cells: which cells are one of them. Pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.inspector.media_words import LAST_TEXT
from app.protocol.media import MediaSpan
from app.protocol.report import CellMap, SlotSnapshot


@dataclass(frozen=True, slots=True)
class MediaBlock:
    """The cells `start` … `end` - 1 are of one picture or sound, perhaps not all of it."""

    start: int
    end: int
    span: MediaSpan


def media_blocks(cells: CellMap, slots: Iterable[SlotSnapshot]) -> tuple[MediaBlock, ...]:
    """In order of the cells. What sequences share stands there once."""
    is_media = cells.token_ids < LAST_TEXT
    if not is_media.any():
        return ()
    found: dict[tuple[int, int], MediaBlock] = {}
    for slot in slots:
        held = cells.holders[:, slot.seq_id // 64] & np.uint64(1 << slot.seq_id % 64) != 0
        for span in slot.media:
            end = span.first_pos + max(span.num_positions, 1)
            inside = np.flatnonzero(held & is_media & (cells.pos >= span.first_pos) & (cells.pos < end))
            if not inside.size:
                continue
            for run in np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1):
                key = int(run[0]), int(run[-1]) + 1
                found.setdefault(key, MediaBlock(*key, span))
    return tuple(found[key] for key in sorted(found))


def block_at(blocks: Iterable[MediaBlock], index: int) -> MediaBlock | None:
    return next((block for block in blocks if block.start <= index < block.end), None)
