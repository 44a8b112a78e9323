"""Tasks that a model hands out: forks of its answer at the call, and what becomes of them."""

import asyncio
import json
import random

import pytest

from app.bridge.chat_session import ChatSession
from app.chats.chat import Turn, TurnState
from app.chats.summary import Summary
from app.chats.tasks import CUT, DELEGATE, DONE, MAX_TASKS, MAX_TOKENS, TOLD, tasks_of
from app.chats.tool_use import STOPPED as STOPPED_CALL
from app.chats.tool_use import Decision, ToolState, ToolUse
from app.protocol.output import FinishReason, Output
from app.protocol.request import TASK, WAY, Request, Role
from app.tools.delegate import delegate_tool
from app.tools.tool import Approval
from tests.bridge.tool_fakes import FORMAT, FakeKit, FakeReaders, tool

STOP, ABORT, LENGTH, ERROR = FinishReason.STOP, FinishReason.ABORT, FinishReason.LENGTH, FinishReason.ERROR


@pytest.fixture
def thread(load):
    return load(n_ctx=8192)


@pytest.fixture
def kit(workspace) -> FakeKit:
    kit = FakeKit(delegate_tool(), tool("look", "city"))
    kit.set_approval(delegate_tool(), Approval.ALWAYS)
    workspace.tools.kit, workspace.tools.readers = kit, FakeReaders()
    return kit


@pytest.fixture
def session(thread, kit, workspace) -> ChatSession:
    session = workspace.new_chat()
    session.set_tools(["skein/*", "fake/*"])
    return session


async def settle() -> None:
    for _turn in range(50):
        await asyncio.sleep(0)


async def writes(thread, request: Request, text: str, reason=STOP, **more) -> None:
    thread.report(Output(request.request_id, request.chat_id, text, reason, format=FORMAT, **more))
    await settle()


def call_of(*tasks: str) -> str:
    return f"«{DELEGATE} {json.dumps({'tasks': list(tasks)})}»"


async def hands_out(session, thread, *tasks: str) -> list[Request]:
    session.send("Compare them.")
    await settle()
    await writes(thread, thread.submitted[-1], call_of(*tasks))
    return thread.submitted[1:]


def use_of(session) -> ToolUse:
    return session.chat.turns[-1].rounds[0].uses[0]


def children(session) -> list[Turn]:
    answer = session.chat.turns[-1]
    return tasks_of(use_of(session), answer, session.chat.versions_of(answer))


async def test_each_task_is_a_fork_at_the_call_with_the_same_tools(qloop, session, thread) -> None:
    first, second = await hands_out(session, thread, "Read a.", "Read b.")
    asked = thread.submitted[0]
    chat_id = session.chat.id
    assert [first.chat_id, second.chat_id] == [f"{chat_id}{WAY}{TASK}{number}" for number in (1, 2)]
    assert first.messages[:1] == asked.messages
    assert first.messages[1].written == call_of("Read a.", "Read b.")
    assert first.messages[:2] == second.messages[:2], "they share all up to there"
    assert [one.messages[2].content for one in (first, second)] == [
        TOLD.format(number=number, total=2, task=task) for number, task in ((1, "Read a."), (2, "Read b."))
    ]
    assert first.chat_params.tools == asked.chat_params.tools
    assert (first.max_tokens, asked.max_tokens) == (MAX_TOKENS, None)
    assert session.is_busy
    assert [one.state for one in children(session)] == [TurnState.STREAMING] * 2


async def test_their_answers_come_back_as_one_result(qloop, session, thread, workspace) -> None:
    finished = []
    session.finished.connect(finished.append)
    first, second = await hands_out(session, thread, "Read a.", "Read b.")
    await writes(thread, second, "B is new.")
    assert thread.submitted[-1] is second, "the other one goes on"
    await writes(thread, first, "A is old.")
    last = thread.submitted[-1]
    assert last.chat_id == session.chat.id
    assert last.messages[-1].content == f"Task 1: Read a.\nA is old.\n\nTask 2: Read b.\nB is new.\n\n{DONE}"
    assert [one.text for one in children(session)] == ["A is old.", "B is new."]
    assert finished == []
    await writes(thread, last, "A is older.")
    assert finished == [session.chat.turns[-1]]
    assert not session.is_busy
    assert {first.chat_id, second.chat_id} <= set(thread.forgotten), "their cells are free"


