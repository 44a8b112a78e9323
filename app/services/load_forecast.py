"""Forecasts a load of one model with given settings: memory, and invalid settings. GUI thread.

Reads its header once and estimates the memory in a thread, for the newest settings only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.models.gguf_header import GgufHeader, HeaderError
from app.models.load_limits import adapter_refusal, refusals, remarks
from app.models.memory_fit import Fit, advice, largest_n_ctx, plan
from app.models.model_file import open_header, read_whole_header, why_unusable
from app.protocol.load import LoadParams
from app.protocol.model import Device, MemoryNeed
from app.services.model_fits import ExpectedRoom, Taken


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """What one GPU or worker would take of its own memory."""

    device: str
    needed_bytes: int
    free_bytes: int  # 0: unknown


@dataclass(frozen=True, slots=True)
class Forecast:
    need: MemoryNeed  # of all machines together
    free_bytes: int  # of this machine
    fit: Fit
    advice: str = ""  # what would fit instead, if this does not
    smaller_n_ctx: int = 0  # a context that would fit; 0: this one does, or none does
    needed_here_bytes: int = 0
    elsewhere: tuple[MemoryPart, ...] = ()
    taken: Taken | None = None  # of the model as it is loaded now
    silent: tuple[str, ...] = ()  # workers that do not tell their memory: whether it fits is not known


class LoadForecast(QObject):
    changed = Signal()

    def __init__(self, path: Path, engine: Engines, parent: QObject) -> None:
        super().__init__(parent)
        self._path = path
        self._engine = engine
        self._header: GgufHeader | None = None
        self._wanted: LoadParams | None = None
        self._workers: tuple[Device, ...] = ()
        self._is_working = False
        self.forecast: Forecast | None = None  # for the newest settings; None: not known yet
        self.problem = ""  # why there is no forecast: the file cannot be read

    def ask(self, params: LoadParams, workers: Iterable[Device] = ()) -> None:
        """`changed` follows. Workers are those that `params` names, as far as their state is known."""
        self._wanted, self._workers = params, tuple(workers)
        if not self._is_working:
            self._is_working = True
            spawn(self._work())

    def refusals(self, params: LoadParams) -> dict[str, str]:
        """By the name of the setting. Nothing is known before the header has been read."""
        return refusals(self._header, params) if self._header else {}

    def remarks(self, params: LoadParams) -> dict[str, str]:
        return remarks(self._header, params) if self._header else {}

    async def why_not_adapter(self, path: Path) -> str:
        """Empty if it can be used with this model."""
        return await asyncio.to_thread(self._why_not_adapter, path)

    async def _work(self) -> None:
        try:
            while (params := self._wanted) is not None:
                self._wanted = None
                room, taken = ExpectedRoom.of(self._engine).with_workers(self._workers), self._taken()
                forecast = await asyncio.to_thread(self._forecast, params, room, taken)
                if not isValid(self):  # the dialog was closed
                    return
                if self._wanted is None:
                    self.forecast = forecast
                    self.changed.emit()
        finally:
            self._is_working = False

    def _taken(self) -> tuple[LoadParams, int] | None:
        """The parameters and memory of this model, if it is in use."""
        engine = self._engine.known(str(self._path))
        params, model = (engine.loaded_params, engine.model) if engine else (None, None)
        return (params, model.memory.total_bytes) if params and model else None

    # In a thread.

    def _forecast(
        self, params: LoadParams, expected: ExpectedRoom, taken: tuple[LoadParams, int] | None
    ) -> Forecast | None:
        try:
            header = self._header = self._header or read_whole_header(self._path)
        except (HeaderError, OSError) as error:
            self.problem = why_unusable(self._path, error)
            return None
        room = expected.room(params)
        best = plan(header, params, room)
        forecast = Forecast(
            best.need,
            room.here_bytes,
            best.fit,
            needed_here_bytes=best.needs[0].total_bytes,
            elsewhere=tuple(
                MemoryPart(device.name, need.total_bytes, device.free_bytes)
                for device, need in zip(room.devices, best.needs[1:], strict=True)
            ),
            taken=self._compared(header, expected, *taken) if taken else None,
            silent=tuple(worker.name for worker in room.workers if not worker.total_bytes),
        )
        if best.fit is Fit.FITS:
            return forecast
        smaller = largest_n_ctx(header, params, room)
        return replace(
            forecast,
            advice=advice(header, params, room),
            smaller_n_ctx=smaller if smaller < params.n_ctx else 0,
        )

    def _compared(
        self, header: GgufHeader, expected: ExpectedRoom, params: LoadParams, taken_bytes: int
    ) -> Taken:
        return Taken(plan(header, params, expected.room(params)).need.total_bytes, taken_bytes)

    def _why_not_adapter(self, path: Path) -> str:
        try:
            adapter = open_header(path)
        except (HeaderError, OSError) as error:
            return why_unusable(path, error)
        return adapter_refusal(adapter, self._header) if self._header else ""
