"""The Help menu: the guide, the log, About, and Skein's folders. GUI thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.look.windows import come_up
from app.look.words import tr
from app.services import diagnostics
from app.system import paths
from app.system.log import recent_lines
from app.ui.base.about import About
from app.ui.base.guide import Guide
from app.ui.base.log_viewer import LogViewer


class HelpCommands:
    """`diagnose` returns the text to attach to a question."""

    def __init__(self, diagnose: Callable[[], str], window: QWidget) -> None:
        self._diagnose = diagnose
        self._window = window
        self._log: LogViewer | None = None
        self._guide: Guide | None = None

    def open_data_folder(self) -> None:
        open_folder(paths.data_dir())

    def open_log_folder(self) -> None:
        open_folder(paths.log_dir())

    def show_about(self) -> None:
        folders = (
            (tr("Open data folder"), self.open_data_folder),
            (tr("Open log folder"), self.open_log_folder),
        )
        about = About(self._diagnose(), diagnostics.licences(), folders, self._window)
        about.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        about.open()  # never exec: a nested loop would stop every coroutine

    def show_guide(self) -> None:
        if self._guide is None:
            self._guide = Guide(self._window)
        come_up(self._guide)

    def show_log(self) -> None:
        """One window, which stays beside the chats."""
        if self._log is None:
            self._log = LogViewer(recent_lines.since, self.open_log_folder, self._window)
        come_up(self._log)


def open_folder(path: Path) -> None:
    """In the desktop's own file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
