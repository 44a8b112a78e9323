from time import thread_time

from PySide6.QtCore import QCoreApplication, QTimer
from pytestqt.qtbot import QtBot

from app.bridge.rounds import FULL_S, MAX_FULL_ROUNDS, Patience, PatientTimer, rounds
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


def test_a_patient_timer_waits_for_a_round_with_room_but_not_for_long(qapp: QCoreApplication) -> None:
    timer = PatientTimer()
    due: list[None] = []
    timer.due.connect(lambda: due.append(None))
    num_due = []
    for _ in range(2 * MAX_FULL_ROUNDS + 2):
        next_round(computes_s=2 * FULL_S)
        timer.timeout.emit()
        num_due.append(len(due))
    assert num_due == [*[0] * MAX_FULL_ROUNDS, *[1] * (MAX_FULL_ROUNDS + 1), 2]
    next_round()
    timer.timeout.emit()
    assert len(due) == 3
    timer.stop()


def test_those_whose_patience_ends_in_one_round_have_one_each(qapp: QCoreApplication) -> None:
    waiting = [Patience(), Patience(), Patience()]
    begun = []
    for _ in range(MAX_FULL_ROUNDS + len(waiting)):
        next_round(computes_s=2 * FULL_S)
        begun.append(sum(not one.waits for one in waiting))
        waiting = waiting[begun[-1] :]
    assert begun == [*[0] * MAX_FULL_ROUNDS, 1, 1, 1]


def test_a_round_that_is_somebodys_has_no_room_for_others_unless_he_leaves_it(qapp: QCoreApplication) -> None:
    gone, other = Patience(max_rounds=1), Patience()
    next_round(computes_s=2 * FULL_S)
    assert gone.waits
    num_rounds = 0
    while num_rounds < 10 and (not num_rounds or other.waits):
        next_round()
        assert rounds().is_full == (num_rounds < 2)
        num_rounds += 1
    assert num_rounds == 3


def test_asking_twice_in_a_round_is_no_longer_wait(qapp: QCoreApplication) -> None:
    patience = Patience(most_s=FULL_S, max_rounds=1)
    next_round(computes_s=2 * FULL_S)
    assert [patience.waits, patience.waits] == [True, True]
    next_round(computes_s=2 * FULL_S)
    assert [patience.waits, patience.waits] == [False, True]
