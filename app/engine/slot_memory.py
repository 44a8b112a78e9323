"""The cells of each slot, in the library and in our books.

The only place that changes the KV memory of the library apart from decoding, and the only one that keeps the
books of it, so the two cannot diverge. Knows neither waiting requests nor saved states. Engine thread only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.cells import CellLedger
from app.engine.sequence import Slot
from app.protocol.errors import PositionMismatchError
from app.protocol.output import Usage
from app.protocol.report import SlotSnapshot, SlotState

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.engine.backend import Backend
    from app.engine.batch import Batch, BatchSpan
    from app.engine.hibernation import State


class SlotMemory:
    """Changes the cells of slots, and records that in the books."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._model = backend.model
        self.slots = tuple(Slot(seq_id) for seq_id in range(backend.model.n_seq_max))
        self.cells = CellLedger(backend.model)
        self.has_unrotated_keys = False  # cells were shifted and not decoded since: no state can be saved
        self.has_unchecked_changes = False  # since every cell was last compared with the library
        self._snapshots = [SlotSnapshot(slot.seq_id, SlotState.EMPTY) for slot in self.slots]
        self._changed = {slot.seq_id: slot for slot in self.slots}  # since their snapshots were taken

    def clear(self, slot: Slot) -> None:
        """Free every cell of the slot, whatever the books say it holds."""
        self._backend.truncate(slot.seq_id, 0)
        if self._backend.pos_max(slot.seq_id) != -1:
            raise PositionMismatchError(f"sequence {slot.seq_id} still holds cells after it was cleared")
        self.cells.truncate(slot.seq_id, 0)
        slot.token_ids.clear()
        slot.chat_id, slot.last_usage, slot.shifted_from = None, Usage(), None
        self._note_changes()  # others may have shared its cells

    def cut_back(self, slot: Slot, num_tokens: int) -> bool:
        """Drop all but the first tokens. False: the model cannot, and the slot is empty now."""
        if num_tokens == 0 or not self._backend.truncate(slot.seq_id, num_tokens):
            self.clear(slot)
            return False
        num_shared = self.cells.usage.num_shared
        self.cells.truncate(slot.seq_id, num_tokens)
        del slot.token_ids[num_tokens:]
        if slot.shifted_from is not None and num_tokens <= slot.shifted_from:
            slot.shifted_from = None
        if self.cells.usage.num_shared == num_shared:
            self.note_change(slot)
        else:
            self._note_changes()
        return True

    def share(self, donor: Slot, slot: Slot, num_tokens: int) -> None:
        """Make the empty slot share the donor's first cells."""
        self._backend.share_prefix(donor.seq_id, slot.seq_id, num_tokens)
        self.cells.share(donor.seq_id, slot.seq_id, num_tokens)
        slot.token_ids.extend(donor.token_ids[:num_tokens])
        if donor.shifted_from is not None and num_tokens > donor.shifted_from:
            slot.shifted_from = donor.shifted_from
        self._note_changes()

    def close_gap(self, slot: Slot, start: int, end: int) -> None:
        """Free the cells at positions `start` … `end` - 1, and move those behind them down."""
        self._backend.remove_and_shift(slot.seq_id, start, end)
        self.cells.remove(slot.seq_id, start, end)
        del slot.token_ids[start:end]
        slot.shifted_from = start if slot.shifted_from is None else min(start, slot.shifted_from)
        self.has_unrotated_keys = True
        self.note_change(slot)

    def save(self, slot: Slot) -> State:
        """The slot's state. Not while `has_unrotated_keys`."""
        return self._backend.save_state(slot.seq_id)

    def restore(
        self, slot: Slot, state: State, token_ids: list[int], shifted_from: int | None = None
    ) -> bool:
        """Put a state of `token_ids` into the empty slot. False, and empty as before, if that failed."""
        is_restored = self._backend.restore_state(slot.seq_id, state)
        if not is_restored or self._backend.pos_max(slot.seq_id) != len(token_ids) - 1:
            self.clear(slot)
            return False
        self.cells.restore(slot.seq_id, token_ids, self._backend.positions_in(state))
        slot.token_ids.extend(token_ids)
        slot.shifted_from = shifted_from
        self.note_change(slot)
        return True

    # After a decode.

    def note_decoded(self, batch: Batch) -> None:
        """All rows of `batch` are in the library's memory now."""
        self.cells.append(batch)
        self.has_unrotated_keys = False
        for span in batch.spans:
            self._note_rows(batch, span, span.num_rows)

    def resync(self, batch: Batch) -> None:
        """After an interrupted decode: ask the library how much of `batch` was computed."""
        if self._model.has_states:
            self._clear_all()
            return
        if self._model.has_plain_attention:
            num_left = [self._backend.pos_max(span.seq_id) + 1 - span.first_pos for span in batch.spans]
            self.cells.append(batch, sum(num_left))
            self.has_unrotated_keys = False
            for span, num_rows in zip(batch.spans, num_left, strict=True):
                self._note_rows(batch, span, num_rows)
        for span in batch.spans:
            slot = self.slots[span.seq_id]
            # Its last token must be computed again even if it is in a cell: its logits were not sampled.
            num_tokens = min(len(span.seq.token_ids) - 1, len(slot.token_ids))
            if not self._model.has_plain_attention:
                num_tokens = 0  # cells behind the window have gone to rows that are not in
            if not self.cut_back(slot, num_tokens):
                slot.chat_id = span.seq.request.chat_id

    def _clear_all(self) -> None:
        """Each state is unknown: the graph moves also those of sequences without rows, and broke off."""
        for slot in self.slots:
            self.clear(slot)
            if slot.leased_to:
                slot.chat_id = slot.leased_to.request.chat_id

    def _note_rows(self, batch: Batch, span: BatchSpan, num_rows: int) -> None:
        slot = self.slots[span.seq_id]
        slot.token_ids.extend(batch.token_ids[span.first_row : span.first_row + num_rows])
        self.note_change(slot)

    def note_change(self, slot: Slot) -> None:
        """Its cells or its lease have changed."""
        self._changed[slot.seq_id] = slot
        self.has_unchecked_changes = True

    def _note_changes(self) -> None:
        """Note changes of a slot, and of all that may share cells with it."""
        self._changed = {slot.seq_id: slot for slot in self.slots}
        self.has_unchecked_changes = True

    # Snapshots, and checks against the library.

    def verify(self) -> None:
        """Compare every slot with the library. Raises PositionMismatchError."""
        for slot in self.slots:
            self._verified_pos_max(slot)

    def snapshots(self, pinned_chat_ids: Collection[str | None]) -> tuple[SlotSnapshot, ...]:
        """Every slot as it is now; what has changed is compared with the library.

        Raises PositionMismatchError.
        """
        for slot in self._changed.values():
            is_pinned = slot.chat_id in pinned_chat_ids
            self._snapshots[slot.seq_id] = self._new_snapshot(slot, self._verified_pos_max(slot), is_pinned)
        self._changed.clear()
        return tuple(self._snapshots)

    def evidence(self, pinned_chat_ids: Collection[str | None]) -> tuple[SlotSnapshot, ...]:
        """Every slot as the library and our books have it, whether they agree or not."""
        return tuple(
            self._new_snapshot(slot, self._backend.pos_max(slot.seq_id), slot.chat_id in pinned_chat_ids)
            for slot in self.slots
        )

    def _new_snapshot(self, slot: Slot, pos_max: int, is_pinned: bool) -> SlotSnapshot:
        seq = slot.leased_to
        return SlotSnapshot(
            seq_id=slot.seq_id,
            state=slot.state,
            chat_id=slot.chat_id,
            request_id=seq.request.request_id if seq else None,
            pos_min=self._backend.pos_min(slot.seq_id),
            pos_max=pos_max,
            num_cells=self.cells.num_cells(slot.seq_id),
            num_shared_cells=self.cells.num_shared_cells(slot.seq_id),
            num_pending_tokens=seq.num_pending_tokens if seq else 0,
            usage=seq.usage if seq else slot.last_usage,
            max_context_tokens=slot.max_context_tokens if seq or slot.token_ids else 0,
            is_pinned=is_pinned,
        )

    def _verified_pos_max(self, slot: Slot) -> int:
        pos_max = self._backend.pos_max(slot.seq_id)
        if not pos_max + 1 == len(slot.token_ids) == self.cells.num_cells(slot.seq_id):
            raise PositionMismatchError(
                f"sequence {slot.seq_id}: the library is at position {pos_max}, our books hold "
                f"{len(slot.token_ids)} tokens in {self.cells.num_cells(slot.seq_id)} cells"
            )
        return pos_max
