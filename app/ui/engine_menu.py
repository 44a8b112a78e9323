"""The Engine menu: what goes first, stop everything, and the dialog for the rest.

What is chosen goes into the settings and to the engine. GUI thread.
"""

from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.bridge.active_engine import ActiveEngine
from app.bridge.parameters import num_physical_cores
from app.engine.types import Speed
from app.settings import Settings
from app.ui.actions import add_menu, make_action, radio_menu, tick
from app.ui.choices import SPEEDS
from app.ui.engine_settings import LOAD_SETTINGS, EngineSettings


class EngineMenu(QObject):
    settings_changed = Signal()  # they want to be saved
    reload_requested = Signal()  # of the model, with the settings as they are now

    def __init__(self, engine: ActiveEngine, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._engine = engine
        self._settings = settings
        self._proven: dict[str, Any] = {}  # what to go back to if the reload under way fails
        self.stop_all = make_action(
            parent, "Stop &all answers", "Stop the answers of all chats", engine.abort_all, "Shift+Esc"
        )
        self.speeds = radio_menu(parent, "S&peed", SPEEDS, settings.speed, self._choose_speed)
        self._open = make_action(
            parent, "&Engine settings…", "Context, chats, threads and speed", self.show_dialog, "Ctrl+,"
        )
        self.dialog = EngineSettings(num_physical_cores(), parent)
        self.dialog.applied.connect(self._on_applied)
        engine.loaded.connect(self._on_loaded)
        engine.load_failed.connect(self._on_load_failed)

    def add_to(self, bar: QMenuBar, *steps: QAction) -> QMenu:
        """`steps` pause and resume what it does."""
        return add_menu(bar, "E&ngine", self.speeds, None, self.stop_all, None, *steps, None, self._open)

    def show_dialog(self) -> None:
        if not self.dialog.isVisible():
            self.dialog.apply(self._settings, self._engine.model)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def _choose_speed(self, value: str) -> None:
        self._take({"speed": value})
        self.dialog.follow_speed(value)

    @Slot(object)
    def _on_applied(self, values: dict[str, Any]) -> None:
        former = {name: getattr(self._settings, name) for name in LOAD_SETTINGS}
        self._take(values)
        needs_reload = any(values[name] != value for name, value in former.items())
        if needs_reload and self._engine.model:
            self._proven = former
            self.reload_requested.emit()
        self._show_in_force()

    def _take(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self._settings, name, value)
        self._engine.set_speed(Speed(self._settings.speed))
        tick(self.speeds, self._settings.speed)
        self.settings_changed.emit()

    @Slot(object)
    def _on_loaded(self, _model: object) -> None:
        self._proven = {}
        self._show_in_force()

    @Slot(object, str)
    def _on_load_failed(self, _path: object, _message: str) -> None:
        """Settings that no model could be loaded with must not be met again at the next start."""
        proven, self._proven = self._proven, {}
        if proven:
            self._take(proven)
        self._show_in_force()

    def _show_in_force(self) -> None:
        self.dialog.apply(self._settings, self._engine.model)
