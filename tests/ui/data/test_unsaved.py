from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.system.said import said
from app.ui.refusal_dialog import ask_to_end


@pytest.fixture
def ended() -> list[int]:
    return []


@pytest.fixture
def box(qtbot: QtBot, ended: list[int]) -> Iterator[QMessageBox]:
    window = QWidget()
    qtbot.addWidget(window)
    why = said("The disk with {folder} is full.", folder="/home")
    box = ask_to_end(why, lambda: ended.append(1), window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the test looks at it
    yield box


def button(box: QMessageBox, text: str) -> QWidget:
    return next(one for one in box.buttons() if one.text() == text)


def test_it_says_what_is_lost_and_why(box: QMessageBox) -> None:
    assert "will be lost if Skein quits" in box.text()
    assert box.informativeText() == "The disk with /home is full."


def test_enter_and_escape_keep_it_open(box: QMessageBox, qtbot: QtBot, ended: list[int]) -> None:
    assert box.defaultButton() is button(box, "Keep open")
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert not box.isVisible()
    assert ended == []


def test_whoever_means_it_can_end_it(box: QMessageBox, qtbot: QtBot, ended: list[int]) -> None:
    qtbot.mouseClick(button(box, "Quit anyway"), Qt.MouseButton.LeftButton)
    assert ended == [1]
