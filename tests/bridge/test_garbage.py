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


@pytest.fixture
def collector(qapp: QObject, monkeypatch: pytest.MonkeyPatch) -> Iterator[GarbageCollector]:
    monkeypatch.setattr(garbage, "PERIOD_MS", 5)
    monkeypatch.setattr(garbage, "TIDY_AFTER_MS", 10)
    gc.enable()
    collector = GarbageCollector()
    yield collector
    shiboken6.delete(collector)  # now: its timer would go on working beside the next test's
    gc.disable()  # as the other tests have it


class Node:
    """Half of a cycle."""

    def __init__(self) -> None:
        self.self = self


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


@pytest.mark.parametrize(("counts", "wanted"), [((0, 0, 0), []), ((701, 0, 0), [0]), ((701, 11, 11), [2])])
def test_the_oldest_generation_that_is_due_is_collected(
    collector, monkeypatch: pytest.MonkeyPatch, counts: tuple[int, ...], wanted: list[int]
) -> None:
    collected: list[int] = []
    monkeypatch.setattr(garbage.gc, "get_count", lambda: counts)
    monkeypatch.setattr(garbage.gc, "collect", collected.append)
    collector.collect_if_due()
    assert collected == wanted


def test_after_a_chat_was_closed_the_system_gets_its_memory_back_once(
    collector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr(garbage, "give_back", lambda: given_back.append(old() is None))
    old = weakref.ref(Node())
    collector.note_closed()
    collector.note_closed()
    qtbot.waitUntil(lambda: bool(given_back))
    qtbot.wait(30)
    assert given_back == [True]
