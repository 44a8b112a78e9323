from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.bridge.chat_session import MAX_WAYS
from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.ui.tabs.ways_dialog import WaysDialog

OWN = ChatOptions("Be short.", {"top_k": 7}, max_context_tokens=512)
PIRATE = ChatOptions("Be a pirate.", {"temperature": 1.5})


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[WaysDialog]:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = WaysDialog(OWN, {"pirate.json": Preset("Pirate", PIRATE)}, window)
    dialog.open()
    yield dialog


def test_the_chats_settings_presets_and_temperatures_can_be_mixed(dialog: WaysDialog, qtbot: QtBot) -> None:
    own, preset = (field for field, _, _ in dialog._rows)
    assert own.value() == 3
    own.setValue(1)
    preset.setValue(2)
    dialog.temperatures.setText("0 1.2")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.ask.click()
    (ways,) = chosen.args
    pirate = ChatOptions("Be a pirate.", {"temperature": 1.5}, max_context_tokens=512)
    assert ways[:3] == [(None, ""), (pirate, "Pirate"), (pirate, "Pirate")]
    assert [(options.sampling, name) for options, name in ways[3:]] == [
        ({"top_k": 7, "temperature": 0.0}, "temperature 0"),
        ({"top_k": 7, "temperature": 1.2}, "temperature 1.2"),
    ]


@pytest.mark.parametrize("typed", ["warm", "-1", "9", "0.5,"])
def test_what_is_no_temperature_is_not_asked_with(dialog: WaysDialog, typed: str) -> None:
    dialog.temperatures.setText(typed)
    assert not dialog.ask.isEnabled()
    assert dialog.note.text() == "Temperatures are numbers from 0 to 5."


def test_there_are_not_more_answers_than_fit_side_by_side(dialog: WaysDialog) -> None:
    dialog._rows[0][0].setValue(MAX_WAYS)
    assert dialog.ask.isEnabled()
    dialog.temperatures.setText("1")
    assert not dialog.ask.isEnabled()
    dialog._rows[0][0].setValue(0)
    dialog.temperatures.setText("")
    assert not dialog.ask.isEnabled()
