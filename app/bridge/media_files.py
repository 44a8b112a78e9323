"""Files of pictures and sounds, and small copies of pictures, on their way from and to the disk. GUI thread.

Chats hold neither: they refer to them by SHA-256. What was used last stays in memory.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.attachments.file_reading import ReadFile, without_file
from app.bridge.sound_player import SoundPlayer
from app.bridge.tasks import spawn
from app.chats.attachment import Attachment, in_words
from app.media.reading import MediaReading, MediaRefusedError, Pixels, ReadingCancelledError, picture
from app.media.sound_devices import SoundDevices
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.media_rows import NO_THUMBNAIL

MAX_FILE_BYTES = 128 << 20  # in memory, of all files
MAX_NUM_THUMBNAILS = 100  # of 300 KB at most


class MediaFiles(QObject):
    thumbnail_loaded = Signal(str)  # its SHA-256

    def __init__(self, store: ChatStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._files: OrderedDict[str, bytes] = OrderedDict()  # the one used last at the end
        self._thumbnails: OrderedDict[str, Pixels] = OrderedDict()
        self._asked: set[str] = set()  # whose thumbnails are being loaded, or cannot be
        self.devices = SoundDevices()
        self.player = SoundPlayer(self.devices, self.file, self)

    async def keep(self, read: ReadFile) -> Attachment:
        """Its media on disk, so that a message can refer to it. Raises StorageError."""
        media = read.attachment.media
        if media is None:
            return read.attachment
        await self._store.keep_media(media.file, read.thumbnail or NO_THUMBNAIL)
        self._hold_file(media.sha256, media.file)
        if read.thumbnail:
            self._hold_thumbnail(media.sha256, read.thumbnail)
        return without_file(read.attachment)

    def thumbnail(self, media: Media) -> Pixels | None:
        """None as long as it is not in memory; it is loaded then."""
        found = self._thumbnails.get(media.sha256)
        if found:
            self._thumbnails.move_to_end(media.sha256)
        elif media.kind is MediaKind.PICTURE and media.sha256 not in self._asked:
            self._asked.add(media.sha256)
            spawn(self._load_thumbnail(media))
        return found

    async def file(self, media: Media) -> bytes | None:
        """None if it is lost. Raises StorageError."""
        if media.sha256 in self._files:
            self._files.move_to_end(media.sha256)
            return self._files[media.sha256]
        file = await self._store.media(media.sha256)
        if file:
            self._hold_file(media.sha256, file)
        return file

    async def pixels(self, media: Media, max_side: int) -> Pixels | None:
        """The picture, upright and no longer than that. None if it is lost.

        Raises MediaRefusedError or StorageError.
        """
        file = await self.file(media)
        return await asyncio.to_thread(picture, replace(media, file=file), max_side) if file else None

    async def filled(self, request: Request) -> Request:
        """With the files of all its media; for one that is lost it has words."""
        wanted = {media.sha256: media for message in request.messages for media in message.media}
        if not wanted:
            return request
        files: dict[str, bytes] = {}
        for sha256, media in wanted.items():
            try:
                files[sha256] = await self.file(media) or b""
            except StorageError:
                files[sha256] = b""
        return _filled(request, files.get)

    async def _load_thumbnail(self, media: Media) -> None:
        try:
            found = await self._store.thumbnail(media.sha256) or await self._make_thumbnail(media)
        except StorageError:
            found = None
        if found:
            self._hold_thumbnail(media.sha256, found)
            self._asked.discard(media.sha256)
            self.thumbnail_loaded.emit(media.sha256)

    async def _make_thumbnail(self, media: Media) -> Pixels | None:
        """Of an imported picture, which nobody has looked at. Raises StorageError."""
        file = await self._store.media(media.sha256)
        if not file:
            return None
        try:
            read = await asyncio.to_thread(MediaReading(file).run)
        except (MediaRefusedError, ReadingCancelledError):
            return None
        if read.thumbnail:
            await self._store.keep_thumbnail(media.sha256, read.thumbnail)
        return read.thumbnail

    def _hold_file(self, sha256: str, file: bytes) -> None:
        self._files[sha256] = file
        while len(self._files) > 1 and sum(map(len, self._files.values())) > MAX_FILE_BYTES:
            self._files.popitem(last=False)

    def _hold_thumbnail(self, sha256: str, thumbnail: Pixels) -> None:
        self._thumbnails[sha256] = thumbnail
        if len(self._thumbnails) > MAX_NUM_THUMBNAILS:
            self._thumbnails.popitem(last=False)


def _filled(request: Request, file_of: Callable[[str], bytes | None]) -> Request:
    def filled(message: Message) -> Message:
        media = tuple(replace(one, file=file_of(one.sha256) or b"") for one in message.media)
        lost = {one for one in media if not one.file}
        message = replace(message, media=media)
        return in_words(message, lambda one: one not in lost) if lost else message

    return replace(request, messages=tuple(map(filled, request.messages)))
