"""The settings while the program runs: the one way to change them, and the news that one has changed.

A change counts at once and is on disk half a second later. Knows no widgets, and not what follows from a
setting: whoever uses one reads it when it is needed, or follows `changed`. GUI thread.
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
    save_failed = Signal(str)  # one reason, in the system's words

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._known = settings.model_dump()
        self._is_saved = True
        self._saving = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._saving.timeout.connect(self.flush)

    @property
    def settings(self) -> Settings:
        """To be read only."""
        return self._settings

    def value(self, name: str) -> Any:
        return getattr(self._settings, name)

    def default(self, name: str) -> Any:
        return getattr(Settings(), name)

    def set(self, name: str, value: object) -> None:
        """Raises ValidationError, and then nothing has changed."""
        setattr(self._settings, name, value)
        self.note_changes()

    def of_model(self, path: Path) -> ModelSettings:
        """What one model has of its own."""
        return self._settings.models.get(str(path), ModelSettings())

    def set_of_model(self, path: Path, own: ModelSettings) -> None:
        """Counts when it is loaded the next time."""
        others = {name: value for name, value in self._settings.models.items() if name != str(path)}
        self.set("models", others if own == ModelSettings() else others | {str(path): own})

    def reset(self, name: str) -> None:
        self.set(name, self.default(name))

    def note_changes(self) -> None:
        """Tells of whatever is other than before, whoever has changed it, and saves it soon."""
        now = self._settings.model_dump()
        names = [name for name, value in now.items() if value != self._known[name]]
        self._known = now
        for name in names:
            self.changed.emit(name)
        if names:
            self._is_saved = False
            self._saving.start()

    def flush(self) -> None:
        """Onto the disk, if anything waits to go there."""
        self._saving.stop()
        if self._is_saved:
            return
        try:
            self._settings.save()
            self._is_saved = True
        except OSError as error:
            logger.warning("The settings could not be saved: %s", error)
            self.save_failed.emit(error.strerror or str(error))
