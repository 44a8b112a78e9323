"""Saved states of hibernated chats: in memory up to a budget, then on disk, least recently used first.

Knows bytes and tokens, not what they mean. Engine thread only, but for `prefetch`. Files on disk are unlinked
while open, so that a crash leaves nothing of a chat behind. Only states for the next start go into files that
stay: see `KeptCells`.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
import psutil
import xxhash

from app.engine.cells.checkpoints import State, places_in
from app.protocol.report import HibernatedChat
from app.protocol.request import BEGINNINGS

if TYPE_CHECKING:
    from app.engine.cells.kept_cells import KeptCells

log = logging.getLogger(__name__)

RAM_SHARE, MAX_RAM_BYTES = 0.15, 2 * 2**30
DISK_SHARE, MAX_DISK_BYTES = 0.25, 16 * 2**30  # of what is free


class _StateFile:
    """A state on disk, in a file without a name. Not mapped: a disk that fails would end the process."""

    def __init__(self, state: State, folder: Path) -> None:
        """Raises OSError, such as for a full disk."""
        self._num_bytes = state.nbytes
        self._turn = threading.Lock()
        self._file = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        rest = state.data
        while rest:
            rest = rest[self._file.write(rest) :]

    def read(self) -> State:
        """Raises OSError. Any thread."""
        state = np.empty(self._num_bytes, np.uint8)
        rest = state.data
        with self._turn:
            self._file.seek(0)
            while rest and (num_read := self._file.readinto(rest)):
                rest = rest[num_read:]
        if rest:
            raise OSError("the file was cut short")
        return state


class _SealedFile:
    """A shelf's state in the file that is kept for the next start, which is also the only one."""

    def __init__(self, kept: KeptCells, chat_id: str) -> None:
        self._kept, self._chat_id = kept, chat_id

    def read(self) -> State:
        """Raises OSError. Any thread."""
        found = self._kept.read(self._chat_id)
        if found is None:
            raise OSError("the file is gone or was changed")
        return found[1]


@dataclass(eq=False, slots=True)
class _Saved:
    summary: HibernatedChat
    token_ids: list[int]
    checksum: int | None  # None: its file has one
    fingerprint: str
    shifted_from: int | None
    state: State | None  # in memory; None: in the file, or nobody wants it any more
    places: tuple[int, ...]  # of its checkpoints
    file: _StateFile | _SealedFile | None = None
    writing: Future[None] | None = None

    @property
    def num_bytes(self) -> int:
        return self.summary.size_bytes

    @property
    def goes_to_disk(self) -> bool:
        return self.writing is not None or (self.summary.is_on_disk and not self.is_sealed)

    @property
    def is_sealed(self) -> bool:
        """What is in memory is a copy of what is kept on disk."""
        return isinstance(self.file, _SealedFile)

    def read(self) -> State | None:
        """All of it, or None if it is not what was saved."""
        state = self.state  # once: the writer takes it away when there is a file
        try:
            if state is None:
                assert self.file is not None
                state = self.file.read()
        except (OSError, MemoryError) as error:
            log.warning("A hibernated chat could not be read: %s", error)
            return None
        is_right = self.checksum is None or xxhash.xxh3_64_intdigest(state.data) == self.checksum
        return state if is_right else None


