"""How numbers are written. Pure functions."""

from app.engine.types import SlotSnapshot


def count(number: int) -> str:
    return f"{number:,}"


def rate(tokens_per_s: float) -> str:
    """Without a decimal from ten on: nobody reads a tenth of a token."""
    return f"{tokens_per_s:.1f} tok/s" if 0 < tokens_per_s < 10 else f"{tokens_per_s:,.0f} tok/s"


def seconds(duration: float) -> str:
    if duration < 0.1:
        return f"{duration:.2f} s"
    return f"{duration:.1f} s" if duration < 100 else f"{duration:,.0f} s"


def milliseconds(duration: float) -> str:
    return f"{duration:.1f} ms" if duration < 100 else f"{duration:,.0f} ms"


def mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.1f} MiB"


def percent(part: float, whole: float) -> str:
    """Never 100% of something that is not complete."""
    if whole <= 0:
        return "0%"
    return "100%" if part >= whole else f"{min(99, int(100 * part / whole))}%"


def prefill(slot: SlotSnapshot) -> str:
    """How much of its tokens a slot holds. An answer that was paused computes its own again, too."""
    return f"prefill {percent(slot.num_cells, slot.num_cells + slot.num_pending_tokens)}"


def rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"
