"""Walks everything the whole program has in its menus, and the palette beside it."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.ui.base.actions import MenuCommand, commands_of
from app.ui.commands.palette_sources import COMMAND
from app.ui.main_window import MainWindow

NAME = re.compile(r"[a-z][a-z-]*(\.[a-zA-Z0-9_-]+)+")
# What Qt takes for such a command by its text, if it has no menu role.
MACOS_WORDS = re.compile(r"about|config|options|preferences|settings|setup|quit|exit", re.IGNORECASE)


@pytest.fixture(scope="module")
def commands(whole_window: MainWindow) -> list[MenuCommand]:
    return commands_of(whole_window.frame.menuBar())


def menus_of(place: QWidget) -> Iterator[QMenu]:
    for action in place.actions():
        if isinstance(menu := action.menu(), QMenu):
            yield menu
            yield from menus_of(menu)


def test_the_menus_are_the_usual_ones_in_the_usual_order(whole_window) -> None:
    titles = [action.text().replace("&", "") for action in whole_window.frame.menuBar().actions()]
    assert titles == ["File", "Edit", "View", "Chat", "Model", "Tools", "Help"]


def test_every_command_has_a_lasting_name_of_its_own(commands) -> None:
    assert [command.text for command in commands if not NAME.fullmatch(command.name)] == []
    assert [name for name, times in Counter(command.name for command in commands).items() if times > 1] == []


def test_every_command_says_what_it_does(commands) -> None:
    assert [command.name for command in commands if not command.text or not command.tip] == []


def test_every_command_that_cannot_be_used_says_why(commands) -> None:
    disabled = [command for command in commands if not command.action.isEnabled()]
    assert disabled
    assert [command.name for command in disabled if not command.why_disabled] == []


def test_no_two_commands_share_a_key(commands) -> None:
    keys = Counter(key.toString() for command in commands for key in command.action.shortcuts())
    assert [key for key, times in keys.items() if times > 1] == []


def test_no_menu_has_the_same_mnemonic_twice(whole_window) -> None:
    for menu in [whole_window.frame.menuBar(), *menus_of(whole_window.frame.menuBar())]:
        letters = Counter(
            found.group(1).lower()
            for action in menu.actions()
            if (found := re.search(r"(?<!&)&([^&])", action.text()))
        )
        twice = [letter for letter, times in letters.items() if times > 1]
        assert twice == [], menu.title() if isinstance(menu, QMenu) else "the menu bar"


def test_the_palette_has_what_the_menus_have_and_nothing_else(whole_window, commands) -> None:
    offered = [
        entry for entry in whole_window.command_palette.entries() if entry.name.startswith(f"{COMMAND} ")
    ]
    assert [entry.name for entry in offered] == [f"{COMMAND} {command.name}" for command in commands]
    assert [entry.is_enabled for entry in offered] == [command.action.isEnabled() for command in commands]


def test_every_action_of_the_window_with_a_name_stands_in_a_menu(whole_window, commands) -> None:
    in_menus = {command.action for command in commands}
    named = {
        action for action in whole_window.frame.findChildren(QAction) if NAME.fullmatch(action.objectName())
    }
    assert sorted(action.objectName() for action in named - in_menus) == []


def test_a_key_works_only_for_a_command_of_the_menus(whole_window, commands) -> None:
    in_menus = {command.action for command in commands}
    with_keys = [action for action in whole_window.frame.findChildren(QAction) if action.shortcuts()]
    loose = [action for action in with_keys if action not in in_menus and not _is_of_a_text(action)]
    assert [action.text() for action in loose] == []


def _is_of_a_text(action: QAction) -> bool:
    """Qt's own menu of a text field shows keys that the field itself listens to."""
    return action.objectName().startswith(("edit-", "select-all", "link-copy"))


def test_macos_finds_what_belongs_into_its_own_menu(commands) -> None:
    role = QAction.MenuRole
    roles = {command.name: command.action.menuRole() for command in commands}
    special = {
        name: kind for name, kind in roles.items() if kind not in (role.NoRole, role.TextHeuristicRole)
    }
    assert special == {
        "app.quit": role.QuitRole,
        "app.settings": role.PreferencesRole,
        "app.about": role.AboutRole,
    }
    guessed = [command for command in commands if command.action.menuRole() is role.TextHeuristicRole]
    assert [command.name for command in guessed if MACOS_WORDS.match(command.text)] == []
