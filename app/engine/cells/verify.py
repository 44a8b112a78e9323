"""Compares our books of the KV cells with the library's own.

Reads both and changes neither: well under a millisecond for 2,000 cells. Engine thread only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.engine.backend import UsedCells
from app.engine.cells.ledger import is_shared
from app.protocol.report import CellCheck

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.cells.ledger import CellLedger

NUM_SHOWN = 3  # cells of each side in the message


def check_cells(backend: Backend, cells: CellLedger, step: int = 0) -> CellCheck:
    """Checks that every used cell has the same position and holders on both sides, and that our counts are
    right.

    The library lists its cells in the order of their indices. Where it chooses them as our books do, that
    order must be ours, too: then each cell lies where we think, up to free ones in between.
    """
    found = backend.used_cells()
    if found is None:
        return CellCheck(step, 0, can_compare=False)
    booked = cells.used_cells()
    has_same_order = _is_equal(found, booked)
    if not has_same_order and not _is_equal(_sorted(found), _sorted(booked)):
        return CellCheck(step, booked.pos.size, _unknown_cells(found.listed(), booked.listed()))
    if wrong_counts := _wrong_counts(booked, cells):
        return CellCheck(step, booked.pos.size, wrong_counts)
    if not has_same_order and backend.model.has_plain_attention:
        return CellCheck(step, booked.pos.size, _other_order(found, booked), is_order_only=True)
    return CellCheck(step, booked.pos.size)


def _other_order(found: UsedCells, booked: UsedCells) -> str:
    at = next(
        n for n, pair in enumerate(zip(found.listed(), booked.listed(), strict=True)) if len(set(pair)) > 1
    )
    return (
        f"the library has the same {found.pos.size} cells as our books, but in another order: used cell "
        f"number {at} is {found.listed()[at]} there and {booked.listed()[at]} here, as (position, sequences)"
    )


def _is_equal(found: UsedCells, booked: UsedCells) -> bool:
    return np.array_equal(found.pos, booked.pos) and np.array_equal(found.holders, booked.holders)


def _sorted(cells: UsedCells) -> UsedCells:
    order = np.lexsort((*cells.holders.T, cells.pos))
    return UsedCells(cells.pos[order], cells.holders[order])


def _unknown_cells(
    found: list[tuple[int, tuple[int, ...]]], booked: list[tuple[int, tuple[int, ...]]]
) -> str:
    only_found = sorted(set(found) - set(booked))[:NUM_SHOWN]
    only_booked = sorted(set(booked) - set(found))[:NUM_SHOWN]
    return (
        "cells as (position, sequences that hold it): "
        f"the library has {len(found)}, among them {only_found or 'none'} that our books do not have; "
        f"our books have {len(booked)}, among them {only_booked or 'none'} that the library does not have"
    )


def _wrong_counts(booked: UsedCells, cells: CellLedger) -> str:
    num_shared = int(is_shared(booked.holders.T).sum())
    usage = cells.usage
    if (booked.pos.size, num_shared) == (usage.num_used, usage.num_shared):
        return ""
    return (
        f"our books count {usage.num_used} used and {usage.num_shared} shared cells, "
        f"but list {booked.pos.size} and {num_shared}"
    )
