from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.ui.base.actions import add_menu, make_action
from app.ui.settings.shortcut_table import ShortcutTable
from app.ui.settings.shortcuts import Shortcuts, shown


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[ShortcutTable]:
    window = QMainWindow()
    qtbot.addWidget(window)
    rows = (
        ("chat.new", "&New chat", "Ctrl+T"),
        ("chat.fork", "&Fork chat", "Ctrl+K"),
        ("chat.pin", "&Pin", ""),
    )
    actions = [
        make_action(window, name, text, "What it does", lambda: None, *filter(None, [key]))
        for name, text, key in rows
    ]
    add_menu(window.menuBar(), "&Chat", *actions)
    shortcuts = Shortcuts(window.menuBar(), Preferences(Settings(), window), window)
    shortcuts.apply()
    table = ShortcutTable(shortcuts, window)
    window.setCentralWidget(table)
    window.show()
    yield table


def cells(table: ShortcutTable) -> list[tuple[str, ...]]:
    model = table.table.model()
    return [
        tuple(model.index(row, column).data() for column in range(model.columnCount()))
        for row in range(model.rowCount())
    ]


def type_key(table: ShortcutTable, qtbot: QtBot, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    table.keys.setFocus()
    qtbot.keyClick(table.keys, key, modifiers)


CTRL = Qt.KeyboardModifier.ControlModifier


def test_every_command_stands_there_with_its_key_and_its_default(table) -> None:
    assert cells(table) == [
        ("Chat › New chat", "Ctrl+T", "Ctrl+T"),
        ("Chat › Fork chat", "Ctrl+K", "Ctrl+K"),
        ("Chat › Pin", "", ""),
    ]


def test_a_key_is_pressed_and_set(table, qtbot: QtBot) -> None:
    table.choose("chat.pin")
    assert not table.set_button.isEnabled()
    type_key(table, qtbot, Qt.Key.Key_P, CTRL)
    table.set_button.click()
    assert cells(table)[2] == ("Chat › Pin", "Ctrl+P", "")
    assert table.chosen
    assert table.chosen.name == "chat.pin"
    assert table.keys.keySequence().isEmpty()


def test_a_conflict_names_the_other_command_and_offers_to_take_the_key_over(table, qtbot: QtBot) -> None:
    table.choose("chat.pin")
    buttons = (table.set_button, table.add_button, table.none_button, table.reset_button)
    before = [button.geometry() for button in buttons]
    type_key(table, qtbot, Qt.Key.Key_K, CTRL)
    QApplication.processEvents()
    assert [button.geometry() for button in buttons] == before  # none goes away under the pointer
    assert table.message.text() == "Ctrl+K is used by “Chat › Fork chat”, which would lose it."
    assert table.set_button.text() == "Reassign"
    assert not table.add_button.isEnabled()
    table.set_button.click()
    assert [row[1] for row in cells(table)] == ["Ctrl+T", "", "Ctrl+K"]
    assert table.message.text() == ""


def test_a_key_for_writing_is_refused_with_the_reason(table, qtbot: QtBot) -> None:
    table.choose("chat.pin")
    type_key(table, qtbot, Qt.Key.Key_P, Qt.KeyboardModifier.NoModifier)
    assert table.message.text() == "P is needed for typing. Combine it with Ctrl or Alt."
    assert not table.set_button.isEnabled()
    assert not table.add_button.isEnabled()


def test_a_command_can_have_another_key_none_and_its_own_again(table, qtbot: QtBot) -> None:
    table.choose("chat.new")
    type_key(table, qtbot, Qt.Key.Key_M, CTRL)
    table.add_button.click()
    assert cells(table)[0][1] == "Ctrl+T, Ctrl+M"
    table.none_button.click()
    assert cells(table)[0][1] == ""
    table.reset_button.click()
    assert cells(table)[0][1] == "Ctrl+T"
    assert not table.reset_button.isEnabled()


def test_all_defaults_come_back_with_one_button(table) -> None:
    assert not table.reset_all_button.isEnabled()
    for name in ("chat.new", "chat.fork"):
        table.choose(name)
        table.none_button.click()
    table.reset_all_button.click()
    assert [row[1] for row in cells(table)] == ["Ctrl+T", "Ctrl+K", ""]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fork", ["Chat › Fork chat"]),
        ("ctrl+t", ["Chat › New chat"]),
        ("chat.pin", ["Chat › Pin"]),
        ("x", []),
    ],
)
def test_commands_are_found_by_name_and_by_key(table, text: str, found: list[str]) -> None:
    assert table.filter(text) == len(found)
    assert [row[0] for row in cells(table)] == found


def test_with_nothing_found_nothing_can_be_done(table) -> None:
    table.filter("nothing is called so")
    assert table.chosen is None
    for button in (table.set_button, table.add_button, table.none_button, table.reset_button):
        assert not button.isEnabled()


def test_a_key_chosen_elsewhere_is_shown(table) -> None:
    command = table.rows[2]
    table._shortcuts.choose("chat.pin", [QKeySequence("F7")])
    assert shown(command.action.shortcuts()) == "F7"
    assert cells(table)[2][1] == "F7"
