"""The settings at run time: the only way to change them, with a signal for each change.

A change applies at once and is saved half a second later. Knows neither widgets nor the effects of a setting:
its users read it when needed, or follow `changed`. GUI thread.
"""

import logging
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.settings.settings import ModelSettings, Settings

logger = logging.getLogger(__name__)

SAVE_AFTER_MS = 500  # one write for a number that is stepped, or a text that is typed


class Preferences(QObject):
    changed = Signal(str)  # the name of a field of Settings
    save_failed = Signal(str)  # the reason, as the system gives it

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings  # read-only for callers
        self._known = settings.model_dump()
        self._is_saved = True
        self._saving = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._saving.timeout.connect(self.flush)

    def value(self, name: str) -> Any:
        return getattr(self.settings, name)

    def default(self, name: str) -> Any:
        return getattr(Settings(), name)

    def set(self, name: str, value: object) -> None:
        """Raises ValidationError, and then nothing has changed."""
        setattr(self.settings, name, value)
        self.note_changes()

    def of_model(self, path: Path) -> ModelSettings:
        """The settings of one model."""
        return self.settings.models.get(str(path), ModelSettings())

    def set_of_model(self, path: Path, own: ModelSettings) -> None:
        """Applies to the next load."""
        others = {name: value for name, value in self.settings.models.items() if name != str(path)}
        self.set("models", others if own == ModelSettings() else others | {str(path): own})

    def reset(self, name: str) -> None:
        self.set(name, self.default(name))

    def note_changes(self) -> None:
        """Emits every change since the last call, wherever it was made, and saves soon."""
        now = self.settings.model_dump()
        names = [name for name, value in now.items() if value != self._known[name]]
        self._known = now
        for name in names:
            self.changed.emit(name)
        if names:
            self._is_saved = False
            self._saving.start()

    def flush(self) -> None:
        """Writes pending changes to disk."""
        self._saving.stop()
        if self._is_saved:
            return
        try:
            self.settings.save()
            self._is_saved = True
        except OSError as error:
            logger.warning("The settings could not be saved: %s", error)
            self.save_failed.emit(error.strerror or str(error))
