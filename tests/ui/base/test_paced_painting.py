import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.bridge.rounds import FULL_S, Rounds
from app.ui.base.paced_painting import PacedPainting
from tests.rounds import next_round


class Painted(QWidget):
    num_times = 0

    def paintEvent(self, _event: QPaintEvent) -> None:
        self.num_times += 1


@pytest.fixture
def window(qtbot: QtBot) -> Painted:
    window = Painted()
    PacedPainting(window)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: window.num_times > 0)
    window.num_times = 0
    return window


def ask_for(window: QWidget) -> None:
    window.update()
    QCoreApplication.sendPostedEvents(window, QEvent.Type.UpdateRequest.value)


def test_a_round_with_room_paints_at_once(window: Painted) -> None:
    next_round()
    ask_for(window)
    assert window.num_times == 1


def test_a_full_round_leaves_it_to_the_next(window: Painted, qtbot: QtBot) -> None:
    next_round(computes_s=2 * FULL_S)
    ask_for(window)
    assert window.num_times == 0
    qtbot.waitUntil(lambda: window.num_times == 1)


def test_a_window_whose_rounds_are_all_full_is_painted(
    window: Painted, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rounds, "computed_s", 1.0)
    ask_for(window)
    assert window.num_times == 0
    qtbot.waitUntil(lambda: window.num_times == 1)
    ask_for(window)
    qtbot.waitUntil(lambda: window.num_times == 2)
