"""Opens model files, and loads the model again where its settings want that. GUI thread."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.active_engine import ActiveEngine
from app.bridge.parameters import load_params
from app.bridge.preferences import Preferences
from app.engine.types import ModelInfo
from app.look.words import tr

LOAD_SETTINGS = frozenset({"n_ctx", "n_seq_max", "n_threads", "isolated", "verify"})  # they make a context


class ModelLoading(QObject):
    changed = Signal()  # whether there is a model to reload, or settings that wait for it

    def __init__(self, engine: ActiveEngine, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._engine = engine
        self._preferences = preferences
        self._window = window
        self._path: Path | None = engine.model.path if engine.model else None  # what `reload` loads
        self._tried = self._now()
        self._proven = self._now() if engine.model else None  # what the model that is loaded has
        engine.loading.connect(self._on_loading)
        engine.loaded.connect(self._on_loaded)
        engine.load_failed.connect(self._on_load_failed)
        engine.engine_failed.connect(self.changed)
        preferences.changed.connect(self._on_setting_changed)

    @property
    def can_reload(self) -> bool:
        return self._path is not None

    @property
    def needs_reload(self) -> bool:
        """Settings were changed that the model in use was not loaded with."""
        return self._engine.model is not None and self._proven is not None and self._proven != self._now()

    def choose(self) -> None:
        dialog = QFileDialog(self._window, tr("Open model"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([tr("GGUF models (*.gguf)"), tr("All files (*)")])
        if self._path:
            dialog.setDirectory(str(self._path.parent))
        dialog.fileSelected.connect(lambda name: self.load(Path(name)))
        dialog.open()  # never exec: a nested loop would stop every coroutine

    def load(self, path: Path) -> None:
        self._engine.load(load_params(self._preferences.settings, path))

    @Slot()
    def reload(self) -> None:
        if self._path:
            self.load(self._path)

    def _now(self) -> dict[str, Any]:
        return {name: self._preferences.value(name) for name in LOAD_SETTINGS}

    @Slot()
    def _on_loading(self) -> None:
        self._tried = self._now()

    @Slot(object)
    def _on_loaded(self, model: ModelInfo) -> None:
        self._path = model.path
        self._proven = self._tried
        self.changed.emit()

    @Slot()
    def _on_load_failed(self) -> None:
        """Settings that no model could be loaded with must not be met again at the next start."""
        if self._proven is None:
            return
        for name, proven in self._proven.items():
            if self._tried[name] != proven and self._preferences.value(name) == self._tried[name]:
                self._preferences.set(name, proven)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name in LOAD_SETTINGS:
            self.changed.emit()
