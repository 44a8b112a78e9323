"""The cells of each slot, in the library and in our books.

The only place that changes the KV memory of the library apart from decoding, and the only one that keeps the
books of it, so the two cannot diverge. Knows neither waiting requests nor saved states. Engine thread only.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from app.engine.cells.checkpoints import nearest, up_to
from app.engine.cells.ledger import CellLedger
from app.engine.media.rows import RowRun, planes_in, position_of, positions_of, runs_in
from app.engine.sequence import Slot
from app.protocol.errors import PositionMismatchError
from app.protocol.media import MediaKind, MediaSpan
from app.protocol.output import Usage
from app.protocol.report import SlotSnapshot, SlotState

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.engine.backend import Backend
    from app.engine.batch import Batch, BatchSpan
    from app.engine.cells.checkpoints import State
    from app.engine.sequence import Sequence


MAX_KNOWN_MEDIA = 1000


class SlotMemory:
    """Changes the cells of slots, and records that in the books."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._model = backend.model
        self.slots = tuple(Slot(seq_id) for seq_id in range(backend.model.n_seq_max))
        self.cells = CellLedger(backend.model)
        self.has_unrotated_keys = False  # cells were shifted and not decoded since: no state can be saved
        self.has_unchecked_changes = False  # since every cell was last compared with the library
        self._known_media: dict[int, tuple[MediaKind, str]] = {}  # by the number of its first row
        self._snapshots = [SlotSnapshot(slot.seq_id, SlotState.EMPTY) for slot in self.slots]
        self._changed = {slot.seq_id: slot for slot in self.slots}  # since their snapshots were taken

    def clear(self, slot: Slot) -> None:
        """Free every cell of the slot, whatever the books say it holds."""
        self._backend.truncate(slot.seq_id, 0)
        if self._backend.pos_max(slot.seq_id) != -1:
            raise PositionMismatchError(f"sequence {slot.seq_id} still holds cells after it was cleared")
        self._empty(slot)

    def _empty(self, slot: Slot) -> None:
        self.cells.truncate(slot.seq_id, 0)
        slot.token_ids.clear()
        slot.checkpoints, slot.planes = {}, ()
        slot.chat_id, slot.begins_as, slot.last_usage, slot.shifted_from = None, "", Usage(), None
        self._note_changes()  # others may have shared its cells

    def reach(self, slot: Slot, num_tokens: int) -> int:
        """The most of the slot's first `num_tokens` that it can be cut back to."""
        if num_tokens >= len(slot.token_ids):
            return len(slot.token_ids)
        if self._can_truncate(slot, num_tokens):
            return num_tokens
        return nearest(slot.checkpoints, num_tokens)

    def takes_checkpoint(self, slot: Slot, num_tokens: int) -> bool:
        """Whether a checkpoint is needed to cut it back to so many tokens."""
        return 0 < num_tokens < len(slot.token_ids) and not self._can_truncate(slot, num_tokens)

    def _can_truncate(self, slot: Slot, num_tokens: int) -> bool:
        """Without a checkpoint: what those tokens need is still there."""
        if not self._model.n_swa or self._model.has_states:
            return self._model.has_plain_attention
        first_needed = max(0, slot.position_of(num_tokens) - self._model.n_swa + 1)
        return 0 <= self._backend.pos_min(slot.seq_id) <= first_needed

    def cut_back(self, slot: Slot, num_tokens: int) -> bool:
        """Drop all but the first tokens. False: it cannot be cut there, see `reach`, and is empty now."""
        if num_tokens == 0 or not self._roll_back(slot, num_tokens):
            self.clear(slot)
            return False
        num_shared = self.cells.usage.num_shared
        self.cells.truncate(slot.seq_id, num_tokens)
        del slot.token_ids[num_tokens:]
        slot.planes = _up_to(slot.planes, num_tokens)
        slot.checkpoints = up_to(slot.checkpoints, num_tokens)
        if slot.shifted_from is not None and num_tokens <= slot.shifted_from:
            slot.shifted_from = None
        if self.cells.usage.num_shared == num_shared:
            self.note_change(slot)
        else:
            self._note_changes()
        return True

    def _roll_back(self, slot: Slot, num_tokens: int) -> bool:
        checkpoint = slot.checkpoints.get(num_tokens)
        if checkpoint is None or not self.takes_checkpoint(slot, num_tokens):
            return self._backend.truncate(slot.seq_id, *_end(slot, num_tokens))
        return self._backend.roll_back(slot.seq_id, checkpoint, *_end(slot, num_tokens))

    def share(self, donor: Slot, slot: Slot, num_tokens: int) -> bool:
        """Make the empty slot share the donor's first cells, as far as `reach` says.

        What is left of a sequence when its tail is cut cannot be shared: the slot gets its own. False: that
        failed, and the slot is empty.
        """
        self._backend.share_prefix(donor.seq_id, slot.seq_id, _end(donor, num_tokens)[0])
        self.cells.share(donor.seq_id, slot.seq_id, num_tokens)
        slot.token_ids.extend(donor.token_ids[:num_tokens])
        slot.planes = _up_to(donor.planes, num_tokens)
        slot.checkpoints = up_to(donor.checkpoints, num_tokens)
        if donor.shifted_from is not None and num_tokens > donor.shifted_from:
            slot.shifted_from = donor.shifted_from
        self._note_changes()
        if self._model.has_plain_attention or self._has_own_rest(donor, slot, num_tokens):
            return True
        self.clear(slot)
        return False

    def _has_own_rest(self, donor: Slot, slot: Slot, num_tokens: int) -> bool:
        if num_tokens == len(donor.token_ids) and not self._model.n_swa:
            return True  # a state is copied by the next decode
        checkpoint = slot.checkpoints.get(num_tokens)
        if checkpoint is None:  # the window is there. No cell of it that two sequences hold is ever reused
            checkpoint = self._backend.save_checkpoint(slot.seq_id)
        return self._backend.roll_back(slot.seq_id, checkpoint, *_end(slot, num_tokens))

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
        self,
        slot: Slot,
        state: State,
        token_ids: list[int],
        shifted_from: int | None = None,
        checkpoints: dict[int, State] | None = None,
    ) -> bool:
        """Put a state of `token_ids` into the empty slot. False, and empty as before, if that failed."""
        is_restored = self._backend.restore_state(slot.seq_id, state)
        planes = planes_in(token_ids)
        if not is_restored or self._backend.pos_max(slot.seq_id) != position_of(planes, len(token_ids) - 1):
            self.clear(slot)
            return False
        order = self._backend.positions_in(state)
        expected = positions_of(planes, len(token_ids))
        if planes and order is not None and not np.array_equal(np.sort(order), expected):
            self.clear(slot)
            return False
        self.cells.restore(slot.seq_id, token_ids, order, expected)
        slot.token_ids.extend(token_ids)
        slot.planes = planes
        slot.shifted_from = shifted_from
        slot.checkpoints = checkpoints or {}
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
        """After an interrupted decode: go back to what is certain."""
        if self._model.has_states:
            self._go_back_to_checkpoints()
            return
        if self._model.has_plain_attention:
            num_left = [
                max(self._backend.pos_max(span.seq_id) + 1 - span.first_pos, 0) for span in batch.spans
            ]
            self.cells.append(batch, sum(num_left))
            self.has_unrotated_keys = False
            for span, num_rows in zip(batch.spans, num_left, strict=True):
                self._note_rows(batch, span, num_rows)
            if batch.media:
                self._drop_lost_plane(batch.spans[0])
        for span in batch.spans:
            slot = self.slots[span.seq_id]
            # Its last token must be computed again even if it is in a cell: its logits were not sampled.
            num_tokens = min(len(span.seq.token_ids) - 1, len(slot.token_ids))
            if not self._model.has_plain_attention:
                # Cells behind the window have gone to rows that are not in.
                num_tokens = nearest(slot.checkpoints, num_tokens)
            self._cut_back_anew(slot, num_tokens)

    def _drop_lost_plane(self, span: BatchSpan) -> None:
        """Taking back the last rows of a picture whose rows share a position, the library removed all."""
        slot, chunk = self.slots[span.seq_id], span.seq.next_chunk
        if chunk and chunk.part.width and chunk.first < len(slot.token_ids):
            self.cells.truncate(slot.seq_id, chunk.first)
            del slot.token_ids[chunk.first :]
            slot.planes = _up_to(slot.planes, chunk.first)
            self._note_changes()

    def _cut_back_anew(self, slot: Slot, num_tokens: int) -> None:
        """By a checkpoint where the model takes them: what is in the library is not what it seems."""
        checkpoint = slot.checkpoints.get(num_tokens)
        is_lost = checkpoint is not None and not self._backend.roll_back(
            slot.seq_id, checkpoint, *_end(slot, num_tokens)
        )
        if is_lost or not num_tokens or not self.cut_back(slot, num_tokens):
            self._clear_of(slot)

    def _go_back_to_checkpoints(self) -> None:
        """Each state is unknown: the graph moves also those of sequences without rows, and broke off.

        The cells are not, so they are put back, and the states are those of checkpoints.
        """
        by_use = sorted(self.slots, key=lambda slot: slot.last_used_at, reverse=True)
        kept = [(slot, self._backend.save_state(slot.seq_id)) for slot in by_use if slot.checkpoints]
        self._backend.forget_all()
        for slot in self.slots:
            self.cells.truncate(slot.seq_id, 0)
        put_back = [slot for slot, state in kept if self._put_back(slot, state)]
        for slot in self.slots:
            if slot not in put_back:
                self._clear_of(slot)
        self._note_changes()

    def _put_back(self, slot: Slot, state: State) -> bool:
        """Where its last checkpoint is. False: there is no room, now that no cell is shared."""
        num_tokens, checkpoint = max(slot.checkpoints.items(), key=itemgetter(0))
        if num_tokens > self.cells.num_free:  # a library without cells would take it
            return False
        is_restored = self._backend.restore_state(slot.seq_id, state)
        end, last = _end(slot, num_tokens)
        if not (is_restored and self._backend.roll_back(slot.seq_id, checkpoint, end, last)):
            return False
        del slot.token_ids[num_tokens:]
        slot.planes = _up_to(slot.planes, num_tokens)
        order = self._backend.positions_in(state)
        self.cells.restore(
            slot.seq_id,
            slot.token_ids,
            None if order is None else order[order < end],
            positions_of(slot.planes, num_tokens),
        )
        return True

    def _clear_of(self, slot: Slot) -> None:
        """Clear it, but it stays the slot of the chat that it is leased to."""
        self.clear(slot)
        if slot.leased_to:
            slot.chat_id = slot.leased_to.request.chat_id

    def _note_rows(self, batch: Batch, span: BatchSpan, num_rows: int) -> None:
        slot = self.slots[span.seq_id]
        slot.token_ids.extend(batch.token_ids[span.first_row : span.first_row + num_rows])
        if batch.media:
            slot.planes = planes_in(slot.token_ids)
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
            checkpoints=tuple(sorted(slot.checkpoints)),
            checkpoint_bytes=sum(one.nbytes for one in slot.checkpoints.values()),
            media=self._media_spans(slot) if self._known_media or self._model.senses.any else (),
        )

    def note_media(self, seq: Sequence) -> None:
        """Whose rows are which, for snapshots: their numbers do not tell."""
        for chunk in seq.chunks:
            self._known_media[seq.token_ids[chunk.first]] = chunk.media.kind, chunk.media.sha256
        for oldest in list(self._known_media)[: max(len(self._known_media) - MAX_KNOWN_MEDIA, 0)]:
            del self._known_media[oldest]

    def _media_spans(self, slot: Slot) -> tuple[MediaSpan, ...]:
        return tuple(
            MediaSpan(
                run.first,
                run.num_rows,
                slot.position_of(run.first),
                run.num_positions,
                *self._known_media.get(slot.token_ids[run.first], (None, "")),
            )
            for run in runs_in(slot.token_ids)
        )

    def _verified_pos_max(self, slot: Slot) -> int:
        pos_max = self._backend.pos_max(slot.seq_id)
        if pos_max != slot.pos_max or len(slot.token_ids) != self.cells.num_cells(slot.seq_id):
            raise PositionMismatchError(
                f"sequence {slot.seq_id}: the library is at position {pos_max}, our books hold "
                f"{len(slot.token_ids)} tokens in {self.cells.num_cells(slot.seq_id)} cells"
            )
        return pos_max


def _end(slot: Slot, num_tokens: int) -> tuple[int, int]:
    """Where the slot's first tokens end: the position behind them, and that of the last one."""
    last = slot.position_of(num_tokens - 1)
    return (last + 1 if num_tokens == len(slot.token_ids) else slot.position_of(num_tokens)), last


def _up_to(planes: tuple[RowRun, ...], num_tokens: int) -> tuple[RowRun, ...]:
    return tuple(plane for plane in planes if plane.first < num_tokens)
