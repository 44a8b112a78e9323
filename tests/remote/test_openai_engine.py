"""Chats with a server that has OpenAI's API: what it is asked, what it answers, and how that may fail."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.api.certificate import own_certificate
from app.api.threaded_engine import ThreadedEngine
from app.protocol.commands import Abort, AbortAll, Forget, ReadAhead, SetFront, Submit, WatchCells
from app.protocol.errors import EngineError, ModelLoadError
from app.protocol.load import LoadParams, Server, ServerKind
from app.protocol.output import FinishReason, MessageDelta, Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.server_figures import ServerFigures
from app.remote import openai_engine
from app.remote.opening import open_remote
from app.remote.web import ServerError, Web, fingerprint_of
from tests.api.conftest import until
from tests.remote.fake_server import LLAMA_MODEL, LLAMA_PROPS, VLLM_MODEL, FakeServer, call, text, usage

HELLO = (Message(Role.USER, "Hello"),)
ABORT, ERROR, LENGTH, STOP = FinishReason.ABORT, FinishReason.ERROR, FinishReason.LENGTH, FinishReason.STOP


def params(fake: FakeServer, name: str = "", **server: str) -> LoadParams:
    told = Server(fake.url, ServerKind.OPENAI, **server)
    return LoadParams(Path(name or fake.models[0]["id"]), server=told)


class Chat:
    """An engine and what came out of it."""

    def __init__(self, load: LoadParams) -> None:
        self.engine = ThreadedEngine(partial(open_remote, load))
        self.outputs: list[Output] = []
        self.figures: list[ServerFigures] = []
        self.last: StepReport | None = None

    async def start(self) -> None:
        self.model = await self.engine.start(self._take)

    def _take(self, reports: Sequence[StepReport]) -> None:
        self.last = reports[-1]
        self.outputs.extend(one for report in reports for one in report.outputs)
        self.figures.extend(report.server for report in reports if report.server)

    def ask(self, request_id: str = "r", **fields: object) -> None:
        given = {"messages": HELLO} | fields
        self.engine.post(Submit(Request(request_id, f"chat {request_id}", **given)))  # type: ignore[arg-type]

    def of(self, request_id: str = "r") -> list[Output]:
        return [output for output in self.outputs if output.request_id == request_id]

    def text(self, request_id: str = "r") -> str:
        return "".join(output.text for output in self.of(request_id))

    async def end(self, request_id: str = "r") -> Output:
        await until(lambda: any(output.finish_reason for output in self.of(request_id)))
        assert sum(output.finish_reason is not None for output in self.of(request_id)) == 1
        return self.of(request_id)[-1]

    @property
    def delta(self) -> MessageDelta:
        return sum((output.delta for output in self.of() if output.delta), MessageDelta())


@contextlib.asynccontextmanager
async def chatting(fake: FakeServer, **server: str) -> AsyncIterator[Chat]:
    async with fake.running():
        chat = Chat(params(fake, **server))
        await chat.start()
        try:
            yield chat
        finally:
            await chat.engine.stop()
    assert not [one for one in threading.enumerate() if one.name.startswith("skein")]


async def test_an_answer_comes_piece_by_piece_with_the_servers_own_numbers():
    fake = FakeServer()
    fake.answers = [[text("Hel"), text("lo"), text(reason="stop"), usage(12, 2, cached=8), "[DONE]"]]
    async with chatting(fake, key="secret") as chat:
        chat.ask()
        last = await chat.end()
    assert chat.text() == "Hello"
    assert chat.delta == MessageDelta("Hello")
    assert last.finish_reason is STOP
    assert (last.usage.num_prompt_tokens, last.usage.num_reused_tokens) == (12, 8)
    assert last.usage.num_generated_tokens == 2
    assert last.usage.time_to_first_token_s > 0
    assert set(fake.keys) == {"Bearer secret"}


@pytest.mark.parametrize(
    ("told", "title"),
    [("Qwen/Qwen3-0.6B", ""), ("/models/other.gguf", "other · 127.0.0.1"), ("", ""), (None, "")],
)
async def test_a_server_that_has_another_model_by_now_says_who_wrote_the_answer(told, title):
    fake = FakeServer()
    fake.answers = [[text("Hello") | {"model": told}, text(reason="stop") | {"model": told}]]
    async with chatting(fake) as chat:
        chat.ask()
        await chat.end()
    assert {output.model.partition(":")[0] for output in chat.of()} == {title}


async def test_an_answer_that_is_written_is_seen_to_be():
    fake, gate = FakeServer(), asyncio.Event()
    first = asyncio.Event()
    fake.answers = [[first, text("One"), usage(12, 1), gate, text(reason="stop")]]
    async with chatting(fake) as chat:
        chat.ask()
        await until(lambda: bool(chat.last))
        assert [one.chat_id for one in chat.last.waiting] == ["chat r"]
        assert chat.last.slots == ()
        first.set()
        await until(lambda: bool(chat.last and chat.last.slots and chat.last.slots[0].num_cells))
        [slot] = chat.last.slots
        assert (slot.chat_id, slot.num_cells, slot.is_running) == ("chat r", 13, True)
        gate.set()
        await chat.end()
        assert (chat.last.slots, chat.last.waiting) == ((), ())


async def test_only_what_was_chosen_is_sent():
    fake = FakeServer()
    fake.answers = [[text(reason="stop")]]
    async with chatting(fake) as chat:
        chat.ask()
        await chat.end()
    [body] = fake.bodies
    assert body.keys() == {"model", "stream", "stream_options", "messages"}
    assert body["model"] == VLLM_MODEL["id"]
    assert body["messages"] == [{"role": "user", "content": "Hello"}]


async def test_thinking_stands_between_marks_in_the_text_and_by_itself_beside_it():
    fake = FakeServer()
    fake.answers = [
        [text(reasoning_content="Let me"), text(reasoning=" see"), text("55"), text(reason="stop")]
    ]
    async with chatting(fake) as chat:
        chat.ask()
        await chat.end()
    assert chat.text() == "<think>\nLet me see\n</think>\n\n55"
    assert chat.delta == MessageDelta("55", "Let me see")


async def test_calls_of_tools_are_numbered_as_they_come():
    fake = FakeServer()
    pieces = [
        call(3, "look", "", "a1"),
        call(3, arguments='{"x"'),
        call(7, "clock", "{}"),
        call(3, arguments=":1}"),
    ]
    fake.answers = [[*pieces, text(reason="tool_calls")]]
    async with chatting(fake) as chat:
        chat.ask()
        last = await chat.end()
    assert last.finish_reason is STOP
    calls = chat.delta.tool_calls
    assert [(one.index, one.name, one.arguments) for one in calls] == [
        (0, "look", ""),
        (0, "", '{"x"'),
        (1, "clock", "{}"),
        (0, "", ":1}"),
    ]
    assert calls[0].id == "a1"
    assert calls[2].id  # which its server did not give


async def test_logprobs_are_read_with_their_bytes():
    fake = FakeServer()
    told = {
        "token": "é",
        "bytes": [195, 169],
        "logprob": -0.5,
        "top_logprobs": [{"token": "e", "logprob": -1.0}],
    }
    chunk = text("é")
    chunk["choices"][0]["logprobs"] = {"content": [told]}
    fake.answers = [[chunk, text(reason="length")]]
    async with chatting(fake) as chat:
        chat.ask(num_logprobs=1)
        last = await chat.end()
    assert last.finish_reason is LENGTH
    [sampled] = [one for output in chat.of() for one in output.logprobs]
    assert sampled.chosen.text == "é".encode()
    assert [one.text for one in sampled.likeliest] == [b"e"]
    assert fake.bodies[0]["top_logprobs"] == 1


@pytest.mark.parametrize("command", [Abort("r"), AbortAll(), Forget("chat r")])
async def test_a_stop_closes_the_connection_so_that_the_server_stops_computing(command):
    fake = FakeServer()
    fake.answers = [[text("One, "), asyncio.Event()]]
    async with chatting(fake) as chat:
        chat.ask()
        await until(lambda: chat.text() == "One, ")
        chat.engine.post(command)
        assert (await chat.end()).finish_reason is ABORT
        await until(fake.gone.is_set)


async def test_a_stop_before_the_first_word_ends_it_too():
    fake = FakeServer()
    async with chatting(fake) as chat:
        chat.ask()
        chat.engine.post(Abort("r"))
        assert (await chat.end()).finish_reason is ABORT


async def test_stopping_the_engine_ends_what_is_open():
    fake = FakeServer()
    fake.answers = [[text("One, "), asyncio.Event()]]
    async with chatting(fake) as chat:
        chat.ask()
        await until(lambda: chat.text() == "One, ")
        await chat.engine.stop()
        assert chat.of()[-1].finish_reason is ABORT


async def test_two_answers_are_written_at_once():
    first, second = asyncio.Event(), asyncio.Event()
    fake = FakeServer()
    fake.answers = [
        [text("a"), first, text("b"), text(reason="stop")],
        [text("1"), second, text("2"), text(reason="stop")],
    ]
    async with chatting(fake) as chat:
        chat.ask("x")
        await until(lambda: chat.text("x") == "a")
        chat.ask("y")
        await until(lambda: chat.text("y") == "1")
        second.set()
        await chat.end("y")
        assert chat.text("x") == "a"
        first.set()
        await chat.end("x")
    assert (chat.text("x"), chat.text("y")) == ("ab", "12")


@pytest.mark.parametrize(
    ("status", "body", "says", "is_refused"),
    [
        (401, {"error": {"message": "Invalid API Key"}}, "refuses the key", True),
        (404, {"error": {"message": "The model `x` does not exist."}}, "does not exist", True),
        (400, {"error": {"code": 400, "message": "request (13922 tokens) exceeds"}}, "13922 tokens", True),
        (400, {"object": "error", "message": "maximum context length is 4096"}, "length is 4096", True),
        (429, {"detail": "slow down"}, "is busy: slow down", False),
        (503, {"error": {"message": "Loading model"}}, "has an error: Loading model", False),
        (502, "", "has an error: HTTP 502", False),
    ],
)
async def test_a_refusal_is_one_sentence_with_the_host(status, body, says, is_refused):
    fake = FakeServer()
    fake.refusal = status, body
    async with chatting(fake) as chat:
        chat.ask()
        last = await chat.end()
        assert last.finish_reason is ERROR
        assert "127.0.0.1:" in last.notice
        assert says in last.notice
        assert last.is_refused == is_refused
        fake.refusal, fake.answers = None, [[text("Yes"), text(reason="stop")]]
        chat.ask("again")
        assert (await chat.end("again")).finish_reason is STOP


@pytest.mark.parametrize(
    ("ending", "says"),
    [
        ([], "broke the answer off"),
        ([{"error": {"message": "CUDA out of memory"}}], "out of memory"),
        (["no JSON"], "not an answer"),
        ([{"choices": 5}], "not an answer"),
        ([text(tool_calls=[{"index": 0}])], "not an answer"),
        (["[" * 100_000], "not an answer"),
        (["x" * 5_000_000], "not an answer"),
    ],
)
async def test_of_a_stream_that_breaks_nothing_is_lost(ending, says):
    fake = FakeServer()
    fake.answers = [[text("Half an"), *ending]]
    async with chatting(fake) as chat:
        chat.ask()
        last = await chat.end()
    assert chat.text() == "Half an"
    assert last.finish_reason is ERROR
    assert says in last.notice


async def test_a_machine_that_vanishes_in_mid_answer_is_noticed_in_a_minute():
    fake = FakeServer()
    fake.answers = [[text("Hel"), asyncio.Event()]]
    async with fake.running():
        web = Web(Server(fake.url, ServerKind.OPENAI))
        chunks = web.events("/v1/chat/completions", {})
        await anext(chunks)
        transport = connection_of(web)
        option = partial(transport.get_extra_info("socket").getsockopt, socket.IPPROTO_TCP)
        names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT")  # macOS calls the first one otherwise
        found = [option(getattr(socket, name)) for name in names if hasattr(socket, name)]
        assert found == [30, 10, 3][-len(found) :]
        assert transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        transport._fatal_error(TimeoutError(errno.ETIMEDOUT, "as the system says it then"))
        with pytest.raises(ServerError, match="broke off"):
            await anext(chunks)
        await web.close()


def connection_of(web: Web) -> Any:
    connector = web._opened().connector
    assert connector
    [protocol] = connector._acquired
    return protocol.transport


async def test_a_server_that_is_gone_costs_the_answer_and_not_the_engine():
    fake = FakeServer()
    fake.answers = [[text("Half an"), asyncio.Event()]]
    async with chatting(fake) as chat:
        chat.ask()
        await until(lambda: chat.text() == "Half an")
        closing = asyncio.ensure_future(fake.close())
        last = await chat.end()
        await closing
        assert last.finish_reason is ERROR
        chat.ask("again")
        assert "cannot be reached: Connection refused." in (await chat.end("again")).notice


async def test_an_answer_goes_on_behind_what_is_there():
    fake = FakeServer([LLAMA_MODEL], props=LLAMA_PROPS)
    fake.answers = [[text("3"), text(reason="stop")], [text("d"), text(reason="stop")]]
    async with chatting(fake) as chat:
        chat.ask(answer_start="1, 2, ")
        await chat.end()
        chat.ask("thought", answer_start="<think>\nabc")
        await chat.end("thought")
    first, second = fake.bodies
    assert first["messages"][-1] == {"role": "assistant", "content": "1, 2, "}
    assert (first["continue_final_message"], first["add_generation_prompt"]) == (True, False)
    assert second["messages"][-1] == {"role": "assistant", "content": "", "reasoning_content": "abc"}
    assert second["continue_final_message"] == "reasoning_content"
    assert chat.text("thought") == "\n</think>\n\nd"


async def test_what_only_an_engine_of_ours_can_do_is_refused_or_dropped():
    fake = FakeServer()
    async with chatting(fake) as chat:
        for command in (ReadAhead(Request("a", "c", HELLO)), SetFront("c")):
            chat.engine.post(command)
        with pytest.raises(EngineError, match="not told by this server"):
            chat.engine.use_prompts(lambda prompts: prompts.tokenize("secret draft")).result()
        chat.ask(answer_start=(1, 2, 3))
        assert (await chat.end()).is_refused
        chat.ask("nothing", max_tokens=0)
        assert (await chat.end("nothing")).finish_reason is LENGTH
        assert fake.bodies == []


async def test_the_model_is_described_as_far_as_its_server_tells():
    async with chatting(FakeServer([LLAMA_MODEL], props=LLAMA_PROPS)) as chat:
        model = chat.model
        assert (model.name, model.n_ctx, model.n_ctx_train) == ("qwen-0.5b", 1024, 32768)
        assert not model.senses.any
        assert model.host.startswith("127.0.0.1:")
        assert model.address == f"{model.server}#/models/qwen-0.5b.gguf"


@pytest.mark.parametrize("name", ["gone", ""])
async def test_a_model_or_server_that_is_not_there_is_not_opened(name):
    fake = FakeServer()
    async with fake.running():
        load = params(fake, name)
        if not name:
            await fake.close()
        with pytest.raises(ModelLoadError, match="does not have the model gone" if name else "reached"):
            await Chat(load).start()


async def test_a_certificate_that_nobody_has_signed_is_trusted_once_it_is_pinned():
    fake = FakeServer()
    async with fake.running(own_certificate([]).context()):
        with pytest.raises(ModelLoadError, match="not trusted"):
            await Chat(params(fake)).start()
        shown = await asyncio.to_thread(fingerprint_of, fake.url)
        chat = Chat(params(fake, fingerprint=shown))
        await chat.start()
        await chat.engine.stop()
        with pytest.raises(ModelLoadError, match="not trusted"):
            await Chat(params(fake, fingerprint="00:" * 31 + "00")).start()
        assert not [key for key in fake.keys if key]


METRICS = "vllm:num_requests_running 1.0"


@pytest.fixture
def asks_often(monkeypatch):
    monkeypatch.setattr(openai_engine, "ASK_EVERY_S", 0.001)


@pytest.mark.usefixtures("asks_often")
async def test_a_server_is_asked_how_it_is_while_an_answer_is_written():
    fake, gate = FakeServer(metrics=METRICS), asyncio.Event()
    fake.answers = [[text("One"), gate, text(reason="stop")]]
    async with chatting(fake) as chat:
        assert chat.figures == []
        chat.ask()
        await until(lambda: len(chat.figures) > 2)
        assert chat.figures[0].program == "vLLM"
        assert chat.figures[0].figures[0].source == "vllm:num_requests_running"
        gate.set()
        await chat.end()


@pytest.mark.usefixtures("asks_often")
async def test_a_server_is_asked_how_it_is_while_somebody_watches():
    async with chatting(fake := FakeServer(metrics=METRICS)) as chat:
        chat.engine.post(WatchCells())
        await until(lambda: len(chat.figures) > 2)
        chat.engine.post(WatchCells(False))
        chat.ask("last", max_tokens=0)  # and so the other one was heard
        await chat.end("last")
        assert fake.bodies == []


@pytest.mark.usefixtures("asks_often")
async def test_what_tells_nothing_is_asked_once():
    fake = FakeServer()
    async with chatting(fake) as chat:
        num_asked = len(fake.paths)
        chat.engine.post(WatchCells())
        await until(lambda: bool(chat.figures))
        assert chat.figures[0].figures == ()
        assert fake.paths[num_asked:] == ["/metrics", "/slots"]
