import weakref

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.bridge.rounds import FULL_S, MAX_FULL_ROUNDS
from app.ui.message.slices import MIN_SLICE, SLICE, SLICE_S, Slices
from tests.rounds import next_round


def next_slice(slices: Slices, computes_s: float = 0.0) -> None:
    """In a round in which so much is done before it."""
    next_round(computes_s)
    slices._timer.stop()
    slices._timer.timeout.emit()


def test_one_of_all_that_wait_has_each_turn_of_the_loop(qtbot: QtBot, qapp: QApplication) -> None:
    slices = Slices(qapp)
    turns: list[str] = []
    one, other = QObject(), QObject()
    slices.wait(one, lambda: turns.append("one"))
    slices.wait(other, lambda: turns.append("other"))
    slices.wait(one, lambda: turns.append("one again"))
    next_slice(slices)
    assert turns == ["one again"]
    qtbot.waitUntil(lambda: slices.num_waiting == 0)
    assert turns == ["one again", "other"]


def test_a_slice_waits_while_the_loop_has_enough_to_do_but_not_for_long(
    qtbot: QtBot, qapp: QApplication
) -> None:
    slices = Slices(qapp)
    turns: list[str] = []
    one, other = QObject(), QObject()
    slices.wait(one, lambda: turns.append("one"))
    slices.wait(other, lambda: turns.append("other"))
    for _ in range(MAX_FULL_ROUNDS):
        next_slice(slices, computes_s=1.5 * FULL_S)
        assert not turns
    next_slice(slices, computes_s=1.5 * FULL_S)
    assert turns == ["one"]
    next_slice(slices, computes_s=1.5 * FULL_S)
    assert turns == ["one"]
    next_slice(slices)
    assert turns == ["one", "other"]


def test_all_in_one_block_share_a_slice(qapp: QApplication) -> None:
    slices = Slices(qapp)
    with slices.shared():
        slices.work += SLICE - 1
        with slices.shared():
            assert slices.end - slices.work == 1
            slices.work += 1
        assert slices.end == slices.work
    assert slices.end - slices.work == SLICE
    with slices.shared():
        assert slices.end - slices.work == SLICE


def test_a_machine_that_takes_longer_does_less_at_once(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr("app.ui.message.slices.PACE_WEIGHT", 1_000)
    monkeypatch.setattr("app.ui.message.slices.thread_time", lambda: now_s)
    slices = Slices(qapp)

    def work(times_slower: float, weight: float, times: int = 30) -> None:
        nonlocal now_s
        for _ in range(times):
            with slices.shared():
                slices.work += weight
                now_s += times_slower * SLICE_S * weight / SLICE

    work(2, SLICE)
    assert slices.size == pytest.approx(SLICE / 2, rel=0.01)
    assert slices.end - slices.work == pytest.approx(slices.size)
    work(100, 10)
    assert slices.size == pytest.approx(SLICE / 2, rel=0.01), "so little work says nothing"
    work(100, SLICE)
    assert slices.size == MIN_SLICE
    work(0.5, SLICE)
    assert slices.size == SLICE


def test_who_is_gone_has_no_turn(qtbot: QtBot, qapp: QApplication) -> None:
    slices = Slices(qapp)
    turns: list[str] = []
    gone = QObject()
    slices.wait(gone, lambda: turns.append("gone"))
    gone.deleteLater()
    qapp.sendPostedEvents(gone, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: slices.num_waiting == 0)
    assert turns == []


def test_a_whole_slice_has_room_for_anything_and_a_part_of_one_for_what_fits(qapp: QApplication) -> None:
    slices = Slices(qapp)
    with slices.shared():
        assert slices.has_room(10 * SLICE)
        slices.work += SLICE - 100
        assert slices.has_room(100)
        assert not slices.has_room(101)


def test_what_is_deleted_goes_one_a_turn_and_in_order(qtbot: QtBot, qapp: QApplication) -> None:
    slices = Slices(qapp)
    gone: list[str] = []
    parent = QObject()
    for name in ("first", "second", "third"):
        child = QObject(parent, objectName=name)
        child.destroyed.connect(lambda _child=None, name=name: gone.append(name))
        slices.delete(child)
    slices.delete(parent)
    for expected in (["first"], ["first", "second"]):
        next_slice(slices)
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        assert gone == expected
    qtbot.waitUntil(lambda: slices.num_waiting == 0)
    assert gone == ["first", "second", "third"]
    assert not isValid(parent)


def test_what_is_deleted_is_freed_without_a_collection(qtbot: QtBot, qapp: QApplication) -> None:
    slices = Slices(qapp)
    whole = Part()
    part = Part(whole)
    whole.other, part.other = part, whole
    left = [weakref.ref(whole), weakref.ref(part)]
    slices.delete(whole)
    del whole, part
    assert all(one() for one in left)
    qtbot.waitUntil(lambda: slices.num_waiting == 0)
    assert not any(one() for one in left)


class Part(QObject):
    """Knows another one."""

    other: "Part"
