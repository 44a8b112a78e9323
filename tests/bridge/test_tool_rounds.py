"""Calls of tools in an answer, from the model's first word of one to what it reads of the results."""

import asyncio
import json
from dataclasses import replace

import pytest

from app.bridge.chat_session import ChatSession
from app.chats.chat import Turn, TurnState
from app.chats.tool_json import as_text, rounds_of
from app.chats.tool_use import STOPPED as STOPPED_CALL
from app.chats.tool_use import Decision, ToolState
from app.protocol.commands import NoteTool
from app.protocol.output import FinishReason, MessageDelta, Output, ToolCallDelta
from app.protocol.request import Request, Role
from app.tools.tool import Approval, ToolError
from tests.bridge.tool_fakes import FORMAT, FakeKit, FakeReaders, tool

STOP, ABORT, LENGTH = FinishReason.STOP, FinishReason.ABORT, FinishReason.LENGTH


@pytest.fixture
def thread(load):
    return load("starter.gguf")


@pytest.fixture
def kit(workspace) -> FakeKit:
    kit = FakeKit(tool("look", "city"), tool("clock"))
    workspace.tools.kit, workspace.tools.readers = kit, FakeReaders()
    return kit


@pytest.fixture
def session(thread, kit, workspace) -> ChatSession:
    session = workspace.new_chat()
    session.set_tools(["fake/*"])
    return session


async def settle() -> None:
    """What can go on has done so."""
    for _turn in range(20):
        await asyncio.sleep(0)


async def writes(thread, text: str, reason: FinishReason | None = None, index: int = -1) -> None:
    request = thread.submitted[index]
    thread.report(Output(request.request_id, request.chat_id, text, reason, format=FORMAT))
    await settle()


def answer_of(session: ChatSession) -> Turn:
    return session.chat.turns[-1]


def states(session: ChatSession, number: int = -1) -> list[ToolState]:
    return [use.state for use in answer_of(session).rounds[number].uses]


def told(request: Request) -> list[tuple[Role, str]]:
    return [(message.role, message.content) for message in request.messages]


async def test_a_request_offers_the_tools_that_the_chat_has_chosen(qloop, session, thread) -> None:
    session.set_tools(["fake/clock"])
    session.send("What time is it?")
    offered = json.loads(thread.submitted[0].chat_params.tools)
    assert [one["function"]["name"] for one in offered] == ["clock", "read_more"]
    thread.answer(thread.submitted[0], "Late.", STOP)
    await settle()
    session.set_tools([])
    session.send("And now?")
    assert not thread.submitted[1].chat_params.tools


async def test_a_call_appears_while_it_is_written(qloop, session, thread) -> None:
    grown, changes = [], []
    session.send("How is it in Kraków?")
    session.grew.connect(lambda turn: grown.append(turn.text or turn.rounds[-1].uses[0].arguments))
    session.changed.connect(lambda: changes.append(1))
    await writes(thread, "Let me look. ")
    assert (answer_of(session).text, answer_of(session).rounds) == ("Let me look. ", [])
    await writes(thread, '«look {"city": ')
    (round_,) = answer_of(session).rounds
    assert (round_.content, answer_of(session).text) == ("Let me look. ", "")
    assert (round_.uses[0].tool, round_.uses[0].arguments) == ("look", '{"city": ')
    assert states(session) == [ToolState.WRITING]
    assert len(changes) == 1
    await writes(thread, '"Kraków"}')
    assert grown == ["Let me look. ", '{"city": "Kraków"}']
    assert session.is_busy
    assert answer_of(session).state is TurnState.STREAMING


