import asyncio

import pytest

from app.chats.project import Project
from app.protocol.answer_format import ToolChoice
from app.protocol.output import FinishReason
from app.protocol.report import CellUsage, SlotSnapshot, SlotState, StepReport
from app.protocol.request import Message, Request, Role
from app.services.title_writer import TitleWriter, written_title
from tests.bridge.conftest import ScriptedThread
from tests.bridge.tool_fakes import FakeKit, FakeReaders, tool


@pytest.fixture(autouse=True)
def writer(engine, workspace, settings, thread) -> TitleWriter:
    settings.model_titles = True
    writer = TitleWriter(engine, workspace, settings, workspace)
    writer._idle.setInterval(0)
    return writer


def answer_first(workspace, thread: ScriptedThread):
    """A new chat with one question and its answer."""
    session = workspace.new_chat()
    session.send("What is 34 + 21?")
    thread.answer(thread.submitted[-1], "55", FinishReason.STOP)
    return session


async def asked(thread: ScriptedThread, num_requests: int) -> Request:
    while len(thread.submitted) < num_requests:
        await asyncio.sleep(0)
    return thread.submitted[-1]


async def nothing_more() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_after_the_first_answer_the_model_is_asked_and_its_cells_are_freed(
    qloop, workspace, thread
) -> None:
    session = answer_first(workspace, thread)
    assert session.chat.display_title == "What is 34 + 21?"
    request = await asked(thread, 2)
    assert request.messages[:2] == (Message(Role.USER, "What is 34 + 21?"), Message(Role.ASSISTANT, "55"))
    assert not request.keep_cells
    assert request.chat_id != session.chat.id
    thread.answer(request, '"Adding two')
    thread.answer(request, ' numbers."', FinishReason.STOP)
    assert session.chat.display_title == "Adding two numbers"
    assert [turn.text for turn in session.chat.turns] == ["What is 34 + 21?", "55"]


async def test_it_is_asked_with_what_the_chat_begins_with_so_that_its_cells_are_used(
    qloop, workspace, thread
) -> None:
    project = Project("Boat", "boat", instructions="Be brief.")
    workspace.shelves.project_of = {"Boat": project}.get
    workspace.tools.kit, workspace.tools.readers = FakeKit(tool("look")), FakeReaders()
    session = workspace.new_chat("Boat")
    session.set_tools(["fake/*"])
    session.send("What is 34 + 21?")
    first = thread.submitted[-1]
    thread.answer(first, "55", FinishReason.STOP)
    request = await asked(thread, 2)
    assert request.messages[: len(first.messages)] == first.messages
    assert request.begins_as == first.begins_as == "project boat"
    assert request.chat_params.tools == first.chat_params.tools != ""
    assert request.chat_params.tool_choice is ToolChoice.NONE


@pytest.mark.parametrize(
    ("text", "title"),
    [("<think>Hm.</think>\n\nAdding", "Adding"), ("<think>It never came to", "What is 34 + 21?")],
)
async def test_what_the_model_thinks_is_no_title(qloop, workspace, thread, text, title) -> None:
    session = answer_first(workspace, thread)
    thread.answer(await asked(thread, 2), text, FinishReason.STOP)
    assert session.chat.display_title == title


async def test_nobody_is_asked_unless_it_is_wanted(qloop, workspace, thread, settings) -> None:
    settings.model_titles = False
    answer_first(workspace, thread)
    await nothing_more()
    assert len(thread.submitted) == 1


async def test_a_given_title_stays(qloop, workspace, thread) -> None:
    session = answer_first(workspace, thread)
    request = await asked(thread, 2)
    session.rename("Mine")
    thread.answer(request, "Adding", FinishReason.STOP)
    assert session.chat.display_title == "Mine"


async def test_an_answer_in_any_tab_comes_first_and_the_title_later(qloop, workspace, thread) -> None:
    session = answer_first(workspace, thread)
    request = await asked(thread, 2)
    other = workspace.new_chat()
    other.send("Why?")
    assert thread.aborted == [request.request_id]
    thread.answer(request, "Add", FinishReason.ABORT)
    await nothing_more()
    assert len(thread.submitted) == 3
    thread.answer(thread.submitted[2], "Because.", FinishReason.STOP)
    again = await asked(thread, 4)
    assert again.chat_id == request.chat_id
    thread.answer(again, "Adding", FinishReason.STOP)
    assert session.chat.display_title == "Adding"


async def test_a_caller_of_the_api_comes_first_too(qloop, workspace, thread) -> None:
    answer_first(workspace, thread)
    request = await asked(thread, 2)
    slots = (
        SlotSnapshot(0, SlotState.DECODE, request.chat_id),
        SlotSnapshot(1, SlotState.PREFILL, "a chat of the API"),
    )
    thread._reports.append(StepReport(1, (), (), slots, CellUsage(512)))
    thread.reported.emit()
    assert thread.aborted == [request.request_id]


async def test_an_answer_that_failed_or_was_not_the_first_names_nothing(qloop, workspace, thread) -> None:
    session = workspace.new_chat()
    session.send("What is 34 + 21?")
    thread.answer(thread.submitted[0], "", FinishReason.ERROR, "It did not fit.")
    await nothing_more()
    assert len(thread.submitted) == 1


async def test_a_title_that_fails_leaves_the_automatic_one(qloop, workspace, thread) -> None:
    session = answer_first(workspace, thread)
    thread.answer(await asked(thread, 2), "", FinishReason.ERROR, "It did not fit.")
    await nothing_more()
    assert session.chat.display_title == "What is 34 + 21?"
    assert len(thread.submitted) == 2


async def test_the_title_of_a_closed_chat_is_dropped(qloop, workspace, thread) -> None:
    session = answer_first(workspace, thread)
    request = await asked(thread, 2)
    workspace.close(session)
    thread.answer(request, "Adding", FinishReason.STOP)
    assert workspace.current.chat.display_title == "New chat"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Adding two numbers.", "Adding two numbers"),
        ("\n**Title: “Adding”**\nand more", "Adding"),
        ("标题：《键值缓存》", "键值缓存"),
        ('""', ""),
        ("", ""),
    ],
)
def test_only_the_title_itself_is_taken(text: str, title: str) -> None:
    assert written_title(text) == title


async def test_a_long_chat_is_not_read_again_for_a_title(qloop, workspace, thread) -> None:
    session = workspace.new_chat()
    session.send("word " * 10_000)
    thread.answer(thread.submitted[0], "55", FinishReason.STOP)
    await nothing_more()
    assert len(thread.submitted) == 1
