"""The files of pictures and sounds, and small copies of pictures, on their way from and to the disk. GUI thread.

Chats hold neither: they refer to them by SHA-256. What was used last stays in memory.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import spawn
from app.chats.attachment import in_words
from app.media.reading import MediaRefusedError, ReadMedia, thumbnail_of
from app.media.thumbnail import Thumbnail
from app.protocol.media import NO_SENSES, Media, MediaKind
from app.protocol.request import Message, Request
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError

MAX_FILE_BYTES = 128 << 20  # in memory, of all files
MAX_THUMBNAIL_BYTES = 32 << 20

T = TypeVar("T")
