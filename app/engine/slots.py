"""Who holds which `seq_id`, and what its cells contain.

The only place that changes the KV memory of the library apart from decoding, and the only one that keeps
the books of it, so the two cannot drift apart. Engine thread only.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.engine.cells import CellLedger
from app.engine.errors import PositionMismatchError
from app.engine.hibernation import HibernatedChats, State
from app.engine.overflow import context_limit
from app.engine.prefix import CachedPrefix, LastTurn, common_prefix, moved_run, why_prefix_ended
from app.engine.types import Event, EventKind, Lease, PrefixEnd, SlotSnapshot, SlotState, Usage
from app.said import said

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.batch import Batch, BatchSpan
    from app.engine.sequence import Sequence

# Sharing or saving fewer cells saves less than a millisecond.
MIN_SHARED_TOKENS = 16
MAX_REMEMBERED_CHATS = 1000
TOKENS_SHOWN = 8  # of a lease, where wanted and held tokens part


@dataclass(eq=False, slots=True)
class Slot:
    """One `seq_id`: the tokens its cells hold and whose they are. Outlives every sequence."""

    seq_id: int
    token_ids: list[int] = field(default_factory=list)
    chat_id: str | None = None
    leased_to: Sequence | None = None
    last_used_at: float = 0.0
    last_usage: Usage = field(default_factory=Usage)
    max_context_tokens: int = 0  # of its chat, as the last request had it

    @property
    def state(self) -> SlotState:
        if self.leased_to:
            return SlotState.DECODE if self.leased_to.is_decoding else SlotState.PREFILL
        return SlotState.WARM if self.token_ids else SlotState.EMPTY


class SlotPool:
    """Leases slots to sequences, with as many of their tokens already computed as can be had."""

    def __init__(self, backend: Backend, hibernated: HibernatedChats) -> None:
        self._backend = backend
        self._model = backend.model
        self.slots = tuple(Slot(seq_id) for seq_id in range(backend.model.n_seq_max))
        self.cells = CellLedger(backend.model)
        self.hibernated = hibernated
        self.front_chat_id: str | None = None  # gives way last
        self.pinned_chat_ids: set[str] = set()  # likewise
        self.events: list[Event] = []  # since the engine last took them
        self.leases: list[Lease] = []  # likewise
        self._last_turns: OrderedDict[str, LastTurn] = OrderedDict()
        self._snapshots: dict[int, SlotSnapshot] = {}  # of slots that nothing was done to since
        self.has_unchecked_changes = False  # since every cell was last compared with the library
        self._has_unrotated_keys = False  # cells were moved, and no decode has come since

    def lease(self, seq: Sequence) -> Slot | None:
        """Give `seq` a slot, or None while all are leased.

        Its own chat's if that is warm, else the lowest empty one, else the one unused for longest. Its prefix
        comes from where most of it is: the slot itself, another slot, or the chat's saved state.
        """
        slot = self._choose(seq)
        if slot is None:
            return None
        chat_id = seq.request.chat_id
        is_own = slot.chat_id == chat_id
        if not is_own:
            self._save(slot)
        held = list(slot.token_ids if is_own else self.hibernated.tokens_of(chat_id))
        prefix = self._fill(slot, seq, is_own)
        self.hibernated.drop(chat_id)  # what is in cells now is the newer one
        slot.chat_id, slot.leased_to, seq.slot = chat_id, seq, slot
        if seq.request.is_saved:
            self.hibernated.saved_chat_ids.add(chat_id)
        self._note_change(slot)
        self._tell_lease(seq, slot, prefix)
        seq.note_lease(prefix, self._prefix_end(seq, held, prefix))
        self._note_lease(seq, slot, held, prefix)
        return slot

    @property
    def can_share_cells(self) -> bool:
        return self._model.can_share_cells

    @property
    def num_cells_of_running(self) -> int:
        """All used cells but those that only idle slots hold."""
        idle = [slot.seq_id for slot in self._warm()]
        return self.cells.num_used - sum(map(self.cells.num_own_cells, idle))

    def num_held_by_running(self, seq: Sequence) -> int:
        """Tokens of `seq` whose cells a running sequence holds, so that it can share them."""
        if not (self.can_share_cells and seq.request.shares_prefix):
            return 0
        running = [slot for slot in self.slots if slot.leased_to]
        return max((common_prefix(slot.token_ids, seq.token_ids) for slot in running), default=0)

    def best_prefix(self, seq: Sequence) -> int:
        """How many tokens of `seq` need not be computed if it gets a slot now."""
        own = self._own_slot(seq)
        lists = [own.token_ids if own else [], self.hibernated.tokens_of(seq.request.chat_id)]
        if self.can_share_cells and seq.request.shares_prefix:
            lists += [slot.token_ids for slot in self.slots]
        return max(common_prefix(held, seq.token_ids) for held in lists)

    def release(self, slot: Slot) -> None:
        """Take the slot back. Its cells stay for the chat's next turn, unless there will be none."""
        seq = self.set_aside(slot)
        held = {"seq_id": slot.seq_id, "tokens": len(slot.token_ids)}
        if seq.request.keep_cells:
            text = said("released sequence {seq_id}: {tokens} tokens kept", **held)
        else:
            text = said("released sequence {seq_id}: {tokens} tokens freed", **held)
        self.tell(EventKind.RELEASE, text, slot)
        if not seq.request.keep_cells:
            self.clear(slot)
        elif last_turn := self._last_turns.get(seq.request.chat_id):
            uncomputed = tuple(seq.token_ids[len(slot.token_ids) :])
            self._last_turns[seq.request.chat_id] = replace(last_turn, uncomputed=uncomputed)

    def last_turn_of(self, chat_id: str) -> tuple[list[int], LastTurn] | None:
        """All tokens of the chat's last turn, prompt and answer, where they are held in cells or saved."""
        slot = next((slot for slot in self.slots if slot.chat_id == chat_id), None)
        held = slot.token_ids if slot else self.hibernated.tokens_of(chat_id)
        last_turn = self._last_turns.get(chat_id)
        if last_turn is None or len(held) < last_turn.num_prompt_tokens:
            return None
        return [*held, *last_turn.uncomputed], last_turn

    def set_aside(self, slot: Slot) -> Sequence:
        """Take the slot back from its sequence. The cells stay as long as there is room."""
        seq = slot.leased_to
        assert seq is not None
        if len(slot.token_ids) > len(seq.token_ids):  # right guesses, but the answer ended before them
            self.cut_back(slot, len(seq.token_ids))
        slot.leased_to = seq.slot = None
        slot.last_used_at, slot.last_usage = time.perf_counter(), seq.usage
        slot.max_context_tokens = context_limit(seq.request, self._model)
        self._note_change(slot)
        return seq

    def cut_back(self, slot: Slot, num_tokens: int) -> None:
        """Drop all but the first tokens of a leased slot: guesses that do not belong to its answer."""
        if not self._cut_back(slot, num_tokens):
            assert slot.leased_to is not None
            slot.chat_id = slot.leased_to.request.chat_id  # it is computed again from its first token

    def suspend(self, slot: Slot) -> None:
        """Take the slot back from an answer that goes on later. Its state is saved, its cells are freed."""
        self.set_aside(slot)
        self.hibernate(slot)

    def clear(self, slot: Slot) -> None:
        """Free every cell of the slot, whatever the books say it holds."""
        self._backend.truncate(slot.seq_id, 0)
        if self._backend.pos_max(slot.seq_id) != -1:
            raise PositionMismatchError(f"sequence {slot.seq_id} still holds cells after it was cleared")
        self.cells.truncate(slot.seq_id, 0)
        slot.token_ids.clear()
        slot.chat_id, slot.last_usage = None, Usage()
        self._note_changes()  # others may have shared its cells

    def forget(self, chat_id: str) -> None:
        """The chat has no next turn: free its cells. Its answer, if one runs, was aborted before."""
        self._free_cells_of(chat_id)
        self._last_turns.pop(chat_id, None)
        self.pinned_chat_ids.discard(chat_id)

    def fork(self, chat_id: str, new_chat_id: str) -> bool:
        """Give `new_chat_id` an empty slot with all cells of `chat_id`. False: there is no such slot."""
        source = next((slot for slot in self.slots if slot.chat_id == chat_id and slot.token_ids), None)
        target = next((slot for slot in self.slots if slot.state is SlotState.EMPTY), None)
        if source is None or target is None or not self.can_share_cells:
            return False
        self._share(source, target, len(source.token_ids))
        target.chat_id, target.last_used_at = new_chat_id, time.perf_counter()
        target.max_context_tokens = source.max_context_tokens or self._model.max_sequence_tokens
        if last_turn := self._last_turns.get(chat_id):
            self._last_turns[new_chat_id] = last_turn
        num_cells = len(target.token_ids)
        text = said(
            "forked sequence {source} into {target}: {cells} cells shared",
            source=source.seq_id,
            target=target.seq_id,
            cells=num_cells,
        )
        self.tell(EventKind.FORK, text, target)
        return True

    def hibernate(self, slot: Slot) -> None:
        """Save the state of an idle slot and free its cells."""
        self._save(slot)
        self.clear(slot)

    def hibernate_oldest(self, *keep: Slot) -> bool:
        """Hibernate the idle slot unused for longest, protected chats' last. False when no slot is idle."""
        oldest = min((slot for slot in self._warm() if slot not in keep), key=self._age, default=None)
        if oldest:
            self.hibernate(oldest)
        return oldest is not None

    def keep_all(self, deadline: float) -> None:
        """Keep cells of saved chats for the next start, those used last first, as far as there is time."""
        for slot in sorted(self._warm(), key=self._age, reverse=True):
            chat_id, token_ids = slot.chat_id, list(slot.token_ids)
            if chat_id is None or len(token_ids) < MIN_SHARED_TOKENS or self._has_unrotated_keys:
                continue
            num_bytes = len(token_ids) * self._model.cell_bytes
            if self.hibernated.can_keep(chat_id, token_ids, num_bytes, deadline):
                self.hibernated.keep(chat_id, token_ids, self._backend.save_state(slot.seq_id), deadline)
        self.hibernated.keep_all(deadline)

    def oldest_idle(self, min_cells: int) -> Slot | None:
        """The idle slot unused for longest of those with so many cells of their own, but no protected one."""
        idle = [
            slot
            for slot in self._warm()
            if not self.is_protected(slot.chat_id) and self.cells.num_own_cells(slot.seq_id) >= min_cells
        ]
        return min(idle, key=self._age, default=None)

    def is_protected(self, chat_id: str | None) -> bool:
        """It gives way last: somebody looks at it, or has pinned it."""
        return chat_id is not None and (chat_id == self.front_chat_id or chat_id in self.pinned_chat_ids)

    # What somebody wants for one chat. Each leaves an event that tells what came of it.

    def hibernate_chat(self, chat_id: str) -> bool:
        """Save the cells of an idle chat and free them. False, and nothing is lost: that cannot be."""
        slot = self._idle_slot_of(chat_id)
        if slot is None:
            self._tell_not(EventKind.HIBERNATE, said("not hibernated"), chat_id)
            return False
        if not self._keep_state(slot):
            text = said(
                "not hibernated: the state of sequence {seq_id} cannot be saved now", seq_id=slot.seq_id
            )
            self.tell(EventKind.HIBERNATE, text, slot)
            return False
        self._tell_saved(slot, is_kept=True)
        self.clear(slot)
        return True

    def restore_chat(self, chat_id: str) -> bool:
        """Bring the saved cells of a chat into an empty slot, else that of the idle chat unused for longest.

        False where it has none, or while running answers leave no slot or no room for them.
        """
        token_ids = self.hibernated.tokens_of(chat_id)
        slot = self._empty_or_oldest()
        if not token_ids or slot is None or self.cells.num_total - self.num_cells_of_running < len(token_ids):
            if token_ids:
                text = said("no saved cells were restored: running answers leave no room for them")
            else:
                text = said("no saved cells were restored: this chat has none")
            self.tell(EventKind.RESTORE, text, chat_id=chat_id)
            return False
        state = self.hibernated.take(chat_id, self._backend.fingerprint)
        self._save(slot)
        if not self._put_back(slot, state, token_ids):
            self._tell_doubt(slot, chat_id)
            return False
        slot.chat_id, slot.last_used_at = chat_id, time.perf_counter()
        slot.max_context_tokens = self._model.max_sequence_tokens
        self._note_change(slot)
        self._tell_restored(slot, chat_id, len(token_ids))
        return True

    def clear_chat(self, chat_id: str) -> bool:
        """Free the cells of an idle chat, and its saved state. False: it is answering, or has neither."""
        if self._free_cells_of(chat_id):
            return True
        self._tell_not(EventKind.CLEAR, said("not cleared"), chat_id)
        return False

    def pin(self, chat_id: str, is_pinned: bool) -> None:
        if is_pinned:
            self.pinned_chat_ids.add(chat_id)
        else:
            self.pinned_chat_ids.discard(chat_id)
        slot = next((slot for slot in self.slots if slot.chat_id == chat_id), None)
        if slot:
            self._note_change(slot)
        if slot:
            pinned = said("pinned sequence {seq_id}", seq_id=slot.seq_id)
            unpinned = said("unpinned sequence {seq_id}", seq_id=slot.seq_id)
        else:
            pinned, unpinned = said("pinned a chat without a slot"), said("unpinned a chat without a slot")
        self.tell(EventKind.PIN, pinned if is_pinned else unpinned, slot, chat_id)

    # What the engine tells.

    def tell(self, kind: EventKind, text: str, slot: Slot | None = None, chat_id: str | None = None) -> None:
        """An event for the next report. Its chat is the slot's if there is no other."""
        seq_id = slot.seq_id if slot else None
        self.events.append(Event(kind, text, seq_id, chat_id or (slot.chat_id if slot else None)))

    def note_decoded(self, batch: Batch) -> None:
        """All rows of `batch` are in the library's memory now."""
        self.cells.append(batch)
        self._has_unrotated_keys = False
        for span in batch.spans:
            self._note_rows(batch, span, span.num_rows)

    def resync(self, batch: Batch) -> None:
        """After a decode that broke off: take the library's word for how much of `batch` is left."""
        if self._model.has_plain_attention:
            num_left = [self._backend.pos_max(span.seq_id) + 1 - span.first_pos for span in batch.spans]
            self.cells.append(batch, sum(num_left))
            self._has_unrotated_keys = False
            for span, num_rows in zip(batch.spans, num_left, strict=True):
                self._note_rows(batch, span, num_rows)
        for span in batch.spans:
            slot = self.slots[span.seq_id]
            # Its last token must be computed again even if it is in: nobody has sampled its logits.
            num_tokens = min(len(span.seq.token_ids) - 1, len(slot.token_ids))
            if not self._model.has_plain_attention:
                num_tokens = 0  # a recurrent state is half-way through the batch, whatever its position says
            if not self._cut_back(slot, num_tokens):
                slot.chat_id = span.seq.request.chat_id

    def verify(self) -> None:
        """Compare every slot with the library. Raises PositionMismatchError."""
        for slot in self.slots:
            self._verified_pos_max(slot)

    def snapshots(self) -> tuple[SlotSnapshot, ...]:
        """Every slot as it is now; what has changed is compared with the library.

        Raises PositionMismatchError.
        """
        return tuple(self._snapshot(slot) for slot in self.slots)

    def evidence(self) -> tuple[SlotSnapshot, ...]:
        """Every slot as the library and our books have it, whether they agree or not."""
        return tuple(self._new_snapshot(slot, self._backend.pos_max(slot.seq_id)) for slot in self.slots)

    # Where a prefix comes from.

    def _fill(self, slot: Slot, seq: Sequence, is_own: bool) -> CachedPrefix:
        """Put the longest prefix that can be had into the slot."""
        if not (is_own or seq.request.shares_prefix):
            self.clear(slot)
        own = common_prefix(slot.token_ids, seq.token_ids)
        donor = max(self.slots, key=lambda other: self._num_given(other, slot, seq))
        given = self._num_given(donor, slot, seq)
        saved_tokens = self.hibernated.tokens_of(seq.request.chat_id)
        saved = common_prefix(saved_tokens, seq.token_ids)
        if given >= max(own + MIN_SHARED_TOKENS, saved):  # a state would take cells of its own
            return CachedPrefix(num_shared=self._take_from(donor, slot, given, seq.request.chat_id))
        if saved >= own + MIN_SHARED_TOKENS and self._can_use(saved, len(saved_tokens)):
            return self._restore(slot, seq)
        num_kept = self._keep_own_prefix(slot, seq)
        return CachedPrefix(num_reused=num_kept) if is_own else CachedPrefix(num_shared=num_kept)

    def _num_given(self, donor: Slot, slot: Slot, seq: Sequence) -> int:
        """How many tokens of `seq` the slot could have from `donor`."""
        if donor is slot or not seq.request.shares_prefix:
            return 0
        num_tokens = common_prefix(donor.token_ids, seq.token_ids)
        return num_tokens if self._can_use(num_tokens, len(donor.token_ids)) else 0

    def _can_use(self, num_tokens: int, num_held: int) -> bool:
        """Whether a state of `num_held` tokens can be cut back to `num_tokens`."""
        return num_tokens == num_held or self._model.has_plain_attention

    def _take_from(self, donor: Slot, slot: Slot, num_tokens: int, chat_id: str) -> int:
        """Share the donor's cells, or copy them where the model's memory cannot be shared."""
        self.clear(slot)  # seq_cp into a sequence that holds cells would merge the two
        cells = {"cells": num_tokens, "donor": donor.seq_id, "seq_id": slot.seq_id}
        if self.can_share_cells:
            self._share(donor, slot, num_tokens)
            text = said("shared {cells} cells of sequence {donor} with sequence {seq_id}", **cells)
            self.tell(EventKind.SHARE, text, slot, chat_id)
            return num_tokens
        if self._has_unrotated_keys or not self._make_room(len(donor.token_ids), slot, donor):
            return 0
        is_copied = self._put(slot, self._backend.save_state(donor.seq_id), donor.token_ids)
        if not is_copied or not self._cut_back(slot, num_tokens):
            return 0
        text = said("copied {cells} cells of sequence {donor} to sequence {seq_id}", **cells)
        self.tell(EventKind.SHARE, text, slot, chat_id)
        return num_tokens

    def _restore(self, slot: Slot, seq: Sequence) -> CachedPrefix:
        chat_id = seq.request.chat_id
        token_ids = self.hibernated.tokens_of(chat_id)
        state = self.hibernated.take(chat_id, self._backend.fingerprint)
        if not self._put_back(slot, state, token_ids):
            self._tell_doubt(slot, chat_id)
            return CachedPrefix(is_doubted=True)
        num_tokens = self._keep_own_prefix(slot, seq)
        self._tell_restored(slot, chat_id, num_tokens)
        return CachedPrefix(num_restored=num_tokens)

    def _put_back(self, slot: Slot, state: State | None, token_ids: list[int]) -> bool:
        """Clear the slot and restore a saved state into it. False, and empty: there is none, or it failed."""
        self.clear(slot)
        has_room = self._make_room(len(token_ids), slot)
        return state is not None and has_room and self._put(slot, state, token_ids)

    def _put(self, slot: Slot, state: State, token_ids: list[int]) -> bool:
        """Restore a state of `token_ids` into the empty slot. False, and empty as before, if that failed."""
        is_restored = self._backend.restore_state(slot.seq_id, state)
        if not is_restored or self._backend.pos_max(slot.seq_id) != len(token_ids) - 1:
            self.clear(slot)
            return False
        self.cells.restore(slot.seq_id, token_ids, self._backend.positions_in(state))
        slot.token_ids.extend(token_ids)
        return True

    def _save(self, slot: Slot) -> None:
        """Keep what the slot holds for its chat, where that is worth it and can be done."""
        if slot.token_ids:
            self._tell_saved(slot, self._keep_state(slot))

    def _keep_state(self, slot: Slot) -> bool:
        """Save what the slot holds for its chat. False: it is too little, or cannot be saved."""
        chat_id, token_ids = slot.chat_id, list(slot.token_ids)
        if not chat_id or len(token_ids) < MIN_SHARED_TOKENS or self._has_unrotated_keys:
            return False
        state = self._backend.save_state(slot.seq_id)
        is_kept = self.hibernated.save(chat_id, token_ids, state, self._backend.fingerprint)
        for lost_id, num_tokens in self.hibernated.take_lost():
            if lost_id != chat_id:
                text = said("dropped the saved state of {tokens} tokens: no room for it", tokens=num_tokens)
                self.tell(EventKind.EVICT, text, chat_id=lost_id)
        return is_kept

    def _make_room(self, num_cells: int, *keep: Slot) -> bool:
        """Free cells for a state, at the cost of idle slots."""
        while self.cells.num_free < num_cells:
            if not self.hibernate_oldest(*keep):
                return False
        return True

    def _keep_own_prefix(self, slot: Slot, seq: Sequence) -> int:
        """Cut the slot back to what it has in common with `seq`; 0 if nothing can be kept."""
        num_tokens = common_prefix(slot.token_ids, seq.token_ids)
        if seq.is_shortened and num_tokens < len(slot.token_ids):
            num_tokens += self._close_gap(slot, seq, num_tokens)
        return num_tokens if self._cut_back(slot, num_tokens) else 0

    def _close_gap(self, slot: Slot, seq: Sequence, start: int) -> int:
        """Move the cells behind turns that were left out; how many tokens that saves computing."""
        begin, end = moved_run(slot.token_ids, seq.token_ids, start)
        can_move = self._model.can_shift and self._model.has_plain_attention
        if begin == end or not can_move or self.cells.has_shared_cells_from(slot.seq_id, start):
            return 0
        if not self._cut_back(slot, end):
            return 0
        self._backend.remove_and_shift(slot.seq_id, start, begin)
        self.cells.remove(slot.seq_id, start, begin)
        del slot.token_ids[start:begin]
        self._has_unrotated_keys = True
        text = said(
            "shifted {cells} cells of sequence {seq_id} down by {positions}",
            cells=end - begin,
            seq_id=slot.seq_id,
            positions=begin - start,
        )
        self.tell(EventKind.SHIFT, text, slot, seq.request.chat_id)
        return end - begin

    def _cut_back(self, slot: Slot, num_tokens: int) -> bool:
        """Drop all but the first tokens. False: the model cannot, and the slot is empty now."""
        if num_tokens == 0 or not self._backend.truncate(slot.seq_id, num_tokens):
            self.clear(slot)
            return False
        num_shared = self.cells.usage.num_shared
        self.cells.truncate(slot.seq_id, num_tokens)
        del slot.token_ids[num_tokens:]
        if self.cells.usage.num_shared == num_shared:
            self._note_change(slot)
        else:
            self._note_changes()
        return True

    def _share(self, donor: Slot, slot: Slot, num_tokens: int) -> None:
        self._backend.share_prefix(donor.seq_id, slot.seq_id, num_tokens)
        self.cells.share(donor.seq_id, slot.seq_id, num_tokens)
        slot.token_ids.extend(donor.token_ids[:num_tokens])
        self._note_changes()

    def _free_cells_of(self, chat_id: str) -> bool:
        """Forget what is held and saved of the chat, unless it is answering. False: that is nothing."""
        idle = [slot for slot in self._warm() if slot.chat_id == chat_id]
        for slot in idle:
            text = said(
                "cleared sequence {seq_id}: {tokens} tokens", seq_id=slot.seq_id, tokens=len(slot.token_ids)
            )
            self.tell(EventKind.CLEAR, text, slot)
            self.clear(slot)
        saved = self.hibernated.tokens_of(chat_id)
        if saved:
            text = said("dropped the saved state of {tokens} tokens", tokens=len(saved))
            self.tell(EventKind.CLEAR, text, chat_id=chat_id)
        self.hibernated.forget(chat_id)
        return bool(idle or saved)

    # The words of events.

    def _tell_lease(self, seq: Sequence, slot: Slot, prefix: CachedPrefix) -> None:
        is_again = bool(seq.leased_at)
        counts = {"seq_id": slot.seq_id, "there": prefix.num_tokens, "missing": seq.num_pending_tokens}
        if is_again:
            text = said("resumed sequence {seq_id}: {there} tokens there, {missing} to compute", **counts)
        else:
            text = said("leased sequence {seq_id}: {there} tokens there, {missing} to compute", **counts)
        self.tell(EventKind.RESUME if is_again else EventKind.LEASE, text, slot)

    def _tell_saved(self, slot: Slot, is_kept: bool) -> None:
        held = {"seq_id": slot.seq_id, "tokens": len(slot.token_ids)}
        if is_kept:
            self.tell(
                EventKind.HIBERNATE, said("hibernated sequence {seq_id}: {tokens} tokens", **held), slot
            )
        else:
            self.tell(EventKind.EVICT, said("evicted sequence {seq_id}: {tokens} tokens", **held), slot)

    def _tell_restored(self, slot: Slot, chat_id: str, num_tokens: int) -> None:
        text = said("restored sequence {seq_id}: {tokens} tokens", seq_id=slot.seq_id, tokens=num_tokens)
        self.tell(EventKind.RESTORE, text, slot, chat_id)

    def _tell_doubt(self, slot: Slot, chat_id: str) -> None:
        text = said(
            "the saved state for sequence {seq_id} could not be used: computing it again", seq_id=slot.seq_id
        )
        self.tell(EventKind.RESTORE, text, slot, chat_id)

    def _tell_not(self, kind: EventKind, what: str, chat_id: str) -> None:
        is_answering = any(slot.leased_to and slot.chat_id == chat_id for slot in self.slots)
        if is_answering:
            text = said("{what}: this chat is answering", what=what)
        else:
            text = said("{what}: this chat holds no cells", what=what)
        self.tell(kind, text, chat_id=chat_id)

    # What is told about a lease.

    def _prefix_end(self, seq: Sequence, held: list[int], prefix: CachedPrefix) -> PrefixEnd:
        last_turn = self._last_turns.get(seq.request.chat_id)
        if prefix.is_doubted:
            return PrefixEnd.DOUBTED
        return why_prefix_ended(seq, held, prefix.num_tokens, last_turn, self._text_of)

    def _text_of(self, token_ids: list[int]) -> str:
        return b"".join(map(self._backend.token_piece, token_ids)).decode("utf-8", "replace")

    def _note_lease(self, seq: Sequence, slot: Slot, held: list[int], prefix: CachedPrefix) -> None:
        chat_id = seq.request.chat_id
        start = common_prefix(held, seq.token_ids)
        self.leases.append(
            Lease(
                request_id=seq.request.request_id,
                chat_id=chat_id,
                seq_id=slot.seq_id,
                num_common_tokens=start,
                num_reused_tokens=prefix.num_reused,
                num_shared_tokens=prefix.num_shared,
                num_restored_tokens=prefix.num_restored,
                num_tokens_to_compute=seq.num_pending_tokens,
                prefix_end=seq.prefix_end,
                wanted=tuple(seq.token_ids[start : start + TOKENS_SHOWN]),
                held=tuple(held[start : start + TOKENS_SHOWN]),
                common=tuple(held[max(0, start - TOKENS_SHOWN) : start]),
            )
        )
        self._last_turns.pop(chat_id, None)
        num_asked_tokens = seq.num_prompt_tokens - seq.num_start_tokens
        self._last_turns[chat_id] = LastTurn(seq.request.messages, num_asked_tokens, seq.request.sampling)
        if len(self._last_turns) > MAX_REMEMBERED_CHATS:
            self._last_turns.popitem(last=False)

    # Slots.

    def _warm(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.state is SlotState.WARM]

    def _age(self, slot: Slot) -> tuple[bool, float]:
        """Sorts idle slots: who gives way first."""
        return self.is_protected(slot.chat_id), slot.last_used_at

    def _own_slot(self, seq: Sequence) -> Slot | None:
        chat_id = seq.request.chat_id
        return next((slot for slot in self.slots if slot.chat_id == chat_id and not slot.leased_to), None)

    def _idle_slot_of(self, chat_id: str) -> Slot | None:
        return next((slot for slot in self._warm() if slot.chat_id == chat_id), None)

    def _choose(self, seq: Sequence) -> Slot | None:
        return self._own_slot(seq) or self._empty_or_oldest()

    def _empty_or_oldest(self) -> Slot | None:
        """The lowest empty slot, else the idle one that gives way first."""
        idle = [slot for slot in self.slots if slot.leased_to is None]
        empty = [slot for slot in idle if slot.state is SlotState.EMPTY]
        return next(iter(empty or sorted(idle, key=self._age)), None)

    def _note_rows(self, batch: Batch, span: BatchSpan, num_rows: int) -> None:
        slot = self.slots[span.seq_id]
        slot.token_ids.extend(batch.token_ids[span.first_row : span.first_row + num_rows].tolist())
        self._note_change(slot)

    def _note_change(self, slot: Slot) -> None:
        self._snapshots.pop(slot.seq_id, None)
        self.has_unchecked_changes = True

    def _note_changes(self) -> None:
        """Of a slot, and perhaps of all that share cells with it."""
        self._snapshots.clear()
        self.has_unchecked_changes = True

    def _snapshot(self, slot: Slot) -> SlotSnapshot:
        snapshot = self._snapshots.get(slot.seq_id)
        if snapshot is None:
            snapshot = self._new_snapshot(slot, self._verified_pos_max(slot))
            self._snapshots[slot.seq_id] = snapshot
        return snapshot

    def _new_snapshot(self, slot: Slot, pos_max: int) -> SlotSnapshot:
        seq = slot.leased_to
        held_limit = slot.max_context_tokens if slot.token_ids else 0
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
            max_context_tokens=context_limit(seq.request, self._model) if seq else held_limit,
            is_pinned=slot.chat_id in self.pinned_chat_ids,
        )

    def _verified_pos_max(self, slot: Slot) -> int:
        pos_max = self._backend.pos_max(slot.seq_id)
        if not pos_max + 1 == len(slot.token_ids) == self.cells.num_cells(slot.seq_id):
            raise PositionMismatchError(
                f"sequence {slot.seq_id}: the library is at position {pos_max}, our books hold "
                f"{len(slot.token_ids)} tokens in {self.cells.num_cells(slot.seq_id)} cells"
            )
        return pos_max
