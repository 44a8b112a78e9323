"""`skein serve --engine` lends its engine to windows elsewhere. On the asyncio loop of the server.

Each window is a caller with turns. What it asks for reads no file here. If its connection breaks, its answers
go on for a while, and it gets all that it missed.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from aiohttp import web

from app.api.engine_client import CALLER, NO_MODEL, EngineClient
from app.api.errors import ApiError, unavailable
from app.api.lent_view import LentView, outputs_alone, thinned
from app.api.state import ServedModel, ServedModels
from app.engine.prompts.prompts_elsewhere import work_of
from app.protocol import commands
from app.protocol.commands import Command, ends
from app.protocol.errors import EngineError
from app.protocol.events import EventKind, Told
from app.protocol.lens import LeaveOut, LensQuestion, ReadAttention
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import CellUsage, SlotAnswer, StepReport
from app.protocol.request import Caller, Request
from app.protocol.wire import COMMAND, MODEL, ReportWriter, WireError, frame, packed_error
from app.remote.link import HEARTBEAT_S, MAX_FRAME_BYTES, PATH, STAYS, VERSION, Files, Link, first_message
from app.system.said import packed, said

HELLO_S = 10.0
GRACE_S = 15 * 60.0  # in which answers go on although nobody reads them
STATES_S = 0.1  # between two reports with all states
MANY_BYTES, MOST_BYTES = 2 << 20, 16 << 20  # unread: from there on outputs alone; then the window is given up
MAX_WINDOWS, MAX_REQUESTS, MAX_CHATS, MAX_QUESTIONS = 64, 256, 10_000, 16
CONTROL = (commands.Pause, commands.Resume, commands.StepOnce, commands.RunUntil)
IGNORED = (*STAYS, commands.Abort, commands.AbortAll)  # what is aborted is withdrawn, one by one
NOT_LENT = said("This engine is lent without control: it cannot be paused from here (--engine-control).")


class Lender:
    def __init__(
        self, engines: ServedModels, *, gives_control: bool = False, grace_s: float = GRACE_S
    ) -> None:
        self.gives_control, self.grace_s = gives_control, grace_s
        self.files = Files()
        self._engines = engines
        self._windows: dict[str, _Window] = {}

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_get(PATH, self._serve)

    async def close(self, _application: web.Application) -> None:
        for window in list(self._windows.values()):
            window.end()

    def watch_cells(self, client: EngineClient) -> None:
        windows = [window for window in self._windows.values() if window.client is client]
        client.post(commands.WatchCells(any(window.watches_cells for window in windows)))

    def leave(self, window: _Window) -> None:
        self._windows.pop(window.name, None)
        self.watch_cells(window.client)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        """Raises ApiError (503) while no model is loaded."""
        if not self._engines.models:
            raise unavailable(NO_MODEL)
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_FRAME_BYTES)
        await socket.prepare(request)
        with suppress(WireError, LookupError, TimeoutError, ConnectionError):
            async with asyncio.timeout(HELLO_S):
                hello, _ = await first_message(socket)
            if refusal := self._refusal(hello):
                await socket.send_bytes(frame({"refusal": packed(refusal)}))
            elif window := await self._window(hello):
                await window.talk(socket, hello["seen"])
            else:
                await socket.send_bytes(frame({"is_gone": True}))
        await socket.close()
        return socket

    def _refusal(self, hello: dict[str, Any]) -> str:
        version, name = hello.get("version"), hello.get("name")
        if version != VERSION:
            return said(
                "The engine there speaks version {ours}, and this window version {theirs}. "
                "Update the older Skein of the two.",
                ours=VERSION,
                theirs=version if isinstance(version, int) and abs(version) < 1000 else "?",
            )
        model = self._engines.models[0]
        if name not in (model.name, *model.aliases):
            return said("The engine there has {name} now. Choose it in the list of models.", name=model.name)
        if not hello.get("session") and len(self._windows) >= MAX_WINDOWS:
            return said("Too many windows use the engine there. Try again later.")
        return ""

    async def _window(self, hello: dict[str, Any]) -> _Window | None:
        """The one that was here before, or a new one. None: it was given up. Raises ApiError."""
        if hello.get("session"):
            return self._windows.get(str(hello["session"]))
        lease = AsyncExitStack()  # the model stays loaded as long as the window uses it
        model = await lease.enter_async_context(self._engines.lease(str(hello["name"])))
        window = _Window(self, model, lease, CALLER.get().program)
        self._windows[window.name] = window
        return window


class _Window:
    def __init__(self, lender: Lender, model: ServedModel, lease: AsyncExitStack, program: str) -> None:
        self.name, self.client, self.watches_cells = secrets.token_urlsafe(16), model.client, False
        self._lender, self._model, self._lease = lender, model, lease
        self._caller = Caller(program, self.name)
        self._view, self._writer = LentView(), ReportWriter()
        self._link = Link(self._on_message, lender.files)
        self._open: dict[str, Request] = {}
        self._chats: set[str] = set()
        self._told: StepReport | None = None
        self._states_at = 0.0
        self._has_ended = False
        self._talking: asyncio.Task[Any] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._patience: asyncio.TimerHandle | None = None
        self.client.listeners.append(self.tell)

    async def talk(self, socket: web.WebSocketResponse, seen: int) -> None:
        """Until the connection ends. Raises WireError."""
        former, self._talking = self._talking, asyncio.current_task()
        if former:  # of a connection that broke, which only the window has noticed
            former.cancel()
            await asyncio.wait({former})
        if self._patience:
            self._patience.cancel()
        welcome = {"session": self.name, "seen": self._link.seen, "clock": time.perf_counter()}
        try:
            await socket.send_bytes(frame(welcome, *MODEL.packed(_public(self._model))))
            await self._link.run(socket, seen)
        except WireError:
            self.end()
        finally:
            if self._talking is asyncio.current_task():
                self._talking = None
            if not self._talking and not self._has_ended:
                self._patience = asyncio.get_running_loop().call_later(self._lender.grace_s, self.end)

    def end(self) -> None:
        """It will not come back: nothing of it is kept."""
        if self._has_ended:
            return
        self._has_ended = True
        self._lender.leave(self)
        self.client.listeners.remove(self.tell)
        for request in self._open.values():
            self.client.withdraw(request)
        for chat_id in self._chats:
            self.client.post(commands.Forget(chat_id))
        self._open, self._chats = {}, set()
        self._tasks.add(asyncio.ensure_future(self._lease.aclose()))
        if self._talking:
            self._talking.cancel()
        if self._patience:
            self._patience.cancel()

    # What the engine says.

    def tell(self, reports: Sequence[StepReport]) -> None:
        if not reports:
            return
        if self._link.num_unseen_bytes > MOST_BYTES:
            self.end()
            return
        told = []
        for report in reports:
            ended = [output.request_id for output in report.outputs if output.finish_reason]
            for request_id in ended:
                self._open.pop(request_id, None)
            if not self.watches_cells:
                report = replace(report, cell_map=None)
            self._told = self._thinned(self._view.shown(report), is_end=bool(ended))
            told.append(self._told)
        self._link.put({"do": "reports"}, *self._writer.packed(told))

    def _thinned(self, report: StepReport, *, is_end: bool) -> StepReport:
        """An end is told whole: the engine may have nothing to do from there on."""
        now = time.monotonic()
        if self._told and report.spans and not is_end:
            if self._link.num_unseen_bytes > MANY_BYTES:
                return outputs_alone(report, self._told)
            if now - self._states_at < STATES_S:
                return thinned(report, self._told)
        self._states_at = now
        return report

    def _say(self, **changes: Any) -> None:
        """A report for this window alone, of no step."""
        last = self.client.last_report or StepReport(0, (), (), (), CellUsage(0))
        self.tell([last.without_step(**changes)])

    # What the window says.

    def _on_message(self, message: dict[str, Any], parts: list[bytes]) -> None:
        match message["do"]:
            case "post":
                self._obey(COMMAND.unpacked(parts))
            case "prompts":
                self._answer(message["id"], message["name"], parts)
            case "bye":
                asyncio.get_running_loop().call_soon(self.end)
            case _:
                raise WireError("this is no message for a lender")

    def _obey(self, command: Command) -> None:
        command = self._view.named_command(command)
        for request in [one for one in self._open.values() if ends(command, one)]:
            self._withdraw(request)
        match command:
            case commands.Submit(request):
                self._submit(self._allowed(request))
            case commands.Forget(chat_id):
                self._chats.discard(chat_id)
                self.client.post(command)
            case commands.Fork(_, new_chat_id):
                self._note_chat(new_chat_id)
                self.client.post(command)
            case commands.WatchCells(is_watching):
                self.watches_cells = is_watching
                self._lender.watch_cells(self.client)
            case commands.SaveSlot(query_id) | commands.FillSlot(query_id) | commands.EraseSlot(query_id):
                self._say(answers=(SlotAnswer(query_id, refusal=NOT_LENT),))
            case _ if isinstance(command, CONTROL) and not self._lender.gives_control:
                self._say(events=(Told(EventKind.CONNECTION, NOT_LENT),))
            case _ if isinstance(command, IGNORED):
                pass
            case _:
                _check(command, self.client.model)
                self.client.post(command)

    def _allowed(self, request: Request) -> Request:
        """Raises WireError for a picture under the name of another, whose encoding it would take."""
        for media in chain.from_iterable(message.media for message in request.messages):
            if hashlib.sha256(media.file).hexdigest() != media.sha256:
                raise WireError("a file is not what it says")
        self._note_chat(request.chat_id)
        return replace(request, caller=self._caller, is_saved=False, embeds=False)

    def _note_chat(self, chat_id: str) -> None:
        self._chats.add(chat_id)
        if len(self._chats) > MAX_CHATS:
            raise WireError("it has too many chats")

    def _submit(self, request: Request) -> None:
        if request.request_id in self._open:
            raise WireError("this is asked already")
        try:
            if len(self._open) >= MAX_REQUESTS:
                raise ApiError(503, said("Too many answers are open. Wait for some of them."))
            self.client.lend(request, self)
        except ApiError as error:
            self._end_request(request, FinishReason.ERROR, str(error))
        else:
            self._open[request.request_id] = request

    def _withdraw(self, request: Request) -> None:
        if self.client.withdraw(request):  # the engine knows nothing of it
            self._end_request(request, FinishReason.ABORT)

    def _end_request(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        self._say(outputs=(Output(request.request_id, request.chat_id, "", reason, notice),))

    # It is the `Reader` of its answers. What these say is in the reports.

    def note(self, report: StepReport, request_id: str) -> None: ...

    def put(self, output: Output) -> None: ...

    def fail(self, error: ApiError) -> None:
        for request in list(self._open.values()):
            self.client.withdraw(request)
            self._end_request(request, FinishReason.ERROR, str(error))

    def _answer(self, number: int, name: object, arguments: list[bytes]) -> None:
        if len(self._tasks) >= MAX_QUESTIONS:
            raise WireError("it asks too much")
        task = asyncio.ensure_future(self._answered(number, name, arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answered(self, number: int, name: object, arguments: list[bytes]) -> None:
        answer, value = {"do": "answer", "id": number}, []
        try:
            value = await self.client.use_prompts(work_of(name, arguments))
        except ApiError as error:
            answer["error"] = packed_error(EngineError(str(error)))
        except Exception as error:  # the window gets it with the answer
            answer["error"] = packed_error(error)
        self._link.put(answer, *value)


def _check(command: Command, model: ModelInfo) -> None:
    """Raises WireError for questions about tokens that the model does not have."""
    if not isinstance(command, LensQuestion):
        return
    num_tokens = len(command.token_ids)
    spans = [command.part] if isinstance(command, ReadAttention | LeaveOut) else []
    spans += command.spans if isinstance(command, LeaveOut) else []
    if not all(0 <= start < end <= num_tokens for start, end in spans) or not num_tokens:
        raise WireError("a part is none of the tokens")
    if max(command.token_ids) >= model.n_vocab:
        raise WireError("a token is none of the model's")


def _public(model: ServedModel) -> ModelInfo:
    """Without folders of this machine."""
    projector = model.info.senses.projector and Path(model.info.senses.projector.name)
    senses = replace(model.info.senses, projector=projector)
    return replace(model.info, path=Path(model.name), adapters=(), senses=senses)
