"""What is kept of a picture or a sound in a message, as JSON: all but its file. No Qt."""

import re
from typing import Any

from app.protocol.media import Media, MediaKind

_SHA256 = re.compile("[0-9a-f]{64}")
_MAX_SIDE = 1 << 20
_MAX_SECONDS = 1e7


def as_object(media: Media) -> dict[str, Any]:
    figures = {"width": media.width, "height": media.height, "duration_s": media.duration_s}
    known = {name: value for name, value in figures.items() if value}
    return {"kind": media.kind, "sha256": media.sha256} | known


def media_of(stored: object) -> Media | None:
    """Without its file. None for anything that is not one."""
    if not isinstance(stored, dict):
        return None
    sha256, kind = stored.get("sha256"), stored.get("kind")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or kind not in tuple(MediaKind):
        return None
    width, height = (_number(stored.get(name), _MAX_SIDE) for name in ("width", "height"))
    duration_s = _number(stored.get("duration_s"), _MAX_SECONDS)
    return Media(MediaKind(kind), sha256, b"", int(width), int(height), float(duration_s))


def _number(value: object, maximum: float) -> float:
    """0 for what is none, or out of range."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= maximum else 0  # type: ignore[operator, return-value]
