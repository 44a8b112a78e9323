"""What is asked of each server through `OpenAiEngine`. A check returns what it saw, or fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from app.api.threaded_engine import ThreadedEngine
from app.protocol.answer_format import ChatParams, ToolChoice
from app.protocol.commands import Abort, Submit, WatchCells
from app.protocol.load import LoadParams, Server, ServerKind
from app.protocol.media import Media, MediaKind
from app.protocol.output import FinishReason, MessageDelta, Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.protocol.server_figures import FigureKind, ServerFigures
from app.remote.introduction import introduced
from app.remote.opening import open_remote
from app.remote.web import Web

PATIENCE_S = 120.0
HELLO = Message(Role.USER, "Say hello.")
CITY = {
    "type": "object",
    "properties": {"city": {"enum": ["Paris", "Rome"]}},
    "required": ["city"],
    "additionalProperties": False,
}
FUNCTION = {"name": "weather", "parameters": CITY, "strict": True}
TOOLS = json.dumps([{"type": "function", "function": FUNCTION}])
GREEDY = SamplingParams(temperature=0.0)


class Chats:
    """An engine for one model, what came out of it, and what its server tells."""

    def __init__(self, engine: ThreadedEngine) -> None:
        self.engine = engine
        self.outputs: dict[str, list[Output]] = {}
        self.figures: list[ServerFigures] = []

    def take(self, reports: Sequence[StepReport]) -> None:
        for report in reports:
            for output in report.outputs:
                self.outputs.setdefault(output.request_id, []).append(output)
            if report.server:
                self.figures.append(report.server)

    def ask(self, *messages: Message, **fields: object) -> str:
        request_id = uuid.uuid4().hex
        given: dict[str, object] = {"messages": messages or (HELLO,), "max_tokens": 64, "sampling": GREEDY}
        self.engine.post(Submit(Request(request_id, request_id, **(given | fields))))  # type: ignore[arg-type]
        return request_id

    def text(self, request_id: str) -> str:
        return "".join(output.text for output in self.outputs.get(request_id, ()))

    async def end(self, request_id: str) -> Output:
        await self.until(lambda: request_id in self.outputs and self._last(request_id).finish_reason)
        return self._last(request_id)

    async def answer(self, *messages: Message, **fields: object) -> tuple[str, Output, MessageDelta]:
        request_id = self.ask(*messages, **fields)
        last = await self.end(request_id)
        assert last.finish_reason is not FinishReason.ERROR, last.notice
        deltas = [output.delta for output in self.outputs[request_id] if output.delta]
        return self.text(request_id), last, sum(deltas, MessageDelta())

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0.02)

    def newest(self, kind: FigureKind) -> float | None:
        figures = self.figures[-1].figures if self.figures else ()
        return next((one.value for one in figures if one.kind is kind), None)

    def _last(self, request_id: str) -> Output:
        return self.outputs[request_id][-1]


@contextlib.asynccontextmanager
async def chatting(url: str, key: str) -> AsyncIterator[Chats]:
    """With the server's first model."""
    server = Server(url, ServerKind.OPENAI, key)
    web = Web(server)
    name = (await introduced(web)).names[0]
    await web.close()
    chats = Chats(ThreadedEngine(partial(open_remote, LoadParams(Path(name), server=server))))
    await chats.engine.start(chats.take)
    try:
        yield chats
    finally:
        await chats.engine.stop()


async def chat(chats: Chats) -> str:
    text, last, delta = await chats.answer()
    assert text
    assert text.endswith(delta.content)
    assert last.usage.num_prompt_tokens > 0
    assert 0 < last.usage.num_generated_tokens <= 64
    usage = last.usage
    return f"{usage.num_generated_tokens} tokens, first after {1000 * usage.time_to_first_token_s:.0f} ms"


async def two_at_once(chats: Chats) -> str:
    alone, _last, _delta = await chats.answer()
    request_ids = [chats.ask(), chats.ask()]
    await asyncio.gather(*map(chats.end, request_ids))
    same = sum(chats.text(one) == alone for one in request_ids)
    return f"{same} of 2 as alone"


