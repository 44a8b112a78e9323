from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app import window
from app.system.said import said
from app.ui import refusal_dialog
from app.ui.refusal_dialog import ask_to_end


def read_soon() -> list[str]:
    """What the dialog says that is shown next; it is closed."""
    texts: list[str] = []

    def close() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        texts.append(box.text())
        box.accept()

    QTimer.singleShot(0, close)
    return texts


def test_without_a_terminal_the_reason_is_read_in_a_dialog(qapp, monkeypatch, capsys) -> None:
    monkeypatch.setattr("app.system.refusal.has_terminal", lambda: False)
    read = read_soon()
    reason = said("The folder {folder} cannot be used: {reason}.", folder="/data", reason="<i>full</i>")
    assert window.refuse(reason) == 1
    assert read == ["The folder /data cannot be used: <i>full</i>."]
    assert "skein: The folder /data" in capsys.readouterr().err


@pytest.mark.parametrize("is_taken", [True, False])
def test_an_offer_is_a_button(qapp, monkeypatch, is_taken: bool) -> None:
    def choose() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        offer = next(button for button in box.buttons() if button.text() == "Start Anyway")
        (offer if is_taken else box.button(QMessageBox.StandardButton.Close)).click()

    QTimer.singleShot(0, choose)
    assert refusal_dialog.show_refusal("It is so.", "Start Anyway") is is_taken


def test_on_a_terminal_no_dialog_is_in_the_way(monkeypatch, capsys) -> None:
    monkeypatch.setattr("app.system.refusal.has_terminal", lambda: True)
    monkeypatch.setattr("app.ui.refusal_dialog.show_refusal", lambda *_: pytest.fail("a dialog"))
    assert window.refuse(said("The disk is full.")) == 1
    assert capsys.readouterr().err == "skein: The disk is full.\n"


def test_without_a_screen_there_is_no_dialog(monkeypatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not refusal_dialog.can_be_shown()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert refusal_dialog.can_be_shown()


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