async def test_a_task_is_a_branch_that_can_be_asked_further(qloop, session, thread) -> None:
    first, second = await hands_out(session, thread, "Read a.", "Read b.")
    await writes(thread, first, "A is old.")
    await writes(thread, second, "B is new.")
    await writes(thread, thread.submitted[-1], "A is older.")
    session.show_version(children(session)[0])
    session.send("How old?")
    await settle()
    told = [one.content for one in thread.submitted[-1].messages]
    assert told[-3:] == [TOLD.format(number=1, total=2, task="Read a."), "A is old.", "How old?"]


async def test_permission_is_asked_once_for_the_call(qloop, session, thread, kit) -> None:
    kit.set_approval(delegate_tool(), Approval.ASK)
    assert await hands_out(session, thread, "Read a.", "Read b.") == []
    assert use_of(session).state is ToolState.ASKING
    session.decide(use_of(session), Decision.ONCE)
    await settle()
    assert len(thread.submitted) == 3


async def test_what_fails_or_is_stopped_says_so_in_the_result(qloop, session, thread) -> None:
    requests = await hands_out(session, thread, "a", "b", "c", "d")
    session.stop_task(children(session)[1])
    assert thread.aborted == [requests[1].request_id]
    await writes(thread, requests[1], "half", ABORT)
    await writes(thread, requests[0], "", ERROR, notice="No room.")
    await writes(thread, requests[2], "all")
    await writes(thread, requests[3], "", STOP)
    assert thread.submitted[-1].messages[-1].content == (
        "Task 1: a\n[It failed: No room.]\n\nTask 2: b\nhalf\n[It was stopped before its end.]\n\n"
        f"Task 3: c\nall\n\nTask 4: d\n[It has no answer.]\n\n{DONE}"
    )
    assert session.chat.queue == []


async def test_stop_stops_all(qloop, session, thread) -> None:
    requests = await hands_out(session, thread, "a", "b", "c")
    await writes(thread, requests[0], "done")
    session.stop()
    await settle()
    assert set(thread.aborted) == {one.request_id for one in requests[1:]}
    for request in requests[1:]:
        await writes(thread, request, "", ABORT)
    assert not session.is_busy
    assert use_of(session).state is ToolState.STOPPED
    assert [one.state for one in children(session)] == [TurnState.DONE, TurnState.STOPPED, TurnState.STOPPED]
    assert use_of(session).result == "Task 1: a\ndone"
    session.continue_answer()
    await settle()
    assert thread.submitted.pop().messages[-1].content == f"Task 1: a\ndone\n\n{STOPPED_CALL}"
    assert len(thread.submitted) == 4, "nothing goes on"


@pytest.mark.parametrize("depth", [1, 2])
async def test_a_task_hands_out_tasks_only_where_that_is_allowed(
    qloop, session, thread, settings, depth
) -> None:
    settings.max_task_depth = depth
    (first,) = await hands_out(session, thread, "a")
    await writes(thread, first, call_of("b"))
    inner = thread.submitted[-1]
    if depth == 1:
        assert inner.messages[-1].content == "A task cannot hand out tasks of its own. Do it yourself."
        return
    assert inner.messages[-1].content == TOLD.format(number=1, total=1, task="b")
    (task,) = children(session)
    (inner_task,) = tasks_of(task.rounds[1].uses[0], task, session.chat.versions_of(task))
    assert session.answers.turn_of(inner.request_id) is inner_task
    assert inner.chat_id not in (first.chat_id, session.chat.id)
    await writes(thread, inner, call_of("c"))
    assert "cannot hand out" in thread.submitted[-1].messages[-1].content


async def test_the_tasks_of_another_try_are_its_own(qloop, session, thread) -> None:
    requests = await hands_out(session, thread, "a", "b")
    for request in requests:
        await writes(thread, request, "old")
    await writes(thread, thread.submitted[-1], "All.")
    first, use = session.chat.turns[-1], use_of(session)
    session.regenerate()
    await settle()
    await writes(thread, thread.submitted[-1], call_of("a", "b"))
    use_of(session).id = use.id  # as some models number their calls
    for turn in session.chat.all_turns():
        for round_ in turn.rounds:
            round_.uses[0].id = use.id
    assert [turn.text for turn in children(session)] == ["", ""]
    versions = session.chat.versions_of(first)
    assert [turn.text for turn in tasks_of(use, first, versions)] == ["old", "old"]


async def test_many_calls_at_once_are_bounded(qloop, session, thread) -> None:
    session.send("Go.")
    await settle()
    await writes(thread, thread.submitted[-1], call_of(*"abcdefgh") * 3)
    assert len(thread.submitted) == 1 + 16
    uses = session.chat.turns[-1].rounds[0].uses
    assert [use.state for use in uses] == [ToolState.RUNNING, ToolState.RUNNING, ToolState.FAILED]


