"""The engine as the API sees it: requests in, their outputs as an asynchronous iterator out.

Knows no HTTP. Runs on an asyncio loop's thread, and never makes the engine wait: outputs are buffered until
they are read, and a reader that is too slow loses its answer. What it needs of an engine is `EngineAccess`:
`ThreadedEngine` provides it without Qt, the window's `Engines` with Qt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from app.api.conversations import Conversations
from app.api.errors import ApiError, invalid, unavailable
from app.api.fair_queue import FairQueue
from app.api.json_body import as_json
from app.api.metrics import Metrics, PromptProgress
from app.engine.prompts.message_reader import MessageReaders
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.commands import Abort, Command, Forget, SlotCommand, Submit
from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import SlotAnswer, StepReport
from app.protocol.request import Caller, Message, Overflow, Request, Role
from app.protocol.sampling import SamplingParams


@dataclass(frozen=True, slots=True)
class Defaults:
    """For requests without values of their own. With `is_verbose`, chat answers include the whole prompt."""

    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    overflow: Overflow = Overflow.STOP
    template_variables: str = ""
    is_verbose: bool = False

    def check(self) -> None:
        """Raises InvalidRequestError for values that a request could not have either."""
        self.sampling(SamplingParams())
        self.applied_to(Request("", "", (Message(Role.USER, ""),)))
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InvalidRequestError(f"max_tokens must be at least 1, not {self.max_tokens}.")

    def sampling(self, recommended: SamplingParams) -> SamplingParams:
        """Raises InvalidRequestError."""
        given: dict[str, Any] = {"temperature": self.temperature, "seed": self.seed}
        return replace(recommended, **{name: value for name, value in given.items() if value is not None})

    def applied_to(self, request: Request, **more: Any) -> Request:
        """With `more` of its fields changed in the same go: there may be a thousand requests at once."""
        changes: dict[str, Any] = {"overflow": self.overflow, **more}
        if request.max_tokens is None:
            changes["max_tokens"] = self.max_tokens
        if self.template_variables and request.messages:
            changes["template_variables"] = _merged(self.template_variables, request.template_variables)
        return replace(request, **changes)


@lru_cache(maxsize=8)  # copies of one request have the same ones
def _merged(ours: str, theirs: str) -> str:
    name = "The template variables"
    return as_json(read_object(ours, name) | read_object(theirs, name))


T = TypeVar("T")

MAX_OPEN = (
    2048  # requests, those included that wait their turn; beyond it only those of a small demand are taken
)
SMALL = 32  # requests at once; a connection asks for no more before it is answered
MAX_UNREAD_BYTES = 256 * 1024  # of one answer
BYTES_PER_LOGPROB = 64  # about what one takes as JSON
QUIET_SECONDS = 15.0  # after so long without output the reader gets an empty list

TOO_SLOW = "The answer was not read as fast as it was written, so it was ended."
SERVER_STOPPED = "The server was stopped."
NO_MODEL = "Loading model"  # llama-server's words

# Who asks in this task. The server sets it for every request, so that no endpoint can forget to tell it.
CALLER: ContextVar[Caller] = ContextVar("caller")
UNKNOWN = Caller("API")


class EngineAccess(Protocol):
    """An engine on another thread. All calls come from the asyncio loop's thread and return at once."""

    @property
    def model(self) -> ModelInfo | None:
        """None while none is loaded."""

    @property
    def is_asleep(self) -> bool:
        """The model has freed its memory; the next request loads it again."""

    def post(self, command: Command) -> None: ...

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Calls `work` beside the engine, where templates are rendered and texts are tokenized."""


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """Chat templates (Jinja), `tool_…` for chats with tools, and how BOS and EOS are written."""

    source: str
    tool_source: str
    bos_text: str
    eos_text: str


class OpenAnswers:
    """The outputs of requests that belong together. Leaving the `with` block ends what is still running.

    Iterates over lists of (index of the request, output), each with all that has come since the one before,
    or empty when nothing has come for QUIET_SECONDS. Ends when every request has had its last output.
    """

    def __init__(self, client: EngineClient, requests: Sequence[Request], reports_progress: bool) -> None:
        self.requests = tuple(requests)
        self.seq_ids: dict[int, int] = {}  # of each request that has or had a slot, by its index
        self._client = client
        self._index = {request.request_id: index for index, request in enumerate(requests)}
        self._unfinished = set(self._index)
        self._progress = {request_id: PromptProgress() for request_id in self._index if reports_progress}
        self._unread: list[tuple[int, Output]] = []
        self._num_unread_bytes = 0
        self._arrived = asyncio.Event()
        self._failure: ApiError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[tuple[int, Output]]:
        if not self._unread and not self._unfinished and not self._failure:
            raise StopAsyncIteration
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                await self._arrived.wait()
        except TimeoutError:
            return []
        if self._failure:
            raise self._failure
        return self._take()

    def abort(self) -> None:
        """Abort what is still running. Its last outputs are dropped."""
        unfinished, self._unfinished = self._unfinished, set()
        self._client.abort(*(self.requests[self._index[request_id]] for request_id in unfinished))

    def note(self, report: StepReport, request_id: str) -> None:
        """`report` has a lease or rows of this request."""
        for lease in report.leases:
            if lease.request_id == request_id:
                self.seq_ids[self._index[request_id]] = lease.seq_id
        if request_id in self._progress:
            for progress in self._progress[request_id].updates(report, request_id):
                self.put(progress)

    def put(self, output: Output) -> None:
        if output.request_id not in self._unfinished:
            return
        if output.finish_reason:
            self._unfinished.discard(output.request_id)
        self._unread.append((self._index[output.request_id], output))
        self._num_unread_bytes += _size(output)
        self._arrived.set()
        if self._num_unread_bytes > MAX_UNREAD_BYTES:
            self.fail(unavailable(TOO_SLOW))

    def fail(self, error: ApiError) -> None:
        """End all of it; the reader gets `error` instead of the outputs it has not read."""
        self._failure = error
        self._unread.clear()
        self._arrived.set()
        self.abort()

    def _take(self) -> list[tuple[int, Output]]:
        taken, self._unread = self._unread, []
        self._num_unread_bytes = 0
        self._arrived.clear()
        return taken


class Reader(Protocol):
    """Gets the outputs of open requests."""

    def note(self, report: StepReport, request_id: str) -> None:
        """`report` has a lease or rows of this request."""

    def put(self, output: Output) -> None: ...

    def fail(self, error: ApiError) -> None:
        """There are no more."""


class EngineClient:
    """Submits requests to the engine and routes its outputs to their callers.

    Requests beyond what the engine can soon begin wait here, where callers take turns. With
    `num_spare_slots`, so many slots stay free for others.
    """

    def __init__(
        self,
        engine: EngineAccess,
        num_spare_slots: int = 0,
        max_open: int = MAX_OPEN,
        defaults: Defaults | None = None,
        reading: MessageReaders | None = None,
    ) -> None:
        """`reading` is closed by whoever has made it."""
        self._engine = engine
        self.defaults = defaults or Defaults()
        self.metrics = Metrics()
        self.reading = reading or MessageReaders()
        self._has_own_reading = reading is None
        self._num_spare_slots = num_spare_slots
        self._max_open = max_open
        self._open: dict[str, Reader] = {}  # by request id
        self._queue = FairQueue()
        self._queries: dict[str, asyncio.Future[SlotAnswer]] = {}  # about slots, by their ids
        self._conversations = Conversations(lambda chat_id: engine.post(Forget(chat_id)))
        self._is_letting_in = False
        self.is_closed = False
        self._facts: tuple[ModelInfo, TemplateFacts] | None = None
        self.last_report: StepReport | None = None
        self.on_changed: Callable[[], None] = lambda: None  # a request has come or gone
        self.listeners: list[Callable[[Sequence[StepReport]], None]] = []  # they get all reports, too

    @property
    def model(self) -> ModelInfo:
        """Raises ApiError (503) while none is loaded."""
        if self._engine.model is None:
            raise unavailable(NO_MODEL)
        return self._engine.model

    @property
    def has_model(self) -> bool:
        return self._engine.model is not None

    @property
    def sampling(self) -> SamplingParams:
        """The sampling of a request that sets nothing. Raises ApiError (503)."""
        return self.defaults.sampling(self.model.sampling)

    @property
    def is_asleep(self) -> bool:
        return self._engine.is_asleep

    async def template_facts(self) -> TemplateFacts:
        """Asked once for each model, which need not be awake the next time. Raises ApiError (503)."""
        model = self.model
        if self._facts is None or self._facts[0] is not model:
            self._facts = (
                model,
                await self.use_prompts(
                    lambda prompts: TemplateFacts(*prompts.template_sources, *prompts.edge_texts)
                ),
            )
        return self._facts[1]

    def require_model(self) -> None:
        """Raises ApiError (503) while none is loaded."""
        _ = self.model

    @property
    def num_open(self) -> int:
        return len(self._open)

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the callers' chats for the inspector, by chat id."""
        return self._conversations.titles

    @property
    def num_waiting(self) -> int:
        """Requests that were not submitted to the engine yet."""
        return len(self._queue)

    def answer(self, *requests: Request, reports_progress: bool = False) -> OpenAnswers:
        """A request without a chat id gets one. `reports_progress` asks for Progress among the outputs.

        Raises ApiError (503) while no model is loaded, and when too many requests are open.
        """
        num_slots = self._num_slots(self.model)
        self._check_room(len(requests))
        caller = CALLER.get(UNKNOWN)
        complete = [self.defaults.applied_to(one, caller=caller) for one in requests]
        named = [one if one.chat_id else self._conversations.begin(one, num_slots) for one in complete]
        answers = OpenAnswers(self, named, reports_progress)
        self._add(named, answers)
        return answers

    def lend(self, request: Request, reader: Reader) -> None:
        """A request of a window elsewhere, as it is. Raises ApiError (503)."""
        self.require_model()
        self._check_room(1)
        self._add([request], reader)

    def _add(self, requests: Sequence[Request], reader: Reader) -> None:
        for request in requests:
            self._open[request.request_id] = reader
            self._queue.add(request)
        self._let_in()
        self.on_changed()

    def abort(self, *requests: Request) -> None:
        """All at once: when the first has ended, none of the others is begun."""
        with self._not_letting_in():
            for request in requests:
                self.withdraw(request)
        self._let_in()

    def withdraw(self, request: Request) -> bool:
        """Abort one. True: it was still waiting, so that the engine tells no end of it."""
        if self._open.pop(request.request_id, None) is None:
            return False
        was_waiting = self._queue.end(request.request_id)
        if not was_waiting:
            self.post(Abort(request.request_id))
        self._end(request.chat_id, was_begun=not was_waiting)
        return was_waiting

    def post(self, command: Command) -> None:
        """What needs no turn; dropped while no model is loaded."""
        if self._engine.model:
            self._engine.post(command)

    async def use_prompts(self, work: Callable[[PromptBuilder], T]) -> T:
        """What `work` returns, called on the thread where prompts are made. Raises ApiError (503)."""
        self.require_model()
        return await asyncio.wrap_future(self._engine.use_prompts(work))

    async def ask(self, command: SlotCommand) -> SlotAnswer:
        """Raises ApiError: 503 while no model is loaded, 400 when it is refused."""
        self.require_model()
        asked: asyncio.Future[SlotAnswer] = asyncio.get_running_loop().create_future()
        self._queries[command.query_id] = asked
        asked.add_done_callback(lambda _done: self._queries.pop(command.query_id))
        self._engine.post(command)
        answer = await asked
        if answer.refusal:
            raise invalid(answer.refusal)
        return answer

    def on_reports(self, reports: Sequence[StepReport]) -> None:
        """Takes the engine's reports, in order."""
        for report in reports:
            self.metrics.note(report)
            concerned = {lease.request_id for lease in report.leases}
            concerned.update(span.request_id for span in report.spans if span.is_prefill)
            for request_id in concerned & self._open.keys():
                self._open[request_id].note(report, request_id)
            for output in report.outputs:
                self.on_output(output)
            for answer in report.answers:
                if isinstance(answer, SlotAnswer) and (asked := self._queries.get(answer.query_id)):
                    asked.set_result(answer)
        if reports:
            self.last_report = reports[-1]
        for listen in tuple(self.listeners):  # one may leave meanwhile
            listen(reports)

    def on_output(self, output: Output) -> None:
        """Outputs of others are ignored."""
        answers = self._open.get(output.request_id)
        if answers is None:
            return
        if output.finish_reason:
            del self._open[output.request_id]
            self._queue.end(output.request_id)
            self._end(output.chat_id, was_begun=output.finish_reason is not FinishReason.ERROR)
        answers.put(output)

    def close(self) -> None:
        """Ends every answer; no more are begun."""
        self.is_closed = True
        self.fail_open(SERVER_STOPPED)
        if self._engine.model:
            for chat_id in self.titles:
                self._engine.post(Forget(chat_id))
        if self._has_own_reading:
            self.reading.close()

    def fail_open(self, reason: str) -> None:
        """Every answer that is being written ends with `reason`, and 503."""
        for answers in set(self._open.values()):
            answers.fail(unavailable(reason))
        for asked in list(self._queries.values()):
            if not asked.done():
                asked.set_exception(unavailable(reason))

    def _end(self, chat_id: str, *, was_begun: bool) -> None:
        self._conversations.end(chat_id, was_begun=was_begun)
        self._let_in()
        self.on_changed()

    def _let_in(self) -> None:
        if self._is_letting_in:  # an engine that is gone ends a request during its submission
            return
        with self._not_letting_in():
            while request := self._queue.take(self._num_places):
                self._engine.post(Submit(request))

    @contextmanager
    def _not_letting_in(self) -> Iterator[None]:
        """`_let_in` does nothing within the block."""
        before, self._is_letting_in = self._is_letting_in, True
        try:
            yield
        finally:
            self._is_letting_in = before

    def _check_room(self, num_requests: int) -> None:
        """Raises ApiError (503). Who asks for little is never turned away by those who ask for much."""
        if self.is_closed:
            raise unavailable(SERVER_STOPPED)
        if self._open and num_requests > SMALL and len(self._open) + num_requests > self._max_open:
            raise unavailable(
                f"{len(self._open)} requests are being answered or wait. Ask for at most {SMALL} at once, or "
                "try again later."
            )

    @property
    def _num_places(self) -> int:
        """How many requests the engine has at a time, as many of them in its own queue as in slots."""
        if self._engine.model is None:
            return len(self._open)  # it ends them all
        num_slots = self._num_slots(self._engine.model)
        return num_slots if self._num_spare_slots else 2 * num_slots

    def _num_slots(self, model: ModelInfo) -> int:
        """For requests from outside. Another server has places and turns of its own."""
        if model.is_foreign:
            return SMALL
        return max(1, model.n_seq_max - self._num_spare_slots)


def _size(output: Output) -> int:
    num_logprobs = sum(1 + len(token.likeliest) for token in output.logprobs)
    return len(output.text) + 4 * len(output.token_ids) + BYTES_PER_LOGPROB * num_logprobs