class HibernatedChats:
    """One state a chat. States beyond the budgets are dropped: such a chat is computed again."""

    def __init__(
        self, ram_bytes: int | None = None, disk_bytes: int | None = None, folder: Path | None = None
    ) -> None:
        """Without a folder, nothing goes to disk. Budget None: a share of the machine's memory or disk."""
        self._ram_bytes = _default_ram_bytes() if ram_bytes is None else ram_bytes
        self._disk_bytes = _default_disk_bytes(folder) if disk_bytes is None else disk_bytes
        self._folder = folder
        self._saved: OrderedDict[str, _Saved] = OrderedDict()  # least recently used first
        self._writing: list[_Saved] = []  # not yet noted as written
        self._summaries: tuple[HibernatedChat, ...] | None = ()  # None: something has changed
        self._lost: list[tuple[str, int]] = []
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="skein-hibernation")
        self.kept: KeptCells | None = None  # stores states for the next start, if enabled
        self.saved_chat_ids: set[str] = set()  # chats that can be opened at the next start
        self._found: SimpleQueue[_Saved] = SimpleQueue()
        # Whether cells of the context hold what this shelf begins with. A late answer costs only time.
        self.is_in_cells: Callable[[str], bool] = lambda _chat_id: False

    def __contains__(self, chat_id: str) -> bool:
        return chat_id in self._saved

    def tokens_of(self, chat_id: str) -> list[int]:
        saved = self._saved.get(chat_id)
        return saved.token_ids if saved else []

    def shifted_from(self, chat_id: str) -> int | None:
        """As of the slot that was saved."""
        saved = self._saved.get(chat_id)
        return saved.shifted_from if saved else None

    def places_of(self, chat_id: str) -> tuple[int, ...]:
        """The checkpoints that were saved with its state, by their numbers of tokens."""
        saved = self._saved.get(chat_id)
        return saved.places if saved else ()

    def chats(self) -> tuple[HibernatedChat, ...]:
        """The same tuple until something changes: it is in every report."""
        self._note_written()
        if self._summaries is None:
            self._summaries = tuple([saved.summary for saved in self._saved.values()])
        return self._summaries

    def save(
        self,
        chat_id: str,
        token_ids: list[int],
        state: State,
        fingerprint: str,
        shifted_from: int | None = None,
    ) -> bool:
        """Keep a state, which must not be changed from now on. False: it exceeds every budget."""
        self.drop(chat_id)
        if state.nbytes > self._ram_bytes and not self._fits_on_disk(state.nbytes):
            return False
        self._add(_new_saved(chat_id, token_ids, state, fingerprint, shifted_from))
        self._keep_disk_budget()
        return chat_id in self._saved

    def take(self, chat_id: str, fingerprint: str) -> State | None:
        """Remove and return the chat's state. None if it is damaged or has another fingerprint."""
        saved = self._saved[chat_id]
        state = saved.read() if saved.fingerprint == fingerprint else None
        self.drop(chat_id)
        return state

    def lend(self, chat_id: str, fingerprint: str) -> State | None:
        """As `take`, but it stays: others begin with it, too."""
        saved = self._saved[chat_id]
        state = saved.read() if saved.fingerprint == fingerprint else None
        if state is None:
            self.drop(chat_id)
        elif saved.is_sealed:
            saved.state = None
        return state

    def seal(self, chat_id: str, token_ids: list[int], state: State) -> None:
        """Keep the state of a shelf for the next start from now on, while its cells stay."""
        if self.kept:
            self._writer.submit(self.kept.write, chat_id, token_ids, state)

    def rest_sealed(self, chat_id: str, token_ids: list[int]) -> bool:
        """Its cells are to be freed. False: they must be saved first, for they are not kept on disk."""
        if not (self.kept and chat_id.startswith(BEGINNINGS) and self.kept.holds(chat_id, token_ids)):
            return False
        self.drop(chat_id)
        self._add(_sealed(self.kept, chat_id, token_ids, self.kept.size_of(chat_id)))
        return True

    def drop(self, chat_id: str) -> None:
        if saved := self._saved.pop(chat_id, None):
            saved.state = self._summaries = None

    def forget(self, chat_id: str) -> None:
        """As `drop`, and deletes the chat's file for the next start, too."""
        self.drop(chat_id)
        self.saved_chat_ids.discard(chat_id)
        if self.kept:
            self.kept.delete(chat_id)

    def take_lost(self) -> list[tuple[str, int]]:
        """Chats whose states were dropped since the last call, and their tokens."""
        lost, self._lost = self._lost, []
        return lost

    def prefetch(self, chat_id: str) -> None:
        """Read the chat's state from disk, into the system's cache or for `take_found`. Any one thread."""
        saved = self._saved.get(chat_id)
        if saved and saved.is_sealed:
            if not (saved.state is not None or self.is_in_cells(chat_id)):
                saved.state = saved.read()
        elif saved and saved.file and saved.read() is None:
            log.warning("A hibernated chat was damaged on disk; it is computed again.")
        if saved is None and self.kept and (read := self.kept.take_left(chat_id)):
            token_ids, state = read
            if chat_id.startswith(BEGINNINGS):
                found = _sealed(self.kept, chat_id, token_ids, state.nbytes)
                found.state, found.places = state, places_in(state)
            else:
                found = _new_saved(chat_id, token_ids, state, self.kept.fingerprint)
            self._found.put(found)

    def take_found(self) -> None:
        """Prefetched states of the last run count as saved from now on."""
        while True:
            try:
                found = self._found.get_nowait()
            except Empty:
                return
            if found.summary.chat_id not in self._saved:
                self._add(found)

    def keep_all(self, deadline: float) -> None:
        """Keep states for the next start, most recently used first, as far as time allows."""
        for saved in reversed(self._saved.values()):
            chat_id, token_ids = saved.summary.chat_id, saved.token_ids
            if saved.shifted_from is None and self.can_keep(chat_id, token_ids, saved.num_bytes, deadline):
                state = saved.read()
                if state is not None:
                    self.keep(chat_id, token_ids, state, deadline)

    def can_keep(self, chat_id: str, token_ids: list[int], num_bytes: int, deadline: float) -> bool:
        """Whether its state is to be kept, is not there yet, and there is time to write it."""
        return (
            self.kept is not None
            and chat_id in self.saved_chat_ids
            and not self.kept.holds(chat_id, token_ids)
            and self.kept.has_time(num_bytes, deadline)
        )

    def keep(self, chat_id: str, token_ids: list[int], state: State, deadline: float) -> None:
        if self.kept and self.can_keep(chat_id, token_ids, state.nbytes, deadline):
            self.kept.write(chat_id, token_ids, state, deadline)

    def close(self) -> None:
        if self.kept:
            self.kept.stop()
        self._writer.shutdown(cancel_futures=True)
        for chat_id in list(self._saved):  # not before: what is not wanted is not kept
            self.drop(chat_id)

    def _add(self, saved: _Saved) -> None:
        self._saved[saved.summary.chat_id] = saved
        self._summaries = None
        self._note_written()
        self._keep_ram_budget()

    def _keep_ram_budget(self) -> None:
        """The least recently used go to disk, or are dropped where that is too slow, or there is none.

        What waits for the disk is in memory, so only half of the budget is for what stays there.
        """
        in_ram = [saved for saved in self._saved.values() if saved.state is not None]
        if in_ram and in_ram[-1].num_bytes > self._ram_bytes:
            self._write(in_ram.pop())
        for saved in _beyond(self._ram_bytes, in_ram):
            self._lose(saved)
        in_ram = [saved for saved in in_ram if saved.state is not None]
        for saved in _beyond(self._ram_bytes // 2, in_ram):
            if not saved.writing and self._fits_on_disk(saved.num_bytes):
                self._write(saved)

    def _write(self, saved: _Saved) -> None:
        if saved.is_sealed:
            saved.state = None
            return
        saved.writing = self._writer.submit(self._move_to_disk, saved)
        self._writing.append(saved)

    def _move_to_disk(self, saved: _Saved) -> None:
        """On the writer's thread. Raises OSError."""
        state = saved.state
        if state is None:  # dropped meanwhile
            return
        assert self._folder is not None
        file = _StateFile(state, self._folder)
        chat_id, kept = saved.summary.chat_id, self.kept
        if kept and saved.shifted_from is None and self.can_keep(chat_id, saved.token_ids, state.nbytes, inf):
            kept.write(chat_id, saved.token_ids, state, is_wanted=lambda: saved.state is not None)
        saved.file, saved.state = file, None  # in this order: `read` finds the one or the other

    def _keep_disk_budget(self) -> None:
        on_disk = [saved for saved in self._saved.values() if saved.goes_to_disk]
        for saved in _beyond(self._disk_bytes, on_disk):
            self._lose(saved)

    def _fits_on_disk(self, num_bytes: int) -> bool:
        return self._folder is not None and num_bytes <= self._disk_bytes

    def _lose(self, saved: _Saved) -> None:
        self.drop(saved.summary.chat_id)
        self._lost.append((saved.summary.chat_id, len(saved.token_ids)))

    def _note_written(self) -> None:
        """What has arrived on disk is told; what has not, for a disk that failed, is lost."""
        for saved in [one for one in self._writing if one.writing and one.writing.done()]:
            self._writing.remove(saved)
            writing, saved.writing = saved.writing, None
            if self._saved.get(saved.summary.chat_id) is not saved:
                continue
            assert writing is not None
            if error := writing.exception():
                log.warning("A hibernated chat could not be kept on disk: %s", error)
                self._lose(saved)
            else:
                saved.summary, self._summaries = replace(saved.summary, is_on_disk=True), None


def _new_saved(
    chat_id: str, token_ids: list[int], state: State, fingerprint: str, shifted_from: int | None = None
) -> _Saved:
    summary = HibernatedChat(chat_id, len(token_ids), state.nbytes, is_on_disk=False)
    checksum, places = xxhash.xxh3_64_intdigest(state.data), places_in(state)
    return _Saved(summary, token_ids, checksum, fingerprint, shifted_from, state, places)


def _sealed(kept: KeptCells, chat_id: str, token_ids: list[int], num_bytes: int) -> _Saved:
    summary = HibernatedChat(chat_id, len(token_ids), num_bytes, is_on_disk=True)
    file = _SealedFile(kept, chat_id)
    return _Saved(summary, token_ids, None, kept.fingerprint, None, None, (), file)


def _beyond(budget: int, chats: list[_Saved]) -> Iterator[_Saved]:
    """The first of them that must go so that the others fit."""
    excess = sum(saved.num_bytes for saved in chats) - budget
    for saved in chats:
        if excess <= 0:
            return
        excess -= saved.num_bytes
        yield saved


def _default_ram_bytes() -> int:
    return min(int(psutil.virtual_memory().total * RAM_SHARE), MAX_RAM_BYTES)


def _default_disk_bytes(folder: Path | None) -> int:
    return min(int(psutil.disk_usage(str(folder)).free * DISK_SHARE), MAX_DISK_BYTES) if folder else 0
