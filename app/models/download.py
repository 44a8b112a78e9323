"""Downloads one model from the hub: its file appears complete and verified, or not at all.

Bytes go into `.partial` in the folder for downloads and are hashed there; only what has the right SHA-256
gets its name. A download that was interrupted in any way, even killed, can be resumed. Any asyncio loop,
files in threads.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.models import hub_address
from app.models.hub_address import DownloadError, HubError
from app.models.order import FileOrder, Order, OrderFolder
from app.models.part_file import PartFile, give_name, in_thread, part_at, taken
from app.system.said import said

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from app.models.hub_session import HubSession

MAGIC = b"GGUF"
MARGIN_BYTES = 512 * 2**20  # that stay free on the disk, for chats and for the system
BATCH_BYTES = 2**20  # that are written at once
RETRY_DELAYS_S = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)  # after failures without a byte between them
MAX_WAIT_S = 600.0  # for a hub that says when it has time again
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class _InterruptionError(Exception):
    """The connection broke, or the server is busy. If retries fail, the text is shown."""

    def __init__(self, text: str, wait_s: float = 0.0) -> None:
        super().__init__(text)
        self.wait_s = wait_s  # as the server asks for


class Fetch:
    """The download of one model. Its figures may be read at any time."""

    def __init__(
        self, order: Order, folder: Path, token: str = "", reserved_bytes: Callable[[], int] = lambda: 0
    ) -> None:
        self.is_checking = False  # the data on disk are being hashed
        self.trouble = ""  # why nothing arrives at the moment; it is retried
        self._order = order
        self._folder = folder
        self._place = OrderFolder(order, folder)
        self._token = token
        self._reserved_bytes = reserved_bytes  # that other downloads will write to the same disk
        self._etags: dict[str, str] = {}  # of the parts, when they were begun
        self._etag = ""  # of the answer that is read
        self._here = dict.fromkeys(order.files, 0)
        self._named: set[FileOrder] = set()

    @property
    def num_bytes(self) -> int:
        return sum(self._here.values())

    async def run(self) -> Path:
        """The first file, under its name. Raises HubError, DownloadError; can be cancelled at any moment."""
        from app.models.hub_session import HubSession

        try:
            await in_thread(self._prepare)
            async with HubSession(self._order.endpoint, self._token) as session:
                for file in self._order.files:
                    await self._fetch(file, session)
            await in_thread(self._give_names)
        except OSError as error:
            raise _disk_error(error, self._folder) from error
        return self._place.target(self._order.files[0])

    async def _fetch(self, file: FileOrder, session: HubSession) -> None:
        """Until it is complete and correct. Wrong data of an earlier run are discarded, once."""
        if await self._has_its_name(file):
            self._named.add(file)
            return
        async with part_at(self._place.part(file)) as part:
            was_begun = await self._take_up(file, part)
            await self._fill(file, part, session)
            if part.sha256 != file.sha256 and was_begun:
                await self._start_over(file, part)
                await self._fill(file, part, session)
            if part.sha256 != file.sha256:
                await self._start_over(file, part)
                raise DownloadError(
                    said(
                        "{file} from {hub} has the wrong SHA-256, so it was discarded. Try again later, "
                        "or without the mirror if you use one.",
                        hub=self._order.endpoint,
                        file=file.name,
                    )
                )
            await in_thread(part.sync)

    # What is here already

    async def _has_its_name(self, file: FileOrder) -> bool:
        """Whether an earlier run has finished this file."""
        target = self._place.target(file)
        if not await asyncio.to_thread(os.path.lexists, target):
            return False
        if not await self._is_right(file, target):
            self._here[file] = 0
            raise taken(target)
        return True

    async def _is_right(self, file: FileOrder, path: Path) -> bool:
        if path.is_symlink() or not path.is_file() or path.stat().st_size != file.size_bytes:
            return False
        async with part_at(path, mode="rb") as named:
            await self._take_up(file, named)
            return named.sha256 == file.sha256

    async def _take_up(self, file: FileOrder, part: PartFile) -> bool:
        """Hashes the data on disk. False if there are none."""
        self.is_checking = True
        try:
            while await in_thread(part.take_up):
                self._here[file] = part.num_bytes
        finally:
            self.is_checking = False
        if part.num_bytes > file.size_bytes:
            await self._start_over(file, part)
        return part.num_bytes > 0

    async def _start_over(self, file: FileOrder, part: PartFile) -> None:
        await in_thread(part.clear)
        self._here[file] = 0
        self._etags.pop(file.sha256, None)

    # What comes

    async def _fill(self, file: FileOrder, part: PartFile, session: HubSession) -> None:
        """Retries as long as there is progress, and a few times without."""
        furthest, num_failures, wait_s = part.num_bytes, 0, 0.0
        while part.num_bytes < file.size_bytes:
            if num_failures:
                await asyncio.sleep(max(wait_s, RETRY_DELAYS_S[num_failures - 1]))
            wait_s = 0.0
            try:
                await self._request(file, part, session)
            except _InterruptionError as interruption:
                self.trouble, wait_s = interruption.args[0], interruption.wait_s
            num_failures = 1 if part.num_bytes > furthest else num_failures + 1
            furthest = max(furthest, part.num_bytes)
            if num_failures > len(RETRY_DELAYS_S):
                raise HubError(self.trouble) if self.trouble else self._lie()
        self.trouble = ""

    async def _request(self, file: FileOrder, part: PartFile, session: HubSession) -> None:
        """Requests the missing bytes and writes what arrives, which may be less."""
        import aiohttp

        span = f"{part.num_bytes}-" if part.num_bytes else ""
        try:
            async with session.get(self._order.url(file), span) as (response, checksum):
                if await self._goes_on(response, checksum, file, part):
                    await self._write(response, file, part)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _InterruptionError(hub_address.unreachable(self._order.endpoint, error).args[0]) from error

    async def _goes_on(
        self, response: ClientResponse, checksum: str, file: FileOrder, part: PartFile
    ) -> bool:
        """Whether the response continues our part. If not, the part is dropped and requested anew."""
        if re.fullmatch("[0-9a-f]{64}", checksum) and checksum != file.sha256:
            raise HubError(
                said(
                    "{file} has changed on {hub}. Search for it again.",
                    file=file.name,
                    hub=self._order.endpoint,
                )
            )
        if response.status not in (200, 206, 416):
            self._refuse(response)
        begins_at = self._begin(response, file)
        if begins_at != part.num_bytes:
            if not part.num_bytes:
                raise self._lie()
            await self._start_over(file, part)
            if begins_at != 0:
                return False
        length = response.content_length
        is_packed = response.headers.get("Content-Encoding", "identity") != "identity"
        if is_packed or (length is not None and length > file.size_bytes - part.num_bytes):
            raise self._lie()
        self._etag = response.headers.get("ETag", "")
        return True

    def _begin(self, response: ClientResponse, file: FileOrder) -> int | None:
        """The offset of the response's bytes. None: they are of another version, or there are none."""
        if response.status == 200:  # it does not know ranges
            return 0
        span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        known, tag = self._etags.get(file.sha256), response.headers.get("ETag")
        is_other = known and tag and known != tag
        return int(span[1]) if span and not is_other and int(span[2]) == file.size_bytes else None

    def _refuse(self, response: ClientResponse) -> None:
        order, status = self._order, response.status
        if not hub_address.same_origin(str(response.url), order.endpoint):
            # Not the hub, but the target of its redirect: such a signed address is valid for an hour or so.
            raise _InterruptionError(hub_address.in_trouble(status, order.endpoint).args[0])
        wait_s = hub_address.wait_s(response.headers)
        error = hub_address.refusal(
            status, response.headers, order.repo_id, order.endpoint, bool(self._token)
        )
        if (status == 429 or status >= 500) and wait_s <= MAX_WAIT_S:
            raise _InterruptionError(error.args[0], wait_s)
        raise error

    async def _write(self, response: ClientResponse, file: FileOrder, part: PartFile) -> None:
        batch = bytearray()
        try:
            async for chunk in response.content.iter_chunked(BATCH_BYTES):
                self.trouble = ""
                batch += chunk
                if part.num_bytes + len(batch) > file.size_bytes:
                    batch.clear()
                    raise self._lie()
                if len(batch) >= BATCH_BYTES:
                    await self._append(batch, file, part)
        finally:  # however it ends, the received bytes are kept
            if batch:
                await self._append(batch, file, part)
        if part.num_bytes < file.size_bytes:
            raise _InterruptionError(
                said("{hub} closed the connection early. Try again later.", hub=self._order.endpoint)
            )

    async def _append(self, batch: bytearray, file: FileOrder, part: PartFile) -> None:
        data = bytes(batch)
        batch.clear()
        if not part.num_bytes and not data.startswith(MAGIC[: len(data)]):
            raise DownloadError(
                said(
                    "{file} is not a GGUF file despite its name, so it was discarded. Choose another one.",
                    file=file.name,
                )
            )
        await in_thread(part.append, data)
        self._here[file] = part.num_bytes
        # Checked only now: aiohttp drops its buffer when the connection breaks, so that is read first.
        if self._etag and self._etags.get(file.sha256) != self._etag:
            self._etags[file.sha256] = self._etag
            await in_thread(self._place.save, self._etags)

    def _lie(self) -> HubError:
        return HubError(
            said(
                "{hub} sent different data than announced, so it was discarded. Try again later, or "
                "without the mirror if you use one.",
                hub=self._order.endpoint,
            )
        )

    # In a thread

    def _prepare(self) -> None:
        """Makes the folders, and checks the free space for all missing bytes."""
        self._etags = self._place.begin()
        missing = self._order.size_bytes - self._place.num_bytes
        free = shutil.disk_usage(self._folder).free
        needed = missing + self._reserved_bytes() + MARGIN_BYTES
        if missing > 0 and needed > free:
            raise DownloadError(
                said(
                    "The disk with {folder} has {free:,} MiB free, but {needed:,} MiB are needed. Free "
                    "some space, or choose another folder.",
                    folder=self._folder,
                    free=free >> 20,
                    needed=-(-needed >> 20),
                )
            )

    def _give_names(self) -> None:
        """All together once all are correct: a split model is used whole or not at all."""
        for file in self._order.files:
            if file not in self._named:
                give_name(self._place.part(file), self._place.target(file))
        self._place.sync()
        self._place.forget()


def _disk_error(error: OSError, folder: Path) -> DownloadError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DownloadError(
            said(
                "The disk with {folder} is full. Free some space, then resume: what has arrived is kept.",
                folder=folder,
            )
        )
    return DownloadError(
        said(
            "{path} cannot be written ({reason}). Check the download folder, then resume.",
            path=error.filename or folder,
            reason=error.strerror or str(error),
        )
    )
