"""Pictures and sounds outside a chat: their names, types and data. Any thread."""

import base64
from pathlib import PurePath

from app.chats.attachment import Attachment
from app.protocol.media import MediaKind

_ENDINGS = {"jpeg": "jpg", "tiff": "tif", "aiff": "aif"}
_TYPES = {"jpg": "jpeg", "mp3": "mpeg", "mpeg": "mpeg", "wav": "wav"}


def file_name(attachment: Attachment) -> str:
    """Its own, with the ending of its format."""
    ending = _ENDINGS.get(attachment.kind, attachment.kind)
    path = PurePath(attachment.name)
    known = {f".{ending}", f".{attachment.kind}"}
    return path.name if path.suffix.lower() in known else f"{path.stem or 'file'}.{ending}"


def mime_type(attachment: Attachment) -> str:
    """Such as "image/png"."""
    assert attachment.media
    main = "image" if attachment.media.kind is MediaKind.PICTURE else "audio"
    return f"{main}/{_TYPES.get(attachment.kind, attachment.kind)}"


def data_url(attachment: Attachment) -> str:
    assert attachment.media
    return f"data:{mime_type(attachment)};base64,{base64.b64encode(attachment.media.file).decode()}"
