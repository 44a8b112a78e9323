"""Several engines, and which chat has which."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.chats.chat import TurnState
from app.chats.options import ChatOptions
from app.protocol.commands import AbortAll, Pause, StepOnce, Submit
from app.protocol.load import LoadParams
from app.protocol.model import MemoryNeed
from app.protocol.output import FinishReason, Output
from app.protocol.request import Message, Request, Role
from app.services.model_state import ModelWatch

Load = Callable[..., Any]
MIB = 2**20


def memory(mib: int) -> MemoryNeed:
    return MemoryNeed(weights_bytes=mib * MIB)


def of(threads: list[Any], name: str) -> Any:
    """The newest thread of this model."""
    return [one for one in threads if one.params.path.name == name][-1]


async def test_each_chat_is_answered_by_its_model(qloop, workspace, load, engine) -> None:
    a = load("a.gguf")
    first = workspace.new_chat()
    first.send("one")
    second = workspace.new_chat()
    b = load("b.gguf")
    second.send("two")
    first.send("queued")
    assert ([len(one.submitted) for one in (a, b)], a.stopped) == ([1, 1], False)
    a.answer(a.submitted[0], "1", FinishReason.STOP)
    b.answer(b.submitted[0], "2", FinishReason.STOP)
    assert (first.chat.turns[1].text, first.chat.turns[1].model) == ("1", "a")
    assert (second.chat.turns[1].text, second.chat.turns[1].model) == ("2", "b")
    assert a.submitted[1].messages[-1].content == "queued"


async def test_what_is_in_front_is_the_model_of_the_chat_in_front(qloop, workspace, load, engine) -> None:
    heard: list[str] = []
    engine.loaded.connect(lambda model: heard.append(model.name))
    load("a.gguf")
    first = workspace.new_chat()
    first.send("one")
    workspace.new_chat()
    load("b.gguf")
    workspace.set_current(first)
    assert (engine.model.name, engine.default, heard) == ("a", "a.gguf", ["a", "b", "a"])


async def test_a_new_chat_has_the_model_of_the_chat_in_front(qloop, workspace, load, threads) -> None:
    a = load("a.gguf")
    first = workspace.new_chat()
    first.send("one")
    workspace.new_chat()
    load("b.gguf")
    workspace.set_current(first)
    workspace.new_chat().send("three")
    assert [one.messages[-1].content for one in a.submitted] == ["one", "three"]


async def test_a_model_is_chosen_for_all_open_chats(qloop, workspace, load, engine, threads) -> None:
    load("a.gguf")
    sessions = [workspace.new_chat() for _ in range(3)]
    for session in sessions:
        session.send("one")
    engine.load(LoadParams(Path("b.gguf")), list(engine.chats()))
    of(threads, "b.gguf").finish_loading(name="b")
    assert {session.chat.model_path for session in sessions} == {"b.gguf"}
    engine.tidy()
    assert not of(threads, "a.gguf").stopped, "its answers are still being written"
    for request in of(threads, "a.gguf").submitted:
        of(threads, "a.gguf").answer(request, "1", FinishReason.STOP)
    engine.tidy()
    assert of(threads, "a.gguf").stopped
    assert all(session.chat.turns[-1].state is TurnState.DONE for session in sessions)


async def test_a_model_that_is_not_loaded_is_loaded_for_the_first_message(
    qloop, workspace, load, engine, threads
) -> None:
    load("a.gguf")
    session = workspace.new_chat()
    session.choose_model("b.gguf")
    assert [one.params.path.name for one in threads] == ["a.gguf"]
    session.send("two")
    b = of(threads, "b.gguf")
    assert ([message.text for message in session.queue], session.chat.turns) == (["two"], [])
    b.finish_loading(name="b")
    assert b.submitted[0].messages[-1].content == "two"


async def test_an_answer_by_another_model_names_it_from_the_start(
    qloop, workspace, load, engine, threads
) -> None:
    a = load("a.gguf")
    session = workspace.new_chat()
    session.send("one")
    a.answer(a.submitted[0], "1", FinishReason.STOP)
    ways = [(ChatOptions(model=address), "") for address in ("/m/b.gguf", "http://gpu-box:8000#Qwen/Qwen3")]
    answers = session.answer_with(ways, session.chat.turns[0])
    assert [answer.model for answer in answers] == ["b", "Qwen/Qwen3"], "as long as it is being loaded"
    b = of(threads, "b.gguf")
    b.finish_loading(name="The b")
    b.answer(b.submitted[0], "1", FinishReason.STOP)
    assert answers[0].model == "The b"


async def test_a_load_that_fails_leaves_the_chat_its_model_and_says_why(
    qloop, workspace, load, engine, threads
) -> None:
    told: list[str] = []
    engine.load_failed.connect(lambda path, why: told.append(f"{path.name}: {why}"))
    a = load("a.gguf")
    session = workspace.new_chat()
    engine.load(LoadParams(Path("b.gguf")))
    assert (session.chat.model_path, engine.model) == ("b.gguf", None)
    session.send("one")
    of(threads, "b.gguf").failed.emit("no such file")
    assert (told, session.chat.model_path, engine.model.name) == (["b.gguf: no such file"], "", "a")
    assert not engine.is_loading
    assert a.submitted == [], "what was meant for another is not asked of this one unasked"
    session.send_queued()
    assert a.submitted[0].messages[-1].content == "one"


async def test_another_choice_calls_off_the_load_of_the_first(
    qloop, workspace, load, engine, threads
) -> None:
    load("a.gguf")
    workspace.new_chat()
    engine.load(LoadParams(Path("b.gguf")))
    engine.load(LoadParams(Path("c.gguf")))
    assert of(threads, "b.gguf").stopped
    assert threads[-1].params.path.name == "b.gguf", "two that load are too many for the library"
    of(threads, "b.gguf").finished.emit()
    of(threads, "c.gguf").finish_loading(name="c")
    assert (engine.model.name, engine.is_loading) == ("c", False)


async def test_a_message_that_is_sent_while_the_chosen_model_loads_is_for_that_one(
    qloop, workspace, load, engine, threads
) -> None:
    a = load("a.gguf")
    session = workspace.new_chat()
    engine.load(LoadParams(Path("b.gguf")))
    session.send("one")
    engine.tidy()
    assert ([message.text for message in session.queue], a.submitted, a.stopped) == (["one"], [], False)
    b = of(threads, "b.gguf")
    b.finish_loading(name="b")
    assert b.submitted[0].messages[-1].content == "one"
    engine.tidy()
    assert a.stopped


async def test_a_load_that_is_called_off_leaves_the_chat_its_model(qloop, workspace, load, engine) -> None:
    load("a.gguf")
    session = workspace.new_chat()
    told: list[str] = []
    engine.load_cancelled.connect(lambda path: told.append(path.name))
    engine.load(LoadParams(Path("b.gguf")))
    engine.cancel_load()
    assert (told, session.chat.model_path, engine.default) == (["b.gguf"], "", "a.gguf")


def test_one_model_is_loaded_at_a_time(engine, threads) -> None:
    engine.want("a.gguf")
    engine.want("b.gguf")
    engine.want("c.gguf")
    assert [one.params.path.name for one in threads] == ["a.gguf"]
    threads[0].finish_loading()
    threads[1].failed.emit("no such file")
    assert [one.params.path.name for one in threads] == ["a.gguf", "b.gguf", "c.gguf"]


def two_idle(workspace: Workspace, load: Load, engine: Engines) -> tuple[Any, Any]:
    """The first was unused longer; neither is in front."""
    for name in ("a.gguf", "b.gguf"):
        session = workspace.new_chat()
        load(name, memory=memory(100))
        session.send("hello")
    workspace.new_chat().choose_model("c.gguf")
    for one in engine:
        thread: Any = one._active
        thread.answer(thread.submitted[0], "1", FinishReason.STOP)
    return engine.known("a.gguf"), engine.known("b.gguf")


class TestMemory:
    async def test_what_idle_ones_hold_counts_as_room(self, qloop, workspace, load, engine, threads) -> None:
        two_idle(workspace, load, engine)
        engine.want("c.gguf")
        assert threads[-1].reclaimable_bytes == {"": 200 * MIB}

    async def test_the_one_unused_longest_goes_first_and_the_load_waits_for_its_end(
        self, qloop, workspace, load, engine, threads
    ) -> None:
        a, b = two_idle(workspace, load, engine)
        engine.want("c.gguf")
        threads[-1].needs_room = True
        threads[-1].failed.emit("no room yet")
        assert (a.is_asleep, b.is_asleep, len(threads)) == (True, False, 3)
        of(threads, "a.gguf").finished.emit()
        assert threads[-1].params.path.name == "c.gguf"
        threads[-1].finish_loading()
        assert [one.is_asleep for one in engine] == [True, False, False]

    async def test_a_pinned_one_and_one_that_answers_stay(
        self, qloop, workspace, load, engine, threads
    ) -> None:
        a, b = two_idle(workspace, load, engine)
        engine.pinned = lambda: ["a.gguf"]
        b.post(Submit(Request("r", "c", (Message(Role.USER, "hi"),))))
        engine.want("c.gguf")
        assert threads[-1].reclaimable_bytes == {"": 100 * MIB}
        threads[-1].failed.emit("c.gguf needs 3 GiB")
        assert (a.is_asleep, b.is_asleep) == (False, False)
        assert engine.known("c.gguf") is None, "the next message tries again"

    async def test_where_all_others_answer_a_load_waits_until_one_is_done(
        self, qloop, workspace, load, engine, threads
    ) -> None:
        a, b = two_idle(workspace, load, engine)
        engine.pinned = lambda: ["a.gguf"]
        asked = Request("r", "c", (Message(Role.USER, "hi"),))
        b.post(Submit(asked))
        session = workspace.new_chat()
        session.choose_model("c.gguf")
        session.send("one")
        for _ in range(2):  # it is called off, and wanted again
            threads[-1].needs_room = True
            threads[-1].failed.emit("no room yet")
            loading = engine.known("c.gguf")
            assert (loading.is_loading, len(session.chat.queue), b.is_asleep) == (True, 1, False)
            if len(threads) == 3:
                engine.cancel_load()
                assert not loading.is_loading
                engine.want("c.gguf")
        of(threads, "b.gguf").answer(asked, "hi", FinishReason.STOP)
        assert (a.is_asleep, b.is_asleep) == (False, True)
        of(threads, "b.gguf").finished.emit()
        threads[-1].finish_loading()
        assert threads[-1].submitted[0].messages[-1].content == "one"

    async def test_one_that_no_chat_uses_any_more_goes_by_itself(
        self, qloop, workspace, load, engine, threads
    ) -> None:
        a, b = two_idle(workspace, load, engine)
        for session in workspace.sessions:
            if session.chat.model_path == "a.gguf":
                workspace.close(session)
        engine.tidy()
        assert (a.is_asleep, b.is_asleep) == (True, False)


async def test_commands_reach_the_engine_they_are_for(
    qloop, workspace: Workspace, load, engine: Engines
) -> None:
    a = load("a.gguf")
    first = workspace.new_chat()
    first.send("one")
    second = workspace.new_chat()
    b = load("b.gguf")
    second.send("two")
    a.answer(a.submitted[0], "1", FinishReason.STOP)
    workspace.fork(first)
    assert ([one.forked[0][0] for one in (a,)], b.forked) == ([first.chat.id], [])
    engine.post(AbortAll())
    assert (a.num_abort_alls, b.num_abort_alls) == (1, 1)
    engine.post(StepOnce(), "b.gguf")
    assert (StepOnce() in a.posted, StepOnce() in b.posted) == (False, True)
    engine.post(Pause(), "b.gguf")
    assert (Pause() in a.posted, Pause() in b.posted) == (True, True), "all chats are paused"
    workspace.close(second)
    b.answer(b.submitted[0], "", FinishReason.ABORT)
    workspace._let_go_of_idle()
    assert second.chat.id in b.forgotten


async def test_the_engine_of_a_model_that_crashed_is_started_anew_for_the_next_message(
    qloop, workspace, load, engine, threads
) -> None:
    told: list[str] = []
    engine.engine_failed.connect(told.append)
    a = load("a.gguf")
    session = workspace.new_chat()
    session.send("one")
    a.failed.emit("it crashed")
    a.finished.emit()
    assert (told, session.chat.turns[1].state, engine.model) == (["it crashed"], TurnState.FAILED, None)
    session.send("two")
    of(threads, "a.gguf").finish_loading(name="a")
    assert of(threads, "a.gguf").submitted[0].messages[-1].content == "two"


async def test_outputs_of_all_engines_are_told_and_reports_by_engine(qloop, workspace, load, engine) -> None:
    by_engine: list[str] = []
    in_front: list[int] = []
    engine.reports_of.connect(lambda address, _reports: by_engine.append(address))
    engine.front_reported.connect(lambda reports: in_front.append(len(reports)))
    a = load("a.gguf")
    workspace.new_chat().send("one")
    workspace.new_chat()
    b = load("b.gguf")
    a.report(Output("x", "y"))
    b.report(Output("x", "y"))
    assert (by_engine, in_front) == (["a.gguf", "b.gguf"], [1])


async def test_one_that_is_loaded_is_chosen_without_a_load(qloop, workspace, load, engine, threads) -> None:
    load("a.gguf")
    workspace.new_chat().send("one")
    workspace.new_chat()
    load("b.gguf")
    told: list[str] = []
    engine.loading.connect(lambda path: told.append(path.name))
    engine.load(LoadParams(Path("a.gguf")))
    assert (told, engine.is_loading, engine.model.name, len(threads)) == ([], False, "a", 2)


@pytest.mark.parametrize("is_chosen_by_load", [True, False])
async def test_what_waits_for_a_model_is_sent_by_one_that_was_loaded_before(
    qloop, workspace, load, engine, threads, is_chosen_by_load
) -> None:
    a = load("a.gguf")
    workspace.new_chat().send("one")
    waiting = workspace.new_chat()
    waiting.choose_model("gone.gguf")
    waiting.send("two")
    of(threads, "gone.gguf").failed.emit("It is gone.")
    assert waiting.waits_for_model
    if is_chosen_by_load:
        engine.load(LoadParams(Path("a.gguf")), [waiting.chat])
    else:
        waiting.choose_model("a.gguf")
    assert a.submitted[-1].messages[-1].content == "two"


async def test_a_chat_without_a_model_is_not_shown_with_that_of_another_one(
    qloop, workspace, load, engine
) -> None:
    first, second = workspace.new_chat(), workspace.new_chat()
    watch = ModelWatch(engine)
    for session, name in ((first, "x"), (second, "y"), (first, "x")):
        session.chat.model_path = f"http://{name}:1#model {name}"
        workspace.set_current(session)
        assert (watch.state.absent, watch.state.host) == (Path(f"model {name}"), f"{name}:1")


async def test_a_choice_for_a_chat_that_is_not_in_front_is_not_shown_in_front(
    qloop, workspace, load, engine, threads
) -> None:
    load("a.gguf")
    other = workspace.new_chat()
    front = workspace.new_chat()
    front.send("one")
    told: list[str] = []
    engine.loading.connect(lambda path: told.append(path.name))
    engine.load(LoadParams(Path("b.gguf")), [other.chat])
    assert (told, engine.is_loading, engine.front_address) == ([], False, "a.gguf")
    of(threads, "b.gguf").finish_loading(name="b")
    assert (other.chat.model_path, front.chat.model_path) == ("b.gguf", "a.gguf")


async def test_callers_of_the_api_have_a_model_that_is_loaded_here_whatever_tab_is_in_front(
    qloop, workspace, load, engine
) -> None:
    assert engine.of_callers.model is None
    load("a.gguf")
    workspace.new_chat().send("one")
    workspace.new_chat().choose_model("b.gguf")
    engine.note_chats()
    assert (engine.model, engine.of_callers.model.name) == (None, "a")
    load("c.gguf", server="https://gpu-box:8000")
    assert engine.of_callers.model.name == "a", "nothing goes to another host unasked"
