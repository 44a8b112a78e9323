"""One slot as the table's texts. Pure functions."""

from app.engine.types import SlotSnapshot, SlotState
from app.look import marks
from app.look.figures import count, prefill
from app.look.marks import Mark

COLUMNS = (
    "seq",
    "tab",
    "state",
    "pos\nmin",
    "pos\nmax",
    "cells\nheld",
    "cells\nshared",
    "tokens\nreused",
    "tokens\nrestored",
    "tokens\ncomputed",
    "tok/s",
)
TIPS = (
    "The sequence id, seq_id",
    "The chat whose tokens the slot holds",
    "What the slot is doing",
    "The lowest position in memory",
    "The highest position in memory",
    "KV cells the sequence holds",
    "Cells it shares with other sequences",
    "Prompt tokens taken from memory in the last answer, its own and shared ones",
    "Prompt tokens whose cells were saved and read back for the last answer",
    "Tokens computed for the last answer, its own among them",
    "Tokens generated per second",
)
SEQ, TAB, STATE = 0, 1, 2
_MARK_OF = {SlotState.PREFILL: marks.COMPUTING, SlotState.DECODE: marks.COMPUTING, SlotState.WARM: marks.WARM}


def slot_texts(slot: SlotSnapshot, title: str) -> tuple[str, ...]:
    """One text for each column; what there is none of is empty."""
    if slot.state is SlotState.EMPTY:
        return (str(slot.seq_id), "", state_text(slot), *[""] * 8)
    usage = slot.usage
    return (
        str(slot.seq_id),
        title,
        state_text(slot),
        _position(slot.pos_min),
        _position(slot.pos_max),
        count(slot.num_cells),
        count(slot.num_shared_cells),
        count(usage.num_reused_tokens + usage.num_shared_tokens),
        count(usage.num_restored_tokens),
        count(usage.num_computed_tokens),
        _speed(usage.tokens_per_s),
    )


def state_text(slot: SlotSnapshot) -> str:
    return prefill(slot) if slot.state is SlotState.PREFILL else slot.state.value


def state_mark(slot: SlotSnapshot) -> Mark:
    return _MARK_OF.get(slot.state, marks.IDLE)


def widest_texts(n_ctx: int) -> tuple[str, ...]:
    """What each column must have room for, so that its width never changes."""
    number = count(max(n_ctx, 9_999))
    return ("00", "", "prefill 99%", *[number] * 7, "9,999")


def _speed(tokens_per_s: float) -> str:
    if not tokens_per_s:
        return ""
    return f"{tokens_per_s:.1f}" if tokens_per_s < 100 else f"{tokens_per_s:,.0f}"


def _position(pos: int) -> str:
    return count(pos) if pos >= 0 else ""
