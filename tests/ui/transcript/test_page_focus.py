from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.ui.transcript.selecting import FocusLine


def test_a_pane_reached_by_keys_is_marked_from_top_to_bottom_and_a_clicked_one_is_not(qtbot: QtBot) -> None:
    pane = QWidget()
    qtbot.addWidget(pane)
    pane.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    line = FocusLine(pane)
    with qtbot.waitActive(pane):
        pane.show()
        pane.activateWindow()
    pane.setFocus(Qt.FocusReason.MouseFocusReason)
    assert line.isHidden()
    pane.clearFocus()
    pane.setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert line.isVisible()
    pane.resize(300, 400)
    assert line.height() == 400
    pane.clearFocus()
    assert line.isHidden()


def test_a_pane_that_is_deleted_with_the_focus_shows_no_line_any_more(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    pane = QWidget(window)
    FocusLine(pane)
    window.show()
    window.activateWindow()
    pane.setFocus()
    qtbot.waitUntil(pane.hasFocus)
    pane.deleteLater()  # pytest-qt notes what its event filters raise
    qtbot.waitUntil(lambda: not isValid(pane))
