from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QRadioButton
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.ui.engine_settings import LOAD_SETTINGS, EngineSettings, reload_note
from tests.fakes import model_info

MODEL = model_info(name="starter", n_ctx=8192, n_seq_max=8, path=Path("/m/starter.gguf"))


@pytest.fixture
def dialog(qtbot: QtBot) -> EngineSettings:
    dialog = EngineSettings(num_cores=4)
    qtbot.addWidget(dialog)
    dialog.apply(Settings(), MODEL)
    dialog.show()
    return dialog


def click(dialog: EngineSettings, name: str, label: str) -> None:
    buttons = dialog.choices[name].findChildren(QRadioButton)
    next(button for button in buttons if button.text() == label).click()


def words(dialog: EngineSettings) -> str:
    return "\n".join(label.text() for label in dialog.findChildren(QLabel))


def test_it_shows_what_is_in_force(dialog: EngineSettings) -> None:
    values = {
        "n_ctx": 4096,
        "n_seq_max": 3,
        "n_threads": 2,
        "isolated": True,
        "max_chat_tokens": 1024,
        "overflow": "rolling_window",
        "speed": "throughput",
    }
    dialog.apply(Settings(**values), MODEL)
    assert dialog.values() == values
    assert not dialog.apply_button.isEnabled()


def test_what_is_chosen_automatically_is_told(dialog: EngineSettings) -> None:
    assert dialog.numbers["n_ctx"].text() == "Automatic (8,192)"
    assert dialog.numbers["n_threads"].text() == "Automatic"
    assert dialog.numbers["max_chat_tokens"].text() == "Whole context"
    dialog.apply(Settings(), None)
    assert dialog.numbers["n_ctx"].text() == "Automatic"


def test_pool_and_longest_chat_cannot_be_mixed_up_and_defaults_are_told(dialog: EngineSettings) -> None:
    shown = words(dialog)
    assert "Context pool (all chats)" in shown
    assert "Tokens for all chats together. Default: automatic." in shown
    assert "Longest chat" in shown
    assert "Tokens for any one chat. Default: whole context." in shown
    assert "Answers computed at the same time. Default: 8." in shown
    assert "4 physical cores here." in shown
    for default in ("Default: shared.", "Default: stop.", "Default: responsive."):
        assert default in shown


def test_every_value_starts_at_the_default_of_the_settings(dialog: EngineSettings) -> None:
    defaults = Settings()
    assert dialog.values() == {name: getattr(defaults, name) for name in dialog.values()}


@pytest.mark.parametrize("name", ["n_ctx", "n_seq_max", "n_threads"])
def test_a_change_that_needs_another_context_says_that_the_model_is_loaded_again(
    dialog: EngineSettings, name: str
) -> None:
    assert name in LOAD_SETTINGS
    dialog.numbers[name].stepUp()
    assert dialog.note == "Loads starter again; answers being written end."
    assert dialog.apply_button.isEnabled()
    dialog.numbers[name].stepDown()
    assert dialog.note == ""
    assert not dialog.apply_button.isEnabled()


def test_a_change_that_needs_none_does_not_say_so(dialog: EngineSettings) -> None:
    click(dialog, "speed", "Balanced")
    dialog.numbers["max_chat_tokens"].setValue(512)
    assert dialog.note == ""
    assert dialog.apply_button.isEnabled()


def test_without_a_model_the_next_one_is_loaded_like_that() -> None:
    assert reload_note(None) == "For the next model."


def test_isolated_memory_tells_at_once_what_each_slot_gets(dialog: EngineSettings) -> None:
    assert "1,024 tokens (8,192 / 8) for each slot" in words(dialog)
    dialog.numbers["n_ctx"].setValue(16_384)
    dialog.numbers["n_seq_max"].setValue(4)
    assert "4,096 tokens (16,384 / 4) for each slot" in words(dialog)


def test_apply_tells_all_values_and_the_dialog_stays(dialog: EngineSettings, qtbot: QtBot) -> None:
    click(dialog, "isolated", "Isolated")
    click(dialog, "overflow", "Truncate the middle")
    dialog.numbers["n_ctx"].setValue(2048)
    with qtbot.waitSignal(dialog.applied) as applied:
        dialog.apply_button.click()
    assert applied.args == [
        Settings(isolated=True, overflow="truncate_middle", n_ctx=2048).model_dump(
            include=set(dialog.values())
        )
    ]
    assert dialog.isVisible()
    assert not dialog.isModal()


def test_a_number_can_be_typed_and_entered(dialog: EngineSettings, qtbot: QtBot) -> None:
    field = dialog.numbers["n_ctx"]
    field.selectAll()
    qtbot.keyClicks(field, "4096")
    with qtbot.waitSignal(dialog.applied) as applied:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert applied.args[0]["n_ctx"] == 4096
    assert field.text() == "4,096"


def test_defaults_can_be_restored_before_they_are_applied(dialog: EngineSettings) -> None:
    assert not dialog.restore_button.isEnabled()
    dialog.apply(Settings(n_ctx=2048, speed="balanced"), MODEL)
    dialog.restore_button.click()
    assert dialog.values() == Settings().model_dump(include=set(dialog.values()))
    assert dialog.apply_button.isEnabled()


def test_a_speed_chosen_elsewhere_leaves_the_rest_as_it_stands(dialog: EngineSettings) -> None:
    dialog.numbers["n_ctx"].setValue(2048)
    dialog.follow_speed("throughput")
    assert dialog.values()["n_ctx"] == 2048
    assert dialog.values()["speed"] == "throughput"
    dialog.numbers["n_ctx"].setValue(0)
    assert not dialog.apply_button.isEnabled()


def test_more_threads_than_cores_out_of_a_file_are_shown_as_they_are(dialog: EngineSettings) -> None:
    dialog.apply(Settings(n_threads=64), MODEL)
    assert dialog.values()["n_threads"] == 64


def test_it_fits_into_the_smallest_window(dialog: EngineSettings) -> None:
    assert dialog.sizeHint().height() <= 560
    assert dialog.width() <= 880


def test_a_model_with_a_strange_name_stays_plain() -> None:
    assert reload_note(model_info(name="a\x1b[2Jb\nc")) == "Loads a[2Jb c again; answers being written end."
