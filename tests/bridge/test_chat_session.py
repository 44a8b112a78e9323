from pathlib import Path

import pytest

from app.bridge.chat_session import GO_ON, ChatSession
from app.bridge.engines import ChatEngine, Engines
from app.bridge.media_files import MediaFiles
from app.bridge.model_engine import NO_MODEL
from app.bridge.workspace import Workspace
from app.chats.attachment import Attachment
from app.chats.chat import Chat, QueuedMessage, Turn, TurnState
from app.chats.options import ChatOptions
from app.engine.engine import Engine
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.request import Message, Overflow, Request, Role
from app.settings.settings import Settings
from tests.bridge.conftest import MemoryStore
from tests.fakes import CountingBackend, saved

# The sessions stand in a workspace, so that outputs take the real way back to them.


@pytest.fixture
def thread(load):
    return load("starter.gguf")


@pytest.fixture
def session(thread, workspace: Workspace) -> ChatSession:
    return workspace.new_chat()


async def test_sending_adds_the_question_and_an_empty_answer_and_asks_for_it(qloop, session, thread) -> None:
    session.send("What is 34 + 21?")

    question, answer = session.chat.turns
    assert (question.role, question.text, question.state) == (Role.USER, "What is 34 + 21?", TurnState.DONE)
    assert (answer.role, answer.text, answer.state) == (Role.ASSISTANT, "", TurnState.STREAMING)
    assert answer.model == "starter"
    (request,) = thread.submitted
    assert request.messages == (Message(Role.USER, "What is 34 + 21?"),)
    assert (request.chat_id, request.request_id) == (session.chat.id, session.request_id)
    assert request.max_tokens is None
    assert session.is_busy


async def test_settings_shape_the_request(qloop, workspace, settings, thread) -> None:
    settings.system_prompt = "Be short."
    settings.temperature, settings.top_k, settings.max_tokens = 0.0, 7, 99
    workspace.new_chat().send("hi")

    (request,) = thread.submitted
    assert request.messages[0] == Message(Role.SYSTEM, "Be short.")
    assert (request.sampling.temperature, request.sampling.top_k, request.max_tokens) == (0.0, 7, 99)


async def test_the_answer_grows_as_it_comes_and_ends(qloop, session, thread) -> None:
    texts, ended, num_changes = [], [], []
    session.grew.connect(lambda answer: texts.append(answer.text))
    session.finished.connect(ended.append)
    session.send("2+2=")
    session.changed.connect(lambda: num_changes.append(1))
    request = thread.submitted[0]
    thread.answer(request, "2+2")
    thread.answer(request, "=4")
    assert not num_changes
    thread.report(
        Output(
            request.request_id, request.chat_id, ".", FinishReason.STOP, usage=Usage(num_generated_tokens=5)
        )
    )

    answer = session.chat.turns[-1]
    assert texts == ["2+2", "2+2=4", "2+2=4."]
    assert (answer.text, answer.state, answer.usage.num_generated_tokens) == ("2+2=4.", TurnState.DONE, 5)
    assert ended == [answer]
    assert len(num_changes) == 1
    assert not session.is_busy


def thought(request: Request, text: str, decode_s: float, reason: FinishReason | None = None) -> Output:
    """So long after the first token, without pauses."""
    usage = Usage(num_generated_tokens=1, decode_s=decode_s)
    return Output(request.request_id, request.chat_id, text, reason, usage=usage)


@pytest.mark.parametrize("opens", ["<think>", ""])
async def test_it_is_known_how_long_an_answer_thought(qloop, session, thread, opens) -> None:
    session.send("2+2=")
    (request,) = thread.submitted
    for decode_s, text in enumerate((f"{opens}Hm", ".", "\n</think>\n", "4", ".")):
        session.answers.apply(thought(request, text, decode_s))
    assert session.chat.turns[-1].thinking_s == (1.0 if opens else 2.0)


async def test_what_a_continued_answer_thinks_is_added_to_what_it_thought(qloop, session, thread) -> None:
    session.send("2+2=")
    session.answers.apply(thought(thread.submitted[0], "<think>Hm", 0.0))
    session.answers.apply(thought(thread.submitted[0], ".", 4.0, FinishReason.ABORT))
    session.continue_answer()
    session.answers.apply(thought(thread.submitted[1], " So", 0.0))
    session.answers.apply(thought(thread.submitted[1], ".", 2.0))
    assert session.chat.turns[-1].thinking_s == 6.0


