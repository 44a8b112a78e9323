"""One context with the slots in it and who plans its steps. A step is one decode in one of them.

Engine thread only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.engine.batch import Batch

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.inspection import Inspection
    from app.engine.scheduler import Scheduler
    from app.engine.slots import SlotPool


@dataclass(eq=False, slots=True)
class Lane:
    backend: Backend
    slots: SlotPool
    scheduler: Scheduler
    inspection: Inspection
    batch: Batch = field(init=False)  # of the next step, or of the one that runs

    def __post_init__(self) -> None:
        self.batch = Batch(self.backend.model.n_batch)

    def has(self, chat_id: str) -> bool:
        """Whether cells of the chat are here, or its saved state is of this context."""
        hibernated, fingerprint = self.slots.hibernated, self.backend.fingerprint
        is_here = any(slot.chat_id == chat_id for slot in self.slots.slots)
        return is_here or hibernated.fits(chat_id, fingerprint)

    def leave(self, chat_id: str) -> None:
        """The chat goes on in another lane, where nothing that was computed here is of use."""
        if self.has(chat_id) and all(seq.request.chat_id != chat_id for seq in self.scheduler.sequences):
            self.slots.clear_chat(chat_id)
