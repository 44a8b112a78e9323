"""Models in the main window: the command, and the models window. GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.services.services import Services
from app.ui.base.actions import command
from app.ui.engine.model_loading import ModelLoading

if TYPE_CHECKING:
    from app.ui.models.models_window import ModelsWindow


class ModelCommands(QObject):
    def __init__(
        self,
        services: Services,
        models: ModelLoading,
        show_load_settings: Callable[[Path], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._models = models
        self._show_load_settings = show_load_settings
        self._parent = parent
        self._window: ModelsWindow | None = None
        self.show = command(parent, "model.library", self.show_library)
        self.get_more = command(parent, "model.hub", self.show_hub)

    @property
    def window(self) -> ModelsWindow:
        """Made when it is first asked for."""
        if self._window is None:
            from app.ui.models.models_window import ModelsWindow

            self._window = ModelsWindow(self._services, self._parent)
            self._window.open_requested.connect(self._models.load)
            self._window.settings_requested.connect(self._show_load_settings)
        return self._window

    @property
    def shows_hub(self) -> bool:
        return self._window is not None and self._window.hub.isVisible()

    def show_library(self) -> None:
        self.window.show_page(self.window.library)

    def show_hub(self) -> None:
        self.window.show_page(self.window.hub)