async def test_an_answer_without_thinking_has_no_time_of_it(qloop, session, thread) -> None:
    session.send("2+2=")
    thread.answer(thread.submitted[0], "4")
    assert session.chat.turns[-1].thinking_s == 0.0


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (FinishReason.LENGTH, TurnState.DONE),
        (FinishReason.ABORT, TurnState.STOPPED),
        (FinishReason.ERROR, TurnState.FAILED),
    ],
)
async def test_an_answer_that_ends_early_keeps_its_text_and_says_why(
    qloop, session, thread, reason, state
) -> None:
    session.send("tell me a story")
    thread.answer(thread.submitted[0], "Once upon", reason, "The context is full.")

    question, answer = session.chat.turns
    assert question.text == "tell me a story"
    assert (answer.text, answer.state, answer.notice) == ("Once upon", state, "The context is full.")
    assert not session.is_busy


async def test_a_message_that_is_sent_or_queued_is_shown_once(qloop, session) -> None:
    shown: list[list[str]] = []
    session.changed.connect(lambda: shown.append(texts(session)))
    session.send("one")
    assert shown == [["one", ""]]
    session.send("two")
    assert shown == [["one", ""], ["one", ""]]
    assert [message.text for message in session.queue] == ["two"]


async def test_the_next_turn_shows_the_model_the_whole_chat(qloop, session, thread) -> None:
    session.send("2+2=")
    thread.answer(thread.submitted[0], "4", FinishReason.STOP)
    session.send("and 3 more?")

    assert [message.content for message in thread.submitted[1].messages] == ["2+2=", "4", "and 3 more?"]


async def test_nothing_is_sent_without_text(qloop, session, thread) -> None:
    session.send(" \n ")
    assert thread.submitted == []
    assert not session.chat.turns


async def test_what_is_sent_while_an_answer_runs_waits_for_its_end(qloop, session, thread) -> None:
    for text in ("one", "two", "three"):
        session.send(text)
    assert texts(session) == ["one", ""]
    assert [message.text for message in session.queue] == ["two", "three"]
    thread.answer(thread.submitted[0], "1", FinishReason.STOP)
    assert texts(session) == ["one", "1", "two", ""]
    session.unqueue(session.queue[0])
    thread.answer(thread.submitted[1], "2", FinishReason.STOP)
    assert texts(session) == ["one", "1", "two", "2"]
    assert not session.is_busy


@pytest.mark.parametrize("reason", [FinishReason.ABORT, FinishReason.ERROR])
async def test_after_a_stop_or_a_failure_the_queue_waits_for_the_user(qloop, session, thread, reason) -> None:
    session.send("one")
    session.send("two")
    thread.answer(thread.submitted[0], "", reason)
    assert [message.text for message in session.queue] == ["two"]
    session.send_queued()
    assert thread.submitted[1].messages[-1].content == "two"


async def test_what_waits_for_the_user_is_not_sent_behind_another_answer(qloop, session, thread) -> None:
    session.send("one")
    session.send("two")
    thread.answer(thread.submitted[0], "", FinishReason.ABORT)
    session.regenerate()
    thread.answer(thread.submitted[1], "1", FinishReason.STOP)
    assert len(thread.submitted) == 2
    session.send("three")
    thread.answer(thread.submitted[2], "2", FinishReason.STOP)
    assert [one.messages[-1].content for one in thread.submitted[2:]] == ["three"]
    assert [message.text for message in session.queue] == ["two"]
    session.send_queued()
    assert thread.submitted[3].messages[-1].content == "two"


def on_disk(chat: Chat, engine: Engines) -> ChatSession:
    """Its turns are still to be read."""
    media = MediaFiles(MemoryStore())  # type: ignore[arg-type]
    return ChatSession(chat, ChatEngine(engine, chat), Settings(), media=media, save=saved, is_loaded=False)


async def test_what_was_queued_in_an_earlier_run_waits_for_the_user(qloop, engine, thread) -> None:
    chat = Chat(queue=[QueuedMessage("two")])
    session = on_disk(chat, engine)
    session.fill([Turn(Role.USER, "one"), Turn(Role.ASSISTANT, "1")], {})
    assert thread.submitted == []
    session.send_queued()
    assert thread.submitted[0].messages[-1].content == "two"


