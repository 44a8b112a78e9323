"""Whether a model answers, is being loaded or sleeps, as one value, and when it has to sleep. GUI thread."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.active_engine import ActiveEngine
from app.protocol.model import ModelInfo
from app.services.preferences import Preferences


@dataclass(frozen=True, slots=True)
class ModelState:
    model: ModelInfo | None = None  # the one that answers, also while it is asleep
    is_asleep: bool = False
    loading: Path | None = None
    failed: Path | None = None  # what could not be loaded, while there is no other


class ModelWatch(QObject):
    changed = Signal(object)  # ModelState

    def __init__(self, engine: ActiveEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.state = ModelState(engine.model, engine.is_asleep)
        engine.loading.connect(self._on_loading)
        engine.load_failed.connect(self._on_load_failed)
        for ended in (engine.loaded, engine.load_cancelled, engine.slept, engine.engine_failed):
            ended.connect(self._on_changed)

    @Slot(object)
    def _on_loading(self, path: Path) -> None:
        self._show(ModelState(self._engine.model, self._engine.is_asleep, path))

    @Slot(object, object)
    def _on_load_failed(self, path: Path, _message: object) -> None:
        model = self._engine.model
        self._show(ModelState(model, self._engine.is_asleep, failed=None if model else path))

    @Slot()
    def _on_changed(self) -> None:
        self._show(ModelState(self._engine.model, self._engine.is_asleep))

    def _show(self, state: ModelState) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit(state)


SETTING = "unload_after_min"
AT_LEAST_S = 1.0


class IdleUnload(QObject):
    """Puts the model to sleep when it was idle for as long as the settings say."""

    def __init__(self, engine: ActiveEngine, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._preferences = preferences
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._look)
        engine.loaded.connect(self._look)
        preferences.changed.connect(self._on_setting_changed)

    @property
    def _after_s(self) -> float:
        return float(self._preferences.value(SETTING)) * 60

    @Slot()
    def _look(self) -> None:
        """Checks now, and again when the time may be over."""
        self._timer.stop()
        if not self._after_s or self._engine.model is None or self._engine.is_asleep:
            return
        left_s = self._after_s - self._engine.idle_s
        if left_s <= 0:
            self._engine.sleep()
        else:
            self._timer.start(int(max(left_s, AT_LEAST_S) * 1000))

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == SETTING:
            self._look()