async def test_a_call_that_is_allowed_is_run_and_the_answer_goes_on_from_its_result(
    qloop, session, thread, kit
) -> None:
    session.send("How is it in Kraków?")
    await writes(thread, 'Let me look. «look {"city": "Kraków"}»', STOP)
    assert states(session) == [ToolState.ASKING]
    (use,) = answer_of(session).rounds[0].uses
    session.decide(use, Decision.ONCE)
    await settle()
    assert states(session) == [ToolState.RUNNING]
    assert kit.running[0][1] == {"city": "Kraków"}
    kit.finish("Rain.")
    await settle()
    assert (use.state, use.result) == (ToolState.DONE, "Rain.")

    first, second = thread.submitted
    assert second.chat_id == first.chat_id
    assert second.chat_params == first.chat_params
    question, called, result = second.messages
    assert question == first.messages[0]
    assert (called.role, called.content) == (Role.ASSISTANT, "Let me look. ")
    assert called.written == 'Let me look. «look {"city": "Kraków"}»'
    (call,) = json.loads(called.fields)["tool_calls"]
    assert call["function"] == {"name": "look", "arguments": {"city": "Kraków"}}
    assert (result.role, result.content) == (Role.TOOL, "Rain.")
    assert json.loads(result.fields) == {"tool_call_id": call["id"], "name": "look"}

    await writes(thread, "It rains.", STOP)
    answer = answer_of(session)
    assert (answer.text, answer.state, len(answer.rounds)) == ("It rains.", TurnState.DONE, 1)
    assert not session.is_busy
    session.send("Thanks")
    assert [role for role, _text in told(thread.submitted[2])] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
        Role.USER,
    ]


async def test_several_calls_of_a_round_run_side_by_side(qloop, session, thread, kit) -> None:
    kit.approvals = {"fake/look": Approval.ALWAYS, "fake/clock": Approval.ALWAYS}
    session.send("Both")
    await writes(thread, '«look {"city": "A"}»«look {"city": "B"}»«clock {}»', STOP)
    assert states(session) == [ToolState.RUNNING] * 3
    kit.finish("noon", index=2)
    kit.finish("B", index=1)
    await settle()
    assert states(session) == [ToolState.RUNNING, ToolState.DONE, ToolState.DONE]
    assert len(thread.submitted) == 1
    kit.finish(ToolError("No such city."))
    await settle()
    assert states(session) == [ToolState.FAILED, ToolState.DONE, ToolState.DONE]
    assert told(thread.submitted[1])[2:] == [
        (Role.TOOL, "No such city."),
        (Role.TOOL, "B"),
        (Role.TOOL, "noon"),
    ]


async def test_the_engine_is_told_how_long_each_tool_ran(qloop, session, thread, kit) -> None:
    kit.approvals = {"fake/look": Approval.ALWAYS, "fake/clock": Approval.ALWAYS}
    session.send("Both")
    await writes(thread, '«look {"city": "A"}»«clock {}»«fly {}»', STOP)
    kit.finish("noon", index=1)
    await settle()
    kit.finish(ToolError("No such city."))
    await settle()
    noted = [command for command in thread.posted if isinstance(command, NoteTool)]
    look, clock, fly = answer_of(session).rounds[0].uses
    assert noted == [
        NoteTool(session.chat.id, "clock", clock.seconds),
        NoteTool(session.chat.id, "look", look.seconds),
    ]
    assert clock.seconds > 0 < look.seconds
    assert not fly.seconds, "it was never run"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("«fly {}»", "There is no tool fly."),
        ("«look {»", "cannot be read as JSON"),
        ("«look [1]»", "must be a JSON object"),
        ("«look {}»", "lack city"),
        ('«look {"city": 7}»', "must be of type string"),
    ],
)
async def test_a_call_that_cannot_be_made_is_the_models_error(
    qloop, session, thread, kit, call, error
) -> None:
    session.send("Go")
    await writes(thread, call, STOP)
    assert states(session) == [ToolState.FAILED]
    assert error in thread.submitted[1].messages[-1].content
    assert kit.num_called == 0


async def test_a_tool_that_always_asks_asks_again(qloop, session, thread, kit) -> None:
    kit.tools = {key: replace(one, always_asks=True) for key, one in kit.tools.items()}
    session.send("Go")
    await writes(thread, '«look {"city": "A"}»', STOP)
    session.decide(answer_of(session).rounds[0].uses[0], Decision.THIS_CHAT)
    await settle()
    kit.finish("a")
    await settle()
    await writes(thread, '«look {"city": "B"}»', STOP)
    assert states(session) == [ToolState.ASKING]


