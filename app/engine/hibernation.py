"""States of chats that hold no cells: in memory up to a budget, then on disk, least recently used first.

Knows bytes and tokens, not what they mean. Engine thread only, but for `prefetch`. A file on disk has no name
and is open nowhere but here, so that nothing of a chat is left behind, whatever happens. Only what is wanted
at the next start goes into files that stay: see `KeptCells`.
"""

from __future__ import annotations

import logging
import mmap
import tempfile
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import psutil
import xxhash

from app.engine.types import HibernatedChat

if TYPE_CHECKING:
    from app.engine.kept_cells import KeptCells

log = logging.getLogger(__name__)

RAM_SHARE, MAX_RAM_BYTES = 0.15, 2 * 2**30
DISK_SHARE, MAX_DISK_BYTES = 0.25, 16 * 2**30  # of what is free

State = npt.NDArray[np.uint8]


@dataclass(eq=False, slots=True)
class _Saved:
    chat_id: str
    token_ids: list[int]
    checksum: int
    fingerprint: str
    state: State  # in memory, or mapped from disk
    is_on_disk: bool = False
    writing: Future[State] | None = None

    @property
    def is_intact(self) -> bool:
        """Reads all of it."""
        return xxhash.xxh3_64_intdigest(self.state.data) == self.checksum


