"""Leases each `seq_id`, and chooses where the prefix of a new sequence comes from.

What the cells of a slot contain is changed by `SlotMemory` alone. Engine thread only.
"""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from app.engine.cells.checkpoints import GAP, Checkpoints, State, nearest, packed, taken_along, unpacked
from app.engine.cells.event_log import EventLog
from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.prefix import LastTurn, LastTurns, common_prefix, moved_run
from app.engine.cells.slot_memory import SlotMemory
from app.engine.media.rows import runs_in
from app.engine.prompt import CachedPrefix
from app.engine.prompts.overflow import context_limit
from app.engine.sequence import Slot
from app.protocol.errors import InvalidRequestError
from app.protocol.events import (
    Cleared,
    Forked,
    NotCleared,
    NotHibernated,
    NotRestored,
    Pinned,
    Released,
    Restored,
    Shared,
    Shifted,
    StateDropped,
    StateLost,
    StateUnusable,
    ToolRan,
)
from app.protocol.media import is_media
from app.protocol.output import CHANGES, PrefixEnd
from app.protocol.report import SavedState, SlotSnapshot, SlotState

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.engine.backend import Backend
    from app.engine.batch import Batch
    from app.engine.sequence import Sequence

# Sharing or saving fewer cells saves less than a millisecond.
MIN_SHARED_TOKENS = 16
# Idle chats make way for so many cells that a state brings in vain, for each token that it saves computing.
# To save and restore a cell takes less than a hundredth of that, but who makes way may lose its own state.
VAIN_CELLS_PER_TOKEN = 4
# A chat with a shelf that others have, too, rather computes a token again than hold so many cells twice.
SHARED_CELLS_PER_TOKEN = 8


