"""The dialog shown when Skein cannot start. GUI thread, before the event loop runs."""

import os
import sys

from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QMessageBox

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