async def test_a_decision_for_all_calls_holds_for_those_that_wait(qloop, session, thread, kit) -> None:
    session.send("Go")
    await writes(thread, '«look {"city": "A"}»«look {"city": "B"}»«clock {}»', STOP)
    assert states(session) == [ToolState.ASKING] * 3
    session.decide(answer_of(session).rounds[0].uses[0], Decision.THIS_CHAT)
    await settle()
    assert states(session) == [ToolState.RUNNING, ToolState.RUNNING, ToolState.ASKING]
    session.decide(answer_of(session).rounds[0].uses[2], Decision.NEVER)
    await settle()
    assert kit.approvals == {"fake/clock": Approval.NEVER}
    kit.finish("a")
    kit.finish("b", index=1)
    await settle()
    assert states(session) == [ToolState.DONE, ToolState.DONE, ToolState.REFUSED]
    assert "did not allow" in thread.submitted[1].messages[-1].content
    await writes(thread, '«look {"city": "C"}»«clock {}»', STOP)
    assert states(session) == [ToolState.RUNNING, ToolState.FAILED]


async def test_what_was_allowed_in_one_chat_asks_in_another(qloop, session, thread, workspace) -> None:
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    session.decide(answer_of(session).rounds[0].uses[0], Decision.THIS_CHAT)
    other = workspace.new_chat()
    other.set_tools(["fake/*"])
    other.send("Go")
    await writes(thread, "«clock {}»", STOP)
    assert states(other) == [ToolState.ASKING]


async def test_a_stop_ends_calls_and_answer(qloop, session, thread, kit) -> None:
    session.send("Go")
    await writes(thread, '«look {"city": "A"}»«clock {}»', STOP)
    session.decide(answer_of(session).rounds[0].uses[0], Decision.ONCE)
    await settle()
    assert states(session) == [ToolState.RUNNING, ToolState.ASKING]
    session.stop()
    assert states(session) == [ToolState.STOPPED] * 2
    assert answer_of(session).state is TurnState.STOPPED
    assert not session.is_busy
    await settle()
    assert kit.num_cancelled == 1
    assert thread.aborted == []  # the engine had nothing more to do
    assert len(thread.submitted) == 1

    session.continue_answer()
    assert len(thread.submitted) == 2
    assert all("stopped" in message.content for message in thread.submitted[1].messages[-2:])
    assert kit.num_called == 1, "nothing is called again by itself"
    await writes(thread, "Well.", STOP)
    assert (answer_of(session).text, len(answer_of(session).rounds)) == ("Well.", 1)


async def test_a_stop_while_a_call_is_written_leaves_it_to_be_continued(qloop, session, thread, kit) -> None:
    kit.approvals = {"fake/look": Approval.ALWAYS}
    session.send("Go")
    await writes(thread, 'Hm. «look {"city": ')
    session.stop()
    assert thread.aborted == [thread.submitted[0].request_id]
    await writes(thread, '"A', ABORT)
    (round_,) = answer_of(session).rounds
    assert (round_.text, round_.is_whole, states(session)) == (
        'Hm. «look {"city": "A',
        False,
        [ToolState.STOPPED],
    )
    session.continue_answer()
    assert thread.submitted[1].answer_start == 'Hm. «look {"city": "A'
    await writes(thread, 'bc"}»', STOP)
    assert kit.running[0][1] == {"city": "Abc"}
    assert [one.content for one in answer_of(session).rounds] == ["Hm. "]


async def test_a_stop_between_the_last_word_and_the_call_is_in_time(qloop, session, thread, kit) -> None:
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    session.send("Go")
    request = thread.submitted[0]
    thread.report(Output(request.request_id, request.chat_id, "«clock {}»", STOP, format=FORMAT))
    session.stop()  # nothing of it was read yet
    await settle()
    assert kit.num_called == 0
    assert (answer_of(session).state, session.is_busy) == (TurnState.STOPPED, False)
    assert answer_of(session).text == "«clock {}»"


