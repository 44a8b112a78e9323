"""An answer is shown as llama.cpp's chat layer reads it, or by the marks in it where nobody knows more."""

import random

import pytest

from app.bridge.chat_session import ChatSession
from app.chats.chat import Turn
from app.chats.thinking import Split
from app.protocol.output import FinishReason, Output, Usage
from tests.bridge.test_tool_rounds import settle, writes
from tests.bridge.tool_fakes import FORMAT, FakeReaders

STOP, ABORT = FinishReason.STOP, FinishReason.ABORT


@pytest.fixture
def thread(load):
    return load("starter.gguf")


@pytest.fixture
def session(thread, workspace) -> ChatSession:
    workspace.tools.readers = FakeReaders(thinking_end="§")
    return workspace.new_chat()


def answer_of(session: ChatSession) -> Turn:
    return session.chat.turns[-1]


async def test_what_the_prompt_opened_is_thinking_from_its_first_word(qloop, session, thread) -> None:
    session.send("2+2=")
    await writes(thread, "Let me")
    assert answer_of(session).split == Split("Let me", "", is_thinking=True)
    request = thread.submitted[-1]
    usage = Usage(num_generated_tokens=5, decode_s=0.5)
    thread.report(Output(request.request_id, request.chat_id, " see.§It", usage=usage))
    await settle()
    await writes(thread, " is 4.", STOP)
    answer = answer_of(session)
    assert answer.text == "Let me see.§It is 4."
    assert answer.split == Split("Let me see.", "It is 4.")
    assert answer.thinking_s == 0.5
    assert not session.is_busy


async def test_what_the_marks_say_as_well_is_not_kept_twice(qloop, session, thread, workspace) -> None:
    workspace.tools.readers = FakeReaders(thinking_end="</think>")
    other = workspace.new_chat()
    other.send("2+2=")
    await writes(thread, "Hm.\n</think>\n\n4", STOP)
    answer = answer_of(other)
    assert (answer.reading, answer.split) == (None, Split("Hm.", "4"))


async def test_what_nobody_has_read_when_it_is_stopped_is_not_lost(qloop, session, thread) -> None:
    session.send("2+2=")
    request = thread.submitted[0]
    await writes(thread, "Let me see.§It is")
    thread.answer(request, " 4")
    thread.answer(request, " or", ABORT)
    answer = answer_of(session)
    assert answer.text == "Let me see.§It is 4 or"
    assert answer.split == Split("Let me see.", "It is 4 or")


async def test_an_answer_that_is_continued_is_read_from_its_beginning(qloop, session, thread) -> None:
    session.send("2+2=")
    await writes(thread, "Let me")
    await writes(thread, " see", ABORT)
    session.continue_answer()
    assert thread.submitted[1].answer_start == "Let me see"
    await writes(thread, ".§It is 4.", STOP)
    assert answer_of(session).split == Split("Let me see.", "It is 4.")


async def test_a_continuation_that_is_stopped_before_it_begins_changes_nothing(
    qloop, session, thread
) -> None:
    session.send("2+2=")
    await writes(thread, "Let me see.§It", ABORT)
    before = answer_of(session).split
    session.continue_answer()
    await writes(thread, "", ABORT)
    assert (answer_of(session).text, answer_of(session).split) == ("Let me see.§It", before)


async def test_without_a_format_the_marks_in_the_text_tell(qloop, session, thread) -> None:
    session.send("2+2=")
    request = thread.submitted[0]
    thread.report(Output(request.request_id, request.chat_id, "<think>Hm"))
    assert answer_of(session).split == Split("Hm", "", is_thinking=True)
    thread.report(Output(request.request_id, request.chat_id, "</think>4", STOP))
    assert answer_of(session).split == Split("Hm", "4")
    await settle()


@pytest.mark.parametrize("seed", range(20))
async def test_every_word_is_shown_however_it_arrives_and_ends(qloop, session, thread, seed) -> None:
    draw = random.Random(seed)
    session.send("2+2=")
    request = thread.submitted[0]
    text = "one two three § four five".replace(" ", draw.choice([" ", "\n", "  "]))
    at = 0
    while at < len(text):
        piece = text[at : at + draw.randrange(1, 7)]
        at += len(piece)
        thread.report(Output(request.request_id, request.chat_id, piece, format=FORMAT))
        if draw.random() < 0.5:
            await settle()
    await writes(thread, "", draw.choice([STOP, ABORT]))
    answer = answer_of(session)
    assert answer.text == text
    shown = f"{answer.split.thinking} {answer.split.answer}".replace("§", " ").split()
    assert shown == ["one", "two", "three", "four", "five"]
