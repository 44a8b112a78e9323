from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.look.popups import resize_to_fit


def test_a_window_is_as_large_as_wanted_but_never_larger_than_the_screen(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    resize_to_fit(window, QSize(300, 200))
    assert window.size() == QSize(300, 200)
    screen = window.screen().availableSize()
    resize_to_fit(window, QSize(300, 10_000))
    assert window.width() == 300
    assert 0 < screen.height() - window.height() <= 100
