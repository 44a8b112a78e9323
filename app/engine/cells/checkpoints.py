"""Where to save what a model cannot cut back, so that a chat can go back to there.

A sequence with a sliding window or a recurrent state can lose its tail only if that part of it was saved as
it was then: a checkpoint, named by its number of computed tokens. One can be saved only where a step ends, so
prompts are cut there. Engine thread only.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Sequence as Tokens
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import psutil

from app.engine.media.rows import follows

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.batch import Batch
    from app.engine.sequence import Sequence, Slot

GAP = 32  # tokens between two checkpoints: to compute them takes about as long as a step more
STRIDE = 256  # of a long prompt, where there is no other reason: smaller pieces take longer to compute
ANSWER_STRIDE = 64  # an answer is computed token by token, so there a checkpoint costs only its memory
RAM_SHARE, MAX_RAM_BYTES = 0.05, 2**30
# A saved state takes checkpoints along up to so many times its own size, small ones in any case.
MAX_TAKEN_ALONG, FEW_BYTES = 4, 16 * 2**20


def cuts(
    token_ids: Tokens[int], start: int, control_tokens: Collection[int], known: Iterable[int]
) -> list[int]:
    """Where to cut a prompt of which `start` tokens are there: numbers of tokens, in order.

    `known` are places where other prompts are known to go another way. It may go another way at the ends of
    turns, where control tokens stand, and most likely near its end: a question changes, a document before it
    stays. So the places lie the denser the nearer they are to the end.
    """
    found: list[int] = []
    for place in _places(token_ids, start, control_tokens, known):
        at = bisect_right(found, place)
        is_free = (at == 0 or place - found[at - 1] >= GAP) and (at == len(found) or found[at] - place >= GAP)
        if is_free and start <= place < len(token_ids) and place and not follows(token_ids[place]):
            found.insert(at, place)
    return found


def _places(
    token_ids: Tokens[int], start: int, control_tokens: Collection[int], known: Iterable[int]
) -> Iterator[int]:
    """The most important first."""
    end = len(token_ids)
    yield from known
    yield start  # the end of the last turn
    borders = [place for place in range(start + 1, end) if token_ids[place] in control_tokens]
    yield from _first_of_each_run(borders)  # the beginning of the answer among them
    last = end - 1  # the last token is computed again in any case
    yield last
    distance = GAP
    while distance < STRIDE:
        yield last - distance
        distance *= 2
    yield from range(last - distance, start, -STRIDE)


def _first_of_each_run(places: Tokens[int]) -> Iterator[int]:
    """The end of one turn and the beginning of the next lie so close that one checkpoint does for both."""
    last = -GAP
    for place in places:
        if place - last >= GAP:
            yield place
            last = place


def nearest(checkpoints: Collection[int], num_tokens: int) -> int:
    """The last one at or before so many tokens; 0 without one."""
    return max((place for place in checkpoints if place <= num_tokens), default=0)


def up_to(checkpoints: dict[int, State], num_tokens: int) -> dict[int, State]:
    return {place: one for place, one in checkpoints.items() if place <= num_tokens}


class Checkpoints:
    """Saves those that are due, and drops the least useful where they take too much memory."""

    def __init__(self, backend: Backend, slots: Iterable[Slot], note_change: Callable[[Slot], None]) -> None:
        """`note_change` is called for each slot whose checkpoints are other ones now."""
        self._backend, self._note_change = backend, note_change
        self._slots = tuple(slots)
        self._max_bytes = backend.model.max_checkpoint_bytes

    def plan(self, seq: Sequence, known: Iterable[int] = ()) -> None:
        """Its prompt is about to be computed, behind what its slot holds."""
        if not self._backend.model.takes_checkpoints:
            return
        start, token_ids = seq.num_computed_tokens, seq.token_ids[: seq.num_prefill_tokens]
        if seq.request.keep_cells:
            seq.cuts = cuts(token_ids, start, self._backend.control_tokens, known)
        else:  # only others can use it
            seq.cuts = sorted({place for place in known if start < place < len(token_ids)})

    def add_cut(self, seq: Sequence, num_tokens: int) -> None:
        """Another prompt waits for so many of its tokens."""
        if self._backend.model.takes_checkpoints and num_tokens not in seq.cuts:
            insort(seq.cuts, num_tokens)

    def save_due(self, batch: Batch) -> None:
        """Before a decode: of each sequence in it that is now where a checkpoint is wanted."""
        if not self._backend.model.takes_checkpoints:
            return
        for span in batch.spans:
            slot = span.seq.slot
            assert slot is not None
            if span.first_token not in slot.checkpoints and self._is_due(span.seq, span.first_token):
                slot.checkpoints[span.first_token] = self._backend.save_checkpoint(slot.seq_id)
                self._note_change(slot)
                self._keep_budget()

    def _is_due(self, seq: Sequence, num_tokens: int) -> bool:
        if not num_tokens or num_tokens < seq.num_prefill_tokens or not seq.request.keep_cells:
            return num_tokens in seq.cuts
        assert seq.slot is not None
        distance = num_tokens - max(seq.slot.checkpoints, default=0)
        is_border = seq.token_ids[num_tokens] in self._backend.control_tokens  # as before a tool call
        return distance >= (GAP if is_border else ANSWER_STRIDE)

    def _keep_budget(self) -> None:
        while self.num_bytes > self._max_bytes:
            slot = min((slot for slot in self._slots if slot.checkpoints), key=_loss_of_cheapest)
            del slot.checkpoints[_cheapest(slot.checkpoints, len(slot.token_ids))]
            self._note_change(slot)

    @property
    def num_bytes(self) -> int:
        """Of all slots; one that several have counts once."""
        return sum(
            {id(one): one.nbytes for slot in self._slots for one in slot.checkpoints.values()}.values()
        )


def taken_along(checkpoints: dict[int, State], num_tokens: int, state: State) -> dict[int, State]:
    """Those worth saving with the state of so many tokens."""
    left, most = checkpoints.copy(), max(MAX_TAKEN_ALONG * state.nbytes, FEW_BYTES)
    while sum(one.nbytes for one in left.values()) > most:
        del left[_cheapest(left, num_tokens)]
    return left


def _loss_of_cheapest(slot: Slot) -> float:
    return min(loss for loss, _ in _losses(slot.checkpoints, len(slot.token_ids)))


def _cheapest(checkpoints: Collection[int], num_tokens: int) -> int:
    return min(_losses(checkpoints, num_tokens))[1]


def _losses(checkpoints: Collection[int], num_tokens: int) -> Iterator[tuple[float, int]]:
    """What each saves, about: a chat goes back to any place, to one near its end more likely."""
    borders = [0, *sorted(checkpoints), num_tokens + GAP]
    for (before, place), (_, after) in zip(pairwise(borders), pairwise(borders[1:]), strict=False):
        yield (place - before) * (after - place) / (num_tokens - place + GAP), place


def usual_checkpoint_bytes() -> int:
    """Where nothing was chosen."""
    return min(int(psutil.virtual_memory().total * RAM_SHARE), MAX_RAM_BYTES)


State = npt.NDArray[np.uint8]
Table = npt.NDArray[np.int64]  # of shape (num_checkpoints, 2): numbers of tokens, sizes in bytes

MARK = np.frombuffer(b"\x93SkeinCk", np.int64)
NUMBER_BYTES = 8


def packed(state: State, checkpoints: dict[int, State]) -> State:
    """A saved state and the checkpoints of its sequence, as one array of bytes.

    In order: the state, the checkpoints, for each its number of tokens and its size, how many they are, and a
    mark. A state that was saved without has no mark.
    """
    places = sorted(checkpoints)
    table = [number for place in places for number in (place, checkpoints[place].nbytes)]
    tail = np.array([*table, len(places), *MARK], np.int64).view(np.uint8)
    return np.concatenate([state, *(checkpoints[place] for place in places), tail])


def unpacked(whole: State) -> tuple[State, dict[int, State]]:
    """The state, a view, and the checkpoints, copied so that they do not keep it in memory."""
    table, end = _table(whole)
    checkpoints: dict[int, State] = {}
    for place, num_bytes in reversed(table.tolist()):
        checkpoints[place] = whole[end - num_bytes : end].copy()
        end -= num_bytes
    return whole[:end], checkpoints


def places_in(whole: State) -> tuple[int, ...]:
    """The checkpoints in it, by their numbers of tokens."""
    return tuple(_table(whole)[0][:, 0].tolist())


def _table(whole: State) -> tuple[Table, int]:
    """And where it begins. Without a mark, or with one that cannot be true: an empty one, at the end."""
    none = np.empty((0, 2), np.int64), whole.nbytes
    tail = _numbers(whole, whole.nbytes, 2)
    if tail.size < 2 or tail[1] != MARK[0]:
        return none
    end = whole.nbytes - 2 * NUMBER_BYTES
    table = _numbers(whole, end, 2 * max(int(tail[0]), 0)).reshape(-1, 2)
    is_true = len(table) == tail[0] and bool((table > 0).all()) and table[:, 1].sum() <= end - table.nbytes
    return (table, end - table.nbytes) if is_true else none


def _numbers(whole: State, end: int, count: int) -> npt.NDArray[np.int64]:
    """So many before `end`; none if there are fewer."""
    start = end - NUMBER_BYTES * count
    return np.frombuffer(whole[start:end].tobytes(), np.int64) if start >= 0 else np.empty(0, np.int64)
