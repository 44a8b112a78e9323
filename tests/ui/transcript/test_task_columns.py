"""The tasks of a call, side by side in its card."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, Turn, TurnState
from app.chats.tasks import DELEGATE, results_as_text, task_turns
from app.chats.tool_use import Decision, ToolRound, ToolState, ToolUse
from app.protocol.request import Role
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.task_columns import TaskColumn, TaskColumns
from app.ui.transcript.transcript import Transcript

TASKS = ["Read a.", "Read b.", "Read <b>c</b>."]


@pytest.fixture
def use() -> ToolUse:
    return ToolUse("call-1", DELEGATE, json.dumps({"tasks": TASKS}), ToolState.RUNNING)


@pytest.fixture
def chat(use: ToolUse) -> Chat:
    chat = Chat()
    before = ToolRound(
        "«time»", uses=[ToolUse("call-0", "time", "{}", ToolState.DONE, "12:00")], is_whole=True
    )
    answer = Turn(
        Role.ASSISTANT, "", TurnState.STREAMING, rounds=[before, ToolRound("«»", uses=[use], is_whole=True)]
    )
    chat.add(Turn(Role.USER, "Compare them."), answer)
    for turn in task_turns(answer, use, TASKS):
        turn.state = TurnState.STREAMING
        chat.add_aside(turn)
    return chat


@pytest.fixture
def tasks(chat: Chat) -> list[Turn]:
    return chat.asides[chat.turns[-1].parent_id]


@pytest.fixture
def transcript(qtbot: QtBot, chat: Chat) -> Transcript:
    transcript = Transcript(chat)
    qtbot.addWidget(transcript)
    transcript.resize(900, 700)
    transcript.show()
    qtbot.waitExposed(transcript)
    return transcript


def columns(transcript: Transcript) -> list[TaskColumn]:
    view = transcript.live_views[-1]
    assert isinstance(view, AnswerView)
    details = view.rounds.cards[-1].details
    assert isinstance(details, TaskColumns)
    return details.columns


def texts(transcript: Transcript) -> list[str]:
    return [
        " ".join(part.pane.toPlainText() for part in one.text_parts() if part.pane)
        for one in columns(transcript)
    ]


def test_they_stand_side_by_side_while_they_are_worked_on(
    transcript: Transcript, tasks: list[Turn], qtbot: QtBot
) -> None:
    assert [one.turn for one in columns(transcript)] == tasks
    assert columns(transcript)[2].accessibleName() == "Task 3: Read <b>c</b>."
    assert columns(transcript)[0].y() == columns(transcript)[1].y()
    tasks[1].text = "B is new."
    transcript.mark_growing()
    qtbot.waitUntil(lambda: texts(transcript) == ["", "B is new.", ""])
    height = columns(transcript)[1].height()
    transcript.set_zoom(8)
    qtbot.waitUntil(lambda: columns(transcript)[1].height() > height)
    assert columns(transcript)[1].rounds.cards == [], "what was called before belongs to the answer"


def test_one_of_them_is_stopped_and_a_call_of_another_is_allowed(
    transcript: Transcript, tasks: list[Turn], qtbot: QtBot
) -> None:
    with qtbot.waitSignal(transcript.task_stopped) as stopped:
        columns(transcript)[0].keep.click()
    assert stopped.args == [tasks[0]]
    asking = ToolUse("call-2", "look", '{"city": "Oslo"}', ToolState.ASKING)
    tasks[1].rounds.append(ToolRound("«»", uses=[asking], is_whole=True))
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: bool(columns(transcript)[1].rounds.cards))
    (card,) = columns(transcript)[1].rounds.cards
    assert card.is_open
    with qtbot.waitSignal(transcript.decided) as decided:
        card.buttons[Decision.ONCE].click()
    assert decided.args == [asking, Decision.ONCE]


def test_its_card_folds_at_the_end_and_opens_them_as_branches(
    transcript: Transcript, chat: Chat, use: ToolUse, tasks: list[Turn], qtbot: QtBot
) -> None:
    for number, turn in enumerate(tasks):
        turn.text, turn.state = f"Answer {number}.", TurnState.DONE
    use.state, use.result = ToolState.DONE, results_as_text(TASKS, [turn.text for turn in tasks])
    chat.turns[-1].text, chat.turns[-1].state = "All read.", TurnState.DONE
    transcript.mark_dirty()
    view = transcript.live_views[-1]
    assert isinstance(view, AnswerView)
    card = view.rounds.cards[-1]
    qtbot.waitUntil(lambda: not card.is_open)
    qtbot.keyClick(card.header, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: columns(transcript)[1].isVisible())
    assert texts(transcript) == ["Answer 0.", "Answer 1.", "Answer 2."]
    button = columns(transcript)[1].findChild(QPushButton)
    assert button.accessibleName() == "Open task 2"
    with qtbot.waitSignal(transcript.version_requested) as wanted:
        button.click()
    assert wanted.args[0] is tasks[1]
