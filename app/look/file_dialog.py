"""Dialogs that ask for files and folders. They delete themselves when done. GUI thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

FILE, FILES, FOLDER, SAVED = (
    QFileDialog.FileMode.ExistingFile,
    QFileDialog.FileMode.ExistingFiles,
    QFileDialog.FileMode.Directory,
    QFileDialog.FileMode.AnyFile,
)


def file_dialog(
    parent: QWidget | None, title: str, mode: QFileDialog.FileMode, *filters: str, folder: Path | None = None
) -> QFileDialog:
    """To be opened; never `exec`: a nested loop would stop every coroutine."""
    dialog = QFileDialog(parent, title, str(folder or ""))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(mode)
    if mode is SAVED:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    if filters:
        dialog.setNameFilters(filters)
    return dialog


def choose_file(
    parent: QWidget | None,
    title: str,
    on_chosen: Callable[[Path], object],
    *filters: str,
    folder: Path | None = None,
) -> None:
    _choose_one(file_dialog(parent, title, FILE, *filters, folder=folder), on_chosen)


def choose_folder(
    parent: QWidget | None, title: str, on_chosen: Callable[[Path], object], folder: Path | None = None
) -> None:
    _choose_one(file_dialog(parent, title, FOLDER, folder=folder), on_chosen)


def choose_files(
    parent: QWidget | None,
    title: str,
    on_chosen: Callable[[list[Path]], object],
    *filters: str,
    folder: Path | None = None,
) -> None:
    dialog = file_dialog(parent, title, FILES, *filters, folder=folder)
    dialog.filesSelected.connect(lambda names: on_chosen([Path(name) for name in names]))
    dialog.open()


def _choose_one(dialog: QFileDialog, on_chosen: Callable[[Path], object]) -> None:
    dialog.fileSelected.connect(lambda name: on_chosen(Path(name)))
    dialog.open()
