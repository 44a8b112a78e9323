import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QRadioButton
from pytestqt.qtbot import QtBot

from app.ui.base.choice_list import ChoiceList
from app.ui.base.setting import SPEEDS


@pytest.fixture(params=[False, True], ids=["wide", "narrow"])
def speeds(qtbot: QtBot, request: pytest.FixtureRequest) -> ChoiceList:
    speeds = ChoiceList("Speed", SPEEDS, is_narrow=request.param)
    qtbot.addWidget(speeds)
    speeds.choose("balanced")
    speeds.show()
    return speeds


def test_every_choice_is_there_with_its_sentence(speeds: ChoiceList) -> None:
    assert [button.text() for button in speeds.findChildren(QRadioButton)] == [
        "Responsive",
        "Balanced",
        "Throughput",
    ]
    assert {label.text() for label in speeds.findChildren(QLabel)} == {choice.sentence for choice in SPEEDS}
    assert all(button.accessibleDescription() for button in speeds.findChildren(QRadioButton))


def test_only_what_the_user_chooses_is_told(speeds: ChoiceList, qtbot: QtBot) -> None:
    told: list[str] = []
    speeds.chosen.connect(told.append)
    speeds.choose("responsive")
    assert (speeds.value, told) == ("responsive", [])
    speeds.findChildren(QRadioButton)[2].click()
    assert (speeds.value, told) == ("throughput", ["throughput"])


def test_the_keyboard_starts_at_what_is_chosen_and_walks_with_the_arrows(
    speeds: ChoiceList, qtbot: QtBot
) -> None:
    speeds.activateWindow()
    speeds.setFocus()
    focused = QApplication.focusWidget()
    assert isinstance(focused, QRadioButton)
    assert focused.text() == "Balanced"
    with qtbot.waitSignal(speeds.chosen) as told:
        qtbot.keyClick(focused, Qt.Key.Key_Down)
    assert told.args == ["throughput"]
