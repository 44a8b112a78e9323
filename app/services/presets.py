"""The presets, and the default one for new chats. GUI thread; files are accessed on another."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import spawn
from app.chats.options import ChatOptions
from app.chats.presets import Preset, PresetError, PresetFolder, read_preset, write_preset
from app.services.preferences import Preferences

T = TypeVar("T")


class Presets(QObject):
    """Identified by file name, since titles may be equal."""

    changed = Signal()
    failed = Signal(object)  # one sentence for the user

    def __init__(self, folder: Path, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = PresetFolder(folder)
        self._preferences = preferences
        self._presets: dict[str, Preset] = {}
        self._turn = asyncio.Lock()  # one change after the other

    @property
    def all(self) -> dict[str, Preset]:
        """By file, in the order of their names."""
        return dict(sorted(self._presets.items(), key=lambda item: item[1].name.casefold()))

    def get(self, file: str) -> Preset | None:
        return self._presets.get(file)

    def file_of(self, options: ChatOptions) -> str:
        """The preset with exactly these options; "" if there is none."""
        return next((file for file, preset in self.all.items() if preset.is_same_as(options)), "")

    @property
    def default_file(self) -> str:
        """The preset for new chats; "" for the settings alone."""
        file: str = self._preferences.value("default_preset")
        return file if file in self._presets else ""

    def set_default(self, file: str) -> None:
        self._preferences.set("default_preset", file)
        self.changed.emit()

    def options_for_new(self, options: ChatOptions) -> ChatOptions:
        """`options` of the settings, or those of the preset for new chats."""
        preset = self._presets.get(self._preferences.value("default_preset"))
        return preset.applied_to(options) if preset else options

    def load(self) -> None:
        """Reads the folder; files that are no presets are reported and left alone."""
        spawn(self.reload())

    def save(self, preset: Preset, file: str = "") -> None:
        """Adds a preset, or replaces that in `file`."""
        spawn(self._change(lambda: self._folder.save(preset, file)))

    def rename(self, file: str, name: str) -> None:
        """The file keeps its name: it may be the one for new chats."""
        if preset := self._presets.get(file):
            self.save(replace(preset, name=name), file)

    def delete(self, file: str) -> Preset | None:
        """Hand what comes back to `save` to undo it."""
        preset = self._presets.get(file)
        if preset:
            spawn(self._change(lambda: self._folder.delete(file)))
        return preset

    def import_file(self, path: Path) -> None:
        spawn(self._change(lambda: self._folder.save(read_preset(path))))

    def export_file(self, file: str, path: Path) -> None:
        if preset := self._presets.get(file):
            spawn(self._change(lambda: write_preset(path, preset)))

    async def reload(self) -> None:
        async with self._turn:
            self._presets, problems = await asyncio.to_thread(self._folder.load)
        for problem in problems:
            self.failed.emit(problem)
        self.changed.emit()

    async def _change(self, work: Callable[[], object]) -> None:
        try:
            async with self._turn:
                await asyncio.to_thread(work)
                self._presets, _problems = await asyncio.to_thread(self._folder.load)
        except PresetError as error:
            self.failed.emit(error.args[0])
        self.changed.emit()