async def test_what_is_said_before_the_turns_have_come_is_sent_when_they_are_there(
    qloop, engine, thread
) -> None:
    session = on_disk(Chat(), engine)
    session.send("two")
    assert thread.submitted == []
    session.fill([Turn(Role.USER, "one"), Turn(Role.ASSISTANT, "1")], {})
    assert thread.submitted[0].messages[-1].content == "two"


async def test_stop_asks_the_engine_to_abort_this_answer_only(qloop, session, thread) -> None:
    session.stop()
    assert thread.aborted == []
    session.send("count")
    session.stop()

    assert thread.aborted == [thread.submitted[0].request_id]
    assert session.is_busy  # until its last output comes
    thread.answer(thread.submitted[0], "", FinishReason.ABORT)
    assert session.chat.turns[-1].state is TurnState.STOPPED


async def test_outputs_of_an_earlier_request_are_ignored(qloop, session, thread) -> None:
    session.send("one")
    first = thread.submitted[0]
    thread.answer(first, "1", FinishReason.STOP)
    session.send("two")
    thread.answer(first, "late")

    assert [turn.text for turn in session.chat.turns] == ["one", "1", "two", ""]


async def test_an_answer_goes_on_in_its_model_when_the_chat_gets_another(
    qloop, session, thread, load
) -> None:
    session.send("count")
    thread.answer(thread.submitted[0], "1 2 3")
    other = load("other.gguf")
    thread.answer(thread.submitted[0], " 4", FinishReason.STOP)
    answer = session.chat.turns[-1]
    assert (answer.text, answer.state, answer.model) == ("1 2 3 4", TurnState.DONE, "starter")
    session.send("on")
    assert other.submitted[0].messages[-1].content == "on"


async def test_a_chat_keeps_its_model(qloop, session, workspace, thread, load) -> None:
    session.send("one")
    thread.answer(thread.submitted[0], "1", FinishReason.STOP)
    second = workspace.new_chat()
    other = load("other.gguf")
    assert (session.chat.model_path, second.chat.model_path) == ("starter.gguf", "other.gguf")
    session.send("two")
    second.send("three")
    assert [one.messages[-1].content for one in thread.submitted] == ["one", "two"]
    assert [one.messages[-1].content for one in other.submitted] == ["three"]


async def test_an_answer_bears_the_name_of_the_model_that_its_server_says_wrote_it(
    qloop, session, thread
) -> None:
    session.send("count")
    request = thread.submitted[0]
    thread.report(Output(request.request_id, request.chat_id, "1", model="other · gpu-box:8000"))
    thread.answer(request, " 2", FinishReason.STOP)
    assert session.chat.turns[-1].model == "other · gpu-box:8000"


async def test_an_answer_that_another_model_continues_bears_both_names(qloop, session, thread, load) -> None:
    session.send("count")
    thread.answer(thread.submitted[0], "1", FinishReason.ABORT)
    session.continue_answer()
    thread.answer(thread.submitted[1], " 2", FinishReason.ABORT)
    answer = session.chat.turns[-1]
    assert answer.model == "starter"
    other = load("other.gguf")
    session.continue_answer()
    other.answer(other.submitted[0], "", FinishReason.ABORT)
    assert answer.model == "starter", "the other one has added nothing"
    session.continue_answer()
    other.answer(other.submitted[1], " 3", FinishReason.ABORT)
    assert answer.model == "starter → other"
    session.continue_answer()
    other.answer(other.submitted[2], " 4", FinishReason.STOP)
    assert (answer.text, answer.model) == ("1 2 3 4", "starter → other")


async def test_an_answer_goes_on_by_itself_when_its_model_is_loaded_again(
    qloop, session, thread, load
) -> None:
    session.send("count")
    thread.report(Output(session.request_id, session.chat.id, "1 2", token_ids=(1, 2)))
    again = load("starter.gguf")
    thread.report(Output(session.request_id, session.chat.id, " 3", FinishReason.ABORT, token_ids=(3,)))
    assert again.submitted[0].answer_start == (1, 2, 3)
    again.answer(again.submitted[0], " 4", FinishReason.STOP)
    answer = session.chat.turns[-1]
    assert (answer.text, answer.state) == ("1 2 3 4", TurnState.DONE)


