"""Finds the library's models that can draft for one of them, in a thread. GUI thread."""

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.models.load_limits import why_not_draft
from app.models.model_file import ModelFile
from app.services.model_library import ModelLibrary


class DraftCandidates(QObject):
    changed = Signal()

    def __init__(self, path: Path, library: ModelLibrary, parent: QObject) -> None:
        super().__init__(parent)
        self._path = path
        self._library = library
        self._reasons: dict[ModelFile, str] = {}  # why one cannot; empty if it can
        self._is_looking = False
        library.changed.connect(self.look)

    @property
    def fitting(self) -> tuple[ModelFile, ...]:
        """The smallest first."""
        found = [model for model in self._smaller if self._reasons.get(model) == ""]
        return tuple(sorted(found, key=lambda model: model.size_bytes))

    @Slot()
    def look(self) -> None:
        """`changed` follows."""
        if not self._is_looking:
            self._is_looking = True
            spawn(self._look())

    async def _look(self) -> None:
        try:
            while unknown := [model for model in self._smaller if model not in self._reasons]:
                reason = await asyncio.to_thread(why_not_draft, unknown[0].path, self._path)
                if not isValid(self):  # the dialog was closed
                    return
                self._reasons[unknown[0]] = reason
            if isValid(self):
                self.changed.emit()
        finally:
            self._is_looking = False

    @property
    def _smaller(self) -> list[ModelFile]:
        """Only smaller models: a larger one would take as long to draft as this one to decode."""
        model = self._library.model_at(self._path)
        return [
            other
            for other in self._library.models
            if other.can_chat and model and other.size_bytes < model.size_bytes
        ]
