import sys

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

NUM_CALLS = 500


class Ticker(QObject):
    ticked = Signal(bool)


def test_pyside_does_not_lose_references_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 drops one for each call on Python 3.11, and the process dies after a few thousand."""
    widget = QWidget()
    qtbot.addWidget(widget)
    before = sys.getrefcount(None)
    for _ in range(NUM_CALLS):
        widget.update()
    assert sys.getrefcount(None) - before > -100


def test_pyside_does_not_lose_references_to_true(qtbot: QtBot) -> None:
    ticker = Ticker()
    before = sys.getrefcount(True)
    for _ in range(NUM_CALLS):
        ticker.ticked.emit(True)
    assert sys.getrefcount(True) - before > -100
