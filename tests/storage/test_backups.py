import itertools
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage import backups as backups_module
from app.storage.backups import (
    MAX_BYTES,
    MIN_NUM,
    NUM_DAYS,
    NUM_MONTHS,
    NUM_WEEKS,
    Backup,
    BackupReason,
    Backups,
    beyond_budget,
    obsolete,
)
from app.storage.database import checksum, open_database, transaction
from app.storage.errors import DatabaseDamagedError, StorageError

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as the program has it open, with one message."""
    with closing(open_database(path)) as connection:
        say(connection, "hello")
        os.utime(path, (NOON.timestamp(), NOON.timestamp()))
        yield connection


@pytest.fixture
def backups(live: sqlite3.Connection, path: Path, clock: Clock) -> Backups:
    return Backups(path, clock)


def say(connection: sqlite3.Connection, text: str) -> None:
    with transaction(connection):
        connection.execute(
            "INSERT OR IGNORE INTO chats (id, title, system_prompt, draft, created_at, updated_at) "
            "VALUES ('a', '', '', '', 0, 0)"
        )
        connection.execute(
            "INSERT INTO turns (id, chat_id, parent_id, role, text, state, notice, model, usage, overflowed, "
            "attachments, thinking_s, checksum, created_at) "
            "VALUES (?, 'a', '', 'user', ?, 'done', '', '', '', 0, '[]', 0, ?, 0)",
            (text[:9], text, checksum(text[:9], "", "user", text, "[]")),
        )


def texts(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM turns ORDER BY number")]


def test_a_backup_has_what_was_committed_and_is_one_file(live, backups: Backups) -> None:
    say(live, "more")
    backup = backups.make(BackupReason.ASKED)
    say(live, "later")

    assert texts(backup.path) == ["hello", "more"]
    assert backups.all() == [backup]
    assert (backup.made_at, backup.reason) == (NOON, BackupReason.ASKED)
    assert [file.name for file in backups.folder.iterdir()] == ["chats-20261121-120000-asked.db"]


def test_what_is_being_written_meanwhile_is_not_held_up_and_not_in_it(live, backups: Backups) -> None:
    live.execute("BEGIN IMMEDIATE")
    live.execute("UPDATE turns SET text = 'half a'")
    backup = backups.make(BackupReason.REGULAR)
    live.execute("COMMIT")
    assert texts(backup.path) == ["hello"]


def test_two_in_one_second_are_two(live, backups: Backups) -> None:
    first = backups.make(BackupReason.RESTORE)
    say(live, "more")
    second = backups.make(BackupReason.RESTORE)
    assert texts(first.path) == ["hello"]
    assert backups.all() == [second, first]


def test_nobody_else_can_read_a_backup(backups: Backups) -> None:
    former = os.umask(0)
    try:
        backup = backups.make(BackupReason.REGULAR)
    finally:
        os.umask(former)
    assert stat.S_IMODE(backup.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(backups.folder.stat().st_mode) == 0o700


def test_one_is_due_when_something_changed_and_the_last_is_old(live, path, backups, clock) -> None:
    assert backups.is_due(DAY)
    backups.make(BackupReason.REGULAR)
    clock.now = NOON + 2 * DAY
    touch(path, NOON)
    assert not backups.is_due(DAY)
    touch(path, NOON + timedelta(hours=1))
    assert backups.is_due(DAY)
    assert not backups.is_due(3 * DAY)


def test_what_is_only_in_the_log_has_changed_too(path, backups, clock) -> None:
    backups.make(BackupReason.REGULAR)
    clock.now = NOON + 2 * DAY
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    log = path.with_name("chats.db-wal")
    os.utime(log, ((NOON + DAY).timestamp(), (NOON + DAY).timestamp()))
    assert backups.is_due(DAY)


def test_a_backup_from_the_future_does_not_keep_the_next_from_being_made(path, backups, clock) -> None:
    clock.now = NOON + 400 * DAY
    backups.make(BackupReason.REGULAR)
    clock.now = NOON
    touch(path, NOON + 401 * DAY)
    assert backups.is_due(DAY)


def test_old_ones_are_thinned_after_each_new_one(path, backups, clock) -> None:
    for number in range(40):
        clock.now = NOON + number * timedelta(hours=12)
        backups.make(BackupReason.REGULAR)
    days = [one.made_at.astimezone().date() for one in backups.all()]
    assert len(days) < 25
    assert days[0] == clock.now.astimezone().date()
    assert len(set(days[4:])) == len(days[4:])


def test_large_ones_are_thinned_even_on_their_day(backups: Backups, clock, monkeypatch) -> None:
    monkeypatch.setattr(backups_module, "MAX_BYTES", 8 * backups.make(BackupReason.REGULAR).size_bytes)
    for _ in range(20):
        clock.now += timedelta(minutes=30)
        backups.make(BackupReason.REGULAR)
    made_at = [one.made_at for one in backups.all()]
    assert len(made_at) == 8
    assert (made_at[0], made_at[-1]) == (clock.now, NOON)


def test_a_disk_without_room_leaves_the_backups_as_they_were(backups: Backups, monkeypatch) -> None:
    before = backups.make(BackupReason.REGULAR)

    def fail(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.storage.backups.sync_file", fail)
    with pytest.raises(StorageError, match="is full"):
        backups.make(BackupReason.ASKED)
    assert backups.all() == [before]
    assert list(backups.folder.iterdir()) == [before.path]


def test_what_a_crash_left_of_one_is_cleared_away(backups: Backups) -> None:
    backups.folder.mkdir()
    (backups.folder / ".chats-20261120-120000-regular.db.part").touch()
    (backups.folder / ".chats-20261120-120000-regular.db.part-journal").touch()
    assert backups.all() == []
    made = backups.make(BackupReason.REGULAR)
    assert list(backups.folder.iterdir()) == [made.path]


def test_other_files_in_the_folder_are_not_ours(backups: Backups) -> None:
    backups.folder.mkdir()
    for name in ("notes.txt", "chats-20261399-120000-regular.db", "chats-20261121-120000-whatever.db"):
        (backups.folder / name).touch()
    assert backups.all() == []
    backups.make(BackupReason.REGULAR)
    assert len(list(backups.folder.iterdir())) == 4


@pytest.mark.parametrize("what", ["header", "a letter", "half of it"])
def test_a_damaged_backup_is_passed_over(live, backups: Backups, clock: Clock, what: str) -> None:
    say(live, "an answer " * 500)
    good = backups.make(BackupReason.REGULAR)
    clock.now = NOON + timedelta(hours=1)
    bad = backups.make(BackupReason.REGULAR)
    content = bytearray(bad.path.read_bytes())
    if what == "header":
        content[:16] = b"x" * 16
    elif what == "a letter":
        content[content.index(b"an answer an answer")] ^= 1
    else:
        del content[len(content) // 2 :]
    bad.path.write_bytes(content)

    assert backups.newest_good() == good


def test_one_damaged_message_does_not_keep_the_others_from_being_backed_up(live, backups, caplog) -> None:
    before = backups.make(BackupReason.REGULAR)
    with transaction(live):
        live.execute("UPDATE turns SET text = 'jello'")
    made = backups.make(BackupReason.ASKED)
    assert "1 messages that are not as they were written" in caplog.text
    assert backups.newest_good() == before
    before.path.unlink()
    assert backups.newest_good() == made


def test_bytes_that_are_no_text_do_not_keep_a_backup_from_being_made(live, backups: Backups) -> None:
    with transaction(live):
        live.execute("UPDATE turns SET text = CAST(x'ff68' AS TEXT)")
    assert backups.make(BackupReason.ASKED).path.exists()


def test_what_is_no_database_any_more_is_not_kept_as_a_backup(live, backups: Backups, monkeypatch) -> None:
    before = backups.make(BackupReason.REGULAR)

    def fail(_path: Path) -> int:
        raise DatabaseDamagedError("row 7 missing from index")

    monkeypatch.setattr("app.storage.backups.verify", fail)
    with pytest.raises(StorageError, match="row 7 missing"):
        backups.make(BackupReason.ASKED)
    assert backups.all() == [before]


def touch(path: Path, at: datetime) -> None:
    """The database, and its log if it has one, were last changed then."""
    for part in (path, path.with_name("chats.db-wal")):
        if part.exists():
            os.utime(part, (at.timestamp(), at.timestamp()))


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


def of_size(size_bytes: int, made_at: list[datetime]) -> list[Backup]:
    return [Backup(Path(str(one)), one, BackupReason.REGULAR, size_bytes) for one in made_at]


def test_within_the_budget_all_stay_and_beyond_it_they_are_the_rarer_the_older() -> None:
    hourly = [NOON - number * timedelta(hours=1) for number in range(48)]
    assert beyond_budget(of_size(MAX_BYTES // 48, hourly), NOON) == []
    large = of_size(MAX_BYTES // 8, hourly)
    left = [one.made_at for one in large if one not in beyond_budget(large, NOON)]
    assert len(left) == 8
    assert (left[0], left[-1]) == (NOON, hourly[-1])
    gaps = [newer - older for newer, older in itertools.pairwise(left)]
    assert sum(gaps[:3], timedelta()) < sum(gaps[-3:], timedelta()) / 3


def test_some_stay_however_large_they_are_and_whatever_the_clock_says() -> None:
    future = [NOON + number * DAY for number in range(20, 0, -1)]
    huge = of_size(MAX_BYTES, future)
    assert len(huge) - len(beyond_budget(huge, NOON)) == MIN_NUM
