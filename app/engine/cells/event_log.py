"""Collects events and leases for the next report.

Engine thread only.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from app.engine.cells.prefix import common_prefix
from app.engine.prompt import CachedPrefix
from app.protocol import events
from app.protocol.events import Event
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.sequence import Sequence, Slot

TOKENS_SHOWN = 8  # of a lease, around where wanted and held tokens diverge
# After these nothing is left of a chat in cells or saved.
LOST_BY: dict[type[Event], PrefixEnd] = {
    events.Evicted: PrefixEnd.EVICTED,
    events.StateLost: PrefixEnd.LOST,
    events.StateUnusable: PrefixEnd.DOUBTED,
    events.Cleared: PrefixEnd.CLEARED,
    events.StateDropped: PrefixEnd.CLEARED,
}


class EventLog:
    """Events and leases until the engine takes them for a report."""

    def __init__(self, note_lost: Callable[[str | None, PrefixEnd], None]) -> None:
        """`note_lost` is told the chat of which nothing is left, and why."""
        self._note_lost = note_lost
        self.events: list[Event] = []
        self.leases: list[Lease] = []

    def take(self) -> tuple[tuple[Event, ...], tuple[Lease, ...]]:
        """All since the last call."""
        if not (self.events or self.leases):
            return (), ()
        taken = tuple(self.events), tuple(self.leases)
        self.events, self.leases = [], []
        return taken

    def add(self, event: Event) -> None:
        self.events.append(event)
        if lost_by := LOST_BY.get(type(event)):
            self._note_lost(event.chat_id, lost_by)

    def add_lease(self, seq: Sequence, slot: Slot, prefix: CachedPrefix) -> None:
        figures = slot.seq_id, slot.chat_id, prefix.num_tokens, seq.num_pending_tokens
        self.add(events.Resumed(*figures) if seq.leased_at else events.Leased(*figures, seq.is_ahead))

    def add_saved(self, slot: Slot, is_kept: bool) -> None:
        """The slot's chat was evicted, with its state saved or not."""
        kind = events.Hibernated if is_kept else events.Evicted
        self.add(kind(slot.seq_id, slot.chat_id, len(slot.token_ids)))

    def note_lease(
        self,
        seq: Sequence,
        slot: Slot,
        held: list[int],
        prefix: CachedPrefix,
        prefix_end: PrefixEnd,
        num_ahead: int,
    ) -> None:
        """`held` are the tokens its chat had, in cells or saved, without the `num_ahead` read ahead."""
        start = common_prefix(held, seq.token_ids)
        self.leases.append(
            Lease(
                request_id=seq.request.request_id,
                chat_id=seq.request.chat_id,
                seq_id=slot.seq_id,
                num_common_tokens=start,
                num_reused_tokens=prefix.num_reused,
                num_shared_tokens=prefix.num_shared,
                num_restored_tokens=prefix.num_restored,
                num_tokens_to_compute=seq.num_pending_tokens,
                prefix_end=prefix_end,
                is_ahead=seq.is_ahead,
                num_ahead_tokens=num_ahead,
                is_from_checkpoint=prefix.is_from_checkpoint,
                wanted=tuple(seq.token_ids[start : start + TOKENS_SHOWN]),
                held=tuple(held[start : start + TOKENS_SHOWN]),
                common=tuple(held[max(0, start - TOKENS_SHOWN) : start]),
                prompt_bytes=array("i", seq.token_ids).tobytes(),
                sections=seq.sections,
                caller=seq.request.caller.program,
            )
        )