class SlotPool:
    """Leases slots to sequences, with the longest prefix that is available."""

    def __init__(self, backend: Backend, hibernated: HibernatedChats) -> None:
        self._backend = backend
        self._model = backend.model
        self.memory = SlotMemory(backend)
        self.slots = self.memory.slots
        self.cells = self.memory.cells
        self.checkpoints = Checkpoints(backend, self.slots, self.memory.note_change)
        self.hibernated = hibernated
        self.front_chat_id: str | None = None  # evicted last
        self.pinned_chat_ids: set[str] = set()  # evicted last
        self._last_turns = LastTurns(self._text_of)
        self.event_log = EventLog(self._last_turns.note_lost)
        hibernated.is_in_cells = self._holds

    def lease(self, seq: Sequence) -> Slot | None:
        """Give `seq` a slot, or None while all are leased.

        Its own chat's if that is warm, else the lowest empty one, else the least recently used. Its prefix
        comes from where most of it is: the slot itself, another slot, or the chat's saved state.
        """
        slot = self._choose(seq)
        if slot is None:
            return None
        self._tell_lost()  # to a disk that failed
        chat_id = seq.request.chat_id
        is_own = slot.chat_id == chat_id
        if not is_own:
            self._save(slot)
        own = list(slot.token_ids) if is_own else self.hibernated.tokens_of(chat_id)
        held = self._last_turns.sent(chat_id, own)
        known = [common_prefix(other.token_ids, seq.token_ids) for other in self.slots]
        prefix = self._fill(slot, seq)
        self.hibernated.drop(chat_id)  # the cells are newer
        slot.chat_id, slot.leased_to, seq.slot = chat_id, seq, slot
        slot.begins_as = seq.request.begins_as
        slot.max_context_tokens = context_limit(seq.request, self._model)
        self.checkpoints.plan(seq, known)
        self.memory.note_media(seq)
        if seq.request.is_saved:
            self.hibernated.saved_chat_ids.add(chat_id)
        self.memory.note_change(slot)
        self.event_log.add_lease(seq, slot, prefix)
        prefix_end = self._why_prefix_ended(seq, own, held, prefix)
        num_own = 0 if prefix.num_shared else min(prefix.num_tokens, common_prefix(own, seq.token_ids))
        num_given = min(self._last_turns.given.get(chat_id, 0), num_own)
        num_ahead = max(num_own - max(len(held), num_given), 0)
        if num_given > len(held) and prefix.num_reused:  # told as what it was when it was read ahead
            prefix = replace(prefix, num_reused=prefix.num_reused - num_given, num_shared=num_given)
        self.event_log.note_lease(seq, slot, held, prefix, prefix_end, num_ahead)
        seq.note_lease(prefix, prefix_end, num_ahead)
        if seq.is_ahead:
            num_left = min(common_prefix(held, seq.token_ids), seq.num_computed_tokens)
            self._last_turns.note_ahead(seq, held, num_left, prefix_end, prefix.num_shared or num_given)
        else:
            self._last_turns.note_asked(seq)
        return slot

    def _why_prefix_ended(
        self, seq: Sequence, own: list[int], held: list[int], prefix: CachedPrefix
    ) -> PrefixEnd:
        """`own` are the tokens of its chat before, `held` those without what was read ahead."""
        if prefix.is_doubted:
            return PrefixEnd.DOUBTED
        num_common = common_prefix(held, seq.token_ids)
        num_unused = num_common - prefix.num_tokens
        why = self._last_turns.why_prefix_ended(seq, held, prefix.num_tokens)
        if num_unused <= 0 or (prefix.is_from_checkpoint and num_unused < GAP and why in CHANGES):
            return why
        if prefix.is_from_checkpoint:
            return PrefixEnd.CHECKPOINT
        if num_common < len(own) and not self._model.has_plain_attention:
            return PrefixEnd.NO_ROLLBACK
        return PrefixEnd.NOT_USED

    @property
    def can_share_cells(self) -> bool:
        return self._model.can_share_cells

    @property
    def gives_prefixes(self) -> bool:
        """A sequence can begin with what another one has, whether the cells are shared or copied."""
        return self._model.has_plain_attention or self._model.takes_checkpoints

    @property
    def takes_one_prompt_a_step(self) -> bool:
        return self._model.takes_one_prompt_a_step

    @property
    def num_cells_of_running(self) -> int:
        """All that cannot be freed: cells that a running answer holds, alone or with others."""
        return self.cells.num_cells_of_any(self._leased_ids)

    def num_new_cells(self, seq: Sequence) -> int:
        """How many cells beside those of running answers it takes to give `seq` a slot and compute it."""
        slot = self._choose(seq)
        assert slot is not None
        source, num_tokens = self._source(slot, seq)
        if source and (source is slot or self.can_share_cells):
            num_shared = self.cells.num_also_held(source.seq_id, num_tokens, self._leased_ids)
            return len(seq.token_ids) - num_shared
        held = source.token_ids if source else self.hibernated.tokens_of(self._best_saved(seq)[0])
        return max(len(seq.token_ids), len(held))  # a state comes as a whole

    def best_prefix(self, seq: Sequence) -> int:
        """How many tokens of `seq` need not be computed if it gets a slot now."""
        own = self._own_slot(seq)
        slots = self.slots if self.gives_prefixes and seq.request.shares_prefix else [own] if own else []
        return max(self._best_saved(seq)[1], *(self._num_held(slot, seq) for slot in slots), 0)

    def has_room_beside_all(self, seq: Sequence) -> bool:
        """Whether it can be computed in the chat's own slot or an empty one, beside all other chats."""
        slot = self._own_slot(seq) or self._empty_slot
        if slot is None or seq.request.chat_id in self.hibernated:
            return False
        return self.num_new_cells(seq) <= self.cells.num_free + self.cells.num_own_cells(slot.seq_id)

    def make_room_for_beginning(self, seq: Sequence) -> bool:
        """For all of a shelf, at the cost of idle chats that are not protected. False: now is not the time.

        Nor is it if all of it is held or saved already.
        """
        known = self.hibernated.tokens_of(seq.request.chat_id)
        if common_prefix(known, seq.token_ids) == len(seq.token_ids) - 1:
            return False
        while True:
            slot = self._own_slot(seq) or next(
                (one for one in self.slots if one.state is SlotState.EMPTY), None
            )
            if slot:
                num_free = self.cells.num_free + self.cells.num_own_cells(slot.seq_id)
                if self.num_new_cells(seq) <= num_free:
                    return True
            others = (one for one in self._warm() if one is not slot and not self.is_protected(one.chat_id))
            oldest = min(others, key=self._age, default=None)
            if oldest is None:
                return False
            self.hibernate(oldest)

    def release(self, slot: Slot) -> None:
        """Take the slot back. Its cells are kept for the chat's next turn, unless there will be none."""
        seq = self.set_aside(slot)
        if seq.request.is_beginning and len(slot.token_ids) == len(seq.token_ids):
            self._seal(slot)
        is_kept = seq.request.keep_cells
        self.event_log.add(Released(slot.seq_id, slot.chat_id, len(slot.token_ids), is_kept))
        if not seq.request.keep_cells:
            self.memory.clear(slot)
        elif not seq.is_ahead:
            self._last_turns.note_answered(seq, len(slot.token_ids))

    def note_ended(self, seq: Sequence) -> None:
        """While it was paused: of its tokens, those count that are saved, or left in a slot."""
        slot = self._slot_of(seq.request.chat_id)
        held = slot.token_ids if slot else self.hibernated.tokens_of(seq.request.chat_id)
        self._last_turns.note_answered(seq, len(held))

    def last_turn_of(self, chat_id: str) -> tuple[list[int], LastTurn] | None:
        """All tokens of the chat's last turn, prompt and answer, where they are held in cells or saved."""
        slot = self._slot_of(chat_id)
        held = slot.token_ids if slot else self.hibernated.tokens_of(chat_id)
        last_turn = self._last_turns.get(chat_id)
        if (
            last_turn is None
            or not last_turn.is_whole
            or len(held) < max(last_turn.num_prompt_tokens, last_turn.num_held or 0)
        ):
            return None
        return [*self._last_turns.sent(chat_id, held), *last_turn.uncomputed], last_turn

    def set_aside(self, slot: Slot) -> Sequence:
        """Take the slot back from its sequence. Its cells are kept as long as there is room."""
        seq = slot.leased_to
        assert seq is not None
        if len(slot.token_ids) > len(seq.token_ids):  # accepted draft tokens after the end of the answer
            self.cut_back(slot, len(seq.token_ids))
        slot.leased_to = seq.slot = None
        slot.last_used_at = time.perf_counter()
        if not seq.is_ahead:
            slot.last_usage = seq.usage
        self.memory.note_change(slot)
        return seq

    def cut_back(self, slot: Slot, num_tokens: int) -> None:
        """Drop all but the first tokens of a leased slot: rejected draft tokens."""
        if not self.memory.cut_back(slot, num_tokens):
            assert slot.leased_to is not None
            slot.chat_id = slot.leased_to.request.chat_id  # it is computed again from its first token

    def resync(self, batch: Batch) -> None:
        """After a decode that broke off. What nobody knows any more is computed again."""
        before = [(slot, Cleared(slot.seq_id, slot.chat_id, len(slot.token_ids))) for slot in self._warm()]
        self.memory.resync(batch)
        for slot, cleared in before:
            if not slot.token_ids:
                self.event_log.add(cleared)

    def suspend(self, slot: Slot) -> None:
        """Take the slot back from an answer that continues later. Its state is saved, its cells are freed."""
        self.set_aside(slot)
        self.hibernate(slot)

    def forget(self, chat_id: str) -> None:
        """The chat has no next turn: free its cells. Its answer, if one runs, was aborted before."""
        self._free_cells_of(chat_id)
        self._last_turns.forget(chat_id)
        self.pinned_chat_ids.discard(chat_id)

    def fork(self, chat_id: str, new_chat_id: str) -> bool:
        """Give `new_chat_id` an empty slot with all cells of `chat_id`. False: no slot is empty."""
        source = next((slot for slot in self.slots if slot.chat_id == chat_id and slot.token_ids), None)
        target = self._empty_slot
        if source is None or target is None or not self.can_share_cells:
            return False
        if not self.memory.share(source, target, len(source.token_ids)):
            return False
        target.chat_id, target.last_used_at = new_chat_id, time.perf_counter()
        target.max_context_tokens = source.max_context_tokens or self._model.max_sequence_tokens
        self._last_turns.copy(chat_id, new_chat_id)
        num_cells = len(target.token_ids)
        self.event_log.add(Forked(target.seq_id, new_chat_id, source.seq_id, num_cells))
        return True

    def hibernate(self, slot: Slot) -> None:
        """Save the state of an idle slot and free its cells."""
        self._save(slot)
        self.memory.clear(slot)

    def hibernate_oldest(self, *keep: Slot) -> bool:
        """Hibernate the least recently used idle slot, protected chats' last. False when no slot is idle."""
        oldest = min((slot for slot in self._warm() if slot not in keep), key=self._age, default=None)
        if oldest:
            self.hibernate(oldest)
        return oldest is not None

    def keep_all(self, deadline: float) -> None:
        """Keep cells of saved chats for the next start, most recently used first, as far as time allows."""
        for slot in sorted(self._warm(), key=self._age, reverse=True):
            chat_id, token_ids = slot.chat_id, list(slot.token_ids)
            if chat_id is None or len(token_ids) < MIN_SHARED_TOKENS or self.memory.has_unrotated_keys:
                continue
            if slot.shifted_from is not None:
                continue
            num_bytes = len(token_ids) * self._model.cell_bytes
            if self.hibernated.can_keep(chat_id, token_ids, num_bytes, deadline):
                self.hibernated.keep(chat_id, token_ids, self._packed(slot), deadline)
        self.hibernated.keep_all(deadline)

    def oldest_idle(self, min_cells: int) -> Slot | None:
        """The least recently used idle slot with so many cells of its own, but no protected one."""
        idle = [
            slot
            for slot in self._warm()
            if not self.is_protected(slot.chat_id) and self.cells.num_own_cells(slot.seq_id) >= min_cells
        ]
        return min(idle, key=self._age, default=None)

    def is_protected(self, chat_id: str | None) -> bool:
        """It is evicted last: it is in front, or pinned."""
        return chat_id is not None and (chat_id == self.front_chat_id or chat_id in self.pinned_chat_ids)

    # Commands on one chat. Each logs an event with the result.

    def hibernate_chat(self, chat_id: str) -> bool:
        """Save the cells of an idle chat and free them. False if that is impossible; nothing is lost then."""
        slot = self._idle_slot_of(chat_id)
        if slot is None:
            self.event_log.add(NotHibernated(None, chat_id, self._is_answering(chat_id)))
            return False
        if not self._keep_state(slot):
            self.event_log.add(NotHibernated(slot.seq_id, chat_id))
            return False
        self.event_log.add_saved(slot, is_kept=True)
        self.memory.clear(slot)
        return True

    def restore_chat(self, chat_id: str) -> bool:
        """Restore the saved cells of a chat into an empty slot, else that of the least recently used idle
        chat.

        False where it has none, or while running answers leave no slot or no room for them.
        """
        token_ids = self.hibernated.tokens_of(chat_id)
        slot = self._empty_or_oldest()
        if not token_ids or slot is None or self.cells.num_total - self.num_cells_of_running < len(token_ids):
            self.event_log.add(NotRestored(None, chat_id, bool(token_ids)))
            return False
        shifted_from = self.hibernated.shifted_from(chat_id)
        state = self.hibernated.take(chat_id, self._backend.fingerprint)
        self._save(slot)
        if not self._put_back(slot, state, token_ids, shifted_from):
            self.event_log.add(StateUnusable(slot.seq_id, chat_id))
            return False
        slot.chat_id, slot.last_used_at = chat_id, time.perf_counter()
        slot.max_context_tokens = self._model.max_sequence_tokens
        self.memory.note_change(slot)
        self.event_log.add(Restored(slot.seq_id, chat_id, len(token_ids)))
        return True

    def clear_chat(self, chat_id: str) -> bool:
        """Free the cells of an idle chat, and its saved state. False: it is answering, or has neither."""
        if self._free_cells_of(chat_id):
            return True
        self.event_log.add(NotCleared(None, chat_id, self._is_answering(chat_id)))
        return False

    def pin(self, chat_id: str, is_pinned: bool) -> None:
        if is_pinned:
            self.pinned_chat_ids.add(chat_id)
        else:
            self.pinned_chat_ids.discard(chat_id)
        slot = self._slot_of(chat_id)
        if slot:
            self.memory.note_change(slot)
        self.event_log.add(Pinned(slot.seq_id if slot else None, chat_id, is_pinned))

    def note_tool(self, chat_id: str, tool: str, seconds: float) -> None:
        slot = self._slot_of(chat_id)
        self.event_log.add(ToolRan(slot.seq_id if slot else None, chat_id, tool, seconds))

    # Commands on one slot. They raise InvalidRequestError when nothing was done.

    def saved_slot(self, seq_id: int) -> SavedState:
        """The state of what it holds, which stays."""
        slot = self._idle_slot(seq_id)
        if slot.shifted_from is not None or self.memory.has_unrotated_keys:
            raise InvalidRequestError("Positions in this slot were moved: its state would be of no use.")
        state = self._packed(slot) if slot.token_ids else np.empty(0, np.uint8)
        return SavedState(tuple(slot.token_ids), state, self._backend.fingerprint)

    def copied_state(self, chat_id: str) -> SavedState | None:
        """What a slot holds for the chat, which may be answering. None: nothing that fits elsewhere."""
        slot = next((slot for slot in self.slots if slot.chat_id == chat_id and slot.token_ids), None)
        has_moved = self.memory.has_unrotated_keys or (slot and slot.shifted_from is not None)
        if slot is None or has_moved or not self._model.is_unified or not self._model.has_plain_attention:
            return None
        return SavedState(tuple(slot.token_ids), self._packed(slot), self._backend.fingerprint)

    def fill_slot(self, seq_id: int, chat_id: str, saved: SavedState) -> None:
        """The state becomes that of a new chat, whose beginning any later prompt may have."""
        slot, token_ids = self._idle_slot(seq_id), list(saved.token_ids)
        if saved.fingerprint != self._backend.fingerprint:
            raise InvalidRequestError("This state was saved with another model, or with other settings.")
        known = (0 <= token_id < self._model.n_vocab or is_media(token_id) for token_id in token_ids)
        if not all(known):
            raise InvalidRequestError("This state has tokens that the model does not know.")
        if self.cells.num_total - self.num_cells_of_running < len(token_ids):
            raise InvalidRequestError("There is no room for this state while others are answered.")
        self._save(slot)
        if not token_ids:
            self.memory.clear(slot)
        elif not self._put_back(slot, saved.state, token_ids, None):
            raise InvalidRequestError("llama.cpp does not take this state: the slot is empty now.")
        slot.chat_id = chat_id if token_ids else None
        slot.last_used_at = time.perf_counter()
        slot.max_context_tokens = self._model.max_sequence_tokens
        self.memory.note_change(slot)
        self.event_log.add(Restored(seq_id, chat_id, len(token_ids)))

    def erase_slot(self, seq_id: int) -> int:
        """How many tokens it held."""
        slot = self._idle_slot(seq_id)
        num_tokens, chat_id = len(slot.token_ids), slot.chat_id
        if chat_id is not None:
            self._free_cells_of(chat_id)
        return num_tokens

    def _idle_slot(self, seq_id: int) -> Slot:
        if not 0 <= seq_id < len(self.slots):
            raise InvalidRequestError(f"There are the slots 0 to {len(self.slots) - 1}.")
        if self.slots[seq_id].leased_to:
            raise InvalidRequestError("This slot is answering. Try again when it has ended.")
        return self.slots[seq_id]

    # Reporting.

    def snapshots(self) -> tuple[SlotSnapshot, ...]:
        """Every slot as it is now; what has changed is compared with the library.

        Raises PositionMismatchError.
        """
        return self.memory.snapshots(self.pinned_chat_ids)

    def evidence(self) -> tuple[SlotSnapshot, ...]:
        """Every slot as the library and our books have it, whether they agree or not."""
        return self.memory.evidence(self.pinned_chat_ids)

    # Where a prefix comes from.

    def _fill(self, slot: Slot, seq: Sequence) -> CachedPrefix:
        """Put the longest available prefix into the slot."""
        source, num_tokens = self._source(slot, seq)
        if source is None:
            return self._restore(slot, seq)
        is_from_checkpoint = num_tokens > 0 and self.memory.takes_checkpoint(source, num_tokens)
        if source is not slot:
            num_shared = self._take_from(source, slot, num_tokens, seq.request.chat_id)
            return CachedPrefix(num_shared=num_shared, is_from_checkpoint=is_from_checkpoint)
        is_own = slot.chat_id == seq.request.chat_id
        if not (is_own or seq.request.shares_prefix):
            self.memory.clear(slot)
        num_kept = self._keep_own_prefix(slot, seq)
        if is_own:
            return CachedPrefix(num_reused=num_kept, is_from_checkpoint=is_from_checkpoint)
        return CachedPrefix(num_shared=num_kept, is_from_checkpoint=is_from_checkpoint)

    def _source(self, slot: Slot, seq: Sequence) -> tuple[Slot | None, int]:
        """Where the longest prefix for `slot` is, and how many tokens it has.

        In the slot itself, in another one, or, None, in the chat's saved state.
        """
        is_own = slot.chat_id == seq.request.chat_id
        own = self._num_held(slot, seq) if is_own or seq.request.shares_prefix else 0
        donor = max(self.slots, key=lambda other: self._num_given(other, slot, seq))
        given = self._num_given(donor, slot, seq)
        saved_id, saved = self._best_saved(seq)
        worth = saved
        if seq.request.begins_as and self.can_share_cells:
            worth = saved * SHARED_CELLS_PER_TOKEN // (SHARED_CELLS_PER_TOKEN + 1)
        if given >= max(own + MIN_SHARED_TOKENS, worth):  # a state would take cells of its own
            return donor, given
        if saved >= own + MIN_SHARED_TOKENS:
            num_free = self.cells.num_free + self.cells.num_own_cells(slot.seq_id)
            num_in_vain = len(self.hibernated.tokens_of(saved_id)) - max(num_free, len(seq.token_ids))
            if num_in_vain <= VAIN_CELLS_PER_TOKEN * saved:
                return None, saved
        return slot, own

    def _num_given(self, donor: Slot, slot: Slot, seq: Sequence) -> int:
        """How many tokens of `seq` the slot could have from `donor`."""
        if donor is slot or not seq.request.shares_prefix:
            return 0
        num_tokens = self._num_held(donor, seq)
        if self.can_share_cells:
            return num_tokens
        return self._reach_of_state(num_tokens, len(donor.token_ids), donor.checkpoints)

    def _num_held(self, slot: Slot, seq: Sequence) -> int:
        """Tokens of `seq` that the slot has computed, as `seq` would, and can be cut back to."""
        num_tokens = common_prefix(slot.token_ids, seq.token_ids)
        is_own = slot.chat_id == seq.request.chat_id
        if not (is_own and seq.is_shortened):
            num_tokens = _unshifted(num_tokens, slot.shifted_from)
        return self.memory.reach(slot, num_tokens)

    def _best_saved(self, seq: Sequence) -> tuple[str, int]:
        """The saved state with most of `seq`, its chat's own or its shelf's, and how many tokens that is."""
        chat_ids = dict.fromkeys((seq.request.chat_id, seq.request.begins_as or seq.request.chat_id))
        counted = ((chat_id, self._num_saved(chat_id, seq)) for chat_id in chat_ids)
        return max(counted, key=itemgetter(1))

    def _num_saved(self, chat_id: str, seq: Sequence) -> int:
        token_ids = self.hibernated.tokens_of(chat_id)
        num_tokens = common_prefix(token_ids, seq.token_ids)
        if not seq.is_shortened:
            num_tokens = _unshifted(num_tokens, self.hibernated.shifted_from(chat_id))
        return self._reach_of_state(num_tokens, len(token_ids), self.hibernated.places_of(chat_id))

    def _reach_of_state(self, num_tokens: int, num_saved: int, checkpoints: Collection[int]) -> int:
        """As `SlotMemory.reach`, of a saved state, which leaves out what is behind the window."""
        is_whole = num_saved <= self._model.n_swa and not self._model.has_states
        if is_whole or self._model.has_plain_attention or num_tokens == num_saved:
            return num_tokens
        return nearest(checkpoints, num_tokens)

    def _take_from(self, donor: Slot, slot: Slot, num_tokens: int, chat_id: str) -> int:
        """Share the donor's cells, or copy them where the model's memory cannot share."""
        self.memory.clear(slot)  # seq_cp into a sequence that holds cells would merge the two
        if self.can_share_cells:
            if not self.memory.share(donor, slot, num_tokens):
                return 0
            self.event_log.add(Shared(slot.seq_id, chat_id, donor.seq_id, num_tokens, is_copied=False))
            return num_tokens
        if self.memory.has_unrotated_keys or not self._make_room(len(donor.token_ids), slot, donor):
            return 0
        state = self.memory.save(donor)
        is_copied = self.memory.restore(slot, state, donor.token_ids, checkpoints=donor.checkpoints.copy())
        if not is_copied or not self.memory.cut_back(slot, num_tokens):
            return 0
        self.event_log.add(Shared(slot.seq_id, chat_id, donor.seq_id, num_tokens, is_copied=True))
        return num_tokens

    def _restore(self, slot: Slot, seq: Sequence) -> CachedPrefix:
        chat_id, (saved_id, _) = seq.request.chat_id, self._best_saved(seq)
        token_ids, shifted_from = self.hibernated.tokens_of(saved_id), self.hibernated.shifted_from(saved_id)
        take = self.hibernated.take if saved_id == chat_id else self.hibernated.lend
        state = take(saved_id, self._backend.fingerprint)
        if not self._put_back(slot, state, token_ids, shifted_from):
            self.event_log.add(StateUnusable(slot.seq_id, chat_id))
            return CachedPrefix(is_doubted=True)
        slot.chat_id = chat_id
        is_from_checkpoint = self.memory.takes_checkpoint(slot, self._num_held(slot, seq))
        num_tokens = self._keep_own_prefix(slot, seq)
        self.event_log.add(Restored(slot.seq_id, chat_id, num_tokens))
        return CachedPrefix(num_restored=num_tokens, is_from_checkpoint=is_from_checkpoint)

    def _put_back(
        self, slot: Slot, state: State | None, token_ids: list[int], shifted_from: int | None
    ) -> bool:
        """Clear the slot and restore a saved state into it. False, and empty: there is none, or it failed."""
        self.memory.clear(slot)
        if state is None or not self._make_room(len(token_ids), slot):
            return False
        state, checkpoints = unpacked(state)
        return self.memory.restore(slot, state, token_ids, shifted_from, checkpoints)

    def _save(self, slot: Slot) -> None:
        """Save the slot's state for its chat, if that is possible and pays."""
        if slot.token_ids:
            self.event_log.add_saved(slot, self._keep_state(slot))

    def _keep_state(self, slot: Slot) -> bool:
        """Save the slot's state for its chat. False: it is too small, or cannot be saved."""
        chat_id, token_ids = slot.chat_id, list(slot.token_ids)
        if not chat_id or len(token_ids) < MIN_SHARED_TOKENS or self.memory.has_unrotated_keys:
            return False
        if self.hibernated.rest_sealed(chat_id, token_ids):
            return True
        state = self._packed(slot)
        fingerprint = self._backend.fingerprint
        is_kept = self.hibernated.save(chat_id, token_ids, state, fingerprint, slot.shifted_from)
        self._tell_lost(except_of=chat_id)
        return is_kept

    def _tell_lost(self, except_of: str = "") -> None:
        for lost_id, num_tokens in self.hibernated.take_lost():
            if lost_id != except_of:
                self.event_log.add(StateLost(None, lost_id, num_tokens))

    def _seal(self, slot: Slot) -> None:
        chat_id, token_ids = slot.chat_id, list(slot.token_ids)
        if chat_id is None or self.memory.has_unrotated_keys or slot.shifted_from is not None:
            return
        num_bytes = len(token_ids) * self._model.cell_bytes
        if self.hibernated.can_keep(chat_id, token_ids, num_bytes, inf):
            self.hibernated.seal(chat_id, token_ids, self._packed(slot))

    def _holds(self, chat_id: str) -> bool:
        """Some slot begins with this shelf. Any thread."""
        return any(chat_id in (slot.chat_id, slot.begins_as) for slot in self.slots)

    def _packed(self, slot: Slot) -> State:
        state = self.memory.save(slot)
        if not self._model.takes_checkpoints:
            return state
        return packed(state, taken_along(slot.checkpoints, len(slot.token_ids), state))

    def _make_room(self, num_cells: int, *keep: Slot) -> bool:
        """Free cells for a state, at the cost of idle slots."""
        while self.cells.num_free < num_cells:
            if not self.hibernate_oldest(*keep):
                return False
        return True

    def _keep_own_prefix(self, slot: Slot, seq: Sequence) -> int:
        """Cut the slot back to what it has in common with `seq`; 0 if nothing can be kept."""
        num_tokens = self._num_held(slot, seq)
        is_own = slot.chat_id == seq.request.chat_id
        if is_own and seq.is_shortened and num_tokens < len(slot.token_ids):
            num_tokens += self._close_gap(slot, seq, num_tokens)
        return num_tokens if self.memory.cut_back(slot, num_tokens) else 0

    def _close_gap(self, slot: Slot, seq: Sequence, start: int) -> int:
        """Shift the cells after turns that were left out. Returns how many tokens that saves."""
        begin, end = moved_run(slot.token_ids, seq.token_ids, start)
        can_move = self._model.can_shift and self._model.has_plain_attention and not seq.chunks
        can_move = can_move and not runs_in(slot.token_ids)
        if begin == end or not can_move or self.cells.has_shared_cells_from(slot.seq_id, start):
            return 0
        if not self.memory.cut_back(slot, end):
            return 0
        self.memory.close_gap(slot, start, begin)
        shifted = Shifted(slot.seq_id, seq.request.chat_id, end - begin, begin - start)
        self.event_log.add(shifted)
        return end - begin

    def _free_cells_of(self, chat_id: str) -> bool:
        """Drop the chat's cells and saved state, unless it is answering. False: there was nothing."""
        idle = [slot for slot in self._warm() if slot.chat_id == chat_id]
        for slot in idle:
            self._tell_cleared(slot)
            self.memory.clear(slot)
        saved = self.hibernated.tokens_of(chat_id)
        if saved:
            self.event_log.add(StateDropped(None, chat_id, len(saved)))
        self.hibernated.forget(chat_id)
        return bool(idle or saved)

    def _tell_cleared(self, slot: Slot) -> None:
        self.event_log.add(Cleared(slot.seq_id, slot.chat_id, len(slot.token_ids)))

    def _is_answering(self, chat_id: str) -> bool:
        return any(slot.leased_to and slot.chat_id == chat_id for slot in self.slots)

    def _text_of(self, token_ids: list[int]) -> str:
        return b"".join(map(self._backend.token_piece, token_ids)).decode("utf-8", "replace")

    # Slots.

    @property
    def _leased_ids(self) -> list[int]:
        return [slot.seq_id for slot in self.slots if slot.leased_to]

    def _warm(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.state is SlotState.WARM]

    def _age(self, slot: Slot) -> tuple[bool, float]:
        """Sort key of idle slots: evicted first comes first."""
        return self.is_protected(slot.chat_id), slot.last_used_at

    def _slot_of(self, chat_id: str) -> Slot | None:
        return next((slot for slot in self.slots if slot.chat_id == chat_id), None)

    @property
    def _empty_slot(self) -> Slot | None:
        return next((slot for slot in self.slots if slot.state is SlotState.EMPTY), None)

    def _own_slot(self, seq: Sequence) -> Slot | None:
        chat_id = seq.request.chat_id
        return next((slot for slot in self.slots if slot.chat_id == chat_id and not slot.leased_to), None)

    def _idle_slot_of(self, chat_id: str) -> Slot | None:
        return next((slot for slot in self._warm() if slot.chat_id == chat_id), None)

    def _choose(self, seq: Sequence) -> Slot | None:
        return self._own_slot(seq) or self._empty_or_oldest()

    def _empty_or_oldest(self) -> Slot | None:
        """The lowest empty slot, else the idle one to be evicted first."""
        idle = [slot for slot in self.slots if slot.leased_to is None]
        empty = [slot for slot in idle if slot.state is SlotState.EMPTY]
        return next(iter(empty or sorted(idle, key=self._age)), None)


def _unshifted(num_tokens: int, shifted_from: int | None) -> int:
    """Of so many tokens, those in front of moved cells, which have seen what was left out of their chat."""
    return num_tokens if shifted_from is None else min(num_tokens, shifted_from)
