"""Which model file, if any, is being dropped on the window. Pure function."""

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
