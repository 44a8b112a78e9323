"""Who holds which `seq_id`, and what its cells contain.

The only place that changes the KV memory of the library apart from decoding, and the only one that keeps
the books of it, so the two cannot drift apart. Engine thread only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.engine.cells import CellLedger
from app.engine.errors import PositionMismatchError
from app.engine.types import SlotSnapshot, SlotState, Usage

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.sequence import Sequence

# Sharing fewer cells saves less than a millisecond and ties two sequences together.
MIN_SHARED_TOKENS = 16


@dataclass(eq=False, slots=True)
class Slot:
    """One `seq_id`: the tokens its cells hold and whose they are. Outlives every sequence."""

    seq_id: int
    token_ids: list[int] = field(default_factory=list)
    chat_id: str | None = None
    leased_to: Sequence | None = None
    last_used_at: float = 0.0
    last_usage: Usage = field(default_factory=Usage)

    @property
    def state(self) -> SlotState:
        if self.leased_to:
            return SlotState.DECODE if self.leased_to.is_decoding else SlotState.PREFILL
        return SlotState.WARM if self.token_ids else SlotState.EMPTY


class SlotPool:
    """Leases slots to sequences, with as many of their tokens already computed as can be had."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.slots = tuple(Slot(seq_id) for seq_id in range(backend.model.n_seq_max))
        self.cells = CellLedger(backend.model.n_ctx, len(self.slots))

    def lease(self, seq: Sequence) -> Slot | None:
        """Give `seq` a slot, or None while all are leased.

        Its own chat's if that is warm, else the lowest empty one, else the one unused for longest.
        """
        slot = self._choose(seq)
        if slot is None:
            return None
        num_reused = self._keep_own_prefix(slot, seq)
        num_shared = self._share_longer_prefix(slot, seq)
        slot.chat_id, slot.leased_to, seq.slot = seq.request.chat_id, seq, slot
        seq.leased_at = seq.leased_at or time.perf_counter()
        seq.num_shared_tokens += num_shared
        seq.num_reused_tokens += 0 if num_shared else num_reused
        return slot

    def release(self, slot: Slot) -> None:
        """Take the slot back. Its cells stay for the chat's next turn, unless there will be none."""
        seq = slot.leased_to
        assert seq is not None
        slot.leased_to = seq.slot = None
        slot.last_used_at, slot.last_usage = time.perf_counter(), seq.usage
        if not seq.request.keep_cells:
            self.clear(slot)

    def clear(self, slot: Slot) -> None:
        """Free every cell of the slot, whatever the books say it holds."""
        self._backend.truncate(slot.seq_id, 0)
        if self._backend.pos_max(slot.seq_id) != -1:
            raise PositionMismatchError(f"sequence {slot.seq_id} still holds cells after it was cleared")
        self.cells.truncate(slot.seq_id, 0)
        slot.token_ids.clear()
        slot.chat_id, slot.last_usage = None, Usage()

    def forget(self, chat_id: str) -> None:
        """The chat has no next turn: free its cells. Its answer, if one runs, was aborted before."""
        for slot in self._warm():
            if slot.chat_id == chat_id:
                self.clear(slot)

    def evict(self) -> Slot | None:
        """Free the cells of the idle slot unused for longest; None when no slot is idle."""
        slot = min(self._warm(), key=lambda slot: slot.last_used_at, default=None)
        if slot:
            self.clear(slot)
        return slot

    def note_decoded(self, slot: Slot, token_ids: list[int]) -> None:
        """These tokens are in the library's memory now."""
        slot.token_ids.extend(token_ids)
        self.cells.append(slot.seq_id, len(token_ids))

    def resync(self, slot: Slot) -> None:
        """After a decode that broke off: take the library's word for how much of the slot is left."""
        seq = slot.leased_to
        assert seq is not None
        # Its last token must be computed again even if it is in: nobody has sampled its logits.
        num_tokens = min(self._backend.pos_max(slot.seq_id) + 1, len(seq.token_ids) - 1)
        if not self._backend.model.has_plain_attention:
            num_tokens = 0  # a recurrent state is half-way through the batch, whatever its position says
        if num_tokens == 0 or not self._backend.truncate(slot.seq_id, num_tokens):
            self.clear(slot)
            slot.chat_id = seq.request.chat_id
        elif num_tokens > len(slot.token_ids):
            self.note_decoded(slot, seq.token_ids[len(slot.token_ids) : num_tokens])

    def verify(self) -> None:
        """Compare every slot with the library. Raises PositionMismatchError."""
        for slot in self.slots:
            self._verified_pos_max(slot)

    def snapshots(self) -> tuple[SlotSnapshot, ...]:
        """Every slot as it is now, compared with the library. Raises PositionMismatchError."""
        return tuple(self._snapshot(slot) for slot in self.slots)

    def _verified_pos_max(self, slot: Slot) -> int:
        pos_max = self._backend.pos_max(slot.seq_id)
        if not pos_max + 1 == len(slot.token_ids) == self.cells.num_cells(slot.seq_id):
            raise PositionMismatchError(
                f"sequence {slot.seq_id}: the library is at position {pos_max}, our books hold "
                f"{len(slot.token_ids)} tokens in {self.cells.num_cells(slot.seq_id)} cells"
            )
        return pos_max

    def _warm(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.state is SlotState.WARM]

    def _choose(self, seq: Sequence) -> Slot | None:
        idle = [slot for slot in self.slots if slot.leased_to is None]
        own = [slot for slot in idle if slot.chat_id == seq.request.chat_id]
        empty = [slot for slot in idle if slot.state is SlotState.EMPTY]
        by_age = sorted(idle, key=lambda slot: slot.last_used_at)
        return next(iter(own or empty or by_age), None)

    def _keep_own_prefix(self, slot: Slot, seq: Sequence) -> int:
        """Cut the slot back to what it has in common with `seq`; 0 if nothing can be kept."""
        num_tokens = common_prefix(slot.token_ids, seq)
        if num_tokens == 0 or not self._backend.truncate(slot.seq_id, num_tokens):
            self.clear(slot)
            return 0
        self.cells.truncate(slot.seq_id, num_tokens)
        del slot.token_ids[num_tokens:]
        return num_tokens

    def _share_longer_prefix(self, slot: Slot, seq: Sequence) -> int:
        """Take over a prefix that another slot holds, if that is worth more than the slot's own."""
        if not self._backend.model.has_plain_attention:
            return 0
        donor = max(self.slots, key=lambda other: common_prefix(other.token_ids, seq))
        num_tokens = common_prefix(donor.token_ids, seq)
        if donor is slot or num_tokens < len(slot.token_ids) + MIN_SHARED_TOKENS:
            return 0
        self.clear(slot)  # seq_cp into a sequence that holds cells would merge the two
        self._backend.share_prefix(donor.seq_id, slot.seq_id, num_tokens)
        self.cells.share(donor.seq_id, slot.seq_id, num_tokens)
        slot.token_ids.extend(donor.token_ids[:num_tokens])
        return num_tokens

    def _snapshot(self, slot: Slot) -> SlotSnapshot:
        seq = slot.leased_to
        return SlotSnapshot(
            seq_id=slot.seq_id,
            state=slot.state,
            chat_id=slot.chat_id,
            request_id=seq.request.request_id if seq else None,
            pos_min=self._backend.pos_min(slot.seq_id),
            pos_max=self._verified_pos_max(slot),
            num_cells=self.cells.num_cells(slot.seq_id),
            num_shared_cells=self.cells.num_shared_cells(slot.seq_id),
            num_pending_tokens=seq.num_pending_tokens if seq else 0,
            usage=seq.usage if seq else slot.last_usage,
        )


def common_prefix(held: list[int], seq: Sequence) -> int:
    """How many leading tokens `held` and `seq` share, at most all but the last of `seq`.

    The last one is always computed: without it there are no logits to sample.
    """
    wanted = seq.token_ids
    limit = min(len(held), len(wanted) - 1)
    if held[:limit] == wanted[:limit]:
        return limit
    return next(i for i in range(limit) if held[i] != wanted[i])
