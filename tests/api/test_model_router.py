"""Models that are loaded when they are asked for, make room for others, and sleep while they are idle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from app.api import model_router
from app.api.engine_client import TemplateFacts
from app.api.model_router import ModelRouter, ModelState, Offer, RoutedModel
from app.api.server import ApiServer
from app.api.threaded_engine import OnProgress, OpenedEngine, OpenEngine
from app.protocol.errors import (
    EngineCrashedError,
    EngineError,
    ModelLoadCancelledError,
    ModelLoadError,
    NoRoomYetError,
)
from app.protocol.model import MemoryNeed
from app.protocol.request import Request
from tests.api.conftest import SOON, Served, Steps, until, with_backend
from tests.api.parrot import Parrot
from tests.api.test_threaded_engine import threads
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token

SOON_S = 0.02  # to fall asleep
SHORT = {"prompt": "Hi", "max_tokens": 2}


# A model alone


class Loads:
    """Counts what was loaded, and what is."""

    def __init__(self, **options: object) -> None:
        self.num_loaded = self.num_there = 0
        self.options = options
        self.before_load: Callable[[], None] = lambda: None

    @contextlib.contextmanager
    def open(self, _on_progress: OnProgress) -> Iterator[CountingBackend]:
        self.before_load()
        self.num_loaded += 1
        self.num_there += 1
        try:
            yield CountingBackend(endless_token, **TINY_CONTEXT, **self.options)  # type: ignore[arg-type]
        finally:
            self.num_there -= 1


class Alone(Served):
    """A server of one model; `failures` are what ended it."""

    router: ModelRouter
    failures: list[EngineError]

    @property
    def is_asleep(self) -> bool:
        return self.client.is_asleep


@contextlib.asynccontextmanager
async def serving(
    loads: Loads, opener: OpenEngine | None = None, idle_s: float | None = SOON_S
) -> AsyncIterator[Alone]:
    failures: list[EngineError] = []
    open_engine = opener or with_backend(loads.open)
    router = ModelRouter(
        [Offer(lambda _held, *callbacks: open_engine(*callbacks))], idle_s=idle_s, on_failed=failures.append
    )
    server = ApiServer(router, key=None)
    await server.start()
    async with aiohttp.ClientSession() as http:
        await router.start()
        served = Alone(None, None, router.models[0].client, server, http)  # type: ignore[arg-type]
        served.router, served.failures = router, failures
        try:
            yield served
        finally:
            await server.stop()
            await router.stop()
    assert loads.num_there == 0
    assert threads() == set()


async def test_it_sleeps_when_idle_and_wakes_for_a_request():
    loads = Loads()
    async with serving(loads) as served:
        _, awake = await served.post("/generate", SHORT)
        await until(lambda: served.is_asleep)
        assert loads.num_there == 0
        _, woken = await served.post("/generate", SHORT)
        assert woken["text"] == awake["text"]
        assert loads.num_loaded == 2
        await until(lambda: served.is_asleep)


async def test_asleep_it_keeps_no_freed_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = Loads()
    num_there: list[int] = []
    monkeypatch.setattr(model_router, "give_back", lambda: num_there.append(loads.num_there))
    async with serving(loads) as served:
        await until(lambda: served.is_asleep)
    assert num_there == [0]


@pytest.mark.parametrize("path", ["/health", "/props", "/v1/models", "/models", "/metrics", "/slots"])
async def test_what_tells_about_it_lets_it_sleep(path):
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.is_asleep)
        async with served.http.get(served.server.address + path) as response:
            assert response.status == 200
            text = await response.text()
        assert served.is_asleep
    assert loads.num_loaded == 1
    assert path != "/props" or '"is_sleeping":true' in text


async def test_while_it_falls_asleep_it_can_be_asked_about():
    stopping, may_stop = threading.Event(), threading.Event()
    loads = Loads()
    open_before = with_backend(loads.open)

    @contextlib.contextmanager
    def open_engine(*callbacks):
        with open_before(*callbacks) as opened:
            yield opened
            stopping.set()
            assert may_stop.wait(SOON)

    async with serving(loads, open_engine) as served:
        await until(stopping.is_set)
        for path in ("/props", "/health", "/v1/models", "/slots"):
            assert (await served.get(path))[0] == 200
        asked = asyncio.ensure_future(served.post("/generate", SHORT))
        may_stop.set()
        assert (await asked)[0] == 200
        assert loads.num_loaded == 2


async def test_tokenizing_wakes_it():
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.is_asleep)
        assert await served.post("/tokenize", {"content": "Hi"}) == (200, {"tokens": list(b"Hi")})
        assert loads.num_loaded == 2


async def test_it_does_not_sleep_while_it_answers():
    steps, loads = Steps(), Loads()
    loads.options = {"before_decode": steps.wait}
    async with serving(loads) as served:
        answering = asyncio.ensure_future(served.post("/generate", SHORT))
        await until(lambda: steps.num_begun > 0)
        await asyncio.sleep(3 * SOON_S)
        assert not served.is_asleep
        steps.free()
        assert (await answering)[0] == 200
        await until(lambda: served.is_asleep)


async def test_many_requests_wake_it_once():
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.is_asleep)
        answers = await asyncio.gather(*(served.post("/generate", SHORT) for _number in range(5)))
        assert {status for status, _body in answers} == {200}
        assert loads.num_loaded == 2


async def test_a_model_that_cannot_be_loaded_again_is_told_of_to_those_that_wait():
    loads = Loads()

    def fail() -> None:
        raise ModelLoadError("model.gguf is gone.")

    async with serving(loads) as served:
        await until(lambda: served.is_asleep)
        loads.before_load = fail
        status, body = await served.post("/tokenize", {"content": "Hi"})
        assert (status, body["error"]["message"]) == (503, "model.gguf is gone.")
        assert (await served.post("/generate", SHORT))[0] == 503
        assert list(map(str, served.failures)) == ["model.gguf is gone."] * 2


async def test_an_engine_that_fails_ends_its_answers_and_is_told_of():
    def fail(_batch: object) -> None:
        raise EngineError("The decode failed.")

    loads = Loads(before_decode=fail)
    async with serving(loads) as served:
        status, _body = await served.post("/generate", SHORT)
        assert status in (500, 503)
        await until(lambda: bool(served.failures))
        assert "The decode failed." in str(served.failures[0])


class EndsAtOnce:
    """An engine that has ended before anyone could ask it."""

    def use_prompts(self, _work: object) -> Future[object]:
        future: Future[object] = Future()
        future.set_exception(EngineError("It has ended."))
        return future

    def run(self) -> None:
        pass

    def stop(self) -> None:
        pass


class Dies(EndsAtOnce):
    """An engine whose process is gone once it is asked, so that nothing is reported of the request."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def use_prompts(self, _work: object) -> Future[object]:
        future: Future[object] = Future()
        future.set_result(TemplateFacts("", "", "", ""))
        return future

    def post(self, _command: object) -> None:
        self._asked.set()

    def stop(self) -> None:
        self._asked.set()

    def run(self) -> None:
        assert self._asked.wait(SOON)
        raise EngineCrashedError("Its process is gone.")


