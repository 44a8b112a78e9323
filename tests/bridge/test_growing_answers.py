"""By hand, without a thread: a timer is fired when the test says so."""

import pytest

from app.bridge import autosave
from app.bridge.autosave import SAVE_WITHIN_S, GrowingAnswers
from app.chats.chat import Turn
from app.protocol.request import Role
from app.storage.errors import StorageError


class Disk:
    """And the clock, and the timers."""

    def __init__(self) -> None:
        self.now = 100.0
        self.write_s = 0.0
        self.error: StorageError | None = None
        self.writes: list[tuple[float, dict[str, str]]] = []
        self.waiting: list[tuple[float, object]] = []
        self.during_write = lambda: None

    def timer(self, delay_s: float, work) -> "Disk":
        self.waiting.append((self.now + delay_s, work))
        return self

    def start(self) -> None:
        """A timer's."""

    def write(self, answers: list[Turn]) -> None:
        if self.error:
            raise self.error
        self.during_write()
        self.now += self.write_s
        self.writes.append((self.now, {turn.id: turn.text for turn in answers}))

    def run(self) -> None:
        while self.waiting:
            at, work = self.waiting.pop(0)
            self.now = max(self.now, at)
            work()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(autosave.threading, "Timer", disk.timer)
    monkeypatch.setattr(autosave, "monotonic", lambda: disk.now)
    return disk


def answer(text: str, turn_id: str = "a") -> Turn:
    return Turn(Role.ASSISTANT, text, id=turn_id)


def test_the_newest_of_each_answer_is_written_once_soon_after_the_first_words(disk: Disk) -> None:
    growing = GrowingAnswers(disk.write, pytest.fail)
    growing.put(answer("1"))
    disk.now += 0.1
    growing.put(answer("1 2"))
    growing.put(answer("one", "b"))
    disk.run()
    assert disk.writes == [(pytest.approx(100 + SAVE_WITHIN_S), {"a": "1 2", "b": "one"})]


def test_what_grows_on_after_it_was_put_is_not_seen_by_the_thread(disk: Disk) -> None:
    growing = GrowingAnswers(disk.write, pytest.fail)
    turn = answer("1")
    growing.put(turn)
    turn.text += " 2"
    disk.run()
    assert disk.writes[0][1] == {"a": "1"}


def test_a_slow_disk_is_begun_with_earlier(disk: Disk) -> None:
    growing = GrowingAnswers(disk.write, pytest.fail)
    disk.write_s = 0.2
    growing.put(answer("1"))
    disk.run()
    disk.now = 200.0
    growing.put(answer("1 2"))
    disk.run()
    assert [at for at, _ in disk.writes] == [
        pytest.approx(100 + SAVE_WITHIN_S + 0.2),
        pytest.approx(200 + SAVE_WITHIN_S),
    ]


def test_words_that_come_during_a_write_wait_from_when_they_came(disk: Disk) -> None:
    growing = GrowingAnswers(disk.write, pytest.fail)
    disk.write_s = 10.0
    disk.during_write = lambda: growing.put(answer("1 2")) if not disk.writes else None
    growing.put(answer("1"))
    disk.run()
    first, second = disk.writes
    assert second == (pytest.approx(first[0] + 10), {"a": "1 2"})


def test_a_write_that_fails_is_told_and_ends_nothing(disk: Disk) -> None:
    told: list[str] = []
    growing = GrowingAnswers(disk.write, told.append)
    disk.error = StorageError("The disk is full.")
    growing.put(answer("1"))
    disk.run()
    disk.error = None
    growing.put(answer("1 2"))
    disk.run()
    assert told == ["The disk is full."]
    assert [texts for _, texts in disk.writes] == [{"a": "1 2"}]
