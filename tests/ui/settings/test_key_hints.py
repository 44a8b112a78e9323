import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from app.ui.main_window import MainWindow
from app.ui.settings.shortcuts import with_keys
from tests.ui.fakes import FakeWorkspace


def tip_of(part: QWidget, command: str) -> str:
    (widget,) = (child for child in part.findChildren(QWidget) if child.property("command") == command)
    return widget.toolTip()


def test_a_button_tells_the_key_that_was_chosen_for_its_command(window: MainWindow) -> None:
    assert tip_of(window.tabs.strip, "chat.new") == "New chat (Ctrl+T)"
    window.shortcuts.choose("chat.new", [QKeySequence("Ctrl+M")])
    assert tip_of(window.tabs.strip, "chat.new") == "New chat (Ctrl+M)"
    window.shortcuts.choose("chat.new", [])
    assert tip_of(window.tabs.strip, "chat.new") == "New chat"
    window.shortcuts.reset("chat.new")
    assert tip_of(window.tabs.strip, "chat.new") == "New chat (Ctrl+T)"


def test_so_does_one_in_a_chat_that_is_opened_later(window: MainWindow, workspace: FakeWorkspace) -> None:
    window.shortcuts.choose("chat.stop", [QKeySequence("F7")])
    workspace.new_chat()
    assert window.tabs.current
    assert tip_of(window.tabs.current, "chat.stop") == "Stop this answer (F7)"


def test_actions_that_are_buttons_themselves_follow_too(window: MainWindow) -> None:
    window.shortcuts.choose("engine.pause", [QKeySequence("F7")])
    assert window.pausing.actions.pause.toolTip().endswith("(F7)")


def test_every_such_widget_names_a_command_and_tells_its_default(whole_window: MainWindow) -> None:
    keys = {command.name: command.keys for command in whole_window.shortcuts.commands()}
    widgets = [child for child in whole_window.frame.findChildren(QWidget) if child.property("command")]
    assert len(widgets) > 3
    for widget in widgets:
        assert widget.toolTip().endswith(f"({keys[widget.property('command')]})")


@pytest.mark.parametrize(
    ("tip", "keys", "told"),
    [
        ("New chat (Ctrl+T)", "F7", "New chat (F7)"),
        ("新建对话（Ctrl+T）", "F7", "新建对话 (F7)"),
        ("Stop (all) answers", "F7", "Stop (all) answers (F7)"),
        ("Next (F3)", "", "Next"),
    ],
)
def test_the_key_stands_in_brackets_at_the_end(tip: str, keys: str, told: str) -> None:
    assert with_keys(tip, keys) == told
