import logging
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMainWindow

from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.ui.base.actions import add_menu, make_action
from app.ui.settings.shortcuts import Shortcuts, shown, why_not

DEFAULTS = {"chat.new": ["Ctrl+T", "Ctrl+N"], "chat.fork": ["Ctrl+K"], "chat.copy": []}


@pytest.fixture
def window(qtbot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    actions = [make_action(window, name, name, "", lambda: None, *keys) for name, keys in DEFAULTS.items()]
    add_menu(window.menuBar(), "&Chat", *actions)
    return window


@pytest.fixture
def preferences(qapp, tmp_path: Path) -> Preferences:
    return Preferences(Settings.load(tmp_path / "settings.json"))


@pytest.fixture
def shortcuts(window, preferences) -> Shortcuts:
    shortcuts = Shortcuts(window.menuBar(), preferences, window)
    shortcuts.apply()
    return shortcuts


def key(text: str) -> QKeySequence:
    return QKeySequence(text)


def keys_of(shortcuts: Shortcuts) -> dict[str, list[str]]:
    return {
        command.name: [each.toString() for each in command.action.shortcuts()]
        for command in shortcuts.commands()
    }


def test_without_a_choice_every_command_has_its_own_keys(shortcuts) -> None:
    assert keys_of(shortcuts) == DEFAULTS
    assert all(shortcuts.is_default(command) for command in shortcuts.commands())


def test_a_chosen_key_counts_at_once_and_only_the_difference_is_kept(
    shortcuts, preferences, tmp_path
) -> None:
    shortcuts.choose("chat.copy", [key("Ctrl+Shift+C")])
    assert keys_of(shortcuts) == DEFAULTS | {"chat.copy": ["Ctrl+Shift+C"]}
    preferences.flush()
    assert Settings.load(tmp_path / "settings.json").shortcuts == {"chat.copy": ["Ctrl+Shift+C"]}


def test_it_is_there_again_at_the_next_start(window, preferences) -> None:
    preferences.settings.shortcuts = {"chat.fork": ["Ctrl+J"], "chat.new": []}
    shortcuts = Shortcuts(window.menuBar(), preferences, window)
    shortcuts.apply()
    assert keys_of(shortcuts) == DEFAULTS | {"chat.fork": ["Ctrl+J"], "chat.new": []}
    assert shown(shortcuts.default("chat.fork")) == "Ctrl+K"


def test_who_has_a_key_is_told_before_it_is_taken(shortcuts) -> None:
    holder = shortcuts.holder_of(key("Ctrl+N"), other_than="chat.fork")
    assert holder
    assert holder.name == "chat.new"
    assert shortcuts.holder_of(key("Ctrl+N"), other_than="chat.new") is None
    assert shortcuts.holder_of(key("F7"), other_than="chat.fork") is None


def test_a_key_that_is_taken_over_leaves_its_former_command_the_others(shortcuts) -> None:
    shortcuts.choose("chat.fork", [key("Ctrl+N")])
    assert keys_of(shortcuts) == {"chat.new": ["Ctrl+T"], "chat.fork": ["Ctrl+N"], "chat.copy": []}
    shortcuts.choose("chat.copy", [key("Ctrl+T"), key("Ctrl+N")])
    assert keys_of(shortcuts) == {"chat.new": [], "chat.fork": [], "chat.copy": ["Ctrl+T", "Ctrl+N"]}


def test_one_command_goes_back_to_its_own_keys_and_gets_them_from_whoever_took_them(shortcuts) -> None:
    shortcuts.choose("chat.copy", [key("Ctrl+K")])
    shortcuts.reset("chat.fork")
    assert keys_of(shortcuts) == DEFAULTS


def test_all_go_back_at_once(shortcuts, preferences) -> None:
    shortcuts.choose("chat.copy", [key("Ctrl+K")])
    shortcuts.choose("chat.new", [])
    shortcuts.reset_all()
    assert keys_of(shortcuts) == DEFAULTS
    assert preferences.settings.shortcuts == {}


def test_what_cannot_be_used_is_ignored_with_a_line_in_the_log_and_not_lost(
    window, preferences, caplog: pytest.LogCaptureFixture
) -> None:
    stored = {"chat.fork": ["Ctrl+Gibberish"], "chat.new": ["A"], "from.the-future": ["F7"]}
    preferences.settings.shortcuts = stored
    shortcuts = Shortcuts(window.menuBar(), preferences, window)
    with caplog.at_level(logging.WARNING):
        shortcuts.apply()
        shortcuts.apply()
    assert keys_of(shortcuts) == DEFAULTS
    assert sorted(record.args[0] for record in caplog.records) == sorted(stored)  # type: ignore[index]
    assert preferences.settings.shortcuts == stored


def test_a_key_that_two_commands_have_in_the_file_goes_to_the_one_it_was_chosen_for(
    window, preferences, caplog: pytest.LogCaptureFixture
) -> None:
    preferences.settings.shortcuts = {"chat.copy": ["Ctrl+K"]}
    shortcuts = Shortcuts(window.menuBar(), preferences, window)
    shortcuts.apply()
    assert keys_of(shortcuts) == DEFAULTS | {"chat.fork": [], "chat.copy": ["Ctrl+K"]}
    assert "chat.fork" in caplog.text


def test_menus_that_grow_later_get_their_chosen_keys_too(shortcuts, window, preferences) -> None:
    preferences.set("shortcuts", {"api.copy": ["F7"]})
    late = make_action(window, "api.copy", "Copy", "", lambda: None, "F9")
    add_menu(window.menuBar(), "&Tools", late)
    shortcuts.apply()
    assert late.shortcut() == key("F7")
    shortcuts.reset_all()
    assert late.shortcut() == key("F9")


@pytest.mark.parametrize(
    "text", ["A", "Shift+A", "Return", "Shift+Return", "Ctrl+Return", "Space", "Left", "Tab", "Ä"]
)
def test_a_key_that_is_needed_for_writing_cannot_be_taken(text: str) -> None:
    assert why_not(key(text))


@pytest.mark.parametrize(
    "text", ["Ctrl+A", "Alt+1", "F5", "Esc", "Ctrl+Shift+P", "Alt+Return", "Ctrl+Tab", "Meta+X"]
)
def test_other_keys_can(text: str) -> None:
    assert why_not(key(text)) == ""