async def test_giving_up_a_chat_leaves_a_true_state_at_once(qloop, session, thread, kit, workspace) -> None:
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    answer = answer_of(session)
    workspace.discard(session.chat.id)
    assert (answer.state, answer.rounds[0].uses[0].state) == (TurnState.STOPPED, ToolState.STOPPED)
    await settle()
    assert kit.num_cancelled == 1


async def test_after_a_crash_nothing_is_called_again_and_the_answer_can_be_continued(
    qloop, session, thread, kit, workspace
) -> None:
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    assert states(session) == [ToolState.RUNNING]
    rounds = rounds_of(json.loads(as_text(answer_of(session).rounds)))  # what is on disk then
    num_asked, num_called = len(thread.submitted), kit.num_called
    found = workspace.new_chat()
    found.set_tools(["fake/*"])
    found.chat.add(Turn(Role.USER, "Go"), Turn(Role.ASSISTANT, "", TurnState.STOPPED, rounds=rounds))
    await settle()
    assert states(found) == [ToolState.STOPPED]
    assert len(thread.submitted) == num_asked

    found.continue_answer()
    assert told(thread.submitted[-1])[-1] == (Role.TOOL, STOPPED_CALL)
    await writes(thread, "I do not know.", STOP)
    assert (answer_of(found).text, kit.num_called) == ("I do not know.", num_called)


async def test_the_rounds_of_an_answer_are_limited(qloop, session, thread, kit, settings) -> None:
    settings.max_tool_rounds = 2
    kit.answers = {"clock": lambda _arguments: "noon"}
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    session.send("Go")
    for _round in range(3):
        await writes(thread, "«clock {}»", STOP)
    answer = answer_of(session)
    assert (answer.state, len(answer.rounds), kit.num_called) == (TurnState.STOPPED, 3, 2)
    assert "number of tool rounds" in answer.notice
    session.continue_answer()
    assert "limit of rounds" in thread.submitted[3].messages[-1].content
    await writes(thread, "«clock {}»", STOP)
    assert kit.num_called == 3


async def test_an_answer_that_goes_on_with_a_call_that_fails_is_stopped(qloop, session, thread) -> None:
    session.send("Go")
    for number in range(2):
        await writes(thread, f'«read_more {{"call_id": "{number}", "offset": 0}}»', STOP)
    for _round in range(2):
        await writes(thread, '«read_more {"call_id": "yours", "offset": 0}»', STOP)
    assert session.is_busy, "it may try again"
    await writes(thread, '«read_more {"call_id": "yours", "offset": 0}»', STOP)
    answer = answer_of(session)
    assert (answer.state, len(answer.rounds)) == (TurnState.STOPPED, 5)
    assert "a call that fails" in answer.notice
    assert not session.is_busy


async def test_a_call_that_its_limit_cuts_off_is_not_run(qloop, session, thread, kit) -> None:
    session.send("Go")
    await writes(thread, '«look {"ci', LENGTH)
    assert (states(session), answer_of(session).state) == ([ToolState.STOPPED], TurnState.DONE)
    assert not session.is_busy
    assert kit.num_called == 0


async def test_a_long_result_is_told_in_parts(qloop, session, thread, kit, settings, engine) -> None:
    settings.max_tool_result_tokens = 100
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    kit.answers = {"clock": lambda _arguments: "".join(f"line {number}\n" for number in range(1000))}
    engine.front.use_prompts = lambda work: thread.use_prompts(lambda _none: work(OneTokenAWord()))
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    (use,) = answer_of(session).rounds[0].uses
    assert len(use.result) > 8000
    first = thread.submitted[1].messages[-1].content
    assert first.startswith("line 0\n")
    assert "line 49\n" in first
    assert "line 50\n" not in first
    assert use.num_told is not None
    call = {"call_id": use.id, "offset": use.num_told}
    await writes(thread, f"«read_more {json.dumps(call)}»", STOP)
    second = thread.submitted[2].messages[-1].content
    assert second.startswith("line 50\n"), "without a question to the user"
    await writes(thread, f"«read_more {json.dumps(call | {'offset': 10**6})}»", STOP)
    assert states(session) == [ToolState.FAILED]


