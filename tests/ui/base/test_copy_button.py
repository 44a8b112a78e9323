import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.ui.base.copy_button import CopyButton


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", "Copied"),
        ("a\u202eb", "Copied with 1 hidden character"),
        ("a\u202e\u200bb", "Copied with 2 hidden characters"),
    ],
)
def test_it_says_what_was_copied_and_whether_there_is_more_than_meets_the_eye(
    qtbot: QtBot, text: str, said: str
) -> None:
    frame = QWidget()
    qtbot.addWidget(frame)
    button = CopyButton("Copy", lambda: text, frame)
    button.click()
    assert QGuiApplication.clipboard().text() == text
    assert button.accessibleName() == said
    button._confirms.timeout.emit()
    assert button.accessibleName() == "Copy"
