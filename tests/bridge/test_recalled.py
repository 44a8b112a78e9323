"""What goes with a message of what a summary stands for."""

import asyncio

import pytest

from app.bridge.chat_session import ChatSession
from app.chats.attachment import RECALLED, Attachment
from app.chats.chat import Turn, TurnState
from app.chats.summary import Summary, messages_of
from app.protocol.output import FinishReason, Output
from app.protocol.request import Role

CODE = "The door code of the mill is 7781."


@pytest.fixture
def thread(load):
    return load(n_ctx=8192)


@pytest.fixture
def session(qloop, thread, workspace) -> ChatSession:
    session = workspace.new_chat()
    for number in range(6):
        told = CODE if number == 0 else f"Walk {number} went around a lake."
        answer = "" if number == 0 else f"Walk {number} was long."
        session.chat.add(Turn(Role.USER, told), Turn(Role.ASSISTANT, answer))
    session.chat.turns[-1].summary = Summary("They talked about walks.")
    return session


async def sent(session, thread, text: str, attachments=()) -> Turn:
    """The question, once its request is with the engine."""
    num_before = len(thread.submitted)
    session.send(text, attachments)
    async with asyncio.timeout(10):
        while len(thread.submitted) == num_before:
            await asyncio.sleep(0.005)
    return session.chat.turns[-2]


def end(thread) -> None:
    request = thread.submitted[-1]
    thread.report(Output(request.request_id, request.chat_id, "Yes.", FinishReason.STOP))


async def test_a_message_comes_with_what_was_said_about_it(qloop, session, thread) -> None:
    question = await sent(session, thread, "What is the door code?")
    assert question.attachments == (Attachment("User, message 1", CODE, RECALLED),)
    assert thread.submitted[-1].messages[-1].content == (
        f"Said earlier in this conversation: User, message 1\n```\n{CODE}\n```\n\nWhat is the door code?"
    )


async def test_it_is_seen_before_it_is_sent_and_what_was_taken_out_stays_out(qloop, session, thread) -> None:
    assert session.shelf.is_searched
    session.draft = "What is the door code?"
    await session.find_passages()
    (found,) = session.draft_attachments
    assert found.kind == RECALLED
    session.choose_attachments(())
    await session.find_passages()
    assert session.draft_attachments == ()
    question = await sent(session, thread, session.draft, session.draft_attachments)
    assert question.attachments == ()


async def test_what_the_model_was_given_is_not_given_again(qloop, session, thread) -> None:
    await sent(session, thread, "What is the door code?")
    end(thread)
    assert (await sent(session, thread, "The door code of the mill, again?")).attachments == ()


async def test_a_chat_that_is_not_summed_up_is_not_searched(qloop, session, thread) -> None:
    session.chat.turns[-1].summary = None
    assert not session.shelf.is_searched
    assert (await sent(session, thread, "What is the door code?")).attachments == ()


async def test_a_message_that_is_edited_is_searched_for_again(qloop, session, thread) -> None:
    question = await sent(session, thread, "What is the door code?")
    end(thread)
    session.edit(question, "Thanks!")
    assert session.chat.turns[-2].attachments == ()


async def test_what_was_taken_out_of_an_edited_message_stays_out(qloop, session, thread) -> None:
    question = await sent(session, thread, "What is the door code?")
    end(thread)
    num_before = len(thread.submitted)
    session.edit(question, question.text, ())
    async with asyncio.timeout(10):
        while len(thread.submitted) == num_before:
            await asyncio.sleep(0.005)
    assert session.chat.turns[-2].attachments == ()


async def test_one_that_is_stopped_while_it_is_searched_for_is_not_asked(qloop, session, thread) -> None:
    session.send("What is the door code?")
    session.stop()
    await asyncio.sleep(0.2)
    assert thread.submitted == []
    assert session.chat.turns[-1].state is TurnState.STOPPED


def test_the_next_summary_does_not_name_it_as_a_file() -> None:
    found = Attachment("User, message 1", CODE, RECALLED)
    (_asked, told) = messages_of(Summary("Walks."), [found])
    assert told.content == "Walks."
