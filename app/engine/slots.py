"""Who holds which `seq_id`, and what its cells contain.

The only place that changes the KV memory of the library apart from decoding, and the only one that keeps
the books of it, so the two cannot drift apart. Engine thread only.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.engine.cells import CellLedger
from app.engine.errors import PositionMismatchError
from app.engine.hibernation import HibernatedChats, State
from app.engine.prefix import CachedPrefix, LastTurn, common_prefix, moved_run, why_prefix_ended
from app.engine.types import Lease, PrefixEnd, SlotSnapshot, SlotState, Usage

if TYPE_CHECKING:
    from app.engine.backend import Backend
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
        self.cells = CellLedger(backend.model.n_ctx, len(self.slots))
        self.hibernated = hibernated
        self.front_chat_id: str | None = None  # gives way last
        self.events: list[str] = []  # since the engine last took them
        self.leases: list[Lease] = []  # likewise
        self._last_turns: OrderedDict[str, LastTurn] = OrderedDict()
        self._snapshots: dict[int, SlotSnapshot] = {}  # of slots that nothing was done to since
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
        self._note_change(slot)
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
        if not self.can_share_cells:
            return 0
        running = [slot for slot in self.slots if slot.leased_to]
        return max((common_prefix(slot.token_ids, seq.token_ids) for slot in running), default=0)

    def best_prefix(self, seq: Sequence) -> int:
        """How many tokens of `seq` need not be computed if it gets a slot now."""
        own = self._own_slot(seq)
        lists = [own.token_ids if own else [], self.hibernated.tokens_of(seq.request.chat_id)]
        if self.can_share_cells:
            lists += [slot.token_ids for slot in self.slots]
        return max(common_prefix(held, seq.token_ids) for held in lists)

    def release(self, slot: Slot) -> None:
        """Take the slot back. Its cells stay for the chat's next turn, unless there will be none."""
        seq = self.set_aside(slot)
        if not seq.request.keep_cells:
            self.clear(slot)

    def set_aside(self, slot: Slot) -> Sequence:
        """Take the slot back from its sequence. The cells stay as long as there is room."""
        seq = slot.leased_to
        assert seq is not None
        slot.leased_to = seq.slot = None
        slot.last_used_at, slot.last_usage = time.perf_counter(), seq.usage
        self._note_change(slot)
        return seq

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
        self._snapshots.clear()  # others may have shared its cells

    def forget(self, chat_id: str) -> None:
        """The chat has no next turn: free its cells. Its answer, if one runs, was aborted before."""
        for slot in self._warm():
            if slot.chat_id == chat_id:
                self.clear(slot)
        self.hibernated.drop(chat_id)
        self._last_turns.pop(chat_id, None)

    def fork(self, chat_id: str, new_chat_id: str) -> bool:
        """Give `new_chat_id` an empty slot with all cells of `chat_id`. False: there is no such slot."""
        source = next((slot for slot in self.slots if slot.chat_id == chat_id and slot.token_ids), None)
        target = next((slot for slot in self.slots if slot.state is SlotState.EMPTY), None)
        if source is None or target is None or not self.can_share_cells:
            return False
        self._share(source, target, len(source.token_ids))
        target.chat_id, target.last_used_at = new_chat_id, time.perf_counter()
        if last_turn := self._last_turns.get(chat_id):
            self._last_turns[new_chat_id] = last_turn
        self.events.append(
            f"forked sequence {source.seq_id} into {target.seq_id}: {len(target.token_ids)} cells shared"
        )
        return True

    def hibernate(self, slot: Slot) -> None:
        """Save the state of an idle slot and free its cells."""
        self._save(slot)
        self.clear(slot)

    def hibernate_chat(self, chat_id: str) -> bool:
        """False: the chat has no idle slot."""
        slot = next((slot for slot in self._warm() if slot.chat_id == chat_id), None)
        if slot:
            self.hibernate(slot)
        return slot is not None

    def hibernate_oldest(self, *keep: Slot) -> bool:
        """Hibernate the idle slot unused for longest, the front tab's last. False when no slot is idle."""
        oldest = min((slot for slot in self._warm() if slot not in keep), key=self._age, default=None)
        if oldest:
            self.hibernate(oldest)
        return oldest is not None

    def oldest_idle(self, min_cells: int) -> Slot | None:
        """The idle slot unused for longest of those with so many cells of their own, but the front tab's."""
        idle = [
            slot
            for slot in self._warm()
            if slot.chat_id != self.front_chat_id and self.cells.num_own_cells(slot.seq_id) >= min_cells
        ]
        return min(idle, key=self._age, default=None)

    def note_decoded(self, slot: Slot, token_ids: list[int]) -> None:
        """These tokens are in the library's memory now."""
        slot.token_ids.extend(token_ids)
        self.cells.append(slot.seq_id, len(token_ids))
        self._has_unrotated_keys = False
        self._note_change(slot)

    def resync(self, slot: Slot) -> None:
        """After a decode that broke off: take the library's word for how much of the slot is left."""
        seq = slot.leased_to
        assert seq is not None
        # Its last token must be computed again even if it is in: nobody has sampled its logits.
        num_tokens = min(self._backend.pos_max(slot.seq_id) + 1, len(seq.token_ids) - 1)
        if not self._model.has_plain_attention:
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
        """Every slot as it is now; what has changed is compared with the library.

        Raises PositionMismatchError.
        """
        return tuple(self._snapshot(slot) for slot in self.slots)

    # Where a prefix comes from.

    def _fill(self, slot: Slot, seq: Sequence, is_own: bool) -> CachedPrefix:
        """Put the longest prefix that can be had into the slot."""
        own = common_prefix(slot.token_ids, seq.token_ids)
        donor = max(self.slots, key=lambda other: self._num_given(other, slot, seq))
        given = self._num_given(donor, slot, seq)
        saved_tokens = self.hibernated.tokens_of(seq.request.chat_id)
        saved = common_prefix(saved_tokens, seq.token_ids)
        if given >= max(own, saved) + MIN_SHARED_TOKENS:
            return CachedPrefix(num_shared=self._take_from(donor, slot, given))
        if saved >= own + MIN_SHARED_TOKENS and self._can_use(saved, len(saved_tokens)):
            return self._restore(slot, seq)
        num_kept = self._keep_own_prefix(slot, seq)
        return CachedPrefix(num_reused=num_kept) if is_own else CachedPrefix(num_shared=num_kept)

    def _num_given(self, donor: Slot, slot: Slot, seq: Sequence) -> int:
        """How many tokens of `seq` the slot could have from `donor`."""
        if donor is slot:
            return 0
        num_tokens = common_prefix(donor.token_ids, seq.token_ids)
        return num_tokens if self._can_use(num_tokens, len(donor.token_ids)) else 0

    def _can_use(self, num_tokens: int, num_held: int) -> bool:
        """Whether a state of `num_held` tokens can be cut back to `num_tokens`."""
        return num_tokens == num_held or self._model.has_plain_attention

    def _take_from(self, donor: Slot, slot: Slot, num_tokens: int) -> int:
        """Share the donor's cells, or copy them where the model's memory cannot be shared."""
        self.clear(slot)  # seq_cp into a sequence that holds cells would merge the two
        if self.can_share_cells:
            self._share(donor, slot, num_tokens)
            return num_tokens
        if self._has_unrotated_keys or not self._make_room(len(donor.token_ids), slot, donor):
            return 0
        is_copied = self._put(slot, self._backend.save_state(donor.seq_id), donor.token_ids)
        return num_tokens if is_copied and self._cut_back(slot, num_tokens) else 0

    def _restore(self, slot: Slot, seq: Sequence) -> CachedPrefix:
        chat_id = seq.request.chat_id
        token_ids = self.hibernated.tokens_of(chat_id)
        state = self.hibernated.take(chat_id, self._backend.fingerprint)
        self.clear(slot)
        has_room = self._make_room(len(token_ids), slot)
        if state is None or not has_room or not self._put(slot, state, token_ids):
            self.events.append(f"the saved state for sequence {slot.seq_id} is in doubt: computing it again")
            return CachedPrefix(is_doubted=True)
        num_tokens = self._keep_own_prefix(slot, seq)
        self.events.append(f"restored sequence {slot.seq_id}: {num_tokens} tokens")
        return CachedPrefix(num_restored=num_tokens)

    def _put(self, slot: Slot, state: State, token_ids: list[int]) -> bool:
        """Restore a state of `token_ids` into the empty slot. False, and empty as before, if that failed."""
        is_restored = self._backend.restore_state(slot.seq_id, state)
        if not is_restored or self._backend.pos_max(slot.seq_id) != len(token_ids) - 1:
            self.clear(slot)
            return False
        self.cells.append(slot.seq_id, len(token_ids))
        slot.token_ids.extend(token_ids)
        return True

    def _save(self, slot: Slot) -> None:
        """Keep what the slot holds for its chat, where that is worth it and can be done."""
        chat_id, token_ids = slot.chat_id, list(slot.token_ids)
        if not token_ids:
            return
        is_kept = False
        if chat_id and len(token_ids) >= MIN_SHARED_TOKENS and not self._has_unrotated_keys:
            state = self._backend.save_state(slot.seq_id)
            is_kept = self.hibernated.save(chat_id, token_ids, state, self._backend.fingerprint)
        what = "hibernated" if is_kept else "evicted"
        self.events.append(f"{what} sequence {slot.seq_id}: {len(token_ids)} tokens")

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
        self.events.append(f"shifted {end - begin} cells of sequence {slot.seq_id} down by {begin - start}")
        return end - begin

    def _cut_back(self, slot: Slot, num_tokens: int) -> bool:
        """Drop all but the first tokens. False: the model cannot, and the slot is empty now."""
        if num_tokens == 0 or not self._backend.truncate(slot.seq_id, num_tokens):
            self.clear(slot)
            return False
        self.cells.truncate(slot.seq_id, num_tokens)
        del slot.token_ids[num_tokens:]
        self._snapshots.clear()  # others may have shared the cells
        return True

    def _share(self, donor: Slot, slot: Slot, num_tokens: int) -> None:
        self._backend.share_prefix(donor.seq_id, slot.seq_id, num_tokens)
        self.cells.share(donor.seq_id, slot.seq_id, num_tokens)
        slot.token_ids.extend(donor.token_ids[:num_tokens])
        self._snapshots.clear()

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
            )
        )
        self._last_turns.pop(chat_id, None)
        self._last_turns[chat_id] = LastTurn(seq.request.messages, seq.num_prompt_tokens)
        if len(self._last_turns) > MAX_REMEMBERED_CHATS:
            self._last_turns.popitem(last=False)

    # Slots.

    def _warm(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.state is SlotState.WARM]

    def _age(self, slot: Slot) -> tuple[bool, float]:
        """Sorts idle slots: who gives way first."""
        return slot.chat_id == self.front_chat_id, slot.last_used_at

    def _own_slot(self, seq: Sequence) -> Slot | None:
        chat_id = seq.request.chat_id
        return next((slot for slot in self.slots if slot.chat_id == chat_id and not slot.leased_to), None)

    def _choose(self, seq: Sequence) -> Slot | None:
        idle = [slot for slot in self.slots if slot.leased_to is None]
        empty = [slot for slot in idle if slot.state is SlotState.EMPTY]
        return self._own_slot(seq) or next(iter(empty or sorted(idle, key=self._age)), None)

    def _note_change(self, slot: Slot) -> None:
        self._snapshots.pop(slot.seq_id, None)

    def _snapshot(self, slot: Slot) -> SlotSnapshot:
        snapshot = self._snapshots.get(slot.seq_id)
        if snapshot is None:
            snapshot = self._snapshots[slot.seq_id] = self._new_snapshot(slot)
        return snapshot

    def _new_snapshot(self, slot: Slot) -> SlotSnapshot:
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

    def _verified_pos_max(self, slot: Slot) -> int:
        pos_max = self._backend.pos_max(slot.seq_id)
        if not pos_max + 1 == len(slot.token_ids) == self.cells.num_cells(slot.seq_id):
            raise PositionMismatchError(
                f"sequence {slot.seq_id}: the library is at position {pos_max}, our books hold "
                f"{len(slot.token_ids)} tokens in {self.cells.num_cells(slot.seq_id)} cells"
            )
        return pos_max
