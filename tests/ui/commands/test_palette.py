from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from app.ui.commands.palette import CommandPalette, PaletteEntry, runs, spoken


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QMainWindow]:
    """With a field that has the focus, and an action on Escape as the real one has."""
    window = QMainWindow()
    qtbot.addWidget(window)
    window.field = QLineEdit(window)  # type: ignore[attr-defined]
    window.setCentralWidget(window.field)  # type: ignore[attr-defined]
    window.resize(900, 600)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.field.setFocus()  # type: ignore[attr-defined]
    yield window


@pytest.fixture
def palette(window, ran: list[str]) -> CommandPalette:
    def entry(text: str, is_enabled: bool = True) -> PaletteEntry:
        return PaletteEntry(
            text, text, lambda: ran.append(text), is_enabled=is_enabled, why_disabled="Not now."
        )

    palette = CommandPalette(window)
    palette.add_source(lambda: [entry("New chat"), entry("Close chat"), entry("Stop answer", False)])
    palette.add_source(lambda: [entry("Sums")])
    return palette


def texts(palette: CommandPalette) -> list[str]:
    return [hit.entry.text for hit in palette.model.hits]


def press(qtbot: QtBot, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(QApplication.focusWidget(), key)


def test_it_opens_with_all_there_is_and_has_the_keyboard(palette) -> None:
    palette.open_up()
    assert texts(palette) == ["New chat", "Close chat", "Stop answer", "Sums"]
    assert palette.field.hasFocus()
    assert QApplication.activeModalWidget() is None


def test_typing_and_enter_run_the_best_one_after_the_focus_is_back(
    palette, window, ran, qtbot: QtBot
) -> None:
    focused: list[object] = []
    palette.add_source(
        lambda: [PaletteEntry("who", "Who has it", lambda: focused.append(QApplication.focusWidget()))]
    )
    palette.open_up()
    qtbot.keyClicks(palette.field, "who")
    press(qtbot, Qt.Key.Key_Return)
    assert focused == [window.field]
    assert not palette.isVisible()


def test_arrows_walk_through_what_was_found_and_round_the_end(palette, ran, qtbot: QtBot) -> None:
    palette.open_up()
    press(qtbot, Qt.Key.Key_Up, Qt.Key.Key_Return)
    palette.open_up()
    press(qtbot, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert ran == ["Sums", "Close chat"]


def test_what_was_used_last_is_on_top_the_next_time(palette, qtbot: QtBot) -> None:
    for text in ("Sums", "Close"):
        palette.open_up()
        qtbot.keyClicks(palette.field, text)
        press(qtbot, Qt.Key.Key_Return)
    palette.open_up()
    assert texts(palette)[:2] == ["Close chat", "Sums"]


def test_escape_closes_it_gives_the_focus_back_and_is_not_the_windows(palette, window, qtbot: QtBot) -> None:
    stops: list[bool] = []
    stop = QAction("Stop", window)
    stop.setShortcut("Esc")
    stop.triggered.connect(stops.append)
    window.addAction(stop)
    palette.open_up()
    press(qtbot, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert window.field.hasFocus()
    assert stops == []


def test_a_command_that_cannot_be_used_does_nothing_and_says_why(palette, ran, qtbot: QtBot) -> None:
    palette.open_up()
    qtbot.keyClicks(palette.field, "stop")
    press(qtbot, Qt.Key.Key_Return)
    assert ran == []
    assert palette.isVisible()
    assert palette.field.accessibleDescription() == "Stop answer, Not now."


def test_a_name_nobody_has_is_told(palette, qtbot: QtBot) -> None:
    palette.open_up()
    qtbot.keyClicks(palette.field, "qqq")
    assert texts(palette) == []
    assert palette.list.isHidden()
    press(qtbot, Qt.Key.Key_Return, Qt.Key.Key_Down)
    assert palette.isVisible()


def test_asked_for_again_it_closes(palette, window) -> None:
    palette.open_up()
    palette.open_up()
    assert not palette.isVisible()
    assert window.field.hasFocus()


def test_whoever_clicks_beside_it_has_gone_on(palette, window) -> None:
    palette.open_up()
    window.field.setFocus()
    assert not palette.isVisible()
    assert window.field.hasFocus()


def test_it_stays_inside_a_small_window(palette, window) -> None:
    window.resize(420, 300)
    palette.open_up()
    assert window.rect().contains(palette.geometry())
    window.resize(380, 240)
    assert window.rect().contains(palette.geometry())


def test_what_was_typed_is_told_apart() -> None:
    assert runs("New chat", frozenset({0, 4, 5})) == [
        ("N", True),
        ("ew ", False),
        ("ch", True),
        ("at", False),
    ]


def test_a_screen_reader_hears_place_keys_and_state() -> None:
    entry = PaletteEntry("new", "New chat", lambda: None, detail="File", keys="Ctrl+T")
    assert spoken(entry) == "New chat, File, Ctrl+T"
