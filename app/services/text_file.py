"""Writes a text to a file that the user chose. Any thread."""

import uuid
from pathlib import Path


def write_text_file(path: Path, text: str) -> None:
    """Atomically: the old file stays if the disk is full. Raises OSError."""
    unfinished = path.with_name(f".{uuid.uuid4().hex}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="replace", newline="")
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
