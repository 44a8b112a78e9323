"""A column of the inspector's tables. Knows no widget."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """Texts are marked. `widest` is its longest text, or all that it can show: its width never changes."""

    head: str
    tip: str = ""
    widest: str | Collection[str] = ""
    width: int = 0  # in place of `widest`
    is_number: bool = False
    is_muted: bool = False
    is_sequence: bool = False  # a seq_id, with the sequence's colour
    stretches: bool = False
