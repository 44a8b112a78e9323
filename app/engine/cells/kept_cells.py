"""KV cells of saved chats, encrypted on disk, from one run of the program to the next.

One file a chat, and of a shelf or a project one for each model and its settings. AES-GCM authenticates each
file: content, chat, model and settings. Knows bytes and tokens, not where the key comes from. Any thread.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import psutil
import xxhash

from app.protocol.load import CellStore
from app.protocol.request import BEGINNINGS

log = logging.getLogger(__name__)

DISK_SHARE = 0.25  # of what is free
KEEPING_S = 1.0  # for all files written when an engine ends
SUFFIX = ".cells"

_MAGIC = b"skein cells 1\n"
_NONCE_BYTES, _TAG_BYTES, _BLOCK_BYTES = 12, 16, 16
_PIECE_BYTES = 4 << 20
_USUAL_BYTES_PER_S = 300e6  # until something was written

State = npt.NDArray[np.uint8]


class KeptCells:
    """Of one model with one set of settings. Files of others are not read, and are deleted by age."""

    def __init__(self, store: CellStore, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._store = store
        self._head = _MAGIC + hashlib.sha256(fingerprint.encode()).digest()
        self._written: dict[str, int] = {}  # by chat: the tokens in its file, as a checksum
        self._left = {file.name for file in store.folder.glob(f"*{SUFFIX}")}  # by former runs, not read yet
        self._bytes_per_s = _USUAL_BYTES_PER_S
        self._is_stopped = False

    def holds(self, chat_id: str, token_ids: list[int]) -> bool:
        """Whether these tokens were written, by this process."""
        return self._written.get(chat_id) == _checksum(token_ids)

    def has_time(self, num_bytes: int, deadline: float) -> bool:
        return time.monotonic() + num_bytes / self._bytes_per_s < deadline

    def write(
        self,
        chat_id: str,
        token_ids: list[int],
        state: State,
        deadline: float = inf,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Replace the chat's file. False if nothing was changed: no room, no time, or a full disk.

        `is_wanted` is asked once it is there. If not, nothing is kept: a `delete` may have come before that.
        """
        if state.nbytes > self._budget() or not self.has_time(state.nbytes, deadline):
            return False
        started = time.monotonic()
        try:
            if not self._replace(chat_id, token_ids, state, deadline):
                return False
        except OSError as error:
            log.warning("The cells of a chat could not be kept: %s", error)
            return False
        if state.nbytes > _PIECE_BYTES:
            self._bytes_per_s = state.nbytes / max(time.monotonic() - started, 1e-6)
        self._written[chat_id] = _checksum(token_ids)
        if not is_wanted():
            self._unlink(chat_id)
            return False
        self._keep_budget()
        return True

    def take_left(self, chat_id: str) -> tuple[list[int], State] | None:
        """As `read`, of a former run and once: what this run has written is older than what it holds."""
        name = self._path(chat_id).name
        if name not in self._left:
            return None
        self._left.remove(name)
        read = self.read(chat_id)
        if read:
            self._written[chat_id] = _checksum(read[0])
        return read

    def read(self, chat_id: str) -> tuple[list[int], State] | None:
        """Tokens and state as they were written, or None. A damaged file is deleted."""
        from cryptography.exceptions import InvalidTag

        try:
            with self._path(chat_id).open("rb") as file:
                return self._decrypted(chat_id, file)
        except FileNotFoundError:
            return None
        except InvalidTag:
            log.warning("What was kept of a chat was changed, or its key was: the chat is computed again.")
            self._unlink(chat_id)
        except (OSError, MemoryError) as error:
            log.warning("What was kept of a chat could not be read: %s", error)
        return None

    def size_of(self, chat_id: str) -> int:
        """Bytes of its file."""
        try:
            return self._path(chat_id).stat().st_size
        except OSError:
            return 0

    def delete(self, chat_id: str) -> None:
        self._unlink(chat_id)

    def stop(self) -> None:
        """Cancels writes under way."""
        self._is_stopped = True

    def _replace(self, chat_id: str, token_ids: list[int], state: State, deadline: float) -> bool:
        handle, name = tempfile.mkstemp(dir=self._store.folder)  # for its owner's eyes only
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                if not self._encrypt(chat_id, token_ids, state, file, deadline):
                    return False
            temporary.replace(self._path(chat_id))
            return True
        finally:
            temporary.unlink(missing_ok=True)

    def _encrypt(
        self, chat_id: str, token_ids: list[int], state: State, file: BinaryIO, deadline: float
    ) -> bool:
        """False: time ran out."""
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import GCM

        nonce = os.urandom(_NONCE_BYTES)
        encryptor = Cipher(AES256(self._store.key), GCM(nonce)).encryptor()
        encryptor.authenticate_additional_data(self._head + chat_id.encode())
        file.write(self._head + nonce)
        tokens = np.array([len(token_ids), *token_ids], "<i4").view(np.uint8)
        for source in (tokens, state):
            for start in range(0, source.nbytes, _PIECE_BYTES):
                if self._is_stopped or time.monotonic() > deadline:
                    return False
                file.write(encryptor.update(source[start : start + _PIECE_BYTES].data))
        file.write(encryptor.finalize() + encryptor.tag)
        return True

    def _decrypted(self, chat_id: str, file: BinaryIO) -> tuple[list[int], State] | None:
        """Raises InvalidTag. None: of another model, or with other settings."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import GCM

        num_bytes = os.fstat(file.fileno()).st_size - len(self._head) - _NONCE_BYTES - _TAG_BYTES
        head, nonce = file.read(len(self._head)), file.read(_NONCE_BYTES)
        if head[: len(_MAGIC)] != _MAGIC or num_bytes < 4:
            raise InvalidTag
        if head != self._head:
            return None
        decryptor = Cipher(AES256(self._store.key), GCM(nonce)).decryptor()
        decryptor.authenticate_additional_data(self._head + chat_id.encode())
        content = np.empty(num_bytes + _BLOCK_BYTES, np.uint8)  # the cipher needs room for one more block
        done = 0
        while piece := file.read(min(_PIECE_BYTES, num_bytes - done)):
            done += decryptor.update_into(piece, content[done:].data)
        decryptor.finalize_with_tag(file.read(_TAG_BYTES))
        num_tokens = int(content[:4].view("<i4")[0])
        state_at = 4 * (1 + num_tokens)
        return content[4:state_at].view("<i4").tolist(), content[state_at:num_bytes]

    def _budget(self) -> int:
        free = psutil.disk_usage(str(self._store.folder)).free
        return min(self._store.max_bytes, int(free * DISK_SHARE))

    def _keep_budget(self) -> None:
        """The oldest go first."""
        with suppress(OSError):  # others may delete at the same time
            files = sorted(self._store.folder.glob(f"*{SUFFIX}"), key=lambda file: file.stat().st_mtime_ns)
            excess = sum(file.stat().st_size for file in files) - self._store.max_bytes
            for file in files:
                if excess <= 0:
                    return
                excess -= file.stat().st_size
                file.unlink(missing_ok=True)

    def _path(self, chat_id: str) -> Path:
        of_model = self.fingerprint if chat_id.startswith(BEGINNINGS) else ""
        return path_of(self._store.folder, chat_id, of_model)

    def _unlink(self, chat_id: str) -> None:
        self._written.pop(chat_id, None)
        with suppress(OSError):
            self._path(chat_id).unlink(missing_ok=True)


def path_of(folder: Path, chat_id: str, fingerprint: str = "") -> Path:
    """The id may be any text, so the file's name is its hash."""
    of_model = f"-{_hash(fingerprint)}" if fingerprint else ""
    return folder / f"{_hash(chat_id)}{of_model}{SUFFIX}"


def size_of(folder: Path, chat_id: str) -> int:
    """Bytes of all files of a chat or a shelf."""
    with suppress(OSError):
        return sum(file.stat().st_size for file in folder.glob(f"{_hash(chat_id)}*{SUFFIX}"))
    return 0


def delete_all_but(folder: Path, chat_ids: Iterable[str]) -> None:
    """Deletes everything else in the folder, including half-written files. Raises OSError."""
    wanted = set(map(_hash, chat_ids))
    if folder.is_dir():
        for file in folder.iterdir():
            if file.suffix != SUFFIX or file.stem.partition("-")[0] not in wanted:
                file.unlink(missing_ok=True)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _checksum(token_ids: list[int]) -> int:
    return xxhash.xxh3_64_intdigest(np.array(token_ids, np.int32).data)
