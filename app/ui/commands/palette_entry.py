"""The entries of the command palette and their ranking. Pure functions."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.ui.base.fuzzy import FuzzyMatch, fit, fit_whole

MAX_SHOWN = 200
_RECENT = 40  # bonus for recently used entries, a little less for each newer one
_IN_DETAIL = 150  # penalty for a match in the place instead of the name


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """`name` is the same in every run. `detail` is its place; `keywords` are searched but not shown."""

    name: str
    text: str
    run: Callable[[], object]
    detail: str = ""
    keys: str = ""
    keywords: str = ""
    is_enabled: bool = True
    why_disabled: str = ""
    is_on: bool = False  # ticked in its menu
    only_when_asked: bool = False  # not among what is offered before anything is typed


@dataclass(frozen=True, slots=True)
class Hit:
    entry: PaletteEntry
    places: frozenset[int] = frozenset()  # of the text: what was typed


def hits(query: str, entries: Iterable[PaletteEntry], recent: Sequence[str]) -> list[Hit]:
    """Best first. Without a query the most recently used, then all as they come."""
    rank = {name: index for index, name in enumerate(recent)}
    if not query.strip():
        offered = [entry for entry in entries if entry.name in rank or not entry.only_when_asked]
        offered.sort(key=lambda entry: rank.get(entry.name, len(rank)))
        return [Hit(entry) for entry in offered[:MAX_SHOWN]]
    found: list[tuple[int, Hit]] = []
    for entry in entries:
        if how := _fit(query, entry):
            bonus = max(0, _RECENT - rank[entry.name]) if entry.name in rank else 0
            found.append((how.score + bonus, Hit(entry, how.places)))
    found.sort(key=lambda scored: (-scored[0], not scored[1].entry.is_enabled))
    return [hit for _, hit in found[:MAX_SHOWN]]


def _fit(query: str, entry: PaletteEntry) -> FuzzyMatch | None:
    """By its text first; word by word also by its place and keywords."""
    if in_text := fit(query, entry.text):
        return in_text
    around = f"{entry.detail} {entry.keywords}"
    score, places = -_IN_DETAIL, frozenset[int]()
    for word in query.split():
        in_text, elsewhere = fit(word, entry.text), fit_whole(word, around)
        found = in_text or elsewhere
        if found is None:
            return None
        score += found.score
        places |= in_text.places if in_text else frozenset()
    return FuzzyMatch(score, places)