async def test_without_a_model_messages_wait_for_one(qloop, workspace, load) -> None:
    session = workspace.new_chat()
    shown: list[list[str]] = []
    session.changed.connect(lambda: shown.append([message.text for message in session.queue]))
    session.send("one")
    session.send("two")
    assert shown == [["one"], ["one", "two"]]
    assert ([message.text for message in session.queue], session.chat.turns) == (["one", "two"], [])
    thread = load("starter.gguf")
    assert thread.submitted[0].messages == (Message(Role.USER, "one"),)
    assert [message.text for message in session.queue] == ["two"]


async def test_what_is_said_while_a_model_is_loading_waits_for_another_where_it_fails(
    qloop, workspace, engine, threads, load
) -> None:
    session = workspace.new_chat()
    engine.load(LoadParams(Path("gone.gguf")))
    session.send("one")
    threads[-1].failed.emit("gone.gguf is not there.")
    assert ([message.text for message in session.queue], session.chat.turns) == (["one"], [])
    assert load("starter.gguf").submitted[0].messages == (Message(Role.USER, "one"),)


async def test_a_loaded_model_sends_nothing_that_waits_for_the_user(qloop, session, thread, load) -> None:
    session.send("one")
    session.send("two")
    thread.report(Output(session.request_id, session.chat.id, "", FinishReason.ABORT))
    assert load("other.gguf").submitted == []


async def test_without_a_model_another_answer_says_how_to_get_one(qloop, workspace) -> None:
    session = workspace.new_chat()
    session.insert(Role.USER, "hello")
    session.answer()
    _question, answer = session.chat.turns
    assert (answer.state, answer.notice) == (TurnState.FAILED, NO_MODEL)
    assert not session.is_busy


async def test_the_limits_of_a_chat_go_with_its_requests(qloop, session, settings, thread) -> None:
    settings.max_chat_tokens = 300
    session.send("one")
    thread.answer(thread.submitted[0], "1", FinishReason.STOP)
    session.set_limits(Overflow.TRUNCATE_MIDDLE, 64)
    session.send("two")

    assert [(request.overflow, request.max_context_tokens) for request in thread.submitted] == [
        (Overflow.STOP, 300),
        (Overflow.TRUNCATE_MIDDLE, 64),
    ]


def test_a_chat_is_as_long_as_the_context_or_its_cap_allows(session, settings) -> None:
    assert session.context_limit(4096) == 4096
    settings.max_chat_tokens = 300
    assert session.context_limit(4096) == 300
    session.set_limits(Overflow.STOP, 100_000)
    assert session.context_limit(4096) == 4096
    assert session.context_limit(0) == 0  # no model


@pytest.mark.parametrize("found_no_room", [True, False])
async def test_it_is_known_when_an_answer_found_no_room(qloop, session, thread, found_no_room) -> None:
    session.send("tell me a story")
    thread.answer(thread.submitted[0], "Once upon", FinishReason.LENGTH, "The answer was cut.", found_no_room)
    answer = session.chat.turns[-1]
    assert (answer.overflowed, answer.notice) == (found_no_room, "The answer was cut.")


async def test_a_chat_that_rolls_already_is_never_called_full(qloop, session, thread) -> None:
    session.set_limits(Overflow.ROLLING_WINDOW, 0)
    session.send("one text that is too long")
    thread.answer(thread.submitted[0], "", FinishReason.ERROR, "too long", found_no_room=True)
    assert not session.chat.turns[-1].overflowed


async def test_a_question_that_found_no_room_is_asked_again_without_its_middle(
    qloop, session, thread
) -> None:
    session.send("far too long")
    thread.answer(thread.submitted[0], "", FinishReason.ERROR, "too long", found_no_room=True)
    session.keep_going()

    request = thread.submitted[1]
    assert request.overflow is Overflow.TRUNCATE_MIDDLE
    assert [message.content for message in request.messages] == ["far too long"]
    answer = session.chat.turns[-1]
    assert (len(session.chat.turns), answer.state, answer.notice) == (2, TurnState.STREAMING, "")
    thread.answer(request, "short", FinishReason.STOP)
    assert (answer.text, answer.overflowed) == ("short", False)


async def test_an_answer_that_was_cut_keeps_its_text_and_goes_on_in_the_next(qloop, session, thread) -> None:
    session.send("count")
    thread.answer(thread.submitted[0], "1 2", FinishReason.LENGTH, "The answer was cut.")
    session.keep_going()

    assert [turn.text for turn in session.chat.turns] == ["count", "1 2", GO_ON, ""]
    assert thread.submitted[1].overflow is Overflow.ROLLING_WINDOW
    session.keep_going()  # it does already
    assert len(thread.submitted) == 2


