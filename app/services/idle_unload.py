"""Puts the model to sleep when it was idle for as long as the settings say. GUI thread.

Knows no widgets, nor how the model is loaded again.
"""

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.active_engine import ActiveEngine
from app.services.preferences import Preferences

SETTING = "unload_after_min"
AT_LEAST_S = 1.0


class IdleUnload(QObject):
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