async def test_answers_of_an_engine_whose_process_is_gone_end_with_the_reason():
    @contextlib.contextmanager
    def open_engine(*_callbacks):
        yield CountingBackend(**TINY_CONTEXT).model, Dies()

    async with serving(Loads(), open_engine, idle_s=None) as served:
        status, body = await served.post("/generate", SHORT)
        assert (status, body["error"]["message"]) == (503, "Its process is gone.")
        assert list(map(str, served.failures)) == ["Its process is gone."]


class Lingers(EndsAtOnce):
    """An engine that tells of its template late, and ends only some time after it was stopped."""

    def __init__(self) -> None:
        self.facts: Future[object] = Future()
        self.is_asked = self.is_stopped = False
        self.may_end = threading.Event()

    def use_prompts(self, _work: object) -> Future[object]:
        self.is_asked = True
        return self.facts

    def stop(self) -> None:
        self.is_stopped = True

    def run(self) -> None:
        assert self.may_end.wait(SOON)


async def test_who_leaves_at_the_very_end_of_a_load_calls_it_off_without_a_failure():
    engine, failures = Lingers(), list[EngineError]()

    @contextlib.contextmanager
    def open_engine(*_callbacks):
        yield CountingBackend(**TINY_CONTEXT).model, engine

    router = ModelRouter([Offer(open_engine)], on_failed=failures.append)
    loading = asyncio.ensure_future(router.start())
    await until(lambda: engine.is_asked)
    loading.cancel()
    await until(lambda: engine.is_stopped)
    engine.facts.set_result(TemplateFacts("", "", "", ""))
    await asyncio.sleep(0)  # the router goes on, while the engine has not ended yet
    await asyncio.sleep(0)
    engine.may_end.set()
    await until(lambda: not threads())
    await asyncio.sleep(0)
    assert not failures
    router.close()
    await router.stop()


