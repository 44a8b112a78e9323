"""Pictures and sounds of messages: what is known of them besides their bytes. No Qt.

The bytes are kept once, under their SHA-256, in the database.
"""

import re
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

_SHA256 = re.compile("[0-9a-f]{64}")
_MAX_SIDE = 1 << 20
_MAX_SECONDS = 1e7


class MediaKind(StrEnum):
    IMAGE = "image"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class Media:
    """A picture has a width and a height in pixels, as it is shown; a sound a length. 0: not known yet."""

    kind: MediaKind
    sha256: str  # of its file's bytes, in hexadecimal
    mime: str  # "image/png"
    num_bytes: int
    width: int = 0
    height: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small picture: 8-bit RGB, row by row, without padding."""

    width: int
    height: int
    rgb: bytes = field(repr=False)


def as_object(media: Media) -> dict[str, Any]:
    """For JSON."""
    return asdict(media)


def media_of(stored: object) -> Media | None:
    """From JSON, which may be anything."""
    if not isinstance(stored, dict):
        return None
    sha256, mime = stored.get("sha256"), stored.get("mime")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or not isinstance(mime, str):
        return None
    try:
        kind = MediaKind(str(stored.get("kind")))
    except ValueError:
        return None
    width, height, num_bytes = (_count(stored.get(name)) for name in ("width", "height", "num_bytes"))
    seconds = stored.get("seconds")
    is_length = isinstance(seconds, int | float) and 0 <= seconds < _MAX_SECONDS
    return Media(
        kind,
        sha256,
        mime[:100],
        num_bytes,
        min(width, _MAX_SIDE),
        min(height, _MAX_SIDE),
        float(seconds) if is_length else 0.0,  # type: ignore[arg-type]
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