@pytest.mark.parametrize("tasks", [[], [""], ["x"] * (MAX_TASKS + 1), [1], "x"])
async def test_nonsense_is_told_to_the_model(qloop, session, thread, tasks) -> None:
    session.send("Go.")
    await settle()
    await writes(thread, thread.submitted[-1], f"«{DELEGATE} {json.dumps({'tasks': tasks})}»")
    assert use_of(session).state is ToolState.FAILED
    assert len(thread.submitted) == 2


async def test_long_answers_are_cut_to_their_share(qloop, session, thread, settings, monkeypatch) -> None:
    async def first_chars(_engine, text: str, max_tokens: int) -> int | None:
        return max_tokens if len(text) > max_tokens else None

    monkeypatch.setattr("app.bridge.chat_tools.num_told", first_chars)
    settings.max_tool_result_tokens = 400
    first, second = await hands_out(session, thread, "a", "b")
    await writes(thread, first, "long " * 1_000)
    await writes(thread, second, "short")
    told = thread.submitted[-1].messages[-1].content
    begin, _, end = told.partition(CUT)
    assert begin.startswith("Task 1: a\nlong long")
    assert len(begin) < 160
    assert end == f"\n\nTask 2: b\nshort\n\n{DONE}"


async def test_tasks_by_hand_are_not_asked_about_and_need_no_tool(qloop, session, thread, kit) -> None:
    kit.set_approval(delegate_tool(), Approval.NEVER)
    session.set_tools([])
    session.hand_out(["Read a.", "Read b."])
    await settle()
    first, second = thread.submitted
    assert first.messages[0] == second.messages[0]
    assert first.messages[0].content == "1. Read a.\n2. Read b."
    assert first.chat_params.tools == ""
    assert first.messages[-1].content == TOLD.format(number=1, total=2, task="Read a.")
    await writes(thread, first, "A.")
    await writes(thread, second, "B.")
    assert thread.submitted[-1].messages[-1].role is Role.TOOL
    await writes(thread, thread.submitted[-1], "Both.")
    assert session.chat.turns[-1].text == "Both."
    session.regenerate()
    await settle()
    assert [one.messages[-1].content for one in thread.submitted[-2:]] == [
        TOLD.format(number=number, total=2, task=task) for number, task in ((1, "Read a."), (2, "Read b."))
    ]


async def test_a_task_begins_with_the_very_prompt_of_its_chat(qloop, session, thread) -> None:
    """Also where earlier messages would come with its question."""
    session.chat.add(Turn(Role.USER, "The mill has four wheels."), Turn(Role.ASSISTANT, "Good."))
    session.chat.turns[-1].summary = Summary("A mill.")
    session.hand_out(["Count the wheels of the mill.", "Name the mill."])
    await settle()
    assert len(thread.submitted) == 2
    assert session.chat.turns[-2].attachments == ()


@pytest.mark.parametrize("seed", range(100))
async def test_calls_of_many_at_once_are_not_mixed_up(qloop, session, thread, kit, seed) -> None:
    chance = random.Random(seed)
    requests = await hands_out(session, thread, "0", "1", "2", "3")
    open_ = dict(enumerate(requests))
    num_left = dict.fromkeys(open_, 2)
    while open_:
        number = chance.choice(list(open_))
        if not num_left[number]:
            await writes(thread, open_.pop(number), f"answer {number}")
            continue
        num_left[number] -= 1
        num_before = len(thread.submitted)
        await writes(thread, open_[number], f'«look {{"city": "{number}{num_left[number]}"}}»')
        turn = children(session)[number]
        use = turn.rounds[-1].uses[0]
        assert use.state is ToolState.ASKING
        asking = chance.choice([Decision.ONCE, Decision.REFUSE])
        session.decide(use, asking)
        await settle()
        if asking is Decision.ONCE:
            ((asked, arguments, _future),) = kit.running
            assert (asked.name, arguments) == ("look", {"city": f"{number}{num_left[number]}"})
            kit.finish(f"weather of {number}{num_left[number]}")
            await settle()
            assert use.result == f"weather of {number}{num_left[number]}"
        assert len(thread.submitted) == num_before + 1
        open_[number] = thread.submitted[-1]
        assert open_[number].chat_id == requests[number].chat_id
    told = thread.submitted[-1].messages[-1].content
    assert told == "\n\n".join([*(f"Task {n + 1}: {n}\nanswer {n}" for n in range(4)), DONE])