async def test_before_it_was_loaded_it_says_so():
    router = ModelRouter([Offer(lambda _held, *callbacks: with_backend(Loads().open)(*callbacks))])
    server = ApiServer(router, key=None)
    await server.start()
    async with aiohttp.ClientSession() as http:
        served = Served(None, None, None, server, http)  # type: ignore[arg-type]
        for path in ("/health", "/v1/models", "/props"):
            status, body = await served.get(path)
            assert (status, body["error"]["message"]) == (503, "Loading model")
        assert (await served.post("/generate", SHORT))[0] == 503
    await server.stop()
    await router.stop()


@pytest.mark.parametrize("is_asleep", [False, True])
@pytest.mark.parametrize("is_asked", [False, True])
async def test_it_can_be_stopped_at_any_moment(is_asleep, is_asked):
    async with serving(Loads()) as served:
        if is_asleep:
            await until(lambda: served.is_asleep)
        if is_asked:
            asked = asyncio.ensure_future(served.post("/generate", SHORT))
            await asyncio.sleep(0)
    if is_asked:
        with contextlib.suppress(aiohttp.ClientError):
            await asked
    assert not served.failures


async def test_a_load_that_is_stopped_ends_soon():
    @contextlib.contextmanager
    def slow(on_progress: OnProgress) -> Iterator[CountingBackend]:
        while on_progress(0.5):
            threading.Event().wait(0.001)
        raise ModelLoadCancelledError("called off")
        yield CountingBackend()

    router = ModelRouter([Offer(lambda _held, *callbacks: with_backend(slow)(*callbacks))])
    loading = asyncio.ensure_future(router.start())
    await until(lambda: "skein-engine" in threads())
    router.close()
    await router.stop()
    with pytest.raises(ModelLoadCancelledError):
        await loading
    assert threads() == set()


async def test_an_engine_that_ends_as_it_is_asked_tells_who_asked_once(caplog):
    loads = Loads()
    open_before = with_backend(loads.open)

    @contextlib.contextmanager
    def open_engine(*callbacks):
        with open_before(*callbacks) as (model, engine):
            yield model, engine if loads.num_loaded == 1 else EndsAtOnce()

    async with serving(loads, open_engine) as served:
        await until(lambda: served.is_asleep)
        status, body = await served.post("/tokenize", {"content": "Hi"})
        assert status == 503
        assert [str(one) for one in served.failures] == [body["error"]["message"]]
        assert body["error"]["message"] in ("It has ended.", "The engine stopped.")
    assert not caplog.records


# Several


class Library:
    """Three models, of which two fit; each says its own name, as long as it is allowed to."""

    def __init__(self, num_fitting: int = 2) -> None:
        self.num_fitting = num_fitting
        self.there: Counter[str] = Counter()
        self.loads: list[str] = []
        self.most = 0
        self.before_load: dict[str, Callable[[OnProgress], None]] = {}
        self.steps: dict[str, Steps] = {}
        self.too_large: set[str] = set()

    def offer(self, name: str) -> Offer:
        def open_engine(held: Mapping[str, int], *callbacks: Any) -> OpenedEngine:
            return with_backend(lambda on_progress: self.open(name, held, on_progress))(*callbacks)

        return Offer(open_engine, self.backend(name).model, name, (f"The model {name}",))

    def backend(self, name: str) -> Parrot:
        backend = Parrot(f"I am {name}.")
        backend.model = replace(backend.model, memory=MemoryNeed(weights_bytes=1))
        if name in self.steps:
            backend._before_decode = self.steps[name].wait
        return backend

    @contextlib.contextmanager
    def open(self, name: str, held: Mapping[str, int], on_progress: OnProgress) -> Iterator[Parrot]:
        if name in self.too_large:
            raise ModelLoadError(f"{name} needs 900 GiB.")
        assert held[""] == self.there.total()
        if self.there.total() >= self.num_fitting:
            raise NoRoomYetError("Later.")
        self.loads.append(name)
        self.before_load.get(name, lambda _on_progress: None)(on_progress)
        self.there[name] += 1
        self.most = max(self.most, self.there.total())
        try:
            yield self.backend(name)
        finally:
            self.there[name] -= 1