async def test_a_result_takes_no_more_than_a_quarter_of_the_context(
    qloop, session, thread, kit, engine
) -> None:
    """Of 512 tokens here; the settings allow 4,000."""
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    kit.answers = {"clock": lambda _arguments: "".join(f"line {number}\n" for number in range(1000))}
    engine.front.use_prompts = lambda work: thread.use_prompts(lambda _none: work(OneTokenAWord()))
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    assert "line 63\n" in thread.submitted[1].messages[-1].content
    assert "line 64\n" not in thread.submitted[1].messages[-1].content


class OneTokenAWord:
    """Two tokens a line."""

    def tokenize(self, text: str, parse_special: bool = True) -> list[str]:
        assert not parse_special
        return [part for line in text.splitlines(keepends=True) for part in (line[:4], line[4:])]

    def written(self, tokens: list[str]) -> list[bytes]:
        return [token.encode() for token in tokens]


async def test_answers_in_several_ways_have_rounds_of_their_own(qloop, session, thread, kit) -> None:
    kit.approvals = {"fake/look": Approval.ALWAYS}
    session.insert(Role.USER, "Go")
    first, second = session.answer_in_ways(2)
    await writes(thread, '«look {"city": "A"}»', STOP, index=0)
    await writes(thread, '«look {"city": "B"}»', STOP, index=1)
    assert [one[1] for one in kit.running] == [{"city": "A"}, {"city": "B"}]
    kit.finish("b", index=1)
    await settle()
    assert thread.submitted[2].chat_id == thread.submitted[1].chat_id != session.chat.id
    await writes(thread, "B it is.", STOP)
    assert (second.text, second.state, first.state) == ("B it is.", TurnState.DONE, TurnState.STREAMING)
    assert thread.submitted[1].chat_id in thread.forgotten
    kit.finish("a")
    await settle()
    await writes(thread, "A it is.", STOP)
    assert [(way.text, way.rounds[0].uses[0].result) for way in (first, second)] == [
        ("A it is.", "a"),
        ("B it is.", "b"),
    ]
    assert not session.is_busy


async def test_what_is_queued_waits_for_the_end_of_all_rounds(qloop, session, thread, kit) -> None:
    kit.approvals = {"fake/clock": Approval.ALWAYS}
    session.send("Go")
    session.send("And then?")
    await writes(thread, "«clock {}»", STOP)
    kit.finish("noon")
    await settle()
    assert len(session.queue) == 1
    await writes(thread, "Noon.", STOP)
    assert not session.queue
    assert told(thread.submitted[2])[-1] == (Role.USER, "And then?")


async def test_a_fork_or_an_edit_has_rounds_that_are_its_own(qloop, session, thread, kit, workspace) -> None:
    kit.approvals, kit.answers = {"fake/clock": Approval.ALWAYS}, {"clock": lambda _arguments: "noon"}
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    await writes(thread, "Noon.", STOP)
    answer = answer_of(session)
    fork = workspace.fork(session)
    assert fork
    assert answer_of(fork).rounds == answer.rounds
    answer_of(fork).rounds[0].uses[0].result = "midnight"
    assert answer.rounds[0].uses[0].result == "noon"
    assert fork.chat.tools == session.chat.tools
    session.edit_answer(answer, "It is noon.")
    assert answer_of(session).rounds == answer.rounds
    assert answer_of(session).rounds is not answer.rounds
    session.regenerate()
    assert answer_of(session).rounds == []


