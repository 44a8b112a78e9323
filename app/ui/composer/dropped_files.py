"""Which files, if any, are being dropped or pasted for a message. Pure function."""

from pathlib import Path

from PySide6.QtCore import QMimeData

from app.ui.engine.dropped_model import dropped_model


def dropped_files(data: QMimeData) -> list[Path]:
    """All of this machine's; none if a model is among them, which is for the window."""
    if dropped_model(data):
        return []
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
