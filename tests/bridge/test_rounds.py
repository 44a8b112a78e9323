from time import thread_time

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.bridge.rounds import FULL_S, rounds


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