class Many(Served):
    router: ModelRouter

    async def say(self, name: str, path: str = "/generate") -> str:
        status, body = await self.post(path, {"model": name, "prompt": "Who?"})
        assert status == 200, body
        return str(body["text"])

    def asking(self, name: str) -> asyncio.Task[str]:
        return asyncio.ensure_future(self.say(name))

    def state(self, name: str) -> str:
        return next(str(one.status["value"]) for one in self.router.models if one.name == name)

    def num_waiting(self, name: str) -> int:
        return self._model(name).num_waiting

    def is_ready(self, name: str) -> bool:
        """Requests for it begin at once."""
        return self._model(name).is_ready

    def _model(self, name: str) -> RoutedModel:
        return next(one for one in self.router._models if one.offer.name == name)


@contextlib.asynccontextmanager
async def serving_many(library: Library, **options: Any) -> AsyncIterator[Many]:
    router = ModelRouter([library.offer(name) for name in "abc"], **options)
    server = ApiServer(router, key=None, router=router)
    await server.start()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        many = Many(None, None, None, server, http)  # type: ignore[arg-type]
        many.router = router
        try:
            yield many
        finally:
            for steps in library.steps.values():
                steps.free()
            await server.stop()
            await router.stop()
    assert library.there.total() == 0
    assert threads() == set()


@pytest.mark.parametrize("options", [{}, {"max_loaded": 2}])
async def test_each_of_ten_clients_is_answered_by_its_model_though_only_two_fit(options):
    library = Library(2 if not options else 9)
    async with serving_many(library, **options) as many:
        names = ["a", "b", "c", "a", "b", "c", "a", "b", "c", "a"]
        texts = await asyncio.gather(*map(many.say, names))
        assert texts == [f"I am {name}." for name in names]
        assert sorted(set(library.loads)) == ["a", "b", "c"]
        assert library.most == 2
        again = await asyncio.gather(*map(many.say, reversed(names)))
        assert again == [f"I am {name}." for name in reversed(names)]
        assert library.most == 2


async def test_the_idle_one_unused_longest_goes_first():
    library = Library()
    async with serving_many(library) as many:
        for name in ("a", "b", "a", "c"):
            await many.say(name)
        assert [many.state(name) for name in "abc"] == ["loaded", "unloaded", "loaded"]


async def test_one_that_answers_is_never_unloaded_and_who_waits_for_its_room_is_not_overtaken():
    library = Library(1)
    library.steps["a"] = Steps()
    async with serving_many(library) as many:
        first = many.asking("a")
        await until(lambda: library.steps["a"].num_begun == 1)
        second = many.asking("b")
        await until(lambda: many.num_waiting("b") == 1)
        third = many.asking("a")  # it is loaded, and another one waits for its room
        await until(lambda: many.num_waiting("a") == 1)
        assert many.state("a") == "loaded"
        library.steps["a"].free()
        assert await asyncio.gather(first, second, third) == ["I am a.", "I am b.", "I am a."]
        assert library.loads == ["a", "b", "a"]


async def test_nothing_is_loaded_for_a_caller_that_left_before_its_turn():
    library = Library(1)
    library.steps["a"] = Steps()
    async with serving_many(library) as many:
        first = many.asking("a")
        await until(lambda: library.steps["a"].num_begun == 1)
        leaving, staying = many.asking("b"), many.asking("c")
        await until(lambda: many.num_waiting("b") + many.num_waiting("c") == 2)
        leaving.cancel()
        await until(lambda: many.num_waiting("b") == 0)
        library.steps["a"].free()
        assert [await first, await staying] == ["I am a.", "I am c."]
        assert library.loads == ["a", "c"]


