"""Pictures and sounds outside a chat: their names, types and data. Any thread."""

import base64
from pathlib import PurePath

from app.chats.attachment import Attachment

# By the format as its reader calls it: the ending of a file, and its type.
_FORMATS = {
    "png": ("png", "image/png"),
    "jpeg": ("jpg", "image/jpeg"),
    "gif": ("gif", "image/gif"),
    "webp": ("webp", "image/webp"),
    "bmp": ("bmp", "image/bmp"),
    "tiff": ("tif", "image/tiff"),
    "avif": ("avif", "image/avif"),
    "wav": ("wav", "audio/wav"),
    "flac": ("flac", "audio/flac"),
    "ogg": ("ogg", "audio/ogg"),
    "mp3": ("mp3", "audio/mpeg"),
    "aiff": ("aif", "audio/aiff"),
}
_UNKNOWN = ("bin", "application/octet-stream")


def file_name(attachment: Attachment) -> str:
    """Its own, with the ending of its format."""
    ending, _ = _FORMATS.get(attachment.kind, _UNKNOWN)
    path = PurePath(PurePath(attachment.name).name)
    known = {f".{ending}", f".{attachment.kind}"}
    return path.name if path.suffix.lower() in known else f"{path.stem or 'file'}.{ending}"


def data_url(attachment: Attachment) -> str:
    assert attachment.media
    _, kind = _FORMATS.get(attachment.kind, _UNKNOWN)
    return f"data:{kind};base64,{base64.b64encode(attachment.media.file).decode()}"
