"""The models on this machine: finds them, watches for changes, moves one to the trash.

Scans in a thread, and again a second after a change in a folder. Knows no widgets. GUI thread.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFile, QFileSystemWatcher, QObject, QTimer, Signal, Slot
from shiboken6 import isValid

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.models import catalog
from app.models.folders import OURS, Folder, folders, own_folders
from app.models.load_limits import why_not_draft
from app.models.model_file import FileKind, ModelFile, ModelSource
from app.protocol.model import ModelInfo
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.system import paths
from app.system.said import said

log = logging.getLogger(__name__)

MAX_RECENT = 20
SETTLE_MS = 1_000  # while a file is copied, its folder changes all the time
PROGRESS_PERIOD_S = 0.2
FOLDER_SETTINGS = frozenset({"model_folders", "download_folder", "uses_other_programs_models"})
UNFINISHED = (FileKind.DAMAGED, FileKind.INCOMPLETE)

FindFolders = Callable[[Settings], tuple[Folder, ...]]


@dataclass(frozen=True, slots=True)
class Trashed:
    """A model whose files can be restored: where each was, and where it is."""

    model: ModelFile
    places: tuple[tuple[Path, Path], ...]


class ModelLibrary(QObject):
    changed = Signal()  # the models, or the progress of the scan
    failed = Signal(object)  # one sentence for the user
    trashed = Signal(object)  # Trashed
    _progressed = Signal(int, int)

    def __init__(
        self,
        preferences: Preferences,
        engine: Engines,
        parent: QObject | None = None,
        find_folders: FindFolders = folders,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._engine = engine
        self._find_folders = find_folders
        # By name, including files that are no chat models or cannot be used.
        self.models: tuple[ModelFile, ...] = ()
        self.progress: tuple[int, int] | None = None  # files looked at, of how many; None: not looking
        self._is_outdated = False  # something changed while it was looking
        self._is_closing = False
        self._loading: Path | None = None
        self._watcher = QFileSystemWatcher(self)
        self._settling = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settling.timeout.connect(self.refresh)
        self._watcher.directoryChanged.connect(self._settling.start)
        self._watcher.fileChanged.connect(self._settling.start)
        self._progressed.connect(self._on_progressed)
        preferences.changed.connect(self._on_setting_changed)
        engine.loading.connect(self._on_loading)
        engine.opened.connect(self._on_opened)
        engine.load_failed.connect(self._on_load_ended)
        engine.load_cancelled.connect(self._on_load_ended)

    @property
    def num_of_others(self) -> int:
        """Chat models that other programs already have."""
        ours = (*OURS, ModelSource.STARTER, ModelSource.OPENED)
        return sum(model.can_chat and model.source not in ours for model in self.models)

    @property
    def folders(self) -> tuple[Folder, ...]:
        """Where downloads go, and those that were chosen."""
        return tuple(folder for folder in own_folders(self._preferences.settings) if folder.is_ours)

    def model_at(self, path: Path) -> ModelFile | None:
        return next((model for model in self.models if path in model.parts), None)

    @property
    def in_use(self) -> frozenset[Path]:
        """What is loaded, and what is being loaded."""
        loaded = (one.model.path for one in self._engine if one.model)
        return frozenset(path for path in (*loaded, self._loading) if path)

    def is_in_use(self, model: ModelFile) -> bool:
        return not self.in_use.isdisjoint(model.parts)

    # Looking

    def refresh(self) -> None:
        """`changed` follows, now and when the scan is done."""
        if self._is_closing:
            return
        if self.progress is not None:
            self._is_outdated = True
            return
        self.progress = (0, 0)
        self.changed.emit()
        spawn(self._look())

    def close(self) -> None:
        """Stops the scan after the current file."""
        self._is_closing = True
        self._settling.stop()

    async def _look(self) -> None:
        try:
            places = await asyncio.to_thread(
                self._find_folders, self._preferences.settings.model_copy(deep=True)
            )
            models = await asyncio.to_thread(catalog.scan, places, self._progress_callback())
            watched = await asyncio.to_thread(catalog.watched, places)
        finally:
            self.progress = None
        if self._is_closing:
            return
        if models != self.models:
            log.info("%d models are here.", len(models))
        self.models = models
        self._watch(
            [*watched, *(part for model in models if model.kind in UNFINISHED for part in model.parts)]
        )
        self.changed.emit()
        if self._is_outdated:
            self._is_outdated = False
            self.refresh()

    def _progress_callback(self) -> catalog.OnProgress:
        """The callback for the scanning thread."""
        reported_at = 0.0

        def on_progress(done: int, of_how_many: int) -> bool:
            nonlocal reported_at
            if not self._is_closing and time.monotonic() - reported_at > PROGRESS_PERIOD_S:
                reported_at = time.monotonic()
                self._progressed.emit(done, of_how_many)
            return not self._is_closing

        return on_progress

    def _watch(self, wanted: list[Path]) -> None:
        """Watches folders, and files that may still be being written."""
        names = {str(path) for path in wanted}
        now = {*self._watcher.directories(), *self._watcher.files()}
        if gone := now - names:
            self._watcher.removePaths(list(gone))
        if new := names - now:
            self._watcher.addPaths(list(new))

    @Slot(int, int)
    def _on_progressed(self, done: int, of_how_many: int) -> None:
        if self.progress is not None:
            self.progress = (done, of_how_many)
            self.changed.emit()

    # Folders

    def add_folder(self, path: Path) -> None:
        chosen = self._preferences.settings.model_folders
        if path not in chosen:
            self._preferences.set("model_folders", [*chosen, path])

    def remove_folder(self, path: Path) -> None:
        """From the list: its files stay where they are."""
        chosen = self._preferences.settings.model_folders
        self._preferences.set("model_folders", [folder for folder in chosen if folder != path])

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name in FOLDER_SETTINGS:
            self.refresh()

    # The model in use

    @Slot(object)
    def _on_loading(self, path: Path) -> None:
        self._loading = path
        self.changed.emit()

    @Slot(object)
    def _on_opened(self, model: ModelInfo) -> None:
        """Lists a model that was opened from elsewhere, and remembers it."""
        loaded, self._loading = self._loading, None
        if not model.server and model.path != paths.starter_model():
            others = (path for path in self._preferences.settings.recent_models if path != model.path)
            self._preferences.set("recent_models", [model.path, *others][:MAX_RECENT])
        if loaded and self.models and not self.model_at(loaded):
            self._settling.start()
        self.changed.emit()

    @Slot(object)
    def _on_load_ended(self, path: Path) -> None:
        """A load that was replaced by another one ends after that has begun."""
        if path == self._loading:
            self._loading = None
            self.changed.emit()

    # The trash

    def why_not_trash(self, model: ModelFile) -> str:
        """Empty if it may be moved there."""
        if self.is_in_use(model):
            return said("This model is in use. Open another one first.")
        if model.source is ModelSource.STARTER:
            return said("This model comes with Skein.")
        if model.source is ModelSource.OPENED:
            return said("This file is not in one of your model folders. Remove it in the file manager.")
        if model.source not in OURS:
            return said("This model belongs to {program}. Remove it there.", program=str(model.source))
        return ""

    def trash(self, model: ModelFile) -> None:
        """All its files. `trashed` or `failed` follows."""
        if refusal := self.why_not_trash(model):
            self.failed.emit(refusal)
        else:
            spawn(self._trash(model))

    def restore(self, trashed: Trashed) -> None:
        spawn(self._restore(trashed))

    async def _trash(self, model: ModelFile) -> None:
        try:
            places = await asyncio.to_thread(_move_to_trash, model.parts)
        except OSError as error:
            self.failed.emit(
                said(
                    "{name} could not be moved to the trash: {reason}. Remove it in the file manager.",
                    name=model.path.name,
                    reason=error.strerror or str(error),
                )
            )
        else:
            self.trashed.emit(Trashed(model, places))
        self.refresh()

    async def _restore(self, trashed: Trashed) -> None:
        try:
            await asyncio.to_thread(_move_back, trashed.places)
        except OSError as error:
            self.failed.emit(
                said(
                    "{name} could not be restored: {reason}. Look for it in the trash.",
                    name=trashed.model.path.name,
                    reason=error.strerror or str(error),
                )
            )
        self.refresh()


def _move_to_trash(parts: tuple[Path, ...]) -> tuple[tuple[Path, Path], ...]:
    """All or none. Raises OSError."""
    places: list[tuple[Path, Path]] = []
    for part in parts:
        file = QFile(str(part))
        if not file.moveToTrash():
            _move_back(tuple(places))
            raise OSError(0, file.errorString())
        places.append((part, Path(file.fileName())))
    return tuple(places)


def _move_back(places: tuple[tuple[Path, Path], ...]) -> None:
    """Never replaces a file that is there by now. Raises OSError."""
    for was, place in places:
        file = QFile(str(place))
        if not file.rename(str(was)):
            raise OSError(0, file.errorString())
        # On Linux the trash has an info file for each file, which would stay.
        (place.parents[1] / "info" / f"{place.name}.trashinfo").unlink(missing_ok=True)


class DraftCandidates(QObject):
    """The models of the library that can draft for one of them, found in a thread."""

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
