from time import thread_time

import pytest
from PySide6.QtCore import QCoreApplication, QTimer
from pytestqt.qtbot import QtBot

from app.bridge.rounds import FULL_S, MAX_FULL_ROUNDS, MAX_OVERFULL_ROUNDS, OVERFULL_S, PatientTimer, rounds
from tests.rounds import next_round


def test_a_round_of_the_loop_is_full_when_it_has_computed_for_long(qtbot: QtBot) -> None:
    are_full: list[bool] = []

    def compute() -> None:
        end = thread_time() + 2 * FULL_S
        while thread_time() < end:
            pass
        are_full.append(rounds().is_full)
        QTimer.singleShot(0, lambda: are_full.append(rounds().is_full))  # in the next round

    rounds()
    QTimer.singleShot(0, compute)
    qtbot.waitUntil(lambda: len(are_full) == 2)
    assert are_full == [True, False]


def test_so_does_one_that_does_not_block(qapp: QCoreApplication) -> None:
    next_round(computes_s=2 * FULL_S)
    assert rounds().is_full
    qapp.processEvents()
    assert not rounds().is_full


def is_due(timer: PatientTimer) -> bool:
    """Whether it is, were this its time."""
    due: list[None] = []
    connection = timer.due.connect(lambda: due.append(None))
    timer.timeout.emit()
    timer.due.disconnect(connection)
    timer.stop()
    return bool(due)


@pytest.mark.parametrize(
    ("computes_s", "num_rounds"),
    [(1.5 * FULL_S, MAX_FULL_ROUNDS), (2 * OVERFULL_S, MAX_FULL_ROUNDS + MAX_OVERFULL_ROUNDS)],
)
def test_a_patient_timer_waits_for_a_round_with_room_but_not_for_long(
    qapp: QCoreApplication, computes_s: float, num_rounds: int
) -> None:
    timer = PatientTimer()
    for _ in range(2):
        for number in range(num_rounds + 1):
            next_round(computes_s=computes_s)
            assert is_due(timer) == (number == num_rounds)
    next_round()
    assert is_due(timer)


def test_it_makes_no_difference_how_often_it_asks_in_a_round(qapp: QCoreApplication) -> None:
    timer = PatientTimer()
    next_round(computes_s=2 * FULL_S)
    assert not any(is_due(timer) for _ in range(9))


def test_those_whose_patience_ends_in_one_round_have_one_each(qapp: QCoreApplication) -> None:
    waiting = [PatientTimer(), PatientTimer(), PatientTimer()]
    num_due = []
    for _ in range(MAX_FULL_ROUNDS + len(waiting)):
        next_round(computes_s=1.5 * FULL_S)
        begun = []
        for timer in waiting:
            if is_due(timer):
                begun.append(timer)
                rounds()._began_s -= 2 * FULL_S
        waiting = [timer for timer in waiting if timer not in begun]
        num_due.append(len(begun))
    assert num_due == [*[0] * MAX_FULL_ROUNDS, 1, 1, 1]


def test_a_round_that_is_reserved_is_full_until_it_is_taken(qapp: QCoreApplication) -> None:
    next_round()
    rounds().reserve_next()
    assert not rounds().is_full
    next_round()
    assert rounds().is_overfull
    assert rounds().take_reserved()
    assert not rounds().is_full
    assert not rounds().take_reserved()