async def stop(chats: Chats) -> str:
    """The server stops computing: its own metrics say so."""
    chats.engine.post(WatchCells())
    request_id = chats.ask(max_tokens=None, sampling=SamplingParams(temperature=0.0, ignore_eos=True))
    await chats.until(lambda: chats.text(request_id))
    await chats.until(lambda: chats.newest(FigureKind.RUNNING) == 1)
    began = time.monotonic()
    chats.engine.post(Abort(request_id))
    last = await chats.end(request_id)
    assert last.finish_reason is FinishReason.ABORT, last
    num_seen = len(chats.figures)
    await chats.until(lambda: len(chats.figures) > num_seen and chats.newest(FigureKind.RUNNING) == 0)
    chats.engine.post(WatchCells(False))
    return f"idle {time.monotonic() - began:.1f} s after, {last.usage.num_generated_tokens} tokens written"


async def tools(chats: Chats) -> str:
    params = ChatParams(TOOLS, ToolChoice.REQUIRED, ("weather",))
    _text, last, delta = await chats.answer(Message(Role.USER, "Weather in Rome?"), chat_params=params)
    names = [one.name for one in delta.tool_calls if one.name]
    arguments = "".join(one.arguments for one in delta.tool_calls)
    assert names == ["weather"], (names, last)
    if last.finish_reason is FinishReason.LENGTH:  # random weights need not come to an end
        return "weather, cut off at its limit"
    assert json.loads(arguments)["city"] in ("Paris", "Rome")
    return f"weather({arguments})"


async def schema(chats: Chats) -> str:
    sampling = SamplingParams(temperature=0.0, json_schema=json.dumps(CITY))
    text, _last, _delta = await chats.answer(sampling=sampling)
    assert json.loads(text)["city"] in ("Paris", "Rome"), text
    return " ".join(text.split())


async def logprobs(chats: Chats) -> str:
    request_id = chats.ask(num_logprobs=3, max_tokens=4)
    await chats.end(request_id)
    sampled = [one for output in chats.outputs[request_id] for one in output.logprobs]
    assert sampled, chats.outputs[request_id][-1].notice
    assert all(len(one.likeliest) == 3 for one in sampled)
    return f"{len(sampled)} tokens, 3 each"


async def continuation(chats: Chats) -> str:
    whole, _last, _delta = await chats.answer(max_tokens=16)
    start = whole[: len(whole) // 2]
    rest, _last, _delta = await chats.answer(answer_start=start, max_tokens=16)
    assert rest
    return "the same" if (start + rest).startswith(whole) else "another end"


async def picture(chats: Chats) -> str:
    """A red square. A model that does not see refuses it in a sentence."""
    red = Media(MediaKind.PICTURE, "0", RED_PNG, at=0)
    last = await chats.end(chats.ask(Message(Role.USER, "What is this?", media=(red,)), max_tokens=8))
    if last.finish_reason is FinishReason.ERROR:
        assert last.notice
        return f"refused: {last.notice[:60]}"
    return f"{last.usage.num_prompt_tokens} tokens of prompt"


async def too_long(chats: Chats) -> str:
    last = await chats.end(chats.ask(Message(Role.USER, "one two three four " * 20_000)))
    assert last.finish_reason is FinishReason.ERROR
    assert last.is_refused
    return last.notice[:70]


async def figures(chats: Chats) -> str:
    chats.engine.post(WatchCells())
    num_seen = len(chats.figures)
    await chats.until(lambda: len(chats.figures) > num_seen + 2)
    chats.engine.post(WatchCells(False))
    told = chats.figures[-1]
    return f"{told.program}: {', '.join(one.kind.value for one in told.figures)}"


Check = Callable[[Chats], Awaitable[str]]
CHECKS: tuple[Check, ...] = (
    chat,
    two_at_once,
    stop,
    tools,
    schema,
    logprobs,
    continuation,
    picture,
    too_long,
    figures,
)
RED_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000040000000400802000000250be6890000006f49444154789cedcf010900"
    "000c84c0ef5f7a8b2182700174b7a9f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1"
    "050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1050dc8f1"
    "050dc83da9dcf0e2c3422b710000000049454e44ae426082"
)
