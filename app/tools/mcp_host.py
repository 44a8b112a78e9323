"""The child process that speaks with one MCP server, by the official SDK.

What a server does costs this process only.

Messages to and from the parent (`mcp_process.py`), one JSON object a line:

    in:   the server; {"id", "do", "with"}; {"cancel": id}; {"answer": id, "with"}; the end: everything ends
    out:  {"started": pid}; {"ready"}; {"tools"}; {"log"}; {"id", "result" or "error"}; {"progress": id, …};
          {"elicit": id, …}; {"withdrawn": id}; {"browse": url}; {"keep": text}; {"ended": sentence}

The SDK takes 50 MB and 0.7 s of a processor to import, so it is imported here and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import IO, Any

import mcp_types as types
from mcp.client import Client, ClientRequestContext
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

import app
from app.chats.attachment import valid_unicode
from app.protocol.json_object import check_size
from app.system import worker
from app.system.said import packed, said
from app.tools.mcp_stdio import ServerProcess, contain, kill_all
from app.tools.plain import depth_of, is_plain_name, plain, plain_line

MAX_TOOLS, MAX_LISTED, MAX_PAGES = 1000, 1000, 100
MAX_NAME_CHARS, MAX_TEXT_CHARS, MAX_URI_CHARS = 128, 10_000, 2000
MAX_SCHEMA_CHARS, MAX_SCHEMA_DEPTH = 1 << 16, 40
MAX_TOLD_CHARS = 1 << 20  # of all tools together
MAX_RESULT_CHARS = 1_000_000
MAX_QUESTIONS = 3  # to the user at once
TELL_EVERY_S, LIST_EVERY_S, LISTEN_S = 0.1, 1.0, 5.0
END_S = 5.0  # for all of the end
NO_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}

Send = Callable[[Mapping[str, Any]], None]


class Host:
    def __init__(self, send: Send, config: Mapping[str, Any]) -> None:
        self._send, self._config = send, config
        self._closing, self._lost = asyncio.Event(), asyncio.Event()
        self._lists_changed, self._is_listening = asyncio.Event(), asyncio.Event()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._num_questions = 0
        self._log: list[str] = []
        self._last_words = ""
        self._has_tools = False
        self._server: ServerProcess | None = None

    def take(self, message: Mapping[str, Any]) -> None:
        """Takes a message of the parent, once `run` is at work."""
        if "do" in message:
            task = asyncio.ensure_future(self._answer(message))
            self._tasks[message["id"]] = task
            task.add_done_callback(lambda _done: self._tasks.pop(message["id"], None))
        elif task_of := self._tasks.get(message.get("cancel", 0)):
            task_of.cancel()
        elif (answer := self._answers.get(message.get("answer", 0))) and not answer.done():
            answer.set_result(message["with"])

    def close(self) -> None:
        self._closing.set()

    async def run(self) -> None:
        telling = asyncio.ensure_future(self._tell_log())
        sentence: Any = ""
        try:
            sentence = await self._serve()
        except Exception as error:
            sentence = _reason(error)
        finally:
            telling.cancel()
            self._flush_log()
            self._send({"ended": packed(sentence)})

    async def _serve(self) -> str:
        """Why it has ended; "" when it was asked to."""
        async with self._transport() as transport:
            client = Client(
                transport,
                message_handler=self._on_message,
                elicitation_callback=self._elicit if self._config["can_elicit"] else None,
                client_info=types.Implementation(name="skein", title="Skein", version=app.__version__),
                cache=None,
            )
            lost = self._server.end_of_it() if self._server else self._lost.wait()
            ends = [asyncio.ensure_future(self._closing.wait()), asyncio.ensure_future(lost)]
            using = asyncio.ensure_future(self._use(client))
            try:
                await asyncio.wait([*ends, using], return_when=asyncio.FIRST_COMPLETED)
                if self._lost.is_set():  # what it was lost by may be told a moment later
                    await asyncio.wait([using], timeout=TELL_EVERY_S)
                if using.done() and not (self._server and _is_closed(using.exception())):
                    using.result()  # raises, since it has no end of its own
                sentence = self._why_ended()
            finally:
                for task in [*ends, using, *self._tasks.values()]:
                    task.cancel()
                await asyncio.wait([using], timeout=END_S)
                if not using.cancelled() and using.done():
                    using.exception()
        return sentence

    def _why_ended(self) -> str:
        if self._closing.is_set():
            return ""
        code, words = self._server and self._server.exit_code, self._last_words
        if code is None:
            ended = said("It closed the connection.")
            return said("It closed the connection: {words}", words=words) if words else ended
        if words:
            return said("It ended with exit code {code}: {words}", code=code, words=words)
        return said("It ended with exit code {code}.", code=code)

    @contextlib.asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        config = self._config
        if url := config.get("url"):
            from app.tools.mcp_http import http_transport

            yield checked(
                http_transport(url, config["headers"], config["uses_sse"], config["kept"], self._send)
            )
            return
        command = [config["command"], *config["arguments"]]
        self._server = ServerProcess(command, config["environment"], config["folder"], self._hear_log)
        await self._server.start()
        self._send({"started": self._server.pid})
        yield checked(self._server.streams())

    async def _use(self, client: Client) -> None:
        async with client:
            capabilities = client.server_capabilities
            self._has_tools = capabilities.tools is not None
            info = client.server_info
            listening = asyncio.ensure_future(self._listen(client))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_listening.wait(), LISTEN_S)
            tools = await self._tools(client)
            self._send(
                {
                    "ready": {
                        "title": plain_line(info and (info.title or info.name), 100),
                        "version": plain_line(info and info.version, 50),
                        "instructions": plain(client.instructions, MAX_TEXT_CHARS),
                        "has_resources": capabilities.resources is not None,
                        "has_prompts": capabilities.prompts is not None,
                    },
                    "tools": tools,
                }
            )
            self._client = client
            try:
                while True:
                    await self._lists_changed.wait()
                    await asyncio.sleep(LIST_EVERY_S)  # a flood of changes is one
                    self._lists_changed.clear()
                    with contextlib.suppress(MCPError, ValidationError):
                        self._send({"tools": await self._tools(client)})
            finally:
                listening.cancel()

    async def _listen(self, client: Client) -> None:
        """Later versions of the protocol tell of changes on a stream that must be asked for."""
        try:
            with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
                async with client.listen(tools_list_changed=True) as changes:
                    self._is_listening.set()
                    async for _change in changes:
                        self._lists_changed.set()
        finally:
            self._is_listening.set()  # or cannot be

    async def _on_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._lists_changed.set()
        elif isinstance(message, types.LoggingMessageNotification):
            self._hear_log([plain_line(str(message.params.data), 500)])

    # Questions of the parent.

    async def _answer(self, message: Mapping[str, Any]) -> None:
        number = message["id"]
        try:
            result = await self._do(message["do"], message["with"], number)
            self._send({"id": number, "result": result})
        except asyncio.CancelledError:
            raise
        except Exception as error:
            if _is_closed(error) and (self._server is None or self._server.ended.is_set()):  # why, follows
                self._lost.set()
            else:
                self._send({"id": number, "error": str(_reason(error))})

    async def _do(self, what: str, values: Mapping[str, Any], number: int) -> Any:
        match what:
            case "call":
                return await self._call(values["name"], values["arguments"], number)
            case "resources":
                return await self._resources()
            case "read_resource":
                read = await self._client.read_resource(values["uri"])
                return _cut("\n".join(_resource_text(one) for one in read.contents))
            case "prompts":
                return await self._prompts()
            case "get_prompt":
                prompt = await self._client.get_prompt(values["name"], values["arguments"])
                return [
                    {"role": one.role, "text": _cut(_part_text(one.content))} for one in prompt.messages[:100]
                ]
            case _:
                raise ValueError(what)

    async def _call(self, name: str, arguments: dict[str, Any], number: int) -> dict[str, Any]:
        last_told = 0.0

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal last_told
            if time.monotonic() - last_told >= TELL_EVERY_S:
                last_told = time.monotonic()
                told = {"done": progress, "total": total, "message": plain_line(message, 200)}
                self._send({"progress": number, **told})

        result = await self._client.call_tool(name, arguments, progress_callback=on_progress)
        parts = [_part_text(one) for one in result.content]
        structured = result.structured_content
        if structured is not None and not _is_told(structured, parts):
            parts.append(json.dumps(structured, ensure_ascii=False))
        return {"text": _cut("\n".join(parts)), "is_error": bool(result.is_error)}

    async def _resources(self) -> list[dict[str, Any]]:
        return [
            {
                "uri": str(one.uri),
                "name": plain_line(one.title or one.name, MAX_NAME_CHARS),
                "description": plain(one.description, 1000),
                "mime": plain_line(one.mime_type, 100),
            }
            for one in await _listed(self._client.list_resources, "resources", MAX_LISTED)
            if len(str(one.uri)) <= MAX_URI_CHARS
        ]

    async def _prompts(self) -> list[dict[str, Any]]:
        return [
            {
                "name": one.name,
                "title": plain_line(one.title or one.name, MAX_NAME_CHARS),
                "description": plain(one.description, 1000),
                "arguments": [
                    {
                        "name": argument.name,
                        "description": plain(argument.description, 500),
                        "is_required": bool(argument.required),
                    }
                    for argument in (one.arguments or [])[:20]
                ],
            }
            for one in await _listed(self._client.list_prompts, "prompts", MAX_LISTED)
            if is_plain_name(one.name, MAX_NAME_CHARS)
        ]

    async def _tools(self, client: Client) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        left_out, num_chars = 0, 0
        for tool in await _listed(client.list_tools, "tools", 20 * MAX_TOOLS) if self._has_tools else []:
            told = _told(tool)
            size = len(json.dumps(told)) if told else 0
            if told is None or len(found) >= MAX_TOOLS or num_chars + size > MAX_TOLD_CHARS:
                left_out += 1
                continue
            found.append(told)
            num_chars += size
        if left_out:
            self._hear_log([f"{left_out} tools are left out: too many, too large, or badly named."])
        return found

    # Questions of the server.

    async def _elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002  # its name is part of the type
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        if len(self._answers) >= MAX_QUESTIONS:
            return types.ErrorData(code=types.INVALID_REQUEST, message="There are too many questions.")
        question: dict[str, Any] = {"message": plain(params.message, MAX_TEXT_CHARS)}
        if isinstance(params, types.ElicitRequestURLParams):
            question["url"] = params.url
        else:
            schema = params.requested_schema
            if not _is_usable(schema):
                return types.ErrorData(code=types.INVALID_PARAMS, message="The schema cannot be used.")
            question["schema"] = schema
        answer = await self._ask(question)
        return types.ElicitResult(action=answer["action"], content=answer.get("content"))

    async def _ask(self, question: Mapping[str, Any]) -> Any:
        self._num_questions += 1
        number = self._num_questions
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._send({"elicit": number, **question})
        try:
            return await answer
        finally:
            del self._answers[number]
            if not answer.done() or answer.cancelled():
                self._send({"withdrawn": number})

    # Its log.

    def _hear_log(self, lines: list[str]) -> None:
        self._log = [*self._log, *(plain_line(line, 1000) for line in lines)][-500:]
        self._last_words = next((line for line in reversed(self._log) if line), self._last_words)[:300]

    async def _tell_log(self) -> None:
        while True:
            await asyncio.sleep(TELL_EVERY_S)
            self._flush_log()

    def _flush_log(self) -> None:
        if self._log:
            self._send({"log": self._log})
            self._log = []


# What a server says, within limits.


@contextlib.asynccontextmanager
async def checked(transport: Any) -> AsyncIterator[Any]:
    """The same streams, without the entries of lists for whose sake the SDK would refuse the whole list."""
    async with transport as (read, write):
        yield _CheckedStream(read), write


class _CheckedStream:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return _check_lists(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _CheckedStream:
        return self

    async def __anext__(self) -> Any:
        return _check_lists(await self._stream.__anext__())

    async def __aenter__(self) -> _CheckedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


_LISTS = {"tools": types.Tool, "resources": types.Resource, "prompts": types.Prompt}


def _check_lists(item: Any) -> Any:
    result = getattr(getattr(item, "message", None), "result", None)
    for name, kind in _LISTS.items():
        if isinstance(result, dict) and isinstance(result.get(name), list):
            result[name] = [one for one in result[name][: 20 * MAX_TOOLS] if _fits(kind, one)]
    return item


def _fits(kind: Any, told: Any) -> bool:
    """Mends a tool whose schema is none."""
    if kind is types.Tool and isinstance(told, dict):
        if not isinstance(told.get("inputSchema"), dict) or told["inputSchema"].get("type") != "object":
            told["inputSchema"] = NO_SCHEMA
        for name in ("outputSchema", "annotations", "title", "description", "icons", "_meta", "execution"):
            if name in told and not _fits_alone(name, told):
                del told[name]
    try:
        kind.model_validate(told, by_name=False)
    except (ValidationError, RecursionError):
        return False
    return True


def _fits_alone(name: str, told: Mapping[str, Any]) -> bool:
    try:
        types.Tool.model_validate({"name": "x", "inputSchema": NO_SCHEMA, name: told[name]}, by_name=False)
    except (ValidationError, RecursionError):
        return False
    return name != "outputSchema" or _is_usable(told[name])


async def _listed(ask: Callable[..., Awaitable[Any]], name: str, most: int) -> list[Any]:
    """The first entries of a list of the server's, which comes in pages."""
    found: list[Any] = []
    cursor = None
    for _page in range(MAX_PAGES):
        page = await ask(cursor=cursor)
        found += getattr(page, name)
        cursor = page.next_cursor
        if cursor is None or len(found) >= most:
            break
    return found[:most]


