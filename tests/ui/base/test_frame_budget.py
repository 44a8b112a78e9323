import weakref

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.ui.base.frame_budget import FrameBudget


def next_frame(budget: FrameBudget) -> None:
    budget._timer.stop()
    budget._timer.timeout.emit()


def test_one_of_all_that_wait_has_each_turn_of_the_loop(qtbot: QtBot, qapp: QApplication) -> None:
    budget = FrameBudget(qapp)
    turns: list[str] = []
    one, other = QObject(), QObject()
    budget.wait(one, lambda: turns.append("one"))
    budget.wait(other, lambda: turns.append("other"))
    budget.wait(one, lambda: turns.append("one again"))
    next_frame(budget)
    assert turns == ["one again"]
    qtbot.waitUntil(lambda: budget.num_waiting == 0)
    assert turns == ["one again", "other"]


def test_all_in_one_block_share_a_frame(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("app.ui.base.frame_budget.FRAME_S", 1.0)
    monkeypatch.setattr("app.ui.base.frame_budget.monotonic", lambda: now)
    budget = FrameBudget(qapp)
    with budget.shared():
        now = 0.9
        with budget.shared():
            assert not budget.is_spent
            now = 1.0
            assert budget.is_spent
        assert budget.is_spent
    with budget.shared():
        assert not budget.is_spent


def test_who_is_gone_has_no_turn(qtbot: QtBot, qapp: QApplication) -> None:
    budget = FrameBudget(qapp)
    turns: list[str] = []
    gone = QObject()
    budget.wait(gone, lambda: turns.append("gone"))
    gone.deleteLater()
    qapp.sendPostedEvents(gone, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: budget.num_waiting == 0)
    assert turns == []


def test_what_is_deleted_goes_one_a_turn_and_in_order(qtbot: QtBot, qapp: QApplication) -> None:
    budget = FrameBudget(qapp)
    gone: list[str] = []
    parent = QObject()
    for name in ("first", "second", "third"):
        child = QObject(parent, objectName=name)
        child.destroyed.connect(lambda _child=None, name=name: gone.append(name))
        budget.delete(child)
    budget.delete(parent)
    for expected in (["first"], ["first", "second"]):
        next_frame(budget)
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        assert gone == expected
    qtbot.waitUntil(lambda: budget.num_waiting == 0)
    assert gone == ["first", "second", "third"]
    assert not isValid(parent)


def test_what_is_deleted_is_freed_without_a_collection(qtbot: QtBot, qapp: QApplication) -> None:
    budget = FrameBudget(qapp)
    whole = Part()
    part = Part(whole)
    whole.other, part.other = part, whole
    left = [weakref.ref(whole), weakref.ref(part)]
    budget.delete(whole)
    del whole, part
    assert all(one() for one in left)
    qtbot.waitUntil(lambda: budget.num_waiting == 0)
    assert not any(one() for one in left)


class Part(QObject):
    """Knows another one."""

    other: "Part"
