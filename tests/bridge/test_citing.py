"""An answer from passages that cites none of them is asked for the number of one."""

import pytest

from app.bridge.chat_session import ChatSession
from app.chats.attachment import PASSAGE, Attachment
from app.chats.chat import Turn, TurnState
from app.protocol.output import FinishReason
from app.shelves.documents import before_citation, ends_in_citation

PASSAGES = tuple(Attachment(f"[{n}] shop.md:{n}", "It opens at nine.", PASSAGE) for n in (1, 2))
STOP = FinishReason.STOP


@pytest.fixture
def thread(load):
    return load("starter.gguf")


@pytest.fixture
def session(thread, workspace) -> ChatSession:
    return workspace.new_chat()


def answer_of(session: ChatSession) -> Turn:
    return session.chat.turns[-1]


async def test_an_answer_that_cites_nothing_goes_on_with_a_number(qloop, session, thread) -> None:
    ended: list[str] = []
    session.finished.connect(lambda turn: ended.append(turn.text))
    session.send("When does it open?", PASSAGES)
    thread.answer(thread.submitted[0], "At nine.", STOP)
    assert (answer_of(session).text, answer_of(session).state) == ("At nine.", TurnState.STREAMING)
    asked = thread.submitted[1]
    assert asked.answer_start == "At nine. ["
    assert asked.sampling.grammar == 'root ::= "1]" | "2]"'
    assert asked.messages == thread.submitted[0].messages, "its cells are there"
    thread.answer(asked, "2", None)
    thread.answer(asked, "]", STOP)
    assert (answer_of(session).text, answer_of(session).state) == ("At nine. [2]", TurnState.DONE)
    assert ended == ["At nine. [2]"]
    assert not session.is_busy
    session.send("And when does it close?")
    assert thread.submitted[2].sampling == thread.submitted[0].sampling


@pytest.mark.parametrize(
    ("reason", "text"),
    [(FinishReason.ABORT, ""), (FinishReason.ERROR, ""), (FinishReason.LENGTH, "2"), (STOP, "")],
)
async def test_a_citation_that_does_not_come_costs_the_answer_nothing(
    qloop, session, thread, reason: FinishReason, text: str
) -> None:
    session.send("When does it open?", PASSAGES)
    thread.answer(thread.submitted[0], "At nine.", STOP)
    thread.answer(thread.submitted[1], text, reason, "No grammars here.")
    answer = answer_of(session)
    assert (answer.text, answer.state, answer.notice) == ("At nine.", TurnState.DONE, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("At nine [2].", STOP),
        ("At", FinishReason.LENGTH),
        ("At", FinishReason.ABORT),
        ("", STOP),
        ("<think>At nine?", STOP),
    ],
)
async def test_nothing_is_asked_for_where_the_answer_cites_or_is_not_whole(
    qloop, session, thread, text: str, reason: FinishReason
) -> None:
    session.send("When does it open?", PASSAGES)
    thread.answer(thread.submitted[0], text, reason)
    assert len(thread.submitted) == 1
    assert not session.is_busy


async def test_a_form_of_the_users_own_stays_as_it_is(qloop, session, thread) -> None:
    session.chat.sampling = {"grammar": 'root ::= "yes"'}
    session.send("Does it open at nine?", PASSAGES)
    thread.answer(thread.submitted[0], "yes", STOP)
    assert len(thread.submitted) == 1


async def test_an_answer_without_passages_is_its_own(qloop, session, thread) -> None:
    session.send("When does it open?", (Attachment("shop.md", "It opens at nine."),))
    thread.answer(thread.submitted[0], "At nine.", STOP)
    assert answer_of(session).text == "At nine."


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("At nine.\n", "At nine. ["),
        ("- At nine", "- At nine\n\n["),
        ("1. At nine", "1. At nine ["),
        ("So:\n```\nnine\n```", "So:\n```\nnine\n```\n\n["),
        ("| a |\n| - |\n| nine |", "| a |\n| - |\n| nine |\n\n["),
    ],
)
def test_a_number_breaks_no_code_and_no_table(text: str, start: str) -> None:
    assert before_citation(text) == start
    assert ends_in_citation(f"{start}3]")
    assert not ends_in_citation(start)
