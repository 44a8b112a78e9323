from time import thread_time

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.bridge.rounds import FULL_S, rounds


def test_a_round_of_the_loop_is_full_when_it_has_computed_for_long(qtbot: QtBot) -> None:
    are_full: list[bool] = []

    def compute() -> None:
        are_full.append(rounds().is_full)
        end = thread_time() + 2 * FULL_S
        while thread_time() < end:
            pass
        are_full.append(rounds().is_full)

    for wait_ms in (1, 100):  # the second one in a round of its own
        QTimer.singleShot(wait_ms, compute)
    rounds()
    qtbot.waitUntil(lambda: len(are_full) == 4)
    assert are_full == [False, True, False, True]