async def test_a_conversation_waits_for_its_model_without_its_reader_until_it_is_ended():
    library = Library(1)
    library.steps["a"] = Steps()
    async with serving_many(library) as many:
        first = many.asking("a")
        await until(lambda: library.steps["a"].num_begun == 1)
        for name in ("b", "c"):
            body = {"model": name, "prompt": "Who?", "stream": True}
            headers = {"X-Conversation-Id": name}
            asking = asyncio.ensure_future(many.post("/generate", body, headers=headers))
            await until(lambda name=name: many.num_waiting(name) == 1)
            asking.cancel()
        await many.http.delete(many.server.address + "/v1/stream?conv_id=b")
        await until(lambda: many.num_waiting("b") == 0)
        library.steps["a"].free()
        assert await first == "I am a."
        async with many.http.get(many.server.address + "/v1/stream?conv_id=c") as stream:
            assert "finish_reason" in await stream.text()
        assert library.loads == ["a", "c"]


async def test_nobody_is_unloaded_for_a_caller_that_left():
    library = Library(1)
    library.steps["a"] = Steps()
    async with serving_many(library) as many:
        first = many.asking("a")
        await until(lambda: library.steps["a"].num_begun == 1)
        leaving = many.asking("b")
        await until(lambda: many.num_waiting("b") == 1)
        await until(lambda: not many.is_ready("a"))
        leaving.cancel()
        await until(lambda: many.is_ready("a"))
        library.steps["a"].free()
        assert await first == "I am a."
        assert await many.say("a") == "I am a."
        assert library.loads == ["a"]


def until_called_off(begun: threading.Event) -> Callable[[OnProgress], None]:
    """A load that lasts until it is called off."""

    def load(on_progress: OnProgress) -> None:
        begun.set()
        for _ in range(int(SOON / 0.001)):
            if not on_progress(0.5):
                raise ModelLoadCancelledError("called off")
            threading.Event().wait(0.001)

    return load


async def test_a_load_is_called_off_when_the_last_that_waits_for_it_leaves():
    library, begun = Library(), threading.Event()
    library.before_load["a"] = until_called_off(begun)
    async with serving_many(library) as many:
        one, other = many.asking("a"), many.asking("a")
        await until(lambda: begun.is_set() and many.num_waiting("a") == 2)
        one.cancel()
        await until(lambda: many.num_waiting("a") == 1)
        assert many.state("a") == "loading"
        other.cancel()
        await until(lambda: many.state("a") == "unloaded")
        del library.before_load["a"]
        assert await many.say("a") == "I am a."
        assert library.loads == ["a", "a"]


async def test_who_comes_while_a_load_is_being_called_off_has_a_new_one():
    library, begun, goes_on = Library(), threading.Event(), threading.Event()

    def load(on_progress: OnProgress) -> None:
        begun.set()
        assert goes_on.wait(SOON)
        if not on_progress(0.9):
            raise ModelLoadCancelledError("called off")

    library.before_load["a"] = load
    async with serving_many(library) as many:
        leaving = many.asking("a")
        await until(begun.is_set)
        leaving.cancel()
        await until(lambda: many.num_waiting("a") == 0)
        coming = many.asking("a")
        await until(lambda: many.num_waiting("a") == 1)
        goes_on.set()
        assert await coming == "I am a."
        assert library.loads == ["a", "a"]


async def test_one_that_can_never_fit_is_refused_with_the_reason_and_nothing_makes_room_for_it():
    library = Library(1)
    library.too_large = {"b"}
    async with serving_many(library) as many:
        await many.say("a")
        status, body = await many.post("/generate", {"model": "b", "prompt": "Who?"})
        assert (status, body["error"]["message"]) == (503, "b needs 900 GiB.")
        assert many.state("a") == "loaded"
        (listed,) = (one for one in (await many.get("/v1/models"))[1]["data"] if one["id"] == "b")
        assert listed["status"] == {
            "value": "unloaded",
            "args": [],
            "failed": True,
            "exit_code": 1,
            "error": "b needs 900 GiB.",
        }


async def test_an_engine_that_fails_takes_no_other_along_and_is_loaded_again():
    library = Library()

    def fail(_batch: object) -> None:
        raise EngineError("The decode failed.")

    failing = Steps()
    failing.wait = fail  # type: ignore[method-assign]
    async with serving_many(library) as many:
        await many.say("b")
        library.steps["a"] = failing
        assert (await many.post("/generate", {"model": "a", "prompt": "Who?"}))[0] >= 500
        await until(lambda: many.state("a") == "unloaded")
        del library.steps["a"]
        assert await asyncio.gather(many.say("a"), many.say("b")) == ["I am a.", "I am b."]
        assert library.loads == ["b", "a", "a"]