def _told(tool: types.Tool) -> dict[str, Any] | None:
    """None for one that cannot be used."""
    if not is_plain_name(tool.name, MAX_NAME_CHARS):
        return None
    schema = tool.input_schema if _is_usable(tool.input_schema) else NO_SCHEMA
    notes = tool.annotations
    return {
        "name": tool.name,
        "title": plain_line(tool.title or (notes and notes.title) or tool.name, MAX_NAME_CHARS),
        "description": plain(tool.description, MAX_TEXT_CHARS),
        "schema": schema,
        "writes": not (notes and notes.read_only_hint is True),
    }


def _is_usable(schema: object) -> bool:
    if not isinstance(schema, dict) or depth_of(schema, MAX_SCHEMA_DEPTH) >= MAX_SCHEMA_DEPTH:
        return False
    try:
        text = json.dumps(schema).encode()
        check_size(text)
    except (ValueError, RecursionError):
        return False
    return len(text) <= MAX_SCHEMA_CHARS


def _part_text(part: Any) -> str:
    """A text as it is; of what is no text, its kind."""
    if isinstance(part, types.TextContent):
        return part.text
    if isinstance(part, types.EmbeddedResource):
        return _resource_text(part.resource)
    if isinstance(part, types.ResourceLink):
        return f"[resource {plain_line(str(part.uri), MAX_URI_CHARS)}]"
    return f"[{plain_line(getattr(part, 'type', ''), 50) or 'something'}]"


