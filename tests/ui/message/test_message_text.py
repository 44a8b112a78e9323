from pytestqt.qtbot import QtBot

from app.chats.chat import Turn
from app.protocol.request import Role
from app.ui.message.message_text import as_markdown, as_plain_text, plain_text, written_text

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