async def test_half_a_surrogate_pair_in_a_paste_does_no_harm(qloop, session, thread) -> None:
    session.send("a\ud83db")
    session.draft = "\udc00"

    assert thread.submitted[0].messages[0].content == "a?b"
    assert session.draft == "?"


def test_a_session_is_blank_until_it_holds_something(engine, settings) -> None:
    media = MediaFiles(MemoryStore())  # type: ignore[arg-type]
    assert ChatSession(Chat(), engine, settings, media=media, save=saved).is_blank
    assert ChatSession(Chat(), engine, settings, draft=" \n", media=media, save=saved).is_blank
    assert not ChatSession(Chat(), engine, settings, draft="x", media=media, save=saved).is_blank
    assert not ChatSession(
        Chat(turns=[Turn(Role.USER, "x")]), engine, settings, media=media, save=saved
    ).is_blank
    assert not ChatSession(Chat(title="Sums"), engine, settings, media=media, save=saved).is_blank


async def test_an_answer_goes_on_from_its_tokens(qloop, session, thread) -> None:
    session.send("2+2=")
    thread.answer(thread.submitted[0], "It is", FinishReason.STOP)

    session.go_on((5, 6))

    request = thread.submitted[-1]
    assert request.messages == (Message(Role.USER, "2+2="),)
    assert request.answer_start == (5, 6)
    assert session.is_busy
    thread.answer(request, " 4.", FinishReason.STOP)
    assert [turn.text for turn in session.chat.turns] == ["2+2=", "It is 4."]


async def test_an_answer_that_is_being_written_does_not_go_on_twice(qloop, session, thread) -> None:
    session.send("2+2=")
    session.go_on((5, 6))
    assert len(thread.submitted) == 1


async def test_an_earlier_answer_is_read_again_with_what_stood_before_it(qloop, session, thread) -> None:
    for question in ("2+2=", "and 1?"):
        session.send(question)
        thread.answer(thread.submitted[-1], f"answer to {question}", FinishReason.STOP)
    reading = session.reading_of(session.chat.turns[1])
    assert reading.messages == (Message(Role.USER, "2+2="),)
    assert (reading.answer_start, reading.max_tokens) == ("answer to 2+2=", 0)


def texts(session: ChatSession) -> list[str]:
    return [turn.text for turn in session.chat.turns]


def talked(session: ChatSession, thread, *said: str) -> None:
    """Questions and answers in turn."""
    for question, answer in zip(said[::2], said[1::2], strict=True):
        session.send(question)
        thread.answer(thread.submitted[-1], answer, FinishReason.STOP)


async def test_a_second_answer_leaves_the_first_as_a_version(qloop, session, thread) -> None:
    talked(session, thread, "2+2=", "4", "sure?", "yes")
    first = session.chat.turns[1]
    session.regenerate(first)
    assert [message.content for message in thread.submitted[-1].messages] == ["2+2="]
    thread.answer(thread.submitted[-1], "four", FinishReason.STOP)

    assert texts(session) == ["2+2=", "four"]
    assert session.chat.versions_of(session.chat.turns[1]) == (first, session.chat.turns[1])
    session.show_version(first)
    assert texts(session) == ["2+2=", "4", "sure?", "yes"]


async def test_an_edited_message_is_asked_again_and_the_old_one_stays(qloop, session, thread) -> None:
    talked(session, thread, "2+2=", "4", "and 1?", "5")
    session.edit(session.chat.turns[2], "and 2?")
    assert [message.content for message in thread.submitted[-1].messages] == ["2+2=", "4", "and 2?"]
    thread.answer(thread.submitted[-1], "6", FinishReason.STOP)
    assert texts(session) == ["2+2=", "4", "and 2?", "6"]
    assert [turn.text for turn in session.chat.versions_of(session.chat.turns[2])] == ["and 1?", "and 2?"]


async def test_an_edited_answer_is_what_the_model_reads_from_then_on(qloop, session, thread) -> None:
    talked(session, thread, "2+2=", "5")
    session.edit_answer(session.chat.turns[1], "4")
    assert session.chat.turns[1].notice == "You edited this answer."
    assert len(thread.submitted) == 1
    session.send("and 1?")
    assert [message.content for message in thread.submitted[-1].messages] == ["2+2=", "4", "and 1?"]


