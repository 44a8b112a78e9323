import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.inspector.recording import Recording
from app.inspector.stepper_panel import (
    NO_MODEL,
    NOTHING_PLANNED,
    RECORDED,
    RUNNING,
    StepperPanel,
    plan_text,
    share_texts,
    state_text,
)
from app.protocol.commands import Command, DescribeTokens, Pause, Resume, RunUntil, StepOnce, UntilEnd
from app.protocol.report import PauseState, Span, StepReport, TokenTexts
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

SLOTS = (decoding(0, "sums", 41), decoding(1, "notes", 0))


def planned(seq_id: int, chat: str, first_pos: int, *token_ids: int, is_prefill: bool = False) -> Span:
    token_bytes = struct.pack(f"{len(token_ids)}i", *token_ids)
    return Span(seq_id, chat, f"of {chat}", first_pos, len(token_ids), True, 3, 512, is_prefill, token_bytes)


PLAN = (planned(0, "sums", 41, 72), planned(1, "notes", 0, 65, 66, 65, is_prefill=True))
PAUSED = replace(report(5, *SLOTS), pause=PauseState("An answer ended.", PLAN))


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[StepperPanel]:
    recording = Recording()
    recording.start(model_info(n_ctx=4096, n_seq_max=4))
    panel = StepperPanel(recording)
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    panel.set_titles({"sums": "Sums", "notes": "Notes"})
    yield panel


def show(panel: StepperPanel, newest: StepReport) -> None:
    panel.recording.append((newest,))
    panel.draw()


def commands_of(panel: StepperPanel) -> list[Command]:
    commands: list[Command] = []
    panel.commanded.connect(commands.append)
    return commands


def row(panel: StepperPanel, number: int) -> list[str]:
    return [panel.rows.index(number, column).data() for column in range(panel.rows.columnCount())]


def test_the_planned_batch_is_shown_row_by_row_before_it_is_computed(panel: StepperPanel) -> None:
    commands = commands_of(panel)
    show(panel, PAUSED)
    assert panel.state.text() == "Paused. An answer ended."
    assert commands == [DescribeTokens((72, 65, 66))]
    show(panel, replace(PAUSED, answers=(TokenTexts((72, 65, 66), (b" 5", b"A", b"\n")),)))
    assert row(panel, 0) == ["0", "72", "␣5", "41", "0", "Sums", "decode", "wanted"]
    assert row(panel, 1) == ["1", "65", "A", "0", "1", "Notes", "prefill", ""]
    assert row(panel, 3)[-1] == "wanted"
    assert panel.rows.rowCount() == 4
    assert len(commands) == 1


def test_totals_are_told_for_each_sequence_and_for_all(panel: StepperPanel) -> None:
    show(panel, PAUSED)
    texts = [panel.shares.index(1, column).data() for column in range(panel.shares.columnCount())]
    assert texts == ["1", "Notes", "prefill", "3", "", "0–2", "last row", "3 of 512"]
    assert share_texts(PLAN[0], "Sums") == ("0", "Sums", "decode", "1", "", "41", "last row", "3 of 512")
    assert plan_text(PauseState("", PLAN)) == "4 rows of 2 sequences; 2 tokens are sampled"
    assert plan_text(PauseState("", PLAN[:1])) == "1 row of 1 sequence; 1 token is sampled"
    guessed = replace(planned(0, "sums", 41, 72, 73, 74), num_drafted=2)
    assert share_texts(guessed, "Sums")[3:7] == ("3", "2", "41–43", "3 rows")
    words = "3 rows of 1 sequence; 1 token is sampled, 2 draft tokens are checked"
    assert plan_text(PauseState("", (guessed,))) == words


