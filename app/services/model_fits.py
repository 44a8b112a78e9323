"""Estimates for each model whether it fits into free memory, one after the other in a thread.

An estimate reads the header of the file again, so it is made on demand only. GUI thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.model_engine import ModelEngine
from app.bridge.tasks import spawn
from app.engine.children.workers import ask
from app.models.gguf_header import HeaderError
from app.models.memory_fit import Fit, advice, fit_of, plan, room_for
from app.models.memory_need import Room
from app.models.model_file import ModelFile, read_whole_header
from app.protocol.load import LoadParams
from app.protocol.model import Device, DeviceKind
from app.services.preferences import Preferences
from app.settings.load import load_params
from app.system.machine import free_memory_bytes


@dataclass(frozen=True, slots=True)
class ExpectedRoom:
    """The memory that a model would have: what is free, plus what the present models will free.

    Made on the GUI thread, which knows the engine; evaluated on any other, since it waits for other machines.
    This machine's free memory is queried last, when it is needed.
    """

    given_back_bytes: int = 0  # of this machine's memory, by unloading the present models
    gpus: tuple[Device, ...] = ()  # none before the first load, when the library was not asked
    workers: tuple[Device, ...] = ()  # known without asking, such as those in use

    @classmethod
    def of(cls, engine: Engines | None) -> ExpectedRoom:
        """The library reported the free memory with the model loaded; for workers, from before."""
        if not engine or not engine.model:
            return cls()
        model, held = engine.model, engine.model.held_bytes
        gpus = tuple(
            replace(gpu, free_bytes=gpu.free_bytes + held.get(gpu.name, 0)) for gpu in model.library.gpus
        )
        shared = [gpu.name for gpu in gpus if gpu.kind is DeviceKind.INTEGRATED]
        given_back = sum(engine.held_bytes.get(name, 0) for name in ("", *shared))
        return cls(given_back, gpus, () if engine.is_asleep else model.workers)

    def with_workers(self, workers: Iterable[Device]) -> ExpectedRoom:
        return replace(self, workers=(*self.workers, *workers))

    def total_bytes(self) -> int:
        """The memory of this machine, for any model."""
        return self.room(LoadParams(Path())).total_bytes

    def room(self, params: LoadParams) -> Room:
        workers = [self._worker(address) for address in params.workers]
        return room_for(params, free_memory_bytes() + self.given_back_bytes, self.gpus, workers)

    def _worker(self, address: str) -> Device:
        if ours := next((worker for worker in self.workers if worker.name == address), None):
            return ours
        return ask(address).device


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The fit of a model if it were loaded now with its settings."""

    needed_bytes: int
    free_bytes: int
    advice: str = ""  # what would fit, where this does not
    worst_fit: Fit | None = None  # where it takes memory in several places

    @property
    def fit(self) -> Fit:
        return self.worst_fit or fit_of(self.needed_bytes, self.free_bytes)


@dataclass(frozen=True, slots=True)
class Taken:
    """The memory of the model in use: estimated, and as reported by the library."""

    expected_bytes: int
    taken_bytes: int


@dataclass(frozen=True, slots=True)
class _Load:
    """The key of an estimate. A file that was replaced has another size, too."""

    params: LoadParams
    size_bytes: int


class ModelFits(QObject):
    changed = Signal()  # another model is in use, or none: ask again
    estimated = Signal(object)  # Path of the estimated model

    def __init__(self, preferences: Preferences, engine: Engines, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._engine = engine
        self._known: dict[_Load, Fitting] = {}
        self._models: tuple[ModelFile, ...] = ()  # to be estimated
        self._asked: dict[_Load, None] = {}  # in their order
        self._is_working = False
        self._is_closing = False
        preferences.changed.connect(self._on_setting_changed)
        engine.changed.connect(self.changed)

    def fitting(self, model: ModelFile) -> Fitting | None:
        """None: it is no chat model, or not estimated yet."""
        return self._known.get(self._load(model)) if model.can_chat else None

    def taken(self, model: ModelFile) -> Taken | None:
        """None: it is not in use, or not estimated yet."""
        loaded, engine = self._loaded(model), self._engine_of(model)
        expected = self._known.get(loaded) if loaded else None
        if not expected or not (engine and engine.model):
            return None
        return Taken(expected.needed_bytes, engine.model.memory.total_bytes)

    def ask(self, models: Iterable[ModelFile]) -> None:
        """Estimates these models, and cancels others. `estimated` follows for each."""
        self._models = tuple(model for model in models if model.can_chat)
        self._asked = dict.fromkeys(self._loaded(model) or self._load(model) for model in self._models)
        if self._asked and not self._is_working and not self._is_closing:
            self._is_working = True
            spawn(self._work())

    def close(self) -> None:
        self._is_closing = True
        self._asked.clear()

    async def _work(self) -> None:
        try:
            while self._asked:
                load = next(iter(self._asked))
                del self._asked[load]
                if found := await asyncio.to_thread(self._fitting, load, ExpectedRoom.of(self._engine)):
                    self._known[load] = found
                    self.estimated.emit(load.params.path)
        finally:
            self._is_working = False

    def _fitting(self, load: _Load, expected: ExpectedRoom) -> Fitting | None:
        """In a thread. The file of a model that is known to fit is not read again."""
        room, known = expected.room(load.params), self._known.get(load)
        if known and not room.devices and fit_of(known.needed_bytes, room.here_bytes) is Fit.FITS:
            return replace(known, free_bytes=room.here_bytes, advice="", worst_fit=Fit.FITS)
        try:
            header = read_whole_header(load.params.path)
        except (OSError, HeaderError) as error:
            log.info("What %s needs is not known: %s", load.params.path, error)
            return None
        if not all(room.is_known(place) for place in range(len(room.workers) + 1)):
            return None  # a worker does not answer: nobody knows
        best = plan(header, load.params, room)
        advised = advice(header, load.params, room)
        return Fitting(best.need.total_bytes, room.total_bytes, advised, best.fit)

    def _load(self, model: ModelFile) -> _Load:
        return _Load(load_params(self._preferences.settings, model.path), model.size_bytes)

    def _loaded(self, model: ModelFile) -> _Load | None:
        """How it was loaded, if it is in use."""
        engine = self._engine_of(model)
        params = engine.loaded_params if engine else None
        return _Load(params, model.size_bytes) if params else None

    def _engine_of(self, model: ModelFile) -> ModelEngine | None:
        return next((one for one in self._engine if one.params and one.params.path in model.parts), None)

    @Slot(str)
    def _on_setting_changed(self, _name: str) -> None:
        """Nearly any setting may affect how a model is loaded."""
        if self._models:
            self.ask(self._models)
