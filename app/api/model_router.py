"""The models of `skein serve`: each is loaded when it is asked for, others make room for it, idle ones sleep.

As llama-server's router does; states and events bear its words (tools/server/server-models.cpp). The thread
of the asyncio loop.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from app.api.engine_client import NO_MODEL, SERVER_STOPPED, Defaults, EngineClient
from app.api.errors import ApiError, invalid, unavailable
from app.api.state import ServedModel
from app.api.threaded_engine import OnProgress, OpenedEngine, ThreadedEngine
from app.engine.prompts.message_reader import MessageReaders
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.commands import Command
from app.protocol.errors import EngineError, ModelLoadCancelledError, NoRoomYetError
from app.protocol.model import ModelInfo
from app.system.freed_memory import give_back

T = TypeVar("T")

NOT_FOUND = "model is not found"
LATEST = ":latest"  # Ollama's clients add it to a name without a tag


class ModelState(StrEnum):
    UNLOADED = "unloaded"
    LOADING = "loading"
    LOADED = "loaded"
    SLEEPING = "sleeping"  # unloaded, since nobody has asked for so long


THERE = (ModelState.LOADED, ModelState.SLEEPING)


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that can be loaded. Without a name it is the server's only one, which goes by any.

    `open_engine` is told what the others would free, in bytes by device name, and then as `OpenEngine`.
    """

    open_engine: Callable[[Mapping[str, int], OnProgress, Callable[[], None]], OpenedEngine]
    info: ModelInfo | None = None  # as far as its file tells; None: nobody asks before it was loaded
    name: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class RoutedModel:
    """A model that is there or not. Its client sees it as an engine, and asks it only while it is there."""

    def __init__(
        self,
        offer: Offer,
        defaults: Defaults | None,
        reading: MessageReaders,
        on_changed: Callable[[RoutedModel], None],
        on_failed: Callable[[EngineError], None],
    ) -> None:
        self.offer, self.info = offer, offer.info
        self.client = EngineClient(self, defaults=defaults, reading=reading)
        self.state = ModelState.UNLOADED
        self.failure = ""  # why it is not loaded
        self.num_users = 0  # requests that it answers
        self.num_waiting = 0  # those that wait for it to be loaded
        self.used_at = 0  # the number of its last use
        self.gives_way = False  # another one waits for its room
        self.is_called_off = False
        self.loading: asyncio.Task[EngineError | None] | None = None
        self.leaving: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self._engine: ThreadedEngine | None = None
        self._on_changed, self._on_failed = on_changed, on_failed

    @property
    def is_ready(self) -> bool:
        """Requests can begin."""
        return self.state is ModelState.LOADED and not self.leaving and not self.gives_way

    @property
    def is_busy(self) -> bool:
        """An answer may outlive its request: a window elsewhere comes back for it."""
        return self.num_users > 0 or self.client.num_open > 0

    @property
    def served(self) -> ServedModel:
        offer, info = self.offer, self.info
        assert info, "nobody asks before it was loaded"
        status: dict[str, Any] = {"value": self.state.value, "args": []} if offer.name else {}
        if self.failure and status:
            status |= {"failed": True, "exit_code": 1, "error": self.failure}
        name = offer.name or (*offer.aliases, info.name)[0]  # never its path
        return ServedModel(self.client, name, info, offer.aliases, offer.tags, status)

    async def start(self, reclaimable: Mapping[str, int]) -> None:
        """Raises EngineError."""
        self._engine = engine = ThreadedEngine(partial(self.offer.open_engine, reclaimable))
        self.failure = ""
        self._change(ModelState.LOADING)
        try:
            self.info = await engine.start(self.client.on_reports)
            with suppress(ApiError):
                await self.client.template_facts()  # they are asked about while it sleeps, too
            if engine.is_called_off:
                raise ModelLoadCancelledError("The load was called off.")
            if engine.model is None:  # it has ended already
                raise engine.ended.result() or EngineError("The engine stopped.")
        except EngineError as error:
            await engine.stop()
            self._engine = None
            if not isinstance(error, NoRoomYetError | ModelLoadCancelledError):
                self._fail(error)
            self._change(ModelState.UNLOADED)
            raise
        self._change(ModelState.LOADED)
        engine.ended.add_done_callback(lambda ended: self._on_ended(engine, ended.result()))

    async def stop(self, state: ModelState = ModelState.UNLOADED) -> None:
        engine, self._engine = self._engine, None
        if engine:
            await engine.stop()
            give_back()
        self._change(state)

    def call_off(self) -> None:
        """Ends its load, if there is one."""
        if self._engine and self.state is ModelState.LOADING:
            self._engine.call_off()

    def _on_ended(self, engine: ThreadedEngine, error: EngineError | None) -> None:
        if engine is self._engine:  # by itself
            self._engine = None
            self._fail(error or EngineError(SERVER_STOPPED))
            self._change(ModelState.UNLOADED)

    def _fail(self, error: EngineError) -> None:
        self.failure = str(error)
        self._on_failed(error)
        self.client.fail_open(self.failure)

    def _change(self, state: ModelState) -> None:
        if state is not self.state:
            self.state = state
            self._on_changed(self)

    # What its client asks of an engine.

    @property
    def model(self) -> ModelInfo | None:
        """The one that it has, or will have again when it wakes up."""
        if self.state is ModelState.LOADING and self._engine:
            return self._engine.model
        return self.info if self.state in THERE else None

    @property
    def is_asleep(self) -> bool:
        return self.state is ModelState.SLEEPING

    def post(self, command: Command) -> None:
        """One that is unloaded need not be told that a request has ended."""
        if self._engine and self.state is ModelState.LOADED:
            self._engine.post(command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        assert self._engine, "a model is asked only while it is leased"
        return self._engine.use_prompts(work)


class ModelRouter:
    """Has at most `max_loaded` models at once, 0: as many as fit. Each sleeps `idle_s` after its last use."""

    def __init__(
        self,
        offers: Sequence[Offer],
        *,
        max_loaded: int = 0,
        idle_s: float | None = None,
        defaults: Defaults | None = None,
        on_failed: Callable[[EngineError], None] = lambda _error: None,
    ) -> None:
        """`on_failed` gets the error of an engine that has ended, or could not be loaded."""
        self.max_loaded, self._idle_s = max_loaded, idle_s
        self._reading = MessageReaders()
        self._models = [RoutedModel(one, defaults, self._reading, self._tell, on_failed) for one in offers]
        for one in self._models:
            one.client.on_changed = partial(self._note_use, one)
        self._turn = asyncio.Lock()  # to load one: who waits for it is served in order
        self._changed = asyncio.Event()  # is set once, then replaced
        self._uses = itertools.count(1)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listeners: set[asyncio.Queue[dict[str, Any]]] = set()

    @property
    def models(self) -> Sequence[ServedModel]:
        return [one.served for one in self._models if one.info]

    @asynccontextmanager
    async def lease(
        self, name: str, /, *, loads: bool = True, is_use: bool = True
    ) -> AsyncIterator[ServedModel]:
        """Raises ApiError, also for a name that is not known, and EngineError."""
        one = self._named(name)
        if one.info is None:
            raise unavailable(NO_MODEL)
        if one.state is ModelState.UNLOADED and not loads:
            raise invalid("model is not loaded")
        if not is_use and one.state in THERE:
            yield one.served
            return
        await self._ready(one)
        one.num_users, one.used_at = one.num_users + 1, next(self._uses)
        self._note_use(one)
        try:
            yield one.served
        finally:
            one.num_users -= 1
            self._note_use(one)

    async def start(self) -> None:
        """Loads the first one. Raises EngineError."""
        await self._ready(self._models[0])

    def load(self, name: str) -> None:
        one = self._known(name)
        if one is None:
            raise ApiError(404, NOT_FOUND)
        if one.state is not ModelState.UNLOADED:
            raise invalid("model is already running")
        self._spawn(self._bring(one))

    def unload(self, name: str) -> None:
        one = self._known(name)
        if one is None or one.state is ModelState.UNLOADED:
            raise invalid("model is not running" if one else NOT_FOUND)
        if one.state is ModelState.LOADING:
            one.is_called_off = True
            one.call_off()
        else:
            self._unload(one)

    @contextmanager
    def listen(self) -> Iterator[asyncio.Queue[dict[str, Any]]]:
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    def close(self) -> None:
        for one in self._models:
            one.client.close()
        self._reading.close()
        self._note_change()

    async def stop(self) -> None:
        """Unloads all, after `close`."""
        for one in self._models:
            one.call_off()
            if one.timer:
                one.timer.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)
        for one in self._models:
            await one.stop()

    def _named(self, name: str) -> RoutedModel:
        """Raises ApiError, with llama-server's words."""
        if not self._models[0].offer.name:
            return self._models[0]
        if not name:
            raise invalid("model name is missing from the request", "model")
        if one := self._known(name):
            return one
        raise invalid(f"model '{name}' not found", "model", "model_not_found")

    def _known(self, name: str) -> RoutedModel | None:
        names = {name, name.removesuffix(LATEST)}
        return next((one for one in self._models if names & {one.offer.name, *one.offer.aliases}), None)

    async def _ready(self, one: RoutedModel) -> None:
        """Waits until it is loaded; a load that nobody waits for is called off. Raises EngineError."""
        one.num_waiting += 1
        try:
            while not one.is_ready:
                one.loading = one.loading or self._spawn(self._load(one))
                await self._attempt(one, one.loading)
        finally:
            one.num_waiting -= 1
            if not one.num_waiting:
                one.call_off()
            self._note_change()

    async def _attempt(self, one: RoutedModel, loading: asyncio.Task[EngineError | None]) -> None:
        await self._until(lambda: one.is_ready or loading.done())
        if loading.done() and (error := loading.result()):
            raise error

    async def _bring(self, one: RoutedModel) -> None:
        with suppress(EngineError):  # /v1/models tells it
            await self._ready(one)

    async def _load(self, one: RoutedModel) -> EngineError | None:
        """In its turn, if anybody still waits for it. Returns why it could not be loaded."""
        try:
            async with self._turn:
                one.is_called_off = False
                if one.leaving:
                    await one.leaving
                while one.num_waiting and one.state is not ModelState.LOADED:
                    await self._load_or_make_room(one)
                # Who waited begins before the next in turn may want its room.
                await self._until(lambda: not (one.num_waiting and one.is_ready))
        except EngineError as error:
            return error
        finally:
            one.loading = None
            self._note_use(one)
            asyncio.get_running_loop().call_soon(self._note_change)  # once this task is done
        return None

    async def _load_or_make_room(self, one: RoutedModel) -> None:
        """Raises EngineError, also for one that can never fit."""
        if one.client.is_closed:
            raise ModelLoadCancelledError(SERVER_STOPPED)
        loaded = [other for other in self._models if other.state is ModelState.LOADED]
        held = Counter[str]()
        for other in loaded:
            held.update(other.info.held_bytes if other.info else {})
        if self.max_loaded and len(loaded) >= self.max_loaded:
            return await self._make_room(one, loaded)
        try:
            await one.start(held)
            one.used_at = next(self._uses)
        except NoRoomYetError:
            await self._make_room(one, loaded)
        except ModelLoadCancelledError:
            if one.is_called_off:
                raise

    async def _make_room(self, one: RoutedModel, loaded: list[RoutedModel]) -> None:
        """Unloads the idle one unused longest, or else the first whose answers end.

        Meanwhile nothing new begins with the one unused longest, so that nobody waits for ever.
        """
        loaded.sort(key=lambda other: other.used_at)
        loaded[0].gives_way = True
        await self._until(lambda: not one.num_waiting or not all(other.is_busy for other in loaded))
        loaded[0].gives_way = False
        idle = next((other for other in loaded if not other.is_busy), None)
        if one.num_waiting and idle:
            await self._unload(idle)
        self._note_change()

    def _unload(self, one: RoutedModel, state: ModelState = ModelState.UNLOADED) -> asyncio.Task[None]:
        one.leaving = one.leaving or self._spawn(self._let_go(one, state))
        return one.leaving

    async def _let_go(self, one: RoutedModel, state: ModelState) -> None:
        await self._until(lambda: not one.is_busy)
        if one.state in THERE:
            await one.stop(state)
        one.leaving = None
        self._note_change()

    def _note_use(self, one: RoutedModel) -> None:
        """A use has begun or ended; it falls asleep so long after the last one."""
        if one.timer:
            one.timer.cancel()
        if self._idle_s and one.is_ready and not one.is_busy:
            loop = asyncio.get_running_loop()
            one.timer = loop.call_later(self._idle_s, self._unload, one, ModelState.SLEEPING)
        self._note_change()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    def _note_change(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _tell(self, one: RoutedModel) -> None:
        data: dict[str, Any] = {"status": one.state.value}
        if one.state is ModelState.UNLOADED:
            data["exit_code"] = 1 if one.failure else 0
        # llama-server calls the first event of a load otherwise.
        kind = "model_status" if one.state is ModelState.LOADING else "status_change"
        for queue in self._listeners:
            queue.put_nowait({"model": one.offer.name, "event": kind, "data": data})
        self._note_change()

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
