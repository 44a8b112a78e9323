"""The dialogs for when Skein cannot start, before the event loop runs, or cannot save. GUI thread."""

import os
import sys
from collections.abc import Callable

from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app.look.icons import app_icon
from app.look.language import apply_language
from app.look.words import tr, tr_said
from app.settings.settings import Settings
from app.system import paths
from app.ui.settings.appearance import apply_appearance


def can_be_shown() -> bool:
    """Without a display, Qt would abort the process."""
    has_screen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    return has_screen or not sys.platform.startswith("linux")


def show_refusal(reason: str, offer: str = "") -> bool:
    """Returns when it has been read: whether `offer`, the name of a button, was chosen."""
    application = QApplication.instance()
    if application is None:
        application = QApplication(sys.argv[:1])
        application.setDesktopFileName("skein")
        settings = Settings.load(paths.settings_file())
        apply_language(application, settings.language)
        apply_appearance(application, settings)
    box = QMessageBox(QMessageBox.Icon.Critical, "Skein", tr_said(reason))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowIcon(app_icon())
    box.addButton(QMessageBox.StandardButton.Close)
    button = box.addButton(tr(offer), QMessageBox.ButtonRole.AcceptRole) if offer else None
    reading = QEventLoop()  # not the application's: ending that would end everything
    box.finished.connect(reading.quit)
    box.open()
    reading.exec()
    is_chosen = button is not None and box.clickedButton() is button
    box.deleteLater()
    return is_chosen


def ask_to_end(why: str, end: Callable[[], object], window: QWidget) -> QMessageBox:
    """Before changes are lost; `why` is the error of the failed save."""
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