async def test_each_sleeps_by_itself_and_is_loaded_again():
    library = Library()
    async with serving_many(library, idle_s=SOON_S) as many:
        await asyncio.gather(many.say("a"), many.say("b"))
        await until(lambda: [many.state(name) for name in "ab"] == ["sleeping"] * 2)
        assert (await many.get("/props?model=a"))[1]["is_sleeping"]
        assert many.state("a") == "sleeping"
        assert await many.say("a") == "I am a."
        assert library.loads == ["a", "b", "a"] or library.loads == ["b", "a", "a"]


async def test_one_that_made_room_does_not_fall_asleep_later():
    library = Library(1)
    async with serving_many(library, idle_s=SOON) as many:
        await many.say("a")
        await many.say("b")
        await many.router._unload(many._model("a"), ModelState.SLEEPING)  # its time has come
        assert many.state("a") == "unloaded"


@pytest.mark.parametrize("name", ["a", "The model a", "a:latest"])
async def test_a_model_goes_by_its_name_or_its_title(name):
    async with serving_many(Library()) as many:
        assert await many.say(name) == "I am a."


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"prompt": "Hi"}, "model name is missing from the request"),
        ({"prompt": "Hi", "model": 3}, "model name is missing from the request"),
        ({"prompt": "Hi", "model": "none"}, "model 'none' not found"),
    ],
)
async def test_other_names_are_refused_as_llama_server_does(body, message):
    library = Library()
    async with serving_many(library) as many:
        for path in ("/generate", "/v1/completions", "/completion", "/v1/embeddings"):
            status, answer = await many.post(path, body | {"input": "Hi"})
            assert (status, answer["error"]["message"]) == (400, message), path
        status, answer = await many.get("/slots")
        assert (status, answer["error"]["message"]) == (400, "model name is missing from the request")
    assert not library.loads


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Who?"}]}),
        ("/v1/completions", {"prompt": "Who?"}),
        ("/v1/responses", {"input": "Who?"}),
        ("/v1/messages", {"messages": [{"role": "user", "content": "Who?"}], "max_tokens": 20}),
        ("/api/chat", {"messages": [{"role": "user", "content": "Who?"}], "stream": False}),
        ("/api/generate", {"prompt": "Who?", "stream": False}),
        ("/completion", {"prompt": "Who?"}),
        ("/generate", {"prompt": "Who?"}),
    ],
)
async def test_every_protocol_names_a_model_and_its_answer_says_which_it_was(path, body):
    async with serving_many(Library()) as many:
        for name in ("a", "b"):
            status, answer = await many.post(path, body | {"model": name})
            assert status == 200, answer
            assert f"I am {name}." in json.dumps(answer)
            assert answer.get("model", name) == name


