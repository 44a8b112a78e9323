"""Decides which backups to delete, by their dates alone: knows no files and no clock. Pure functions.

As in Anki: keeps all of the last two days, then the last of each of 12 days, 10 weeks and 9 months.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta

NUM_DAYS, NUM_WEEKS, NUM_MONTHS = 12, 10, 9
_STAGES: tuple[tuple[int, Callable[[date], object]], ...] = (
    (NUM_DAYS, lambda day: day),
    (NUM_WEEKS, lambda day: day.isocalendar()[:2]),
    (NUM_MONTHS, lambda day: (day.year, day.month)),
)


def obsolete(made_at: Iterable[datetime], today: date) -> list[datetime]:
    """Those to delete. Never the newest, nor one that seems to be from the future: clocks go wrong."""
    yesterday = today - timedelta(days=1)
    old = sorted({moment for moment in made_at if moment.date() < yesterday}, reverse=True)
    kept: set[datetime] = set()
    newest_first = iter(old)
    for num_wanted, period_of in _STAGES:
        kept |= _newest_of_each(newest_first, num_wanted, period_of, kept)
    return [moment for moment in old if moment not in kept]


def _newest_of_each(
    newest_first: Iterator[datetime],
    num_wanted: int,
    period_of: Callable[[date], object],
    kept_before: set[datetime],
) -> set[datetime]:
    """Consumes the iterator until enough periods have their backup."""
    periods = {period_of(min(kept_before).date())} if kept_before else set()
    kept: set[datetime] = set()
    while len(kept) < num_wanted and (moment := next(newest_first, None)):
        if period_of(moment.date()) not in periods:
            periods.add(period_of(moment.date()))
            kept.add(moment)
    return kept
