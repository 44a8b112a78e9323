"""The models of the window as callers of its API know them: any of the library, each with its own engine.

A request that names none of them is for the model that chats have. All but `EnginePort` is for the thread of
the API's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from app.api.engine_client import NO_MODEL, EngineClient
from app.api.errors import invalid, unavailable
from app.api.model_router import ModelState
from app.api.served_files import served_files
from app.api.state import ServedModel
from app.bridge.engines import FOR_ALL, Engines
from app.bridge.model_engine import ModelEngine, pass_on
from app.models.model_file import ModelFile, name_of
from app.protocol.commands import Command
from app.protocol.model import ModelInfo
from app.protocol.output import Output
from app.protocol.report import StepReport

if TYPE_CHECKING:
    from app.engine.prompts.message_reader import MessageReaders
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")


class WindowModels:
    def __init__(
        self,
        port: EnginePort,
        files: Callable[[], Iterable[ModelFile]],
        on_changed: Callable[[WindowModels], None],
        reading: MessageReaders | None,
    ) -> None:
        """`files` of the library, asked for on this thread. `on_changed`: a request has come or gone."""
        self.port, self._files = port, files
        self._on_changed, self._reading = on_changed, reading
        self._clients: dict[str, EngineClient] = {}  # by address

    @property
    def models(self) -> Sequence[ServedModel]:
        return list(self._by_address.values())

    @asynccontextmanager
    async def lease(
        self, name: str, /, *, loads: bool = True, is_use: bool = True
    ) -> AsyncIterator[ServedModel]:
        known = self._by_address
        named = (address for address, one in known.items() if name in (one.name, *one.aliases))
        address = next(named, self.port.default)
        if broken := next((one for one in self._files() if one.problem and name == name_of(one.path)), None):
            raise unavailable(f"{name} cannot be used: {broken.problem}.")
        served = known.get(address)
        if served is None:
            raise unavailable(NO_MODEL)
        if not served.client.has_model:
            if not loads:
                raise invalid("model is not loaded")
            if is_use:
                await asyncio.wrap_future(_Engine(self.port, address).use_prompts(lambda _prompts: None))
                served = replace(served, info=served.client.model)
        yield served

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    @property
    def num_open(self) -> int:
        return sum(client.num_open for client in self._clients.values())

    @property
    def titles(self) -> dict[str, str]:
        return {chat: title for one in self._clients.values() for chat, title in one.titles.items()}

    def on_reports(self, address: str, reports: Sequence[StepReport]) -> None:
        if client := self._clients.get(address):
            client.on_reports(reports)

    def on_output(self, output: Output) -> None:
        for client in self._clients.values():
            client.on_output(output)

    @property
    def _by_address(self) -> dict[str, ServedModel]:
        """The default one comes first."""
        chat_models = (one for one in self._files() if one.can_chat)
        files = {str(one.info.path): one for one in served_files(chat_models)}
        default = self.port.default
        served: dict[str, ServedModel] = {}
        for address in dict.fromkeys((default, *files) if default else files):
            client, file = self._client(address), files.get(address)
            info = client.model if client.has_model else file and file.info
            if info:
                names = tuple(dict.fromkeys((file.name, *file.aliases, info.name))) if file else (info.name,)
                status = {"value": self._state(address).value, "args": ()}
                served[address] = ServedModel(client, names[0], info, names[1:], status=status)
        return served

    def _state(self, address: str) -> ModelState:
        engine = self.port.known(address)
        if engine and engine.is_loading:
            return ModelState.LOADING
        if engine is None or engine.model is None:
            return ModelState.UNLOADED
        return ModelState.SLEEPING if engine.is_asleep else ModelState.LOADED

    def _client(self, address: str) -> EngineClient:
        if address not in self._clients:
            client = EngineClient(_Engine(self.port, address), num_spare_slots=1, reading=self._reading)
            client.on_changed = lambda: self._on_changed(self)
            self._clients[address] = client
        return self._clients[address]


class _Engine:
    """The `EngineAccess` of one address."""

    def __init__(self, port: EnginePort, address: str) -> None:
        self._port, self._address = port, address

    @property
    def model(self) -> ModelInfo | None:
        engine = self._port.known(self._address)
        return engine.model if engine else None

    @property
    def is_asleep(self) -> bool:
        engine = self._port.known(self._address)
        return engine is None or engine.is_asleep

    def post(self, command: Command) -> None:
        self._port.posted.emit(self._address, command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        future: Future[T] = Future()
        self._port.asked.emit(self._address, work, future)
        return future


class EnginePort(QObject):
    """The engines, for another thread. What it asks of them reaches them on the GUI thread, in its order."""

    posted = Signal(str, object)  # address, Command
    # Address, what gets its PromptBuilder, the Future of what that returns.
    asked = Signal(str, object, object)

    def __init__(self, engines: Engines, parent: QObject) -> None:
        super().__init__(parent)
        self._engines = engines
        self.known = engines.known  # what it returns has a model and a state that any thread may read
        self.posted.connect(self._post)
        self.asked.connect(self._use_prompts)

    @property
    def default(self) -> str:
        """Address of the model of a request that names none. "": there is none. Any thread."""
        params = self._engines.of_callers.params
        return params.address if params else ""

    @Slot(str, object)
    def _post(self, address: str, command: Command) -> None:
        engine = self._engines if isinstance(command, FOR_ALL) else self._called(address)
        engine.post(command)

    @Slot(str, object, object)
    def _use_prompts(self, address: str, work: Callable[[PromptBuilder], T], future: Future[T]) -> None:
        pass_on(self._called(address).use_prompts(work), future)

    def _called(self, address: str) -> ModelEngine:
        self._engines.called.add(address)
        return self._engines.at(address)