@pytest.mark.parametrize("path", ["/tokenize", "/detokenize", "/apply-template", "/v1/messages/count_tokens"])
async def test_tokens_are_those_of_the_named_model(path):
    library = Library()
    body = {"content": "Hi", "tokens": [72], "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    async with serving_many(library) as many:
        status, _answer = await many.post(path, body | {"model": "b"})
        assert status == 200
    assert library.loads == ["b"]


async def test_the_list_tells_what_is_loaded_and_what_is_asked_for_is_told_by_events():
    async with serving_many(Library()) as many:
        async with many.http.get(many.server.address + "/models/sse") as events:
            assert events.content_type == "text/event-stream"

            async def event() -> tuple[str, str, dict[str, Any]]:
                line = await asyncio.wait_for(events.content.readuntil(b"\n\n"), SOON)
                told = json.loads(line.removeprefix(b"data: "))
                return told["model"], told["event"], told["data"]

            assert await many.post("/models/load", {"model": "a"}) == (200, {"success": True})
            assert await event() == ("a", "model_status", {"status": "loading"})
            name, kind, data = await event()
            assert (name, kind, data["status"]) == ("a", "status_change", "loaded")
            assert (data["info"]["id"], data["info"]["status"]["value"]) == ("a", "loaded")
            assert data["info"]["meta"]["n_ctx"]
            status, body = await many.post("/models/load", {"model": "a"})
            assert (status, body["error"]["message"]) == (400, "model is already running")
            listed = {one["id"]: one for one in (await many.get("/models"))[1]["data"]}
            assert [listed[name]["status"]["value"] for name in "abc"] == ["loaded", "unloaded", "unloaded"]
            assert listed["a"]["architecture"] == {
                "input_modalities": ["text"],
                "output_modalities": ["text"],
            }
            assert "meta" in listed["a"]
            assert "meta" not in listed["b"]
            assert await many.post("/models/unload", {"model": "a"}) == (200, {"success": True})
            assert await event() == ("a", "status_change", {"status": "unloaded", "exit_code": 0})
        status, body = await many.post("/models/unload", {"model": "a"})
        assert (status, body["error"]["message"]) == (400, "model is not running")
        assert (await many.post("/models/load", {"model": "none"}))[0] == 404
        assert (await many.post("/models/unload", {"model": "none"}))[0] == 400


async def test_an_answer_that_outlives_its_request_keeps_the_model():
    library = Library()
    library.steps["a"] = Steps()
    library.steps["a"].allow(3)
    async with serving_many(library, idle_s=SOON_S) as many:
        async with many.router.lease("a") as served:
            asked = Request("r", "c", prompt=("Who?",))
            answers = served.client.answer(asked)
        await many.post("/models/unload", {"model": "a"})
        await asyncio.sleep(3 * SOON_S)
        assert many.state("a") == "loaded"
        library.steps["a"].free()
        text = "".join([output.text async for batch in answers for _index, output in batch])
        assert text == "I am a."
        await until(lambda: many.state("a") == "unloaded")


async def test_to_unload_waits_for_the_answer_and_ends_a_load():
    library, begun = Library(), threading.Event()
    library.steps["a"] = Steps()
    library.before_load["b"] = until_called_off(begun)
    async with serving_many(library) as many:
        answering, loading = many.asking("a"), None
        await until(lambda: library.steps["a"].num_begun == 1)
        await many.post("/models/unload", {"model": "a"})
        after = many.asking("a")
        await until(lambda: many.num_waiting("a") == 1)
        assert many.state("a") == "loaded"
        library.steps["a"].free()
        assert [await answering, await after] == ["I am a.", "I am a."]
        assert library.loads == ["a", "a"]
        loading = asyncio.ensure_future(many.post("/generate", {"model": "b", "prompt": "Who?"}))
        await until(begun.is_set)
        await many.post("/models/unload", {"model": "b"})
        assert (await loading)[0] == 503
        assert many.state("b") == "unloaded"


async def test_without_a_name_the_router_tells_of_itself_and_with_one_of_the_model():
    library = Library()
    async with serving_many(library, max_loaded=2) as many:
        props = (await many.get("/props"))[1]
        assert (props["role"], props["max_instances"]) == ("router", 2)
        assert await many.get("/health") == (200, {"status": "ok"})
        status, body = await many.get("/props?model=b&autoload=false")
        assert (status, body["error"]["message"]) == (400, "model is not loaded")
        assert not library.loads
        assert (await many.get("/props?model=b"))[1]["model_alias"] == "b"
        assert len((await many.get("/slots?model=b"))[1]) > 0
        async with many.http.get(many.server.address + "/metrics?model=b") as response:
            assert "llamacpp:" in await response.text()
        assert library.loads == ["b"]


async def test_ollamas_clients_list_all_models_and_load_none_by_looking_at_one():
    library = Library()
    async with serving_many(library) as many:
        await many.say("b")
        assert [one["name"] for one in (await many.get("/api/tags"))[1]["models"]] == ["a", "b", "c"]
        assert [one["name"] for one in (await many.get("/api/ps"))[1]["models"]] == ["b"]
        assert (await many.post("/api/show", {"model": "a"}))[0] == 200
        assert (await many.post("/api/show", {"model": "none"}))[0] == 404
        assert library.loads == ["b"]


async def test_a_server_of_one_model_loads_and_unloads_none():
    async with serving(Loads()) as served:
        assert (await served.post("/models/load", {"model": "a"}))[0] == 404
        assert (await served.get("/models/sse"))[0] == 404
        assert "status" not in (await served.get("/v1/models"))[1]["data"][0]


async def test_it_can_be_stopped_while_many_wait():
    library, begun = Library(1), threading.Event()
    library.before_load["b"] = until_called_off(begun)
    async with serving_many(library) as many:
        await many.say("a")
        asking = [many.asking(name) for name in "bcb"]
        await until(begun.is_set)
        await many.post("/models/load", {"model": "c"})
    await asyncio.gather(*asking, return_exceptions=True)
    assert "c" not in library.loads