def test_a_sequence_chosen_in_the_totals_brings_its_rows_into_view(panel: StepperPanel, qtbot: QtBot) -> None:
    long = planned(1, "notes", 0, *range(200), is_prefill=True)
    show(panel, replace(PAUSED, pause=PauseState("", (PLAN[0], long, planned(2, "haiku", 7, 9)))))
    panel.share_table.setFocus()
    with qtbot.waitSignal(panel.sequence_selected) as chosen:
        panel.share_table.selectRow(2)
    assert chosen.args == [2]
    assert panel.row_table.visualRect(panel.rows.index(201, 0)).top() < panel.row_table.viewport().height()
    panel.select_sequence(0)
    assert panel.share_table.currentIndex().row() == 0


def test_running_it_says_until_when(panel: StepperPanel) -> None:
    show(panel, report(5, *SLOTS))
    assert panel.state.text() == "Running"
    assert panel.message.text() == RUNNING
    commands = commands_of(panel)
    panel.stop_choice.condition.choose("end")
    panel.stop_choice.run.click()
    panel.draw()
    assert commands == [RunUntil(UntilEnd())]
    assert panel.state.text() == "Running until an answer ends"
    show(panel, PAUSED)
    show(panel, report(6, *SLOTS))
    assert panel.state.text() == "Running"


def test_a_run_that_begins_in_a_pause_is_told_until_the_next_one(panel: StepperPanel) -> None:
    show(panel, PAUSED)
    panel.stop_choice.condition.choose("end")
    panel.stop_choice.run.click()
    show(panel, PAUSED)  # it was on its way already
    show(panel, report(6, *SLOTS))
    assert panel.state.text() == "Running until an answer ends"
    show(panel, replace(PAUSED, pause=PauseState("There is nothing left to compute.")))
    show(panel, report(7, *SLOTS))
    assert panel.state.text() == "Running"


def test_paused_with_nothing_to_do_it_says_what_to_do(panel: StepperPanel) -> None:
    show(panel, replace(PAUSED, pause=PauseState("There is nothing left to compute.")))
    assert panel.message.text() == NOTHING_PLANNED
    assert not panel.row_table.isVisible()


def test_the_three_actions_ask_for_one_thing_each_where_it_makes_sense(panel: StepperPanel) -> None:
    actions = panel.actions_of_step
    asked: list[Command] = []
    actions.commanded.connect(asked.append)
    actions.apply(is_paused=True, has_engine=True)
    assert [action.isEnabled() for action in actions.all] == [False, True, True]
    actions.apply(is_paused=False, has_engine=True)
    assert [action.isEnabled() for action in actions.all] == [True, False, False]
    actions.apply(is_paused=False, has_engine=False)
    assert not any(action.isEnabled() for action in actions.all)
    actions.apply(is_paused=True, has_engine=True)
    actions.step.trigger()
    actions.resume.trigger()
    actions.apply(is_paused=False, has_engine=True)
    actions.pause.trigger()
    assert asked == [StepOnce(), Resume(), Pause()]


def test_a_recording_or_no_model_is_said(panel: StepperPanel) -> None:
    show(panel, PAUSED)
    panel.recording.start(None)
    panel.reset()
    assert panel.message.text() == NO_MODEL
    recorded = Recording(name="old.jsonl")
    recorded.start(model_info())
    recorded.append((PAUSED,))
    panel.show_recording(recorded)
    assert panel.message.text() == RECORDED
    assert not panel.stop_choice.run.isEnabled()


@pytest.mark.parametrize(
    ("pause", "until", "text"),
    [
        (None, "", "Running"),
        (None, "a decode fails", "Running until a decode fails"),
        (PauseState(""), "", "Paused"),
        (PauseState("Token 5 was sampled."), "", "Paused. Token 5 was sampled."),
    ],
)
def test_the_state_is_one_line(pause: PauseState | None, until: str, text: str) -> None:
    assert state_text(pause, until) == text


def test_the_keyboard_goes_to_the_condition(panel: StepperPanel) -> None:
    panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert panel.focusProxy() is panel.stop_choice.condition
