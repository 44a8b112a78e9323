"""Cuts a text into passages, and makes of text the words that the index knows. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

PASSAGE_CHARS = 1_200  # about 300 tokens
MIN_PASSAGE_CHARS = 300  # a shorter paragraph stands with the next one
MAX_QUERY_WORDS = 64

_WORD = re.compile(r"\w+")
# Scripts that are written without spaces: their words are pairs of letters.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each, in order and without a gap: whole paragraphs where they are short enough."""
    start = 0
    while start < len(text):
        end = _end(text, start)
        yield start, end
        start = end


def _end(text: str, start: int) -> int:
    if len(text) - start <= PASSAGE_CHARS:
        return len(text)
    for border in ("\n\n", "\n", " "):
        at = text.rfind(border, start + MIN_PASSAGE_CHARS, start + PASSAGE_CHARS)
        if at >= 0:
            return at + len(border)
    return start + PASSAGE_CHARS


def narrowed(text: str, start: int, end: int, sentence: str) -> tuple[int, int]:
    """The paragraph between these places that has most words of `sentence`; all of it if none has any."""
    wanted = _words(sentence)
    best, most, at = (start, end), 0, start
    for paragraph in re.split(r"(?<=\n)\s*\n", text[start:end]):
        at = text.index(paragraph, at)
        num_found = len(wanted & _words(paragraph))
        if num_found > most:
            best, most = (at, at + len(paragraph.rstrip())), num_found
        at += len(paragraph)
    return best


def line_of(text: str, place: int) -> int:
    """From one."""
    return text.count("\n", 0, place) + 1


def indexed(text: str) -> str:
    """With spaces where the index needs them to see words."""
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def query_words(text: str) -> list[str]:
    """Each once, as FTS5 is asked for it."""
    words = dict.fromkeys(listed_words(text))
    return [f'"{word}"' for word in list(words)[:MAX_QUERY_WORDS]]


def _words(text: str) -> set[str]:
    return set(listed_words(text))


def listed_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(indexed(text))]


def _pairs(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(len(run) - 1)] or [run]