async def test_a_message_can_be_added_without_asking_and_answered_later(qloop, session, thread) -> None:
    session.insert(Role.USER, "hello")
    session.insert(Role.ASSISTANT, "hi")
    session.insert(Role.USER, "who are you?")
    assert thread.submitted == []
    session.answer()
    assert [message.content for message in thread.submitted[0].messages] == ["hello", "hi", "who are you?"]
    session.answer()  # it is answering
    assert len(thread.submitted) == 1


async def test_a_stopped_answer_goes_on_where_it_stands(qloop, session, thread) -> None:
    session.send("count")
    thread.report(
        Output(
            session.request_id,
            session.chat.id,
            "1 2",
            FinishReason.ABORT,
            usage=Usage(5, num_generated_tokens=3),
        )
    )
    session.continue_answer()
    request = thread.submitted[1]
    assert (request.answer_start, [message.content for message in request.messages]) == ("1 2", ["count"])
    thread.report(
        Output(
            request.request_id,
            session.chat.id,
            " 3",
            FinishReason.STOP,
            usage=Usage(8, num_generated_tokens=2),
        )
    )
    assert texts(session) == ["count", "1 2 3"]
    assert session.chat.turns[-1].usage == Usage(5, num_generated_tokens=5), "what both parts have cost"


async def test_several_answers_are_written_at_once_from_the_same_question(qloop, session, thread) -> None:
    talked(session, thread, "a name?", "Ann")
    ways = session.answer_in_ways(3)
    requests = thread.submitted[1:]

    assert len(ways) == len(requests) == 3
    assert {request.messages for request in requests} == {(Message(Role.USER, "a name?"),)}
    assert len({request.chat_id for request in requests}) == 3  # each a sequence of its own
    assert [request.keep_cells for request in requests] == [True, False, False]
    for request, text in zip(requests, ("Bob", "Cleo", "Dan"), strict=True):
        assert session.is_busy
        thread.answer(request, text, FinishReason.STOP)
    assert not session.is_busy
    assert [way.text for way in ways] == ["Bob", "Cleo", "Dan"]
    assert texts(session) == ["a name?", "Bob"]
    assert len(session.chat.versions_of(ways[0])) == 4
    session.show_version(ways[2])
    assert texts(session) == ["a name?", "Dan"]


async def test_answers_with_other_options_are_asked_for_at_any_turn(qloop, session, thread) -> None:
    talked(session, thread, "a name?", "Ann", "another?", "Bob")
    pirate = ChatOptions("Be a pirate.", {"temperature": 1.5}, max_tokens=9)
    first = session.chat.turns[1]
    ways = session.answer_with([(None, ""), (pirate, "pirate")], first)
    own, other = thread.submitted[2:]

    assert own.messages == (Message(Role.USER, "a name?"),)
    assert other.messages == (Message(Role.SYSTEM, "Be a pirate."), Message(Role.USER, "a name?"))
    assert (own.sampling, own.max_tokens) == (None, None)
    assert (other.sampling.temperature, other.max_tokens) == (1.5, 9)
    assert [way.model for way in ways] == ["starter", "starter · pirate"]
    assert session.answers.turn_of(other.request_id) is ways[1]
    assert session.chat.versions_of(ways[0]) == (first, *ways), "what followed the former one is kept"
    assert not session.chat.system_prompt
    for request in (own, other):
        thread.answer(request, "Cy", FinishReason.STOP)
    assert [way.model for way in ways] == ["starter", "starter · pirate"]

    engine = Engine(CountingBackend(n_seq_max=4))
    for request in (own, other):
        engine.add_request(request)
    for _ in range(3):
        spans = engine.step().spans
    assert {span.request_id for span in spans} == {own.request_id, other.request_id}, "in one step"


async def test_stop_ends_all_ways_and_so_does_closing(qloop, session, thread) -> None:
    session.send("count")
    thread.answer(thread.submitted[0], "1", FinishReason.STOP)
    ways = session.answer_in_ways(2)
    session.stop()
    assert thread.aborted == [request.request_id for request in thread.submitted[1:]]
    session.close()
    assert [way.state for way in ways] == [TurnState.STOPPED] * 2


