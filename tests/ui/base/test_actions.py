import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenuBar

from app.ui.base.actions import add_menu, commands_of, make_action, plain, radio_menu, submenu
from app.ui.base.setting import THEMES


@pytest.fixture
def bar(qtbot) -> QMenuBar:
    window = QMainWindow()
    qtbot.addWidget(window)

    def new(name: str, text: str, *keys: str, needs: str = "") -> QAction:
        return make_action(window, name, text, "What it does", lambda: None, *keys, needs=needs)

    bar = window.menuBar()
    fork = new("chat.fork", "&Fork chat", "Ctrl+K", "Ctrl+J")
    add_menu(bar, "&File", new("app.open", "&Open…"), None, fork)
    theme = radio_menu(window, "theme", "&Theme", THEMES, "dark", lambda _value: None)
    add_menu(
        bar, "&View", theme, submenu(window, "&More", fork, new("app.stop", "S&top", needs="Nothing runs."))
    )
    bar.window_ = window  # type: ignore[attr-defined]
    return bar


def test_every_entry_of_every_menu_is_a_command_once(bar) -> None:
    assert [(command.name, " › ".join(command.path)) for command in commands_of(bar)] == [
        ("app.open", "File"),
        ("chat.fork", "File"),
        ("theme.system", "View › Theme"),
        ("theme.light", "View › Theme"),
        ("theme.dark", "View › Theme"),
        ("app.stop", "View › More"),
    ]


def test_a_command_is_understood_without_its_menu(bar) -> None:
    assert [command.text for command in commands_of(bar)] == [
        "Open",
        "Fork chat",
        "Theme: System",
        "Theme: Light",
        "Theme: Dark",
        "More: Stop",
    ]
    assert commands_of(bar)[4].full_name == "View › Theme › Dark"


def test_its_first_key_is_shown(bar) -> None:
    assert commands_of(bar)[1].keys == "Ctrl+K"
    assert commands_of(bar)[0].keys == ""


def test_why_it_cannot_be_used_is_known_only_while_it_cannot(bar) -> None:
    stop = commands_of(bar)[-1]
    assert stop.why_disabled == ""
    stop.action.setEnabled(False)
    assert stop.why_disabled == "Nothing runs."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("&Open model…", "Open model"),
        ("Save && quit", "Save & quit"),
        ("打开模型(&O)…", "打开模型"),
        ("Zoom (&in)", "Zoom"),
        ("Tab 1", "Tab 1"),
    ],
)
def test_a_name_has_no_mnemonic_and_no_dots(text: str, words: str) -> None:
    assert plain(text) == words