def _is_told(structured: dict[str, Any], parts: list[str]) -> bool:
    """Most servers write it as text, too: FastMCP the value alone, and each of a list."""
    if not parts:
        return False
    value = structured["result"] if structured.keys() == {"result"} else structured
    read = [_value(part) for part in parts]
    return value in (read, parts, *read, *parts)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _resource_text(content: Any) -> str:
    if isinstance(content, types.TextResourceContents):
        return content.text
    return f"[binary data, {plain_line(content.mime_type, 100) or 'of unknown kind'}]"


def _cut(text: str) -> str:
    if len(text) <= MAX_RESULT_CHARS:
        return valid_unicode(text)
    return valid_unicode(text[:MAX_RESULT_CHARS]) + f"\n[cut off: {len(text):,} characters]"


def _first(error: BaseException | None) -> BaseException | None:
    """The first error of a group, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_closed(error: BaseException | None) -> bool:
    error = _first(error)
    if not isinstance(error, MCPError) or error.error.code != types.CONNECTION_CLOSED:
        return False
    return error.error.message == "Connection closed"  # others use the same code for anything


def _reason(error: BaseException) -> str:
    """One sentence of it; of a group, of its first."""
    error = _first(error) or error
    if isinstance(error, MCPError):
        return plain_line(error.error.message, 2000) or "The server sent an error without a message."
    if isinstance(error, ValidationError):
        return said("The server's response does not follow the protocol.")
    if isinstance(error, OSError) and error.strerror:
        return said("It cannot be started: {reason}.", reason=error.strerror)
    if isinstance(error, MemoryError):
        return said("The server's response does not fit into memory.")
    return plain_line(f"{type(error).__name__}: {error}", 2000)


# The process.


def _sender(stdout: IO[bytes]) -> Send:
    def send(message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the parent is gone: its end is seen elsewhere
            stdout.write(worker.encoded(message, "replace"))
            stdout.flush()

    return send


def _hear_parent(loop: asyncio.AbstractEventLoop, host: Host) -> None:
    """On a thread of its own. Ends the process, should the loop be too busy to do so."""
    with contextlib.suppress(ValueError, RuntimeError):
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(host.take, json.loads(line))
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(host.close)
    time.sleep(END_S)
    kill_all()
    os._exit(1)


async def _run(config: Mapping[str, Any], send: Send) -> None:
    host = Host(send, config)
    loop = asyncio.get_running_loop()
    threading.Thread(target=_hear_parent, args=(loop, host), daemon=True, name="parent").start()
    logging.basicConfig(level=logging.CRITICAL)
    await host.run()


def main() -> None:
    stdout = worker.take_stdout()
    config, _ = worker.receive(sys.stdin.buffer)
    warnings.simplefilter("ignore")
    contain()
    try:
        asyncio.run(_run(config, _sender(stdout)))
    finally:
        kill_all()
        os._exit(0)


if __name__ == "__main__":
    main()
