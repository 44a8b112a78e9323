from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from app.ui.base.help_commands import About


def test_diagnostics_can_be_copied_and_folders_opened(qtbot) -> None:
    opened: list[str] = []
    about = About(
        "Skein 1, on this machine", "Qt: LGPL", [("Open data folder", lambda: opened.append("data"))]
    )
    qtbot.addWidget(about)
    buttons = {button.text(): button for button in about.findChildren(QPushButton)}
    buttons["Copy diagnostics"].click()
    assert QGuiApplication.clipboard().text() == "Skein 1, on this machine"
    buttons["Open data folder"].click()
    assert opened == ["data"]
    assert about.licences.toPlainText() == "Qt: LGPL"
