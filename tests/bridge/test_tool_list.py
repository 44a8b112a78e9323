"""Tools that would fill the context are listed by name, and described and called by it."""

import json
from functools import partial

import pytest

from app.bridge.chat_session import ChatSession
from app.bridge.tool_list import CALL, DESCRIBE, MAX_LINE_CHARS, about_tokens, are_too_many
from app.bridge.tool_rounds import OfferedTool
from app.chats.tool_use import Decision, ToolState
from app.protocol.output import FinishReason
from tests.bridge.test_tool_rounds import answer_of, settle, states, writes
from tests.bridge.tool_fakes import FakeKit, FakeReaders, tool

STOP = FinishReason.STOP


@pytest.fixture
def thread(load):
    return load("starter.gguf", n_ctx=1024)


@pytest.fixture
def kit(workspace) -> FakeKit:
    kit = FakeKit(*(tool(f"tool_{letter}", "city") for letter in "abcdefghijklmnopqrst"))
    workspace.tools.kit, workspace.tools.readers = kit, FakeReaders()
    return kit


@pytest.fixture
def session(thread, kit, workspace) -> ChatSession:
    session = workspace.new_chat()
    session.set_tools(["fake/*"])
    return session


def offered(thread) -> dict[str, str]:
    tools = json.loads(thread.submitted[-1].chat_params.tools)
    return {one["function"]["name"]: one["function"]["description"] for one in tools}


async def test_above_a_share_of_the_context_tools_are_listed(qloop, session, thread, settings) -> None:
    settings.max_tool_share = 100
    session.send("Go")
    assert len(offered(thread)) == 21
    session.stop()
    thread.answer(thread.submitted[-1], "", STOP)
    await settle()
    assert not session.tools.are_listed
    settings.max_tool_share = 25
    assert session.tools.are_listed
    session.send("Go")
    assert list(offered(thread)) == [DESCRIBE, CALL, "read_more"]
    assert "\n- tool_a: Does tool_a.\n- tool_b: " in offered(thread)[DESCRIBE]


@pytest.mark.parametrize(
    ("room", "num_tokens", "is_too_much"),
    [
        (0, 10_000, False),  # no model yet
        (1024, 480, False),
        (1024, 560, True),  # more than half
        (2048, 960, False),
        (2048, 1_040, True),
        (4096, 1_100, True),
        (8192, 2_000, False),  # a quarter
        (8192, 2_100, True),
    ],
)
def test_a_small_context_has_room_for_a_few_tools(room: int, num_tokens: int, is_too_much: bool) -> None:
    one = OfferedTool(tool("tool_a", "city"), partial(print))
    offered = [one] * (num_tokens // about_tokens([one]))
    assert are_too_many(offered, room, 25) is is_too_much, about_tokens(offered)


async def test_a_description_in_the_list_is_one_line(qloop, session, thread, kit, settings) -> None:
    for one in kit.tools.values():
        object.__setattr__(one, "description", "x" * 500 + "\nmore")
    session.send("Go")
    line = next(line for line in offered(thread)[DESCRIBE].split("\n") if "tool_c" in line)
    assert line == f"- tool_c: {'x' * MAX_LINE_CHARS}…"
    assert "more" not in offered(thread)[DESCRIBE]


async def test_a_listed_tool_is_described_without_a_question(qloop, session, thread) -> None:
    session.send("Go")
    await writes(thread, f'«{DESCRIBE} {{"name": "tool_c"}}»', STOP)
    described = json.loads(thread.submitted[-1].messages[-1].content)
    assert described["parameters"]["required"] == ["city"]


async def test_a_listed_tool_is_called_by_its_name_with_its_own_permission(
    qloop, session, thread, kit
) -> None:
    session.send("Go")
    await writes(thread, f'«{CALL} {{"name": "tool_c", "arguments": {{"city": "A"}}}}»', STOP)
    (use,) = answer_of(session).rounds[0].uses
    assert use.state is ToolState.ASKING
    session.decide(use, Decision.THIS_CHAT)
    await settle()
    (called, arguments, _future) = kit.running[0]
    assert (called.name, arguments) == ("tool_c", {"city": "A"})
    kit.finish("Rain.")
    await settle()
    calls = (
        f'«{CALL} {{"name": "tool_c", "arguments": {{"city": "B"}}}}»'
        f'«{CALL} {{"name": "tool_d", "arguments": {{"city": "B"}}}}»'
    )
    await writes(thread, calls, STOP)
    assert states(session) == [ToolState.RUNNING, ToolState.ASKING]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": "tool_z", "arguments": {}}, "There is no tool tool_z in the list."),
        ({"name": "tool_c", "arguments": {}}, "lack city. tool_c takes: {"),
        ({"name": "tool_c"}, "lack arguments"),
    ],
)
async def test_a_wrong_call_is_told_what_is_right(qloop, session, thread, kit, arguments, error) -> None:
    session.send("Go")
    await writes(thread, f"«{CALL} {json.dumps(arguments)}»", STOP)
    assert states(session) == [ToolState.FAILED]
    assert error in thread.submitted[-1].messages[-1].content
    assert kit.num_called == 0
