"""When a chat is summed up, by whom, and what becomes of a summary that cannot be used."""

import asyncio
from itertools import pairwise

import pytest

from app.bridge.chat_session import ChatSession
from app.bridge.model_engine import ENGINE_GONE
from app.bridge.summary_writer import AGAIN, NOT_WRITTEN, WANTED_TOOL
from app.chats.chat import Turn, TurnState
from app.chats.project import Fact, Project
from app.chats.summary import ASKED, CUT_OFF, EMPTY, TOO_LONG, WISH, Summary, wish
from app.protocol.answer_format import ToolChoice
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.request import SUMMARY, WAY, Message, Overflow, Role
from app.system.said import together
from tests.bridge.tool_fakes import FORMAT, FakeKit, FakeReaders, tool

STOP, LENGTH, ABORT, ERROR = FinishReason.STOP, FinishReason.LENGTH, FinishReason.ABORT, FinishReason.ERROR
ROOM = 8192
AT = ROOM * 80 // 100  # tokens at which a chat is summed up


@pytest.fixture
def thread(load):
    return load(n_ctx=ROOM)


@pytest.fixture
def session(thread, workspace) -> ChatSession:
    return workspace.new_chat()


@pytest.fixture(autouse=True)
def search_at_once(monkeypatch) -> None:
    """Of what a summary stands for, which is searched on a thread."""

    async def at_once(work, *args):
        return work(*args)

    monkeypatch.setattr("app.bridge.chat_shelf.asyncio.to_thread", at_once)


async def settle() -> None:
    for _turn in range(20):
        await asyncio.sleep(0)


async def answer(thread, text="Yes.", reason=STOP, used=0, generated=0, **more) -> None:
    """To what was asked last."""
    request, usage = thread.submitted[-1], Usage(used, num_generated_tokens=generated)
    output = Output(request.request_id, request.chat_id, text, reason, usage=usage, **more)
    thread.report(output)
    await settle()


async def talk(session, thread, *texts, used=100) -> Turn:
    for text in texts:
        session.send(text)
        await settle()
        await answer(thread, f"Yes: {text}", used=used)
    return session.chat.turns[-1]


def is_of_summary(request) -> bool:
    return request.chat_id.endswith(f"{WAY}{SUMMARY}")


def told(request) -> list[str]:
    return [message.content for message in request.messages]


async def test_what_is_asked_for_it(qloop, session, thread) -> None:
    session.chat.system_prompt = "Be brief."
    turn = await talk(session, thread, "one", "two", used=1_000)
    session.sum_up()
    await settle()

    request = thread.submitted[-1]
    assert is_of_summary(request)
    assert request.messages == (*session.chat.messages(), wish(250))
    assert (request.max_tokens, request.overflow, request.keep_cells) == (250, Overflow.STOP, False)
    assert (request.sampling.temperature, request.chosen) == (0.0, ("temperature",))
    assert (request.chat_params.tool_choice, request.chat_params.reasoning_budget) == (ToolChoice.NONE, 0)
    assert (session.is_busy, turn.summary.is_growing, turn.summary.is_used) == (False, True, False)

    await answer(thread, "- one\n", None)
    assert (turn.summary.text, turn.summary.is_growing) == ("- one", True)
    assert session.chat.num_summed_up() == 0
    summed_up = []
    session.summed_up.connect(summed_up.append)
    await answer(thread, "- two", used=1_100, generated=20)
    assert summed_up == [turn]
    assert (turn.summary.text, turn.summary.num_tokens, turn.summary.num_replaced) == (
        "- one\n- two",
        20,
        1_000,
    )
    assert turn.summary.is_used
    session.send("three")
    await settle()
    assert told(thread.submitted[-1]) == ["Be brief.", ASKED, "- one\n- two", "three"]


# When it begins


@pytest.mark.parametrize(("used", "begins"), [(AT - 1, False), (AT, True)])
async def test_it_is_begun_when_the_chat_is_nearly_full(qloop, session, thread, used, begins) -> None:
    await talk(session, thread, "one", used=used)
    assert session.summaries.is_busy is begins
    assert is_of_summary(thread.submitted[-1]) is begins


