from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.protocol.output import Usage
from app.protocol.report import PauseState, SlotState
from app.services.model_state import ModelState
from app.system.said import said
from app.ui.engine.status_bar import StatusBar, cells_text, detail_texts, model_text, queue_text, speed_text
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

BIG = Path("/m/big.gguf")
STARTER = ModelState(model_info(name="starter", n_ctx=4096))


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[StatusBar]:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.show_state(STARTER)
    bar.show()
    yield bar


@pytest.mark.parametrize("part", ["model", "api"])
def test_each_part_opens_what_tells_more_by_mouse_and_by_key(bar: StatusBar, qtbot: QtBot, part: str) -> None:
    bar.set_api("API off")
    button = getattr(bar, part)
    with qtbot.waitSignal(button.clicked):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(button.clicked):
        qtbot.keyClick(button, Qt.Key.Key_Space)
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert button.toolTip()


def test_a_tip_that_a_menu_left_behind_goes(bar: StatusBar, qtbot: QtBot) -> None:
    bar.showMessage("Move the focus to the previous pane")
    assert bar._forgets.isActive()
    bar._forgets.timeout.emit()
    assert bar.currentMessage() == ""
    assert bar.model.isVisible()


def test_what_is_not_in_the_bar_is_in_its_tooltip(bar: StatusBar) -> None:
    bar.apply(report(1, decoding(0, "sums", 823)))
    assert bar.model.text() == "starter · answering 1 · 41 tok/s"
    assert bar.model.toolTip().split("<br>") == [
        "823 / 4,096 cells, 196 shared, 3,273 free",
        "1 running, 1 waiting",
        "Show the inspector",
    ]


def test_a_name_is_no_mnemonic_and_no_markup(bar: StatusBar) -> None:
    bar.show_state(ModelState(model_info(name="Salt & <b>Pepper</b>")))
    assert bar.model.text() == "Salt && <b>Pepper</b> · idle"


def test_the_model_is_named_or_said_to_be_missing() -> None:
    assert model_text(STARTER, None) == "starter · idle"
    assert model_text(ModelState(), None) == "No model"
    assert model_text(ModelState(absent=BIG), None) == "No model"


def test_a_load_is_told_beside_the_model_that_still_answers() -> None:
    assert model_text(ModelState(loading=BIG), None) == "loading big"
    assert model_text(replace(STARTER, loading=BIG), None) == "starter · loading big"


def test_a_model_of_a_server_has_no_cells_to_count() -> None:
    there = model_info(server="http://gpu-box:8000", n_seq_max=0)
    assert detail_texts(ModelState(there), None) == ("runs on gpu-box:8000",)


def test_a_sleeping_model_says_when_it_comes_back() -> None:
    asleep = replace(STARTER, is_asleep=True)
    assert model_text(asleep, None) == "starter · asleep"
    assert detail_texts(asleep, None) == ("Its memory is freed; the next message loads it again.",)


def test_work_is_told_in_words_for_people() -> None:
    two = report(1, decoding(0, "sums"), decoding(1, "notes"))
    assert model_text(STARTER, two) == "starter · answering 2 · 82 tok/s"
    for halted in (two, report(1)):  # also before there is anything to do
        assert model_text(STARTER, replace(halted, pause=PauseState(""))) == "starter · paused"


def test_before_the_first_step_nothing_is_used() -> None:
    assert cells_text(None, 4096) == "0 / 4,096 cells, 0 shared, 4,096 free"
    assert queue_text(None) == "0 running, 0 waiting"
    assert speed_text(None) == ""


def test_a_prompt_has_no_speed_of_an_answer_yet() -> None:
    slot = decoding(0, "sums")
    prefill = replace(slot, state=SlotState.PREFILL, usage=Usage())
    assert model_text(STARTER, report(1, prefill)) == "starter · answering 1"


def test_what_is_read_ahead_is_no_answer() -> None:
    ahead = replace(report(1, replace(decoding(0, "sums"), state=SlotState.AHEAD)), waiting=())
    assert model_text(STARTER, ahead) == "starter · reading ahead"
    assert queue_text(ahead) == "0 running, 0 waiting"


def test_without_a_model_there_are_no_cells() -> None:
    assert cells_text(None, 0) == ""


def test_running_and_waiting_answers_are_counted() -> None:
    assert queue_text(report(1, decoding(0, "sums"), decoding(1, "notes"))) == "2 running, 1 waiting"


def test_a_broken_connection_is_told_as_long_as_it_is_broken() -> None:
    there = replace(STARTER, model=model_info(name="starter", server="https://gpu-box:8712"))
    broken = said("The connection to {host} is broken.", host="gpu-box:8712")
    step = replace(report(1, decoding(0, "sums")), trouble=broken)
    assert model_text(there, step) == "starter · connecting again"
    assert detail_texts(there, step) == ("The connection to gpu-box:8712 is broken.",)
    assert model_text(there, replace(step, trouble="")).startswith("starter · answering 1")


def test_in_a_pause_nothing_runs() -> None:
    paused = replace(report(1, decoding(0, "sums")), pause=PauseState(""))
    assert queue_text(paused) == "1 paused, 1 waiting"
