"""What a model reads, as tokens, and its parts: messages, passages, sentences of the answer.

Pure functions.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from app.protocol.lens import Span
from app.protocol.request import Message

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MAX_PASSAGES = 64  # of one message: more are joined
_LINES = re.compile(r"[^\n]*\n+|[^\n]+\Z")
_SENTENCES = re.compile(r".+?(?:[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[”’」』]*|\n+|\Z)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A message, or a passage of one: its tokens and its text. `message` is None for a message itself."""

    tokens: Span
    text: str
    role: str
    message: int | None = None  # the number of the message among all parts


def sentences_of(text: str) -> list[Span]:
    """The characters of each sentence, with the spaces behind it; an empty one belongs to the one before."""
    spans: list[Span] = []
    for found in _SENTENCES.finditer(text):
        if spans and not found[0].strip():
            spans[-1] = (spans[-1][0], found.end())
        elif found[0]:
            spans.append(found.span())
    return spans


def passages_of(text: str) -> list[Span]:
    """The lines of a text, as characters; of a single line the sentences."""
    lines = [found.span() for found in _LINES.finditer(text) if found[0].strip()]
    spans = lines if len(lines) > 1 else sentences_of(text)
    at_once = -(-len(spans) // MAX_PASSAGES)
    groups = (spans[first : first + at_once] for first in range(0, len(spans), at_once or 1))
    return [(group[0][0], group[-1][1]) for group in groups]


class ReadText:
    """Tokens and the bytes that each stands for, as a text."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.num_tokens = len(pieces)
        self._starts = list(accumulate(map(len, pieces), initial=0))
        self._bytes = b"".join(pieces)
        self.text = self._bytes.decode("utf-8", "replace")
        self._chars: list[int] | None = None

    def tokens_of(self, begin: int, end: int) -> Span:
        """The tokens that begin among these bytes."""
        return bisect_left(self._starts, begin, 0, self.num_tokens), bisect_left(
            self._starts, end, 0, self.num_tokens
        )

    def find(self, text: str, begin: int = 0) -> Span | None:
        """The bytes of a text, which a template may have stripped."""
        for wanted in (text.encode(), text.strip().encode()):
            if wanted and (place := self._bytes.find(wanted, begin)) >= 0:
                return place, place + len(wanted)
        return None

    def bytes_between(self, begin: int, end: int) -> bytes:
        return self._bytes[begin:end]

    def start_of(self, token: int) -> int:
        """In bytes."""
        return self._starts[token]

    def chars_of(self, tokens: Span) -> Span:
        """The characters of these tokens in `text`; part of a character counts as begun."""
        return self._char_starts[tokens[0]], self._char_starts[tokens[1]]

    def token_at(self, char: int) -> int:
        """The token of a character."""
        return max(bisect_left(self._char_starts, char + 1, 0, self.num_tokens) - 1, 0)

    @property
    def _char_starts(self) -> list[int]:
        if self._chars is None:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            pieces = (self._bytes[begin:end] for begin, end in pairwise(self._starts))
            self._chars = list(accumulate((len(decoder.decode(piece)) for piece in pieces), initial=0))
        return self._chars


def parts_of(read: ReadText, messages: Sequence[Message], num_prompt_tokens: int) -> list[ReadPart]:
    """Each message of the prompt as far as it is found there, followed by its passages, if it has several."""
    parts: list[ReadPart] = []
    at, limit = 0, read.start_of(num_prompt_tokens) if num_prompt_tokens < read.num_tokens else None
    for message in messages:
        found = read.find(message.content, at)
        if found is None or (limit is not None and found[1] > limit):
            continue
        at = found[1]
        parts += _with_passages(read, message.role, found, len(parts))
    if not parts and num_prompt_tokens:
        parts += _with_passages(read, "", (0, limit or read.start_of(read.num_tokens)), 0)
    return [part for part in parts if part.tokens[1] > part.tokens[0]]


def _with_passages(read: ReadText, role: str, place: Span, number: int) -> list[ReadPart]:
    begin, end = place
    text = read.bytes_between(begin, end).decode("utf-8", "replace")
    whole = ReadPart(read.tokens_of(begin, end), text, role)
    spans = passages_of(text)
    starts = [begin + len(text[:first].encode()) for first in _seams(text, spans)]
    if len(spans) < 2:
        return [whole]
    passages = [
        ReadPart(read.tokens_of(first, after), text[span[0] : span[1]], role, number)
        for (first, after), span in zip(pairwise([*starts, end]), spans, strict=True)
    ]
    return [whole, *passages]


def sentence_tokens(
    read: ReadText, num_prompt_tokens: int, answer: str, spans: Sequence[Span]
) -> list[Span | None]:
    """The tokens of each sentence of the answer, which begins behind the prompt; None where none begins."""
    begin = read.start_of(num_prompt_tokens)
    seams = [begin + len(answer[:place].encode()) for place in (*_seams(answer, spans), len(answer))]
    tokens = [read.tokens_of(first, after) for first, after in pairwise(seams)]
    return [one if 0 < one[0] < one[1] else None for one in tokens]


def _seams(text: str, spans: Sequence[Span]) -> list[int]:
    """Where each begins: spaces between two belong to the second, since most tokens begin with theirs."""
    return [span[0] if not number else len(text[: span[0]].rstrip()) for number, span in enumerate(spans)]


def heat_of(
    weights: Floats, layer: int | None, group: int | None, part: Span, left_out: Sequence[int]
) -> Floats:
    """How much each token before `part` was read, all together 1. None: the mean over all of them."""
    import numpy as np

    chosen = weights[layer if layer is not None else slice(None), group if group is not None else slice(None)]
    heat = np.array(chosen.reshape(-1, weights.shape[-1]).mean(axis=0), np.float32)
    heat[part[0] :] = 0
    heat[[token for token in left_out if token < len(heat)]] = 0
    total = float(heat.sum())
    return heat / np.float32(total) if total > 0 else heat