async def test_a_deleted_turn_comes_back_by_undo(qloop, session, thread) -> None:
    talked(session, thread, "2+2=", "4", "and 1?", "5")
    removed = session.delete(session.chat.turns[1])
    assert texts(session) == ["2+2=", "and 1?", "5"]
    session.undelete(removed)
    assert texts(session) == ["2+2=", "4", "and 1?", "5"]


async def test_a_menu_that_outlives_its_tab_changes_nothing(qloop, session, thread) -> None:
    talked(session, thread, "2+2=", "4")
    session.has_tab = False
    assert session.delete(session.chat.turns[0]) is None
    session.regenerate()
    assert texts(session) == ["2+2=", "4"]
    assert len(thread.submitted) == 1


async def test_nothing_is_rewritten_while_an_answer_runs(qloop, session, thread) -> None:
    talked(session, thread, "2+2=", "4")
    question, answer = session.chat.turns
    session.regenerate()
    assert session.delete(question) is None
    session.edit(question, "3+3=")
    session.edit_answer(answer, "5")
    session.show_version(answer)
    session.insert(Role.USER, "x")
    assert session.answer_in_ways(2) == ()
    assert texts(session) == ["2+2=", ""]
    assert len(thread.submitted) == 2


async def test_files_go_with_a_message_and_stay_with_it_when_it_is_edited(qloop, session, thread) -> None:
    notes = Attachment("notes.txt", "eggs")
    session.send("", [notes])
    assert "eggs" in thread.submitted[0].messages[0].content
    thread.answer(thread.submitted[0], "ok", FinishReason.STOP)
    session.edit(session.chat.turns[0], "what is in it?")
    assert session.chat.turns[0].attachments == (notes,)


async def test_the_first_message_names_the_chat(qloop, session) -> None:
    session.send("What is 34 + 21?")
    assert session.chat.auto_title == session.chat.display_title == "What is 34 + 21?"


async def test_an_answer_that_reached_its_limit_says_so(qloop, session, settings, thread) -> None:
    settings.max_tokens = 2
    session.send("Count")
    thread.answer(thread.submitted[0], "1, 2", FinishReason.LENGTH)
    answer = session.chat.turns[-1]
    assert (answer.state, answer.notice) == (
        TurnState.DONE,
        "The answer was cut off at its limit of 2 tokens.",
    )


async def test_an_answer_whose_question_is_gone_is_left_as_it_is(qloop, session, thread) -> None:
    session.send("2+2=")
    thread.answer(thread.submitted[0], "4", FinishReason.ABORT)
    question, answer = session.chat.turns
    session.delete(question)

    session.regenerate(answer)
    session.continue_answer()
    assert session.answer_in_ways(2) == ()
    assert session.reading_of(answer) is None
    assert session.chat.turns == [answer]
    assert answer.state is TurnState.STOPPED
    assert not session.is_busy
    assert len(thread.submitted) == 1


async def test_a_full_chat_whose_question_is_gone_does_not_go_on_but_has_another_window(
    qloop, session, thread
) -> None:
    session.send("2+2=")
    thread.answer(thread.submitted[0], "", FinishReason.ERROR, "The chat is full.", found_no_room=True)
    question, answer = session.chat.turns
    session.delete(question)

    session.keep_going()
    assert session.chat.overflow is Overflow.TRUNCATE_MIDDLE
    assert answer.state is TurnState.FAILED
    assert not session.is_busy


async def test_a_system_prompt_alone_is_answered_again(qloop, session, thread) -> None:
    session.chat.system_prompt = "Be a pirate."
    session.insert(Role.ASSISTANT, "Ahoy!")
    session.regenerate()
    assert thread.submitted[0].messages == (Message(Role.SYSTEM, "Be a pirate."),)


async def test_an_answer_that_follows_no_message_has_several_ways_by_the_system_prompt(
    qloop, session, thread
) -> None:
    session.chat.system_prompt = "Be a pirate."
    session.insert(Role.ASSISTANT, "Ahoy!")
    ways = session.answer_in_ways(2)
    assert len(ways) == len(thread.submitted) == 2
    assert [way in session.chat.versions_of(ways[0]) for way in ways] == [True, True]


def test_a_chat_knows_where_its_files_would_go_before_its_model_is_loaded(workspace: Workspace) -> None:
    session = workspace.new_chat()
    for address, host in (("http://gpu-box:8000#Qwen/Qwen3", "gpu-box:8000"), ("/models/a.gguf", "")):
        session.chat.model_path = address
        assert session.requests.host == host
