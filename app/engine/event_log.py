"""Collects events and leases for the next report.

Engine thread only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.prefix import common_prefix
from app.engine.prompt import CachedPrefix
from app.protocol.report import Event, EventKind, Lease
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.sequence import Sequence, Slot

TOKENS_SHOWN = 8  # of a lease, around where wanted and held tokens diverge


class EventLog:
    """Events and leases until the engine takes them for a report."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.leases: list[Lease] = []

    def take(self) -> tuple[tuple[Event, ...], tuple[Lease, ...]]:
        """All since the last call."""
        if not (self.events or self.leases):
            return (), ()
        taken = tuple(self.events), tuple(self.leases)
        self.events, self.leases = [], []
        return taken

    def add(self, kind: EventKind, text: str, slot: Slot | None = None, chat_id: str | None = None) -> None:
        """Adds an event. Its chat defaults to the slot's."""
        seq_id = slot.seq_id if slot else None
        self.events.append(Event(kind, text, seq_id, chat_id or (slot.chat_id if slot else None)))

    def add_lease(self, seq: Sequence, slot: Slot, prefix: CachedPrefix) -> None:
        is_again = bool(seq.leased_at)
        counts = {"seq_id": slot.seq_id, "there": prefix.num_tokens, "missing": seq.num_pending_tokens}
        if is_again:
            text = said("resumed sequence {seq_id}: {there} tokens there, {missing} to compute", **counts)
        else:
            text = said("leased sequence {seq_id}: {there} tokens there, {missing} to compute", **counts)
        self.add(EventKind.RESUME if is_again else EventKind.LEASE, text, slot)

    def add_release(self, slot: Slot, is_kept: bool) -> None:
        held = {"seq_id": slot.seq_id, "tokens": len(slot.token_ids)}
        if is_kept:
            text = said("released sequence {seq_id}: {tokens} tokens kept", **held)
        else:
            text = said("released sequence {seq_id}: {tokens} tokens freed", **held)
        self.add(EventKind.RELEASE, text, slot)

    def add_saved(self, slot: Slot, is_kept: bool) -> None:
        """The slot's chat was evicted, with its state saved or not."""
        held = {"seq_id": slot.seq_id, "tokens": len(slot.token_ids)}
        if is_kept:
            text = said("hibernated sequence {seq_id}: {tokens} tokens", **held)
        else:
            text = said("evicted sequence {seq_id}: {tokens} tokens", **held)
        self.add(EventKind.HIBERNATE if is_kept else EventKind.EVICT, text, slot)

    def add_restored(self, slot: Slot, chat_id: str, num_tokens: int) -> None:
        text = said("restored sequence {seq_id}: {tokens} tokens", seq_id=slot.seq_id, tokens=num_tokens)
        self.add(EventKind.RESTORE, text, slot, chat_id)

    def add_doubt(self, slot: Slot, chat_id: str) -> None:
        text = said(
            "the saved state for sequence {seq_id} could not be used: computing it again", seq_id=slot.seq_id
        )
        self.add(EventKind.RESTORE, text, slot, chat_id)

    def note_lease(self, seq: Sequence, slot: Slot, held: list[int], prefix: CachedPrefix) -> None:
        """`held` are the tokens its chat had, in cells or saved, before the lease."""
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
                prefix_end=seq.prefix_end,
                is_from_checkpoint=prefix.is_from_checkpoint,
                wanted=tuple(seq.token_ids[start : start + TOKENS_SHOWN]),
                held=tuple(held[start : start + TOKENS_SHOWN]),
                common=tuple(held[max(0, start - TOKENS_SHOWN) : start]),
            )
        )
