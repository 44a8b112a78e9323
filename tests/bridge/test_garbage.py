import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.bridge import garbage
from app.bridge.garbage import GarbageCollector


@pytest.fixture
def collector(qapp: QObject, monkeypatch: pytest.MonkeyPatch) -> Iterator[GarbageCollector]:
    monkeypatch.setattr(garbage, "PERIOD_MS", 5)
    gc.enable()
    collector = GarbageCollector()
    yield collector
    collector.deleteLater()
    gc.unfreeze()
    gc.disable()  # as the other tests have it


class Node:
    """Half of a cycle."""

    def __init__(self) -> None:
        self.self = self


def test_what_is_old_at_the_first_full_collection_is_never_looked_through_again(
    collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, gc.get_threshold()[2] + 1))
    old = weakref.ref(node := Node())
    young = weakref.ref(Node())
    collector.collect_if_due()
    assert young() is None
    del node
    later = weakref.ref(Node())
    collector.collect_if_due()
    assert (old() is None, later() is None) == (False, True)


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
