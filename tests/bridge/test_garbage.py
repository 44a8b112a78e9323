import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.bridge import garbage
from app.bridge.garbage import GarbageCollector
from app.bridge.rounds import FULL_S
from tests.rounds import next_round


@pytest.fixture
def period_ms() -> int:
    """In most tests it works only when it is called."""
    return 10**9


@pytest.fixture
def collector(qapp: QObject, monkeypatch: pytest.MonkeyPatch, period_ms: int) -> Iterator[GarbageCollector]:
    monkeypatch.setattr(garbage, "PERIOD_MS", period_ms)
    gc.enable()
    collector = GarbageCollector()
    yield collector
    shiboken6.delete(collector)  # now: its timer would go on working beside the next test's
    gc.disable()  # as the other tests have it


class Node:
    """Half of a cycle."""

    def __init__(self) -> None:
        self.self = self


@pytest.mark.parametrize("generation", [0, 1, 2])
def test_what_is_left_of_the_first_collection_is_not_looked_through_by_the_next(
    collector, monkeypatch: pytest.MonkeyPatch, generation: int
) -> None:
    counts = [0, 0, 0]
    counts[generation] = gc.get_threshold()[generation] + 1
    monkeypatch.setattr(garbage.gc, "get_count", lambda: counts)
    old = weakref.ref(node := Node())
    young = weakref.ref(Node())
    collector.collect_if_due()
    assert young() is None
    del node
    later = weakref.ref(Node())
    collector.collect_if_due()
    gc.collect()
    assert (old() is None, later() is None) == (False, True)


def test_a_collection_of_the_oldest_looks_only_through_what_was_made_since_the_one_before(
    collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, gc.get_threshold()[2] + 1))
    kept = [Node() for _ in range(1_000)]
    num_seen = []
    for _ in range(3):
        num_seen.append(sum(isinstance(each, Node) for each in gc.get_objects()))
        collector.collect_if_due()
        kept += [Node() for _ in range(10)]
    assert num_seen == [1_000, 10, 10]


def test_what_was_set_aside_is_looked_through_once_nobody_has_been_there_for_a_while(
    collector, given_back: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rest(collector, garbage.QUIET_PERIODS)
    old = weakref.ref(node := Node())
    collector.note_closed()
    rest(collector, garbage.QUIET_PERIODS)
    del node
    rest(collector, garbage.REST_PERIODS - garbage.QUIET_PERIODS - 1)
    assert old() is not None
    rest(collector, 1)
    assert old() is None
    monkeypatch.setattr(garbage.gc, "collect", lambda *_generation: pytest.fail("once"))
    rest(collector, 2 * garbage.REST_PERIODS)


@pytest.mark.parametrize("period_ms", [5])
def test_cycles_made_on_another_thread_die_on_the_gui_thread(collector, qtbot: QtBot) -> None:
    died_on: list[threading.Thread] = []

    def make_garbage() -> None:
        weakref.finalize(Node(), lambda: died_on.append(threading.current_thread()))
        for _ in range(10 * gc.get_threshold()[0]):
            Node()

    thread = threading.Thread(target=make_garbage)
    thread.start()
    thread.join()
    assert died_on == []
    qtbot.waitUntil(lambda: bool(died_on))
    assert died_on == [threading.main_thread()]


@pytest.fixture
def given_back(collector, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An entry for each time that memory was given back. No collection is due."""
    given_back: list[str] = []
    monkeypatch.setattr(garbage, "give_back", lambda: given_back.append("all of it"))
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 0))
    return given_back


def rest(collector: GarbageCollector, num_periods: int) -> None:
    for _ in range(num_periods):
        collector.collect_if_due()


def test_after_some_quiet_old_garbage_is_collected_and_its_memory_given_back_once(
    collector, given_back: list[str]
) -> None:
    old = weakref.ref(node := Node())
    gc.collect(0)
    gc.collect(1)
    del node
    rest(collector, garbage.QUIET_PERIODS - 2)
    assert (old() is None, given_back) == (False, [])
    rest(collector, 3 * garbage.QUIET_PERIODS)
    assert (old() is None, given_back) == (True, ["all of it"])


def test_each_quiet_period_does_one_part_of_the_tidying(
    collector, given_back: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = given_back
    monkeypatch.setattr(garbage.gc, "collect", lambda *_generation: done.append("cycles"))
    at_once = []
    for _ in range(2 * garbage.QUIET_PERIODS):
        done.clear()
        rest(collector, 1)
        at_once.append(len(done))
    assert (max(at_once), sum(at_once)) == (1, 2)


def test_what_a_closed_chat_held_is_given_back_after_the_next_quiet(collector, given_back: list[str]) -> None:
    rest(collector, garbage.QUIET_PERIODS)
    collector.note_closed()
    rest(collector, garbage.QUIET_PERIODS - 1)
    assert len(given_back) == 1
    rest(collector, 1)
    assert len(given_back) == 2


@pytest.mark.parametrize(("generation", "num_times"), [(0, 1), (1, 1), (2, 2)])
def test_a_collection_of_young_objects_is_no_reason_to_look_through_all_again(
    collector, given_back: list[str], monkeypatch: pytest.MonkeyPatch, generation: int, num_times: int
) -> None:
    rest(collector, garbage.QUIET_PERIODS)
    counts = [0, 0, 0]
    counts[generation] = gc.get_threshold()[generation] + 1
    monkeypatch.setattr(garbage.gc, "get_count", lambda: counts)
    rest(collector, 1)
    counts[generation] = 0
    rest(collector, 2 * garbage.QUIET_PERIODS)
    assert len(given_back) == num_times


def test_nothing_is_given_back_while_collections_are_due(
    collector, given_back: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rest(collector, garbage.QUIET_PERIODS - 1)
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (gc.get_threshold()[0] + 1, 0, 0))
    rest(collector, garbage.QUIET_PERIODS)
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 0))
    rest(collector, garbage.QUIET_PERIODS - 1)
    assert given_back == []


def test_a_collection_waits_for_a_moment_in_which_the_window_is_idle_but_not_for_ever(
    collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    collected: list[None] = []
    monkeypatch.setattr(garbage, "thread_time", lambda: now_s)
    monkeypatch.setattr(collector, "collect_if_due", lambda: collected.append(None))
    collector.wait_for_moment()
    for _ in range(3):
        now_s += 2 * garbage.BUSY_S
        next_round()
        collector.collect_if_idle()
    assert (collected, collector._moment.isActive()) == ([], True)
    collector._moment.stop()
    next_round()
    collector.collect_if_idle()
    assert (collected, collector._moment.isActive()) == ([None], False)
    collector.wait_for_moment()
    for _ in range(garbage.MAX_MOMENTS):
        now_s += 2 * garbage.BUSY_S
        next_round()
        collector.collect_if_idle()
    assert len(collected) == 2
    collector._moment.stop()
    collector.wait_for_moment()
    for number in range(garbage.MAX_MOMENTS + garbage.MAX_FULL_ROUNDS):
        assert len(collected) == 2, number
        now_s += 2 * garbage.BUSY_S
        next_round(computes_s=2 * FULL_S)
        collector.collect_if_idle()
    assert len(collected) == 3
