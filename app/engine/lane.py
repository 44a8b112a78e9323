"""One context with the slots in it and who plans its steps. A step is one decode in one of them.

Engine thread only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.engine.batch import Batch

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.inspection import Inspection
    from app.engine.scheduler import Scheduler
    from app.engine.sequence import Sequence
    from app.engine.slots import SlotPool
    from app.protocol.request import Request


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


class Lanes:
    """The shared one and, once there was a repeatable answer, the private one of those."""

    def __init__(self, shared: Lane, open_private: Callable[[Lane], Lane]) -> None:
        """`open_private` is given the shared one."""
        self.shared = self.current = self._last = shared  # of this step, of the last one that was computed
        self.private: Lane | None = None
        self._open_private = open_private

    def __iter__(self) -> Iterator[Lane]:
        return iter((self.shared, self.private) if self.private else (self.shared,))

    @property
    def sequences(self) -> list[Sequence]:
        return [seq for lane in self for seq in lane.scheduler.sequences]

    def opened_for(self, request: Request) -> Lane:
        """Raises RequestError when there is no room for it."""
        if request.is_repeatable and self.private is None:
            self.private = self._open_private(self.shared)
        return self.of(request)

    def of(self, request: Request) -> Lane:
        return self.private if self.private and request.is_repeatable else self.shared

    def with_chat(self, chat_id: str) -> Lane:
        return self.private if self.private and self.private.has(chat_id) else self.shared

    def take_turn(self) -> Lane:
        """The lane of the next step: each in turn, where both have work."""
        self.current = self.shared
        if self.private and self.private.scheduler.has_work:
            is_its_turn = self._last is self.shared or not self.shared.scheduler.has_work
            self.current = self.private if is_its_turn else self.shared
        return self.current

    def note_computed(self) -> None:
        self._last = self.current
