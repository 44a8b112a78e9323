"""What is being dropped or pasted: a model for the window, or files for a message. Pure functions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.look.words import tr, tr_n

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData


def dropped_model(data: QMimeData) -> Path | None:
    """The first local .gguf file."""
    for url in data.urls():
        if url.isLocalFile() and url.toLocalFile().lower().endswith(".gguf"):
            return Path(url.toLocalFile())
    return None


def drop_text(data: QMimeData) -> str:
    """What dropping it would do; "": nothing."""
    if model := dropped_model(data):
        return tr("Open {name}", name=model.name)
    if len(files := dropped_files(data)) > 1:
        return tr_n("Attach {n} file", "Attach {n} files", len(files))
    return tr("Attach {name}", name=files[0].name) if files else ""


def dropped_files(data: QMimeData) -> list[Path]:
    """All local files; none if a model is among them, which is for the window."""
    if dropped_model(data):
        return []
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