async def test_an_edit_of_an_answer_leaves_out_the_call_that_was_never_written(
    qloop, session, thread, kit
) -> None:
    session.send("Go")
    await writes(thread, 'Hm. «look {"ci')
    session.stop()
    await writes(thread, "", ABORT)
    session.edit_answer(answer_of(session), "It rains.")
    assert (answer_of(session).text, answer_of(session).rounds) == ("It rains.", [])


async def test_a_tool_with_a_bug_fails_its_call_alone(qloop, session, thread, kit, caplog) -> None:
    kit.approvals, kit.answers = {"fake/clock": Approval.ALWAYS}, {"clock": lambda arguments: arguments["x"]}
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    assert states(session) == [ToolState.FAILED]
    assert len(thread.submitted) == 2
    assert "The tool clock failed" in caplog.text


async def test_a_reading_of_the_answer_has_its_rounds_before_it(qloop, session, thread, kit) -> None:
    kit.approvals, kit.answers = {"fake/clock": Approval.ALWAYS}, {"clock": lambda _arguments: "noon"}
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    await writes(thread, "Noon.", STOP)
    reading = session.reading_of(answer_of(session))
    assert reading
    assert reading.messages == thread.submitted[1].messages
    assert reading.chat_params == thread.submitted[1].chat_params


async def test_an_engine_that_fails_in_a_later_part_keeps_the_rounds(qloop, session, thread, kit) -> None:
    kit.approvals, kit.answers = {"fake/clock": Approval.ALWAYS}, {"clock": lambda _arguments: "noon"}
    session.send("Go")
    await writes(thread, "«clock {}»", STOP)
    await writes(thread, "", FinishReason.ERROR)
    assert (answer_of(session).state, states(session)) == (TurnState.FAILED, [ToolState.DONE])
    session.continue_answer()
    assert told(thread.submitted[2]) == told(thread.submitted[1])


async def test_a_question_waits_for_servers_that_are_starting(qloop, session, thread, kit) -> None:
    kit.preparing = asyncio.get_running_loop().create_future()
    kit.not_started = ("fake",)
    session.send("How is it in Kraków?")
    await settle()
    assert session.is_busy
    assert session.answers.awaited_servers == ("fake",)
    assert thread.submitted == []
    kit.not_started = ()
    kit.preparing.set_result(None)
    await settle()
    assert session.answers.awaited_servers == ()
    assert "look" in thread.submitted[0].chat_params.tools
    assert not answer_of(session).notice


async def test_an_answer_without_tools_that_were_chosen_says_so(qloop, session, thread, kit) -> None:
    kit.not_started = ("git", "time")
    session.send("How is it in Kraków?")
    notice = "Asked without the tools of git, time, which had not started."
    assert answer_of(session).notice == notice, "told while it is written"
    await writes(thread, "I do not know.", STOP)
    assert (answer_of(session).notice, answer_of(session).state) == (notice, TurnState.DONE)
    kit.not_started = ()
    session.regenerate()
    assert not answer_of(session).notice


async def test_what_waits_for_servers_can_be_stopped(qloop, session, thread, kit) -> None:
    kit.preparing = asyncio.get_running_loop().create_future()
    session.send("How is it in Kraków?")
    await settle()
    session.stop()
    assert answer_of(session).state is TurnState.STOPPED
    assert not session.is_busy
    kit.preparing.set_result(None)
    await settle()
    assert thread.submitted == []


CALL_AS_TEXT = 'I will look.\n```json\n{"name": "look", "arguments": {"city": "Kraków"}}\n```'


async def test_a_call_that_was_written_as_text_is_run_if_the_user_says_so(
    qloop, session, thread, kit
) -> None:
    kit.approvals["fake/look"] = Approval.ALWAYS
    session.send("How is it in Kraków?")
    await writes(thread, CALL_AS_TEXT, STOP)
    (use,) = answer_of(session).rounds[0].uses
    assert (use.state, use.tool, kit.running) == (ToolState.ASKING, "look", [])
    assert answer_of(session).rounds[0].content == "I will look."
    session.decide(use, Decision.ONCE)
    await settle()
    kit.finish("Rain.")
    await settle()
    assert thread.submitted[-1].messages[-1].content == "Rain."
    await writes(thread, CALL_AS_TEXT, STOP)
    assert states(session) == [ToolState.ASKING], "it was for that call alone"


