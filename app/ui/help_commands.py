"""About Skein, and where it keeps what is yours. GUI thread."""

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from app import __version__, paths
from app.look.icons import app_icon
from app.look.words import tr


class HelpCommands:
    def __init__(self, window: QWidget) -> None:
        self._window = window

    def open_data_folder(self) -> None:
        open_folder(paths.data_dir())

    def open_log_folder(self) -> None:
        open_folder(paths.log_dir())

    def show_about(self) -> None:
        box = QMessageBox(self._window)
        box.setWindowTitle(tr("About Skein"))
        box.setIconPixmap(app_icon().pixmap(64, 64))
        box.setText(f"Skein {__version__}")
        box.setInformativeText(
            tr("Many chats with a local language model through one shared context.")
            + "\n\n"
            + tr("Uses llama.cpp (MIT), Qt and PySide6 (LGPLv3), and Lucide icons (ISC).")
        )
        box.finished.connect(box.deleteLater)
        box.open()  # never exec: a nested loop would stop every coroutine


def open_folder(path: Path) -> None:
    """In the desktop's own file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
