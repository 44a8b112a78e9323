from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow

MAX_STOPS = 60


def walk(first: QWidget, qtbot: QtBot) -> list[QWidget]:
    """All that Tab reaches from there, until it comes round."""
    first.setFocus()
    stops = [first]
    while len(stops) < MAX_STOPS:
        qtbot.keyClick(stops[-1], Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused
        if focused is first:
            return stops
        stops.append(focused)
    raise AssertionError(f"Tab does not come round: {stops}")


def test_tab_goes_through_the_composer_as_it_is_read_and_round_the_whole_window(
    window: MainWindow, qtbot: QtBot
) -> None:
    """The editor of the first composer was there before all else."""
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    composer = window.tabs.views[0].composer
    stops = walk(composer.editor, qtbot)
    assert stops[:6] == [
        composer.editor,
        composer.attach,
        composer.tools,
        composer.shelf,
        composer.settings,
        composer.more,
    ]
    assert window.tabs.strip.bar in stops
    assert len(stops) == len(set(stops)), "it goes in circles"