class HibernatedChats:
    """One state a chat. What does not fit the budgets is dropped: its chat is computed again."""

    def __init__(
        self, ram_bytes: int | None = None, disk_bytes: int | None = None, folder: Path | None = None
    ) -> None:
        """Without a folder nothing goes to disk. None for a budget: a share of what the machine has."""
        self._ram_bytes = _default_ram_bytes() if ram_bytes is None else ram_bytes
        self._disk_bytes = _default_disk_bytes(folder) if disk_bytes is None else disk_bytes
        self._folder = folder
        self._saved: OrderedDict[str, _Saved] = OrderedDict()  # least recently used first
        self._lost: list[tuple[str, int]] = []
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="skein-hibernation")
        self.kept: KeptCells | None = None  # where states go for the next start, if that is wanted
        self.saved_chat_ids: set[str] = set()  # chats that will be there then
        self._sought: set[str] = set()  # among what was kept; whoever prefetches only
        self._found: SimpleQueue[_Saved] = SimpleQueue()

    def __contains__(self, chat_id: str) -> bool:
        return chat_id in self._saved

    def tokens_of(self, chat_id: str) -> list[int]:
        saved = self._saved.get(chat_id)
        return saved.token_ids if saved else []

    def fits(self, chat_id: str, fingerprint: str) -> bool:
        """Whether a state of the chat is kept, and one of this fingerprint."""
        saved = self._saved.get(chat_id)
        return saved is not None and saved.fingerprint == fingerprint

    def chats(self) -> tuple[HibernatedChat, ...]:
        if not self._saved:
            return ()
        return tuple(
            HibernatedChat(one.chat_id, len(one.token_ids), one.state.nbytes, one.is_on_disk)
            for one in self._saved.values()
        )

    def save(self, chat_id: str, token_ids: list[int], state: State, fingerprint: str) -> bool:
        """Keep a state, which nobody may change from now on. False: it is too large for every budget."""
        self.drop(chat_id)
        if state.nbytes > self._ram_bytes and not self._fits_on_disk(state):
            return False
        checksum = xxhash.xxh3_64_intdigest(state.data)
        self._saved[chat_id] = _Saved(chat_id, token_ids, checksum, fingerprint, state)
        self._note_written()
        self._keep_ram_budget()
        self._keep_disk_budget()
        return chat_id in self._saved

    def take(self, chat_id: str, fingerprint: str) -> State | None:
        """The chat's state, which is no longer kept from now on. None when it is not what was saved."""
        saved = self._saved.pop(chat_id)
        return saved.state if saved.fingerprint == fingerprint and saved.is_intact else None

    def drop(self, chat_id: str) -> None:
        self._saved.pop(chat_id, None)

    def forget(self, chat_id: str) -> None:
        """As `drop`, and nothing of the chat is there at the next start either."""
        self.drop(chat_id)
        self.saved_chat_ids.discard(chat_id)
        if self.kept:
            self.kept.delete(chat_id)

    def take_lost(self) -> list[tuple[str, int]]:
        """Chats whose state could not be kept any longer since the last call, and their tokens."""
        lost, self._lost = self._lost, []
        return lost

    def prefetch(self, chat_id: str) -> None:
        """Read the chat's state from disk, into the system's cache or for `take_found`. Any one thread."""
        saved = self._saved.get(chat_id)
        if saved and saved.is_on_disk and not saved.is_intact:
            log.warning("A hibernated chat was damaged on disk; it is computed again.")
        if saved is None and self.kept and chat_id not in self._sought:
            self._sought.add(chat_id)  # what was kept is of the last run: later there is something newer
            self._seek(chat_id, self.kept)

    def take_found(self) -> None:
        """What was prefetched of the last run counts as saved from now on."""
        while True:
            try:
                found = self._found.get_nowait()
            except Empty:
                return
            if found.chat_id not in self._saved:
                self._saved[found.chat_id] = found
                self._keep_ram_budget()

    def keep_all(self, deadline: float) -> None:
        """For the next start, those that were used last first, as far as there is time."""
        for saved in reversed(self._saved.values()):
            self.keep(saved.chat_id, saved.token_ids, saved.state, deadline)

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
        self._saved.clear()
        if self.kept:
            self.kept.stop()
        self._writer.shutdown(cancel_futures=True)

    def _seek(self, chat_id: str, kept: KeptCells) -> None:
        if read := kept.read(chat_id):
            token_ids, state = read
            checksum = xxhash.xxh3_64_intdigest(state.data)
            self._found.put(_Saved(chat_id, token_ids, checksum, kept.fingerprint, state))

    def _keep_ram_budget(self) -> None:
        """Move the least recently used to disk, or drop them where there is none."""
        in_ram = [one for one in self._saved.values() if not (one.is_on_disk or one.writing)]
        excess = sum(one.state.nbytes for one in in_ram) - self._ram_bytes
        for saved in in_ram:
            if excess <= 0:
                return
            excess -= saved.state.nbytes
            if self._folder and self._fits_on_disk(saved.state):
                saved.writing = self._writer.submit(_written_to_disk, saved.state, self._folder)
                self._writer.submit(self.keep, saved.chat_id, saved.token_ids, saved.state, inf)
            else:
                self._lose(saved)

    def _keep_disk_budget(self) -> None:
        on_disk = [one for one in self._saved.values() if one.is_on_disk or one.writing]
        excess = sum(one.state.nbytes for one in on_disk) - self._disk_bytes
        for saved in on_disk:
            if excess <= 0:
                return
            excess -= saved.state.nbytes
            self._lose(saved)

    def _fits_on_disk(self, state: State) -> bool:
        return self._folder is not None and state.nbytes <= self._disk_bytes

    def _lose(self, saved: _Saved) -> None:
        self.drop(saved.chat_id)
        self._lost.append((saved.chat_id, len(saved.token_ids)))

    def _note_written(self) -> None:
        """What has arrived on disk leaves memory."""
        for saved in list(self._saved.values()):
            if saved.writing and saved.writing.done():
                writing, saved.writing = saved.writing, None
                if error := writing.exception():
                    log.warning("A hibernated chat could not be kept on disk: %s", error)
                    self._lose(saved)
                else:
                    saved.state, saved.is_on_disk = writing.result(), True


def _default_ram_bytes() -> int:
    return min(int(psutil.virtual_memory().total * RAM_SHARE), MAX_RAM_BYTES)


def _default_disk_bytes(folder: Path | None) -> int:
    return min(int(psutil.disk_usage(str(folder)).free * DISK_SHARE), MAX_DISK_BYTES) if folder else 0


def _written_to_disk(state: State, folder: Path) -> State:
    """The same bytes, mapped from a file without a name. Raises OSError, such as for a full disk."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(state.data)
        file.flush()
        return np.frombuffer(mmap.mmap(file.fileno(), state.nbytes, access=mmap.ACCESS_READ), np.uint8)
