"""Maps of KV cells, written by hand."""

import numpy as np

from app.protocol.report import CellMap, CellUsage, SlotSnapshot, SlotState, StepReport


def cell_map(holders: list[tuple[int, ...]], n_seq_max: int = 4, high_water: int = 0) -> CellMap:
    """One entry for each cell: who holds it. Positions count up, and the token of position 7 is 107."""
    words = np.zeros((len(holders), -(-n_seq_max // 64)), np.uint64)
    for index, seq_ids in enumerate(holders):
        for seq_id in seq_ids:
            words[index, seq_id // 64] |= np.uint64(1 << seq_id % 64)
    is_used = words.any(axis=1)
    pos = np.where(is_used, np.cumsum(is_used) - 1, -1).astype(np.int32)
    token_ids = np.where(is_used, 100 + pos, -1).astype(np.int32)
    return CellMap(pos, token_ids, words, high_water)


def report_with(cells: CellMap, step: int = 1) -> StepReport:
    """Sequence 0 is chat "sums", and so on."""
    chats = ("sums", "notes", "fork")
    held = [int(np.count_nonzero(cells.holders[:, 0] >> np.uint64(seq) & np.uint64(1))) for seq in range(3)]
    slots = tuple(
        SlotSnapshot(seq_id, SlotState.WARM, chats[seq_id], num_cells=num_cells)
        if num_cells
        else SlotSnapshot(seq_id, SlotState.EMPTY)
        for seq_id, num_cells in enumerate(held)
    )
    usage = CellUsage(len(cells.pos), int((cells.pos >= 0).sum()))
    return StepReport(step, (), (), slots, usage, cell_map=cells)
