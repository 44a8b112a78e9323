"""What is wanted of every engine to come. GUI thread.

A pinned chat and an open map are wishes about a chat and a panel, so they outlive a model. A pause is about
the batch that comes next: a new model would seem to hang in it, so it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.bridge.engine_thread import EngineThread
from app.protocol.commands import Command, Pin, WatchCells
from app.protocol.load import CellStore, Speed


@dataclass(slots=True)
class EngineWishes:
    front_chat_id: str | None = None
    speed: Speed = Speed.RESPONSIVE
    cell_store: CellStore | None = None
    pinned_chat_ids: set[str] = field(default_factory=set)
    is_watching_cells: bool = False

    def note(self, command: Command) -> None:
        match command:
            case Pin(chat_id, True):
                self.pinned_chat_ids.add(chat_id)
            case Pin(chat_id, False):
                self.pinned_chat_ids.discard(chat_id)
            case WatchCells(is_watching):
                self.is_watching_cells = is_watching

    def tell(self, engine: EngineThread) -> None:
        engine.set_speed(self.speed)
        engine.keep_cells(self.cell_store)
        engine.set_front(self.front_chat_id)
        for chat_id in self.pinned_chat_ids:
            engine.post(Pin(chat_id))
        if self.is_watching_cells:
            engine.post(WatchCells())
