"""A prompt with `{column}` in it, and what the prompts of all rows begin with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.protocol.errors import InvalidRequestError
from app.system.said import said

WORTH_SHARING = 0.3  # of what is computed for each row


class Sharing(NamedTuple):
    """How much of a row's prompt all rows begin with, from 0 to 1: as it is, and in the other order."""

    now: float
    could_be: float
    other: str
    is_better: bool  # so much less is computed for each row that it is worth it


@dataclass(frozen=True, slots=True)
class Template:
    """Braces around anything but a column's name stay as they are."""

    text: str
    columns: tuple[str, ...]  # of the table

    def __post_init__(self) -> None:
        if not self.used:
            raise InvalidRequestError(
                said(
                    "The prompt names no column of this table, so each row would be asked the same. Write "
                    "{example} where its value belongs.",
                    example=f"{{{next(iter(self.columns), 'column')}}}",
                )
            )

    @property
    def used(self) -> tuple[str, ...]:
        """The columns in the prompt, in the order in which they come."""
        return tuple(dict.fromkeys(self._parts[1::2]))

    @property
    def beginning(self) -> str:
        """What stands before the first value."""
        return self._parts[0]

    def filled(self, values: Sequence[str]) -> str:
        """With the values of a row, by the table's columns. Braces in a value are text."""
        by_column = dict(zip(self.columns, values, strict=True))
        return "".join(by_column[part] if index % 2 else part for index, part in enumerate(self._parts))

    def shared(self, values: Sequence[str]) -> float:
        """How much of a row's prompt all rows begin with, from 0 to 1."""
        return len(self.beginning) / max(len(self.filled(values)), 1)

    def with_shared_first(self) -> "Template":
        """The other order: what is the same for all rows first, then the values, each by its name."""
        asked = "".join(f"“{part}”" if index % 2 else part for index, part in enumerate(self._parts)).strip()
        values = "\n".join(f"{column}: {{{column}}}" for column in self.used)
        return Template(f"{asked}\n\n{values}", self.columns)

    def sharing(self, values: Sequence[str]) -> Sharing:
        other = self.with_shared_first()
        ours, theirs = (len(one.filled(values)) - len(one.beginning) for one in (self, other))
        is_better = theirs <= ours * (1 - WORTH_SHARING)
        return Sharing(self.shared(values), other.shared(values), other.text, is_better)

    @property
    def _parts(self) -> list[str]:
        """Text and columns by turns; text comes first and last."""
        names = "|".join(re.escape(name) for name in self.columns)
        return re.split(rf"\{{({names})\}}", self.text) if names else [self.text]
