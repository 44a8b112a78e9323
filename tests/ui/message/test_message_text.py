from pytestqt.qtbot import QtBot

from app.chats.chat import Turn
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.request import Role
from app.ui.message.message_text import (
    MAX_COPIED_CHARS,
    as_markdown,
    as_plain_text,
    plain_text,
    written_text,
)

QUESTION = Turn(Role.USER, "**What** is <b>it</b>?")
ANSWER = Turn(Role.ASSISTANT, "<think>\nhm\n</think>\n\nIt is **one**.\n\n```py\nx = 1\n```", model="starter")


def test_what_was_thought_is_not_part_of_the_answer() -> None:
    assert written_text(ANSWER) == "It is **one**.\n\n```py\nx = 1\n```"
    assert written_text(QUESTION) == QUESTION.text


def test_plain_text_reads_as_the_page_does(qtbot: QtBot) -> None:
    assert plain_text(ANSWER) == "It is one.\n\nx = 1"
    assert plain_text(QUESTION) == QUESTION.text


def test_several_messages_say_who_said_them(qtbot: QtBot) -> None:
    turns = [QUESTION, ANSWER]
    assert as_markdown(turns).startswith("**You:**\n\n**What** is <b>it</b>?\n\n**starter:**\n\nIt is")
    assert as_plain_text(turns) == "You:\n**What** is <b>it</b>?\n\nstarter:\nIt is one.\n\nx = 1"


def test_an_answer_of_nobody_is_called_one(qtbot: QtBot) -> None:
    assert as_plain_text([Turn(Role.ASSISTANT, "1")]) == "Answer:\n1"


def test_calls_of_tools_are_copied_with_their_arguments_and_results(qtbot: QtBot) -> None:
    uses = [
        ToolUse("1", "get_time", '{"zone": "Europe/Paris"}', ToolState.DONE, "12:30", seconds=0.31),
        ToolUse("2", "list", "{}", ToolState.DONE, "```\n" + "x" * MAX_COPIED_CHARS),
        ToolUse("3", "write", '{"path": "a"}', ToolState.REFUSED),
    ]
    turn = Turn(Role.ASSISTANT, "It is half past twelve.", rounds=[ToolRound(content="I look.", uses=uses)])
    parts = written_text(turn).split("\n\n")
    assert parts[:4] == [
        "I look.",
        r"**Tool: get\_time (0.3 s)**",
        '```json\n{"zone": "Europe/Paris"}\n```',
        "```\n12:30\n```",
    ]
    assert parts[4:6] == ["**Tool: list**", "````\n```\n" + "x" * (MAX_COPIED_CHARS - 4) + "…\n````"]
    assert parts[6] == "**Tool: write**"
    assert "did not allow" in parts[8]
    assert parts[9:] == ["It is half past twelve."]
    assert plain_text(turn).startswith(
        'I look.\n\nTool: get_time (0.3 s)\n\n{"zone": "Europe/Paris"}\n\n12:30'
    )
