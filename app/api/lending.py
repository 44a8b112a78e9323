"""`skein serve --engine` lends its engine to windows elsewhere. On the asyncio loop of the server.

Each window is a caller with turns. What it asks for reads no file here. If its connection breaks, its answers
go on for a while, and it gets all that it missed.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web

from app.api.engine_client import CALLER, EngineClient
from app.api.errors import ApiError
from app.api.lent_view import LentView, outputs_alone, thinned
from app.api.state import model_names
from app.engine.prompts.prompts_elsewhere import answer_of, work_of
from app.protocol import commands
from app.protocol.commands import Command, ends
from app.protocol.errors import EngineError
from app.protocol.events import EventKind, Told
from app.protocol.lens import LeaveOut, LensQuestion, ReadAttention
from app.protocol.media import Media
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import CellUsage, SlotAnswer, StepReport
from app.protocol.request import Caller, Message, Request
from app.protocol.wire import COMMAND, MODEL, ReportWriter, WireError, frame
from app.remote.link import HEARTBEAT_S, MAX_FRAME_BYTES, PATH, VERSION, Link, first_message
from app.system.said import packed, said

HELLO_S = 10.0
GRACE_S = 15 * 60.0  # in which answers go on although nobody reads them
STATES_S = 0.1  # between two reports with all states
MANY_BYTES, MOST_BYTES = 2 << 20, 16 << 20  # unread: from there on outputs alone; then the window is given up
MAX_WINDOWS, MAX_REQUESTS, MAX_CHATS, MAX_QUESTIONS = 64, 256, 10_000, 16
MAX_MEDIA_BYTES = 256 << 20
CONTROL = (commands.Pause, commands.Resume, commands.StepOnce, commands.RunUntil)
# Every window says these of itself. The lender alone decides about them.
OURS = (commands.SetFront, commands.SetSpeed, commands.KeepCells, commands.Pin)
NOT_LENT = said("This engine is lent without control: it cannot be paused from here (--engine-control).")


class Lender:
    def __init__(
        self, client: EngineClient, *, gives_control: bool = False, grace_s: float = GRACE_S
    ) -> None:
        self.client, self.gives_control, self.grace_s = client, gives_control, grace_s
        self.media = MediaFiles()
        self._windows: dict[str, _Window] = {}
        client.listeners.append(self._on_reports)

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_get(PATH, self._serve)

    async def close(self, _application: web.Application) -> None:
        for window in list(self._windows.values()):
            window.end()

    def watch_cells(self) -> None:
        is_watching = any(window.watches_cells for window in self._windows.values())
        self.client.post(commands.WatchCells(is_watching))

    def leave(self, window: _Window) -> None:
        self._windows.pop(window.name, None)
        self.watch_cells()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        """Raises ApiError (503) while no model is loaded."""
        model = self.client.model
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_FRAME_BYTES)
        await socket.prepare(request)
        try:
            async with asyncio.timeout(HELLO_S):
                hello, _ = await first_message(socket)
            if refusal := self._refusal(hello, model_names(request.app)):
                await socket.send_bytes(frame({"refusal": packed(refusal)}))
            elif window := self._window(hello):
                await window.talk(socket, hello["seen"], MODEL.packed(_public(model, hello)))
            else:
                await socket.send_bytes(frame({"is_gone": True}))
        except (WireError, LookupError, TimeoutError, ConnectionError):
            pass
        await socket.close()
        return socket

    def _refusal(self, hello: dict[str, Any], names: Sequence[str]) -> str:
        version, name = hello.get("version"), hello.get("name")
        if version != VERSION:
            return said(
                "The engine there speaks version {ours}, and this window version {theirs}. "
                "Update the older Skein of the two.",
                ours=VERSION,
                theirs=version if isinstance(version, int) and abs(version) < 1000 else "?",
            )
        if name not in names:
            return said("The engine there has {name} now. Choose it in the list of models.", name=names[0])
        if len(self._windows) >= MAX_WINDOWS:
            return said("Too many windows use the engine there. Try again later.")
        return ""

    def _window(self, hello: dict[str, Any]) -> _Window | None:
        """The one that was here before, or a new one. None: it was given up."""
        if hello.get("session"):
            return self._windows.get(str(hello["session"]))
        window = _Window(self, secrets.token_urlsafe(16), CALLER.get().program)
        self._windows[window.name] = window
        return window

    def _on_reports(self, reports: Sequence[StepReport]) -> None:
        for window in list(self._windows.values()):
            window.tell(reports)


class _Window:
    def __init__(self, lender: Lender, name: str, program: str) -> None:
        self.name, self.watches_cells = name, False
        self._lender, self._client = lender, lender.client
        self._caller = Caller(program, name)
        self._view, self._link, self._writer = LentView(), Link(self._on_message), ReportWriter()
        self._open: dict[str, Request] = {}
        self._incomplete: dict[str, Request] = {}  # pictures or sounds of these are on their way
        self._chats: OrderedDict[str, None] = OrderedDict()
        self._told: StepReport | None = None
        self._states_at = 0.0
        self._talking: asyncio.Task[Any] | None = None
        self._questions: set[asyncio.Task[None]] = set()
        self._patience: asyncio.TimerHandle | None = None

    async def talk(self, socket: web.WebSocketResponse, seen: int, model: list[bytes]) -> None:
        """Until the connection ends. Raises WireError."""
        former, self._talking = self._talking, asyncio.current_task()
        if former:  # of a connection that broke, which only the window has noticed
            former.cancel()
            await asyncio.wait({former})
        if self._patience:
            self._patience.cancel()
        welcome = {"session": self.name, "seen": self._link.seen, "clock": time.perf_counter()}
        try:
            await socket.send_bytes(frame(welcome, *model))
            await self._link.run(socket, seen)
        except WireError:
            self.end()
        finally:
            if self._talking is asyncio.current_task():
                self._talking = None
                self._patience = asyncio.get_running_loop().call_later(self._lender.grace_s, self.end)

    def end(self) -> None:
        """It will not come back: nothing of it is kept."""
        self._lender.leave(self)
        for request in self._open.values():
            if request.request_id not in self._incomplete:
                self._client.withdraw(request)
        for chat_id in self._chats:
            self._client.post(commands.Forget(chat_id))
        self._open, self._chats = {}, OrderedDict()
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
            self._told = self._thinned(self._view.shown(report), is_end=bool(ended))
            told.append(self._told)
        self._link.put({"do": "reports"}, *self._writer.packed(told))

    def _thinned(self, report: StepReport, *, is_end: bool) -> StepReport:
        """An end is told whole: the engine may have nothing to do from there on."""
        now = time.monotonic()
        if self._told and self._link.num_unseen_bytes > MANY_BYTES:
            return outputs_alone(report, self._told)
        if self._told and report.spans and not is_end and now - self._states_at < STATES_S:
            return thinned(report, self._told)
        self._states_at = now
        return report

    def _say(self, **changes: Any) -> None:
        """A report for this window alone, of no step."""
        last = self._client.last_report or StepReport(0, (), (), (), CellUsage(0))
        nothing: dict[str, Any] = {"outputs": (), "spans": (), "events": (), "leases": (), "answers": ()}
        self.tell([replace(last, **{**nothing, "cell_map": None, **changes})])

    # What the window says.

    def _on_message(self, message: dict[str, Any], parts: list[bytes]) -> None:
        match message["do"]:
            case "post":
                self._obey(COMMAND.unpacked(parts))
            case "media":
                self._lender.media.add(*parts)
                for request in list(self._incomplete.values()):
                    self._submit(request)
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
                self._begin(self._allowed(request))
            case commands.ReadAhead(request):
                self._client.post(commands.ReadAhead(self._allowed(request)))
            case commands.Abort() | commands.AbortAll():
                pass
            case commands.Fork(_, new_chat_id):
                self._note_chat(new_chat_id)
                self._client.post(command)
            case commands.WatchCells(is_watching):
                self.watches_cells = is_watching
                self._lender.watch_cells()
            case commands.SaveSlot(query_id) | commands.FillSlot(query_id) | commands.EraseSlot(query_id):
                self._say(answers=(SlotAnswer(query_id, refusal=NOT_LENT),))
            case _ if isinstance(command, CONTROL) and not self._lender.gives_control:
                self._say(events=(Told(EventKind.CONNECTION, NOT_LENT),))
            case _ if isinstance(command, OURS):
                pass
            case _:
                _check(command, self._client.model)
                self._client.post(command)

    def _allowed(self, request: Request) -> Request:
        self._note_chat(request.chat_id)
        return replace(request, caller=self._caller, is_saved=False, embeds=False)

    def _note_chat(self, chat_id: str) -> None:
        self._chats[chat_id] = None
        self._chats.move_to_end(chat_id)
        if len(self._chats) > MAX_CHATS:
            oldest, _ = self._chats.popitem(last=False)
            self._client.post(commands.Forget(oldest))

    def _begin(self, request: Request) -> None:
        if request.request_id in self._open:
            raise WireError("this is asked already")
        if len(self._open) >= MAX_REQUESTS:
            notice = said("Too many answers are open. Wait for some of them.")
            self._end_request(request, FinishReason.ERROR, notice)
        else:
            self._open[request.request_id] = request
            self._submit(request)

    def _submit(self, request: Request) -> None:
        filled, missing = self._lender.media.filled(request)
        if missing:
            if request.request_id not in self._incomplete:
                for sha256 in missing:
                    self._link.put({"do": "need", "sha256": sha256})
            self._incomplete[request.request_id] = request
            return
        self._incomplete.pop(request.request_id, None)
        try:
            self._client.lend(filled, self)
        except ApiError as error:
            self._end_request(request, FinishReason.ERROR, str(error))

    # It is the `Reader` of its answers. What these say is in the reports.

    def note(self, report: StepReport, request_id: str) -> None: ...

    def put(self, output: Output) -> None: ...

    def fail(self, error: ApiError) -> None:
        for request in [one for one in self._open.values() if one.request_id not in self._incomplete]:
            self._client.withdraw(request)
            self._end_request(request, FinishReason.ERROR, str(error))

    def _withdraw(self, request: Request) -> None:
        is_elsewhere = self._incomplete.pop(request.request_id, None) is not None
        if is_elsewhere or self._client.withdraw(request):  # the engine knows nothing of it
            self._end_request(request, FinishReason.ABORT)

    def _end_request(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        end = Output(request.request_id, request.chat_id, finish_reason=reason, notice=notice)
        self._say(outputs=(end,))

    def _answer(self, number: int, name: object, arguments: list[bytes]) -> None:
        if len(self._questions) >= MAX_QUESTIONS:
            raise WireError("it asks too much")
        task = asyncio.ensure_future(self._answered(number, name, arguments))
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)

    async def _answered(self, number: int, name: object, arguments: list[bytes]) -> None:
        done: Future[list[bytes]] = Future()
        try:
            done.set_result(await self._client.use_prompts(work_of(name, arguments)))
        except ApiError as error:
            done.set_exception(EngineError(str(error)))
        except Exception as error:  # the window gets it with the answer
            done.set_exception(error)
        answer, value = answer_of(done)
        self._link.put({"do": "answer", "id": number} | answer, *value)


class MediaFiles:
    """Pictures and sounds that were sent, by their hashes: those used last, within MAX_MEDIA_BYTES."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._num_bytes = 0

    def add(self, file: bytes) -> None:
        sha256 = hashlib.sha256(file).hexdigest()
        self._num_bytes += len(file) - len(self._files.pop(sha256, b""))
        self._files[sha256] = file
        while self._num_bytes > MAX_MEDIA_BYTES:
            _, oldest = self._files.popitem(last=False)
            self._num_bytes -= len(oldest)

    def filled(self, request: Request) -> tuple[Request, list[str]]:
        """With its files, or the hashes of those that are missing."""
        every = [media for message in request.messages for media in message.media]
        missing = sorted({media.sha256 for media in every} - self._files.keys())
        if missing or not every:
            return request, missing
        return replace(request, messages=tuple(map(self._filled_message, request.messages))), []

    def _filled_message(self, message: Message) -> Message:
        return replace(message, media=tuple(map(self._filled_media, message.media)))

    def _filled_media(self, media: Media) -> Media:
        self._files.move_to_end(media.sha256)
        return replace(media, file=self._files[media.sha256])


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


def _public(model: ModelInfo, hello: dict[str, Any]) -> ModelInfo:
    """Without folders of this machine."""
    projector = model.senses.projector and Path(model.senses.projector.name)
    senses = replace(model.senses, projector=projector)
    return replace(model, path=Path(str(hello["name"])), adapters=(), senses=senses)
