"""Settings that are applied to every new engine. GUI thread.

A pinned chat and an open cell map belong to a chat and a panel, so they outlive a model. A pause belongs to
the next batch: a new model that began paused would seem to hang.
"""

from dataclasses import dataclass, field

from app.bridge.engine_thread import EngineThread
from app.protocol.commands import Command, Forget, KeepCells, Pin, SetFront, SetSpeed, WatchCells
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
            case SetFront(chat_id):
                self.front_chat_id = chat_id
            case SetSpeed(speed):
                self.speed = speed
            case KeepCells(store):
                self.cell_store = store
            case Forget(chat_id):
                self.pinned_chat_ids.discard(chat_id)
            case Pin(chat_id, True):
                self.pinned_chat_ids.add(chat_id)
            case Pin(chat_id, False):
                self.pinned_chat_ids.discard(chat_id)
            case WatchCells(is_watching):
                self.is_watching_cells = is_watching

    def post_to(self, engine: EngineThread) -> None:
        engine.post(SetSpeed(self.speed))
        engine.post(KeepCells(self.cell_store))
        engine.post(SetFront(self.front_chat_id))
        for chat_id in self.pinned_chat_ids:
            engine.post(Pin(chat_id))
        if self.is_watching_cells:
            engine.post(WatchCells())
