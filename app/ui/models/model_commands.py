"""Models in the main window: the command, and the models window. GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.look.words import tr
from app.services.model_fits import ModelFits
from app.services.model_library import ModelLibrary
from app.services.preferences import Preferences
from app.ui.base.actions import command
from app.ui.engine.model_loading import ModelLoading

if TYPE_CHECKING:
    from app.ui.models.models_window import ModelsWindow

MakePage = Callable[[QWidget], QWidget]


class ModelCommands(QObject):
    def __init__(
        self,
        library: ModelLibrary,
        fits: ModelFits,
        preferences: Preferences,
        models: ModelLoading,
        show_load_settings: Callable[[Path], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._fits = fits
        self._preferences = preferences
        self._models = models
        self._show_load_settings = show_load_settings
        self._parent = parent
        self._window: ModelsWindow | None = None
        self._make_hub: MakePage | None = None
        self._hub: QWidget | None = None
        self.show = command(parent, "model.library", self.show_library)
        self.get_more = command(parent, "model.hub", self.show_hub)

    @property
    def window(self) -> ModelsWindow:
        """Made when it is first asked for."""
        if self._window is None:
            from app.ui.models.models_window import (
                ModelsWindow,
            )  # the first window of the program has no need of it

            self._window = ModelsWindow(self._library, self._fits, self._preferences, self._parent)
            self._window.open_requested.connect(self._models.load)
            self._window.settings_requested.connect(self._show_load_settings)
            if self._make_hub:
                self._hub = self._make_hub(self._window)
                self._window.add_page(self._hub, tr("Get more"))
        return self._window

    def add_to(self, menu: QMenu, before: QAction) -> None:
        menu.insertActions(before, [self.show, self.get_more])

    def offer_hub(self, make_page: MakePage) -> None:
        """The page of models that can be downloaded, made when it is first asked for."""
        assert self._window is None
        self._make_hub = make_page

    def show_library(self) -> None:
        self.window.show_page(self.window.library)

    def show_hub(self) -> None:
        window = self.window
        window.show_page(self._hub or window.library)
