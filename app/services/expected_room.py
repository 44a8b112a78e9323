"""The memory that a model would have: what is free, plus what the present model will free.

Made on the GUI thread, which knows the engine; evaluated on any other, since it waits for other machines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.bridge.active_engine import ActiveEngine
from app.engine.children.workers import ask
from app.models.memory_fit import room_for
from app.models.memory_need import Room
from app.protocol.load import LoadParams
from app.protocol.model import Device, DeviceKind
from app.system.memory import free_memory_bytes


@dataclass(frozen=True, slots=True)
class ExpectedRoom:
    """This machine's free memory is queried last, when it is needed."""

    given_back_bytes: int = 0  # of this machine's memory, by unloading the present model
    gpus: tuple[Device, ...] = ()  # none before the first load, when the library was not asked
    workers: tuple[Device, ...] = ()  # known without asking, such as those in use

    @classmethod
    def of(cls, engine: ActiveEngine | None) -> ExpectedRoom:
        """The library reported the free memory with the model loaded; for workers, from before."""
        if not engine or not engine.model:
            return cls()
        model, held = engine.model, engine.model.held_bytes
        gpus = tuple(
            replace(gpu, free_bytes=gpu.free_bytes + held.get(gpu.name, 0)) for gpu in model.library.gpus
        )
        if engine.is_asleep:  # it has freed its memory
            return cls(gpus=gpus)
        shared = [gpu.name for gpu in gpus if gpu.kind is DeviceKind.INTEGRATED]
        return cls(sum(held.get(name, 0) for name in ("", *shared)), gpus, model.workers)

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
