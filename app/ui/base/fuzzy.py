"""Fuzzy matching of typed letters with a name. Pure functions."""

from dataclasses import dataclass
from itertools import pairwise

_AT_START, _IN_WORD, _SCATTERED = 300, 200, 100  # at the start of a word, inside one, letter by letter


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """`places` are the matched letters of the name; a higher score is better."""

    score: int
    places: frozenset[int] = frozenset()


def fit(query: str, name: str) -> FuzzyMatch | None:
    """None without a match. The words of the query are matched separately, in any order."""
    text = fold(name)
    score, places = 0, set[int]()
    for word in fold(query).split():
        found = _find(word, text)
        if found is None:
            return None
        score += found.score
        places |= found.places
    return FuzzyMatch(score - len(text) // 8, frozenset(places))  # of two matching names, the shorter wins


def fit_whole(word: str, text: str) -> FuzzyMatch | None:
    """Matches the whole word, best at the start of a word of the text."""
    folded = fold(text)
    found = _find_whole(fold(word), folded)
    return found if found and is_word_start(folded, min(found.places, default=0)) else None


def fold(text: str) -> str:
    """In lower case, of the same length, so that places in the name stay valid."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _find(word: str, text: str) -> FuzzyMatch | None:
    whole = _find_whole(word, text)
    return whole if whole else _find_scattered(word, text)


def _find_whole(word: str, text: str) -> FuzzyMatch | None:
    places = [at for at in _all_places(word, text) if is_word_start(text, at)]
    at = places[0] if places else text.find(word)
    if at < 0:
        return None
    grade = _AT_START if places else _IN_WORD
    return FuzzyMatch(grade + len(word) - min(at, 20), frozenset(range(at, at + len(word))))


def _find_scattered(word: str, text: str) -> FuzzyMatch | None:
    """The letters in order, each the next one or the first of a word if it can be: "nct" for new chat tab.

    The first must begin a word: letters anywhere would fit nearly every name.
    """
    places: list[int] = []
    for letter in word:
        after = places[-1] + 1 if places else 0
        at = _next_place(letter, text, after, is_first=not places)
        if at < 0:
            return None
        places.append(at)
    if any(_is_leap(text, before, at) for before, at in pairwise(places)):
        return None
    gaps = sum(at != before + 1 for before, at in pairwise(places))
    starts = sum(is_word_start(text, at) for at in places)
    return FuzzyMatch(_SCATTERED + 10 * starts - 10 * gaps, frozenset(places))


def _is_leap(text: str, before: int, at: int) -> bool:
    """A jump into the middle of another word, which is never meant."""
    return any(is_word_start(text, place) for place in range(before + 1, at)) and not is_word_start(text, at)


def _next_place(letter: str, text: str, after: int, is_first: bool) -> int:
    if not is_first and text.startswith(letter, after):
        return after
    starts = (at for at in _all_places(letter, text[after:]) if is_word_start(text, after + at))
    at = next(starts, -1)
    if at >= 0:
        return after + at
    return -1 if is_first else text.find(letter, after)


def _all_places(word: str, text: str) -> list[int]:
    places, at = [], text.find(word)
    while at >= 0:
        places.append(at)
        at = text.find(word, at + 1)
    return places


def is_word_start(text: str, at: int) -> bool:
    """Scripts without blanks have a word at every sign."""
    return at == 0 or not text[at - 1].isalnum() or text[at] >= "\u2e80"
