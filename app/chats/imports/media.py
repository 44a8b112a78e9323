"""Pictures and sounds in the files of other programs, as attachments with their bytes. Any thread.

Nothing of them is parsed here: whether they can be read is found out before they are kept.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from app.chats.attachment import Attachment
from app.chats.imports.sketch import MAX_NAME_CHARS, name_of
from app.media.sniff import HEAD_BYTES, MAX_FILE_BYTES, kind_of
from app.protocol.media import Media

FindFile = Callable[[str], Path | None]  # by a program's id for it
_DATA_URL = re.compile(r"data:[\w.+-]{1,40}/[\w.+-]{1,80}(?:;[\w=.+-]{1,80})*;base64,")


def from_url(url: object, name: object = "") -> Attachment | None:
    """The media in a `data:` URL. None for any other: nothing is fetched."""
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    return from_base64(url[found.end() :], name) if found and isinstance(url, str) else None


def from_base64(text: object, name: object = "") -> Attachment | None:
    if not isinstance(text, str) or len(text) > MAX_FILE_BYTES * 4 // 3 + 4:
        return None
    try:
        return from_bytes(base64.b64decode(text), name)
    except (binascii.Error, ValueError):
        return None


def from_file(path: Path | None, name: object = "") -> Attachment | None:
    try:
        if path is None or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return None
        return from_bytes(path.read_bytes(), name)
    except OSError:
        return None


def from_bytes(content: bytes, name: object) -> Attachment | None:
    """None if it is neither a picture nor a sound, by how it begins."""
    kind = kind_of(content[:HEAD_BYTES])
    if kind is None or len(content) > MAX_FILE_BYTES:
        return None
    media = Media(kind, hashlib.sha256(content).hexdigest(), content)
    return Attachment(name_of(name)[:MAX_NAME_CHARS] or kind.value, "", kind.value, media)


def from_parts(parts: list[object]) -> list[Attachment]:
    """The media of a message in OpenAI's form: `image_url` and `input_audio`."""
    found: list[Attachment | None] = []
    for part in parts:
        match part:
            case {"type": "image_url", "image_url": {"url": url}} | {"type": "image_url", "image_url": url}:
                found.append(from_url(url))
            case {"type": "input_audio", "input_audio": {"data": data}}:
                found.append(from_base64(data))
    return [each for each in found if each]
