"""Asks before Skein exits with unsaved changes, which would be lost. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.look.words import tr, tr_said


def ask_to_end(why: str, end: Callable[[], object], window: QWidget) -> QMessageBox:
    """`why` is the error of the failed save."""
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle("Skein")
    box.setText(tr("Some changes could not be saved and will be lost if Skein quits now."))
    box.setInformativeText(tr_said(why))
    leave = box.addButton(tr("Quit anyway"), QMessageBox.ButtonRole.DestructiveRole)
    stay = box.addButton(tr("Keep open"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    leave.clicked.connect(end)
    box.open()  # never exec: a nested loop would stop every coroutine
    return box