async def test_the_user_says_when_a_chat_is_nearly_full(qloop, session, thread, settings) -> None:
    settings.sum_up_at = 50
    await talk(session, thread, "one", used=ROOM // 2)
    assert session.summaries.is_busy


@pytest.mark.parametrize(
    "model",
    [
        {"n_ctx": 4_095},
        {"n_ctx": ROOM, "has_template": False},
        {"n_ctx": ROOM, "n_seq_max": 0, "server": "https://example.org/v1"},
    ],
    ids=["too little room", "no template", "a server of another program"],
)
async def test_it_is_not_begun_unasked_there(qloop, load, workspace, model) -> None:
    thread = load(**model)
    session = workspace.new_chat()
    await talk(session, thread, "one", used=model["n_ctx"] - 10)
    assert not session.summaries.is_busy
    assert not any(map(is_of_summary, thread.submitted))


@pytest.mark.parametrize("overflow", [one for one in Overflow if one is not Overflow.SUM_UP])
async def test_it_is_not_begun_where_something_else_is_wanted(qloop, session, thread, overflow) -> None:
    session.set_limits(overflow, 0)
    await talk(session, thread, "one", used=ROOM - 10)
    assert not session.summaries.is_busy


async def test_it_is_begun_once(qloop, session, thread) -> None:
    await talk(session, thread, "one", used=AT)
    summary = thread.submitted[-1]
    await talk(session, thread, "two", used=AT + 100)  # the chat goes on meanwhile
    assert [one for one in thread.submitted if is_of_summary(one)] == [summary]
    session.send("three")  # its prompt has all of the turns still
    thread.report(Output(summary.request_id, summary.chat_id, "- one", STOP, usage=Usage(AT)))
    await settle()
    await answer(thread, used=AT + 200)
    assert [one for one in thread.submitted if is_of_summary(one)] == [summary]
    assert session.chat.num_summed_up() == 2
    await talk(session, thread, "four", used=AT)  # full once more
    assert is_of_summary(thread.submitted[-1])
    assert told(thread.submitted[-1])[:2] == [ASKED, "- one"]


async def test_an_answer_knows_how_many_turns_were_summed_up_in_its_prompt(qloop, session, thread) -> None:
    turn = await talk(session, thread, "one")
    turn.summary = Summary("- one")
    assert [(await talk(session, thread, "two")).usage.num_summed_up, turn.usage.num_summed_up] == [2, 0]


async def test_one_that_could_not_be_used_is_not_begun_with_every_answer(qloop, session, thread) -> None:
    await talk(session, thread, "one", used=AT)
    await answer(thread, "- on", LENGTH, used=AT)
    await talk(session, thread, "two", used=AT + 100)
    assert not session.summaries.is_busy
    session.send("three")
    await answer(thread, "", ERROR, found_no_room=True)  # now it is needed
    assert is_of_summary(thread.submitted[-1])


# A chat that is full


async def test_a_question_without_room_is_answered_once_there_is_a_summary(qloop, session, thread) -> None:
    await talk(session, thread, "one", "two")
    session.send("three")
    session.send("four")
    await answer(thread, "", ERROR, notice="The chat is full.", found_no_room=True)
    assert is_of_summary(thread.submitted[-1])
    assert told(thread.submitted[-1])[:-1] == ["one", "Yes: one", "two", "Yes: two"]
    session.send("five")
    assert [one.text for one in session.queue] == ["four", "five"]

    await answer(thread, "- two things", used=1_000, generated=9)
    assert told(thread.submitted[-1]) == [ASKED, "- two things", "three"]
    assert [one.text for one in session.queue] == ["four", "five"]
    await answer(thread, "3")
    assert told(thread.submitted[-1]) == [ASKED, "- two things", "three", "3", "four"]
    await answer(thread, "4")
    await answer(thread, "5")
    assert [turn.text for turn in session.chat.turns[4:]] == ["three", "3", "four", "4", "five", "5"]
    assert session.chat.turns[5].state is TurnState.DONE


async def test_an_answer_that_was_cut_by_a_full_context_goes_on(qloop, session, thread) -> None:
    await talk(session, thread, "one")
    session.send("count")
    await answer(thread, "1 2", LENGTH, notice="The answer was cut.", found_no_room=True)
    assert told(thread.submitted[-1])[:-1] == ["one", "Yes: one"]
    await answer(thread, "- one", used=1_000, generated=9)
    assert (told(thread.submitted[-1]), thread.submitted[-1].answer_start) == (
        [ASKED, "- one", "count"],
        "1 2",
    )
    await answer(thread, " 3")
    assert (session.chat.turns[-1].text, session.chat.turns[-1].notice) == ("1 2 3", "")


@pytest.mark.parametrize("reason", [STOP, ABORT])
async def test_without_a_summary_it_does_not_go_on_and_what_waits_is_held(
    qloop, session, thread, reason
) -> None:
    await talk(session, thread, "one")
    session.send("two")
    session.send("three")
    await answer(thread, "", ERROR, found_no_room=True)
    num_asked = len(thread.submitted)
    if reason is ABORT:
        session.stop()
    else:
        await answer(thread, "")  # the model wrote nothing
    await settle()
    assert len(thread.submitted) == num_asked
    assert not session.is_busy
    assert [one.text for one in session.queue] == ["three"]
    session.sum_up()  # it was stopped, or failed: nothing goes on behind the user's back
    await settle()
    await answer(thread, "- one", used=1_000, generated=9)
    assert len(thread.submitted) == num_asked + 1
    session.send("four")  # before what is held
    await settle()
    assert told(thread.submitted[-1]) == [ASKED, "- one", "four"]
    await answer(thread)
    session.send_queued()
    await settle()
    assert told(thread.submitted[-1])[-1] == "three"


async def full_in_vain(session, thread, text="", reason=ERROR) -> Turn:
    """The turn whose summary was cut off, so that the last answer has no room."""
    turn = await talk(session, thread, "one")
    session.send("two")
    session.send("three")
    await answer(thread, text, reason, notice="The chat is full.", found_no_room=True)
    await answer(thread, "- on", LENGTH, used=1_000)
    assert (turn.summary.notice, session.is_busy) == (CUT_OFF, False)
    return turn


@pytest.mark.parametrize(("text", "reason"), [("", ERROR), ("1 2", LENGTH)])
@pytest.mark.parametrize("is_edited", [True, False])
async def test_an_answer_goes_on_once_the_summary_that_it_lacked_is_put_right(
    qloop, session, thread, text, reason, is_edited
) -> None:
    turn = await full_in_vain(session, thread, text, reason)
    if is_edited:
        session.set_summary(turn, "- one")
    else:
        session.sum_up_again(turn)
        assert not session.is_full  # it goes on by itself
        await settle()
        await answer(thread, "- one", used=1_000, generated=9)
    await settle()
    request, last = thread.submitted[-1], session.chat.turns[-1]
    assert (told(request), request.answer_start or "") == ([ASKED, "- one", "two"], text)
    await answer(thread, " 3")
    assert (last.text, last.state, last.notice) == (f"{text} 3", TurnState.DONE, "")
    assert [one.text for one in session.queue] == ["three"]  # which the user sends


async def test_what_does_not_put_a_summary_right_asks_nothing(qloop, session, thread) -> None:
    turn = await full_in_vain(session, thread)
    last, num_asked = session.chat.turns[-1], len(thread.submitted)
    notice = last.notice
    assert notice.endswith(str(CUT_OFF))
    session.sum_up_again(turn)
    await settle()
    await answer(thread, "- o", LENGTH, used=1_000)
    assert last.notice == notice  # and not twice
    session.set_summary(turn, "")
    session.put_back_summary(turn, Summary("- one"))
    session.set_summary(turn, "- two")  # it was used before
    await settle()
    assert (len(thread.submitted), session.is_busy) == (num_asked + 1, False)


async def test_a_first_question_without_room_leaves_nothing_to_sum_up(qloop, session, thread) -> None:
    session.send("far too long")
    await answer(thread, "", ERROR, found_no_room=True)
    assert not session.summaries.is_busy
    assert session.way_on is Overflow.TRUNCATE_MIDDLE


async def test_a_project_that_takes_all_the_room_is_named_as_the_cause(
    qloop, session, thread, workspace
) -> None:
    project = Project("Boat", instructions="Be brief. " * 4_000, facts=(Fact("It is 9 m long."),))
    await talk(session, thread, "one")  # that there is something to sum up is no help
    session.place(folder="Boat")
    workspace.shelves.project_of = {"Boat": project}.get
    for needed, is_named in ((ROOM - 50, False), (ROOM + 50, True)):
        session.send("two")
        await answer(thread, "", ERROR, needed, notice="The chat is full.", found_no_room=True)
        last = session.chat.turns[-1]
        figures = {"tokens": needed - 3, "instructions": needed - 14, "limit": ROOM}
        assert (last.notice.startswith("This project begins")) is is_named, last.notice
        assert not is_named or last.notice.values == figures
        assert (session.summaries.is_busy, last.overflowed) == (not is_named, not is_named)
        session.stop()


async def test_the_way_on_of_a_full_chat_that_may_not_sum_up_by_itself(qloop, session, thread) -> None:
    session.set_limits(Overflow.STOP, 0)
    await talk(session, thread, "one")
    session.send("two")
    await answer(thread, "", ERROR, found_no_room=True)
    assert (session.summaries.is_busy, session.way_on) == (False, Overflow.SUM_UP)
    session.keep_going()
    await settle()
    assert session.chat.overflow is Overflow.SUM_UP
    await answer(thread, "- one", used=1_000, generated=9)
    assert told(thread.submitted[-1]) == [ASKED, "- one", "two"]


async def test_a_history_that_is_too_long_to_be_asked_about_is_halved(qloop, session, thread) -> None:
    await talk(session, thread, *"abcdefgh")
    session.sum_up()
    await settle()
    lengths = [len(thread.submitted[-1].messages)]
    while session.summaries.is_busy:
        await answer(thread, "", ERROR, notice="The chat is full.", found_no_room=True)
        lengths.append(len(thread.submitted[-1].messages))
        assert len(lengths) < 10
    lengths = list(dict.fromkeys(lengths))
    assert lengths[0] == 17
    assert lengths[-1] == 3  # the first question and its answer
    assert all(after < before for before, after in pairwise(lengths))
    first = session.chat.turns[1]
    assert (first.summary.is_used, str(NOT_WRITTEN) in first.summary.notice) == (False, True)
    assert sum(turn.summary is not None for turn in session.chat.turns) == 1


# What cannot be used


@pytest.mark.parametrize(
    ("text", "reason", "generated", "notice"),
    [
        (" \n", STOP, 2, EMPTY),
        ("- on", LENGTH, 9, CUT_OFF),
        ("- one", STOP, 251, TOO_LONG),
        ("- one", STOP, 250, ""),
    ],
)
async def test_it_is_not_used_and_says_why(qloop, session, thread, text, reason, generated, notice) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    await answer(thread, text, reason, used=1_000, generated=generated)
    assert (turn.summary.notice, turn.summary.is_used) == (notice, not notice)
    assert turn.summary.text == text.strip()
    assert (session.chat.num_summed_up() == 0) is bool(notice)
    if text.strip():
        session.set_summary(turn, text)  # as the user wants it, whatever was wrong with it
        assert (turn.summary.is_used, turn.summary.num_tokens) == (True, generated)
        session.set_summary(turn, "Mine.")  # nobody has counted that
        assert (turn.summary.is_used, turn.summary.text, turn.summary.num_tokens) == (True, "Mine.", 0)
        session.set_summary(turn, " ")
        assert turn.summary is None


async def test_one_that_repeats_itself_is_whole_without_that(qloop, session, thread) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    request, lines = thread.submitted[-1], "- one\n- two\n- three\n"
    await answer(thread, lines + "- four\n" + lines[:-1], None, used=1_000, generated=20)
    assert turn.summary.is_growing
    await answer(thread, "\n- f", None, used=1_000, generated=22)
    assert thread.aborted == [request.request_id]
    assert (turn.summary.text, turn.summary.is_used) == ("- one\n- two\n- three\n- four", True)
    assert not session.summaries.is_busy


async def test_one_that_is_stopped_leaves_what_there_was(qloop, session, thread) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    await answer(thread, "- o", None)
    request = thread.submitted[-1]
    session.stop()
    assert turn.summary is None
    assert thread.aborted == [request.request_id]
    thread.answer(request, "ne", STOP)  # it was on its way
    assert turn.summary is None
    assert not session.summaries.is_busy


@pytest.mark.parametrize("trouble", ["cut off", "engine"])
async def test_another_one_that_fails_leaves_the_one_that_was_used(qloop, session, thread, trouble) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    await answer(thread, "- one", used=1_000, generated=9)
    session.set_summary(turn, "- by hand")
    session.sum_up_again(turn)
    await settle()
    assert thread.submitted[-1].sampling.temperature == AGAIN
    assert thread.submitted[-1].messages[0].content == "one"
    assert turn.used_summary.text == "- by hand", "it is read until the other one is written"
    why: list[str] = []
    session.summaries.failed.connect(why.append)
    if trouble == "engine":
        thread.failed.emit("The device is gone.")
    else:
        await answer(thread, "- on", LENGTH, used=1_000, generated=9)
    assert not session.summaries.is_busy
    assert (turn.summary.text, turn.summary.is_used) == ("- by hand", True)
    assert len(why) == 1


async def test_another_one_can_be_exchanged_for_the_one_before(qloop, session, thread) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    await answer(thread, "- one", used=1_000, generated=9)
    replaced: list[tuple[Turn, Summary]] = []
    session.summaries.replaced.connect(lambda *both: replaced.append(both))
    session.sum_up_again(turn)
    await settle()
    await answer(thread, "- other", used=1_000, generated=9)
    assert turn.summary.text == "- other"
    session.put_back_summary(*replaced[0])
    assert turn.summary.text == "- one"


async def test_a_turn_that_is_removed_meanwhile_has_none(qloop, session, thread) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    removed = session.delete(turn)
    await answer(thread, "- one", used=1_000, generated=9)
    session.undelete(removed)
    assert turn.summary is None
    assert not session.summaries.is_busy


async def test_a_turn_that_grows_meanwhile_has_none(qloop, session, thread) -> None:
    session.send("count")
    session.stop()
    await answer(thread, "1 2", ABORT)
    turn = session.chat.turns[-1]
    session.sum_up()
    await settle()
    summary = thread.submitted[-1]
    session.continue_answer()
    await answer(thread, " 3")
    thread.report(Output(summary.request_id, summary.chat_id, "- 1 2", STOP, usage=Usage(1_000)))
    await settle()
    assert (turn.text, turn.summary) == ("1 2 3", None)


async def test_it_is_told_that_the_engine_is_gone(qloop, session, thread) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    thread.failed.emit("The device is gone.")
    await settle()
    assert not session.summaries.is_busy
    assert turn.summary.notice.startswith(str(NOT_WRITTEN))
    assert turn.summary.notice.endswith(str(ENGINE_GONE))
    assert not turn.summary.is_used


async def test_a_call_of_a_tool_is_no_summary(qloop, session, thread, workspace) -> None:
    kit = FakeKit(tool("look", "city"))
    workspace.tools.kit, workspace.tools.readers = kit, FakeReaders()
    session.set_tools(["fake/*"])
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    request = thread.submitted[-1]
    assert request.chat_params.tools == thread.submitted[0].chat_params.tools  # else no cell could be shared
    await answer(thread, '«look {"city": "Kraków"}»', format=FORMAT)
    assert kit.num_called == 0
    assert not session.summaries.is_busy
    assert turn.summary.notice.endswith(str(WANTED_TOOL))
    assert not turn.summary.is_used


@pytest.mark.parametrize("before", ["", "We spoke of a fair.\n\n"])
async def test_a_call_that_is_written_as_text_is_no_summary(
    qloop, session, thread, workspace, before
) -> None:
    kit = FakeKit(tool("look", "city"))
    workspace.tools.kit = kit
    session.set_tools(["fake/*"])
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    call = '```json\n{"name": "look", "arguments": {"city": "Kraków"}}\n```'
    await answer(thread, before + call, used=1_000, generated=20)
    assert kit.num_called == 0
    assert (turn.summary.is_used, turn.summary.notice) == (False, together(NOT_WRITTEN, WANTED_TOOL))


async def test_a_closed_chat_has_none_in_the_making(qloop, session, thread, workspace) -> None:
    turn = await talk(session, thread, "one")
    session.sum_up()
    await settle()
    workspace.close(session)
    await settle()
    assert turn.summary is None
    assert thread.aborted == [thread.submitted[-1].request_id]


def test_the_wish_names_a_number_of_words() -> None:
    assert wish(250) == Message(Role.USER, WISH.format(words=100))
