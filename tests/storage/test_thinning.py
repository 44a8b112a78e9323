from datetime import date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.storage.thinning import NUM_DAYS, NUM_MONTHS, NUM_WEEKS, obsolete

TODAY = date(2026, 11, 21)


def at(day: date, hour: int = 12) -> datetime:
    return datetime(day.year, day.month, day.day, hour)  # noqa: DTZ001


def days_ago(number: int, hour: int = 12) -> datetime:
    return at(TODAY - timedelta(days=number), hour)


def kept(moments: list[datetime], today: date = TODAY) -> list[datetime]:
    gone = set(obsolete(moments, today))
    return sorted((moment for moment in moments if moment not in gone), reverse=True)


def test_all_of_today_and_yesterday_stay() -> None:
    moments = [days_ago(day, hour) for day in (0, 1) for hour in range(24)]
    assert obsolete(moments, TODAY) == []


def test_of_each_older_day_the_last_stays() -> None:
    assert kept([days_ago(day, hour) for day in (2, 3) for hour in (9, 15, 23)]) == [
        days_ago(2, 23),
        days_ago(3, 23),
    ]


def test_then_one_a_week_and_then_one_a_month() -> None:
    moments = [days_ago(day) for day in range(900)]
    days = [moment.date() for moment in kept(moments)]
    recent, daily = days[:2], days[2 : 2 + NUM_DAYS]
    weekly = days[2 + NUM_DAYS : 2 + NUM_DAYS + NUM_WEEKS]
    monthly = days[2 + NUM_DAYS + NUM_WEEKS :]

    assert recent == [TODAY, TODAY - timedelta(days=1)]
    assert daily == [TODAY - timedelta(days=2 + number) for number in range(NUM_DAYS)]
    # 21 November 2026 is a Saturday: the daily ones end in the week of 2 November, and each Sunday follows.
    assert weekly == [date(2026, 11, 1) - timedelta(weeks=number) for number in range(NUM_WEEKS)]
    # They end in August. Then the last day of each month.
    assert monthly == [
        date(2026, 7, 31),
        date(2026, 6, 30),
        date(2026, 5, 31),
        date(2026, 4, 30),
        date(2026, 3, 31),
        date(2026, 2, 28),
        date(2026, 1, 31),
        date(2025, 12, 31),
        date(2025, 11, 30),
    ]
    assert len(monthly) == NUM_MONTHS


def test_what_is_kept_is_the_same_whether_thinned_each_day_or_once() -> None:
    """A year, with four backups on each day that it was used, thinned after each."""
    thinned_daily: list[datetime] = []
    first = TODAY - timedelta(days=400)
    for number in range(400):
        day = first + timedelta(days=number)
        thinned_daily = kept([*thinned_daily, *(at(day, hour) for hour in (8, 12, 16, 20))], day)
    num_old = sum(moment.date() < day - timedelta(days=1) for moment in thinned_daily)
    assert NUM_DAYS + NUM_WEEKS + 5 <= num_old <= NUM_DAYS + NUM_WEEKS + NUM_MONTHS
    assert thinned_daily[-1].date() < day - timedelta(days=240)


def test_after_a_long_pause_the_last_before_it_stays() -> None:
    assert kept([days_ago(2000, hour) for hour in (9, 10)]) == [days_ago(2000, 10)]


def test_a_clock_that_was_wrong_costs_no_backup() -> None:
    future = [at(TODAY + timedelta(days=day)) for day in (1, 400, 4000)]
    assert obsolete([*future, days_ago(3)], TODAY) == []


@given(
    st.lists(
        st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001
        min_size=1,
        unique=True,
    )
)
def test_the_newest_always_stays_and_never_too_many(moments) -> None:
    left = kept(moments)
    assert max(moments) in left
    old = [moment for moment in left if moment.date() < TODAY - timedelta(days=1)]
    assert len(old) <= NUM_DAYS + NUM_WEEKS + NUM_MONTHS
