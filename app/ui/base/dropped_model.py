"""What is being dropped or pasted: a model for the window, or files for a message. Pure functions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData


def dropped_model(data: QMimeData) -> Path | None:
    """The first local .gguf file."""
    for url in data.urls():
        if url.isLocalFile() and url.toLocalFile().lower().endswith(".gguf"):
            return Path(url.toLocalFile())
    return None


def dropped_files(data: QMimeData) -> list[Path]:
    """All local files; none if a model is among them, which is for the window."""
    if dropped_model(data):
        return []
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
