"""The files being dropped or pasted into a message. Pure function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.ui.base.dropped_model import dropped_model

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData


def dropped_files(data: QMimeData) -> list[Path]:
    """All local files; none if a model is among them, which is for the window."""
    if dropped_model(data):
        return []
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
