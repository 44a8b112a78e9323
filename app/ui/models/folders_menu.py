"""The menu of folders to search for models: add and remove. GUI thread."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.look.plain_text import as_tab_text, short_path
from app.look.popups import Menu
from app.look.words import tr
from app.models.folders import Folder
from app.models.model_file import ModelSource
from app.services.model_library import ModelLibrary
from app.services.preferences import Preferences
from app.ui.base.help_commands import open_folder


class FoldersMenu(Menu):
    """Filled when it opens."""

    def __init__(self, library: ModelLibrary, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._library = library
        self._preferences = preferences
        self.aboutToShow.connect(self._fill)

    def add_folder(self) -> None:
        self._ask_for_folder(tr("Add a folder with models"), self._library.add_folder)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for folder in self._library.folders:
            self.addMenu(self._menu_of(folder))
        self.addSeparator()
        self.addAction(tr("&Add folder…"), self.add_folder)
        self.addSeparator()
        others = self.addAction(tr("Show models of &other programs"))
        others.setCheckable(True)
        others.setChecked(self._preferences.settings.uses_other_programs_models)
        others.toggled.connect(partial(self._preferences.set, "uses_other_programs_models"))
        self.addAction(tr("&Rescan"), self._library.refresh)

    def _menu_of(self, folder: Folder) -> QMenu:
        is_downloads = folder.source is ModelSource.DOWNLOADS
        name = as_tab_text(short_path(folder.path))
        menu = Menu(tr("Downloads: {folder}", folder=name) if is_downloads else name, self)
        menu.addAction(tr("Open in the file manager"), partial(open_folder, folder.path))
        if is_downloads:
            menu.addAction(tr("Choose another folder…"), self._choose_download_folder)
            reset = menu.addAction(
                tr("Use the default folder"), partial(self._preferences.reset, "download_folder")
            )
            reset.setEnabled(self._preferences.settings.download_folder is not None)
        else:
            menu.addAction(tr("Remove from the list"), partial(self._library.remove_folder, folder.path))
        return menu

    def _choose_download_folder(self) -> None:
        set_folder = partial(self._preferences.set, "download_folder")
        self._ask_for_folder(tr("Folder for downloads"), set_folder)

    def _ask_for_folder(self, title: str, on_chosen: Callable[[Path], object]) -> None:
        dialog = QFileDialog(self.parentWidget(), title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda name: on_chosen(Path(name)))
        dialog.open()  # never exec: a nested loop would stop every coroutine