async def test_a_call_as_text_that_is_none_stays_the_answer(qloop, session, thread, kit) -> None:
    session.send("How would one ask for Kraków?")
    await writes(thread, CALL_AS_TEXT, STOP)
    (use,) = answer_of(session).rounds[0].uses
    session.decide(use, Decision.REFUSE)
    await settle()
    assert (answer_of(session).text, answer_of(session).rounds) == (CALL_AS_TEXT, [])
    assert answer_of(session).state is TurnState.DONE
    assert not session.is_busy
    assert len(thread.submitted) == 1


async def test_calls_as_text_of_a_model_can_count_always(qloop, session, thread, kit) -> None:
    kit.approvals["fake/look"] = Approval.ALWAYS
    session.send("How is it in Kraków?")
    await writes(thread, CALL_AS_TEXT, STOP)
    session.decide(answer_of(session).rounds[0].uses[0], Decision.THIS_MODEL)
    await settle()
    kit.finish("Rain.")
    await settle()
    await writes(thread, CALL_AS_TEXT, STOP)
    assert states(session) == [ToolState.RUNNING], "the tool itself is always allowed"
    assert kit.calling_in_text == {answer_of(session).model}


async def test_a_call_as_text_of_a_tool_that_is_not_offered_is_text(qloop, session, thread) -> None:
    session.set_tools([])
    session.send("How is it in Kraków?")
    await writes(thread, CALL_AS_TEXT, STOP)
    assert (answer_of(session).text, answer_of(session).rounds) == (CALL_AS_TEXT, [])


# Answers that a server has read already


async def tells(thread, text: str, delta: MessageDelta, reason: FinishReason | None = None) -> None:
    request = thread.submitted[-1]
    thread.report(Output(request.request_id, request.chat_id, text, reason, delta=delta))
    await settle()


async def test_what_a_server_has_read_is_not_read_again(qloop, session, thread, kit) -> None:
    kit.answers["look"] = lambda _arguments: "Rain."
    kit.approvals["fake/look"] = Approval.ALWAYS
    session.send("How is it in Kraków?")
    await tells(thread, "<think>\nHm", MessageDelta(reasoning="Hm"))
    assert answer_of(session).split.is_thinking
    await tells(thread, "\n</think>\n\nI look.", MessageDelta("I look."))
    calls = (ToolCallDelta(0, "a1", "look", '{"city": '),)
    await tells(thread, "", MessageDelta(tool_calls=calls))
    assert states(session) == [ToolState.WRITING]
    calls = (ToolCallDelta(0, arguments='"«Kraków»"}'),)
    await tells(thread, "", MessageDelta(tool_calls=calls), STOP)
    (round_,) = answer_of(session).rounds
    assert (round_.content, round_.reasoning) == ("I look.", "Hm")
    assert round_.uses[0].result == "Rain."
    called, result = thread.submitted[-1].messages[-2:]
    assert json.loads(called.fields)["tool_calls"][0]["id"] == "a1"
    assert result.content == "Rain."
    await tells(thread, "It rains.", MessageDelta("It rains."), STOP)
    assert (answer_of(session).text, answer_of(session).state) == ("It rains.", TurnState.DONE)


async def test_thinking_that_a_server_goes_on_with_is_one(qloop, session, thread) -> None:
    session.send("55?")
    await tells(thread, "<think>\nLet me", MessageDelta(reasoning="Let me"))
    await tells(thread, "", MessageDelta(), ABORT)
    session.continue_answer()
    assert thread.submitted[-1].answer_start == "<think>\nLet me"
    await tells(thread, " see\n</think>\n\n55", MessageDelta("55", " see"), STOP)
    answer = answer_of(session)
    assert answer.text == "<think>\nLet me see\n</think>\n\n55"
    assert (answer.split.thinking, answer.split.answer) == ("Let me see", "55")
