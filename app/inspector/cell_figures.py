"""Figures and sentences about a map of the KV cells. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from app.inspector.cell_picture import owners_of
from app.inspector.media_blocks import MediaBlock, block_at
from app.inspector.media_words import LAST_TEXT, kind_text, span_text
from app.inspector.token_text import shown
from app.look.figures import count, decimal
from app.look.words import mark, tr, tr_n
from app.protocol.model import ModelInfo
from app.protocol.report import CellMap, StepReport

CLOSED = mark("closed chat")
NO_BREAK = "\u00a0"  # a narrow panel breaks between the figures, not within one


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
    shared, fragmentation = (100 * share for share in (figures.shared_ratio, figures.fragmentation))
    parts = (
        tr_n("{n} cell used", "{n} cells used", figures.num_used),
        tr("{free} free of {total}", free=count(figures.num_free), total=count(figures.num_total)),
        tr("{number} shared ({share}% of used)", number=count(figures.num_shared), share=decimal(shared, 0)),
        tr(
            "fragmentation {share}% ({gaps})",
            share=decimal(fragmentation, 0),
            gaps=tr_n("{n} gap", "{n} gaps", figures.num_gaps),
        ),
        tr("high water {number}", number=count(figures.high_water)),
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
        block = block_at(blocks, index)
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
        slot.seq_id: (titles.get(slot.chat_id) or tr(CLOSED)) if slot.chat_id else ""
        for slot in report.slots
        if slot.num_cells
    }


def num_streams(model: ModelInfo) -> int:
    return 1 if model.is_unified else model.n_seq_max
