"""Figures and sentences about a map of the KV cells, and the pictures and sounds in it. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from app.inspector.cell_picture import owners_of
from app.inspector.chat_names import chat_name
from app.inspector.recording import LAST_TEXT, kind_text, shown
from app.look.figures import count, percent
from app.look.words import tr, tr_n
from app.protocol.media import MediaSpan
from app.protocol.model import ModelInfo
from app.protocol.report import CellMap, SlotSnapshot, StepReport

NO_BREAK = "\u00a0"  # a narrow panel breaks between the figures, not within one


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


@dataclass(frozen=True, slots=True)
class CellFigures:
    """`num_in_reach` counts the cells up to the highest used one. The free ones among them are gaps."""

    num_total: int
    num_used: int
    num_shared: int
    num_in_reach: int
    num_gaps: int
    high_water: int

    @property
    def num_free(self) -> int:
        return self.num_total - self.num_used

    @property
    def fragmentation(self) -> float:
        """The share of free cells among those up to the highest used one."""
        return 1 - self.num_used / self.num_in_reach if self.num_in_reach else 0.0

    @property
    def shared_ratio(self) -> float:
        """The share of shared cells among the used ones."""
        return self.num_shared / self.num_used if self.num_used else 0.0


def figures_of(cells: CellMap, num_shared: int, num_streams: int) -> CellFigures:
    """Each stream has its own cells, with a highest used one."""
    is_free = (cells.pos < 0).reshape(num_streams, -1)
    reach = is_free.shape[1] - is_free[:, ::-1].argmin(axis=1)
    reach[is_free.all(axis=1)] = 0
    num_used = int(is_free.size - np.count_nonzero(is_free))
    begins = np.count_nonzero(is_free[:, 1:] & ~is_free[:, :-1]) + np.count_nonzero(is_free[:, 0])
    num_tails = np.count_nonzero(reach < is_free.shape[1])  # free cells behind are no gap
    return CellFigures(
        num_total=is_free.size,
        num_used=num_used,
        num_shared=num_shared,
        num_in_reach=int(reach.sum()),
        num_gaps=int(begins - num_tails),
        high_water=cells.high_water,
    )


def figures_text(figures: CellFigures) -> str:
    shared, fragmentation = percent(figures.shared_ratio, 1), percent(figures.fragmentation, 1)
    parts = (
        tr_n("{n} cell used", "{n} cells used", figures.num_used),
        tr("{free} free of {total}", free=count(figures.num_free), total=count(figures.num_total)),
        tr("{number} shared ({share} of used)", number=count(figures.num_shared), share=shared),
        tr(
            "fragmentation {share} ({gaps})",
            share=fragmentation,
            gaps=tr_n("{n} gap", "{n} gaps", figures.num_gaps),
        ),
        tr("at most {number} used so far", number=count(figures.high_water)),
    )
    return " · ".join(part.replace(" ", NO_BREAK) for part in parts)


def cell_text(
    cells: CellMap,
    index: int,
    token_texts: Mapping[int, bytes],
    titles: Mapping[int, str],
    blocks: Iterable[MediaBlock] = (),
) -> str:
    """One cell in words. `titles` are those of the sequences' tabs by seq_id."""
    if cells.pos[index] < 0:
        return tr("cell {number} · free", number=count(index))
    token_id = int(cells.token_ids[index])
    if token_id < LAST_TEXT:
        block = next((one for one in blocks if one.start <= index < one.end), None)
        token = span_text(block.span) if block else kind_text(None)
    elif (text := token_texts.get(token_id)) is None:
        token = tr("token {id}", id=token_id)
    else:
        token = tr("token {id} “{text}”", id=token_id, text=shown(text))
    owners = ", ".join(sequence_text(seq_id, titles) for seq_id in owners_of(cells, index))
    return tr(
        "cell {number} · position {position} · {token} · {owners}",
        number=count(index),
        position=count(int(cells.pos[index])),
        token=token,
        owners=owners,
    )


def sequence_text(seq_id: int, titles: Mapping[int, str]) -> str:
    return tr("seq {seq_id} {title}", seq_id=seq_id, title=titles.get(seq_id, "")).strip()


def sequence_titles(report: StepReport, titles: Mapping[str, str]) -> dict[int, str]:
    """By seq_id, of the sequences that hold cells."""
    return {
        slot.seq_id: chat_name(slot.chat_id, titles) if slot.chat_id else ""
        for slot in report.slots
        if slot.num_cells
    }


def num_streams(model: ModelInfo) -> int:
    return 1 if model.is_unified else model.n_seq_max


def span_text(span: MediaSpan) -> str:
    """Its cells and positions, where these are not as many."""
    parts = [kind_text(span.kind), tr_n("{n} cell", "{n} cells", span.num_cells)]
    if span.num_positions != span.num_cells:
        parts.append(tr_n("{n} position", "{n} positions", span.num_positions))
    return " · ".join(parts)
