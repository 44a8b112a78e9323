"""Pictures and sounds among the KV cells: which cells are one of them. Pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.look.words import mark, tr, tr_n
from app.protocol.media import MediaKind, MediaSpan
from app.protocol.report import CellMap, SlotSnapshot

LAST_TEXT = -1  # below it, a token id stands for a row of a picture or a sound
POSITIONS = mark(
    "A picture takes one cell for each of its rows of embeddings. Models with M-RoPE give them positions "
    "along its longer side only: the text behind it goes on at a smaller position than the cells count."
)


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


def kind_text(kind: MediaKind | None) -> str:
    if kind is None:
        return tr("picture or sound")
    return tr("picture") if kind is MediaKind.PICTURE else tr("sound")


def span_text(span: MediaSpan) -> str:
    """Its cells and positions, where these are not as many."""
    parts = [kind_text(span.kind), tr_n("{n} cell", "{n} cells", span.num_cells)]
    if span.num_positions != span.num_cells:
        parts.append(tr_n("{n} position", "{n} positions", span.num_positions))
    return " · ".join(parts)
