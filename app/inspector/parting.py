"""Where two texts part, token by token. Pure functions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORDS = re.compile(r"\s*[^\s]+|\s+")
AROUND = 120  # characters before and behind the first different one: enough to see their tokens


@dataclass(frozen=True, slots=True)
class Parting:
    """The first `num_common` pieces of both are equal; `one` and `other` are those that come next, if any."""

    num_common: int
    num_common_chars: int
    one: str | None
    other: str | None

    @property
    def is_same(self) -> bool:
        return self.one is None and self.other is None


def words_of(text: str) -> list[str]:
    """In place of tokens, without a model."""
    return _WORDS.findall(text)


def part(one: Sequence[str], other: Sequence[str]) -> Parting:
    num_common = next(
        (place for place, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its),
        min(len(one), len(other)),
    )
    nexts = (pieces[num_common] if num_common < len(pieces) else None for pieces in (one, other))
    return Parting(num_common, sum(map(len, one[:num_common])), *nexts)


def pieces_of(text: str, tokens: Sequence[bytes]) -> list[str]:
    """A text cut where its tokens end; bytes of one character stay with the token that begins it.

    The text itself, in words, where the tokens do not spell it.
    """
    pieces, held = list[str](), b""
    for token in tokens:
        held += token
        try:
            piece = held.decode()
        except UnicodeDecodeError:
            continue
        pieces.append(piece)
        held = b""
    return pieces if "".join(pieces) == text else words_of(text)


def around_parting(one: str, other: str) -> tuple[int, str, str]:
    """The place where a few words before the first difference begin, and both texts from there on, cut."""
    place = part(one, other).num_common
    begin = max(one.rfind(" ", 0, max(place - AROUND, 0)), 0)
    return begin, one[begin : place + AROUND], other[begin : place + AROUND]
