from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from app.look.buttons import dialog_button
from app.look.layouts import hbox


def test_enter_clicks_the_button_that_has_the_focus_else_the_default_one(qtbot: QtBot) -> None:
    clicked: list[str] = []
    dialog = QDialog()
    qtbot.addWidget(dialog)
    cancel = dialog_button("Cancel", lambda: clicked.append("cancel"), dialog)
    start = dialog_button("Start", lambda: clicked.append("start"), dialog, is_default=True)
    hbox(cancel, start, on=dialog)
    dialog.show()
    cancel.setFocus()
    qtbot.keyClick(cancel, Qt.Key.Key_Return)
    dialog.setFocus()
    qtbot.keyClick(dialog, Qt.Key.Key_Enter)
    assert clicked == ["cancel", "start"]
