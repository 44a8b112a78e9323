from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.bridge.drafts import Drafts
from app.tools.server_config import ServerConfig
from app.ui.settings.server_dialog import ADDRESS, PasteDialog, ServerDialog


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    yield window


@pytest.fixture
def given() -> list[ServerConfig]:
    return []


@pytest.fixture
def dialog(window: QWidget, given: list[ServerConfig]) -> ServerDialog:
    dialog = ServerDialog(window, taken=("git",))
    dialog.given.connect(given.append)
    dialog.show()
    return dialog


def test_a_command_line_as_it_is_typed(dialog: ServerDialog, given: list[ServerConfig]) -> None:
    dialog.name.setText("Files")
    dialog.command.setText("npx -y server-filesystem '/home/me/My files'")
    dialog.environment.setPlainText("TOKEN=a=b\n\nEMPTY=")
    dialog.add.click()
    assert given[0] == ServerConfig(
        "Files",
        "npx",
        ("-y", "server-filesystem", "/home/me/My files"),
        {"TOKEN": "a=b", "EMPTY": ""},
    )
    assert not dialog.isVisible()


def test_an_address_with_headers(dialog: ServerDialog, given: list[ServerConfig]) -> None:
    dialog.kind.chosen.emit(ADDRESS)
    dialog.kind.choose(ADDRESS)
    dialog.url.setText("https://example.org/mcp")
    dialog.headers.setPlainText("Authorization: Bearer abc")
    dialog.add.click()
    assert given[0].url == "https://example.org/mcp"
    assert given[0].headers == {"Authorization": "Bearer abc"}
    assert given[0].name == "example.org", "a server without a name gets one"
    assert not given[0].command


@pytest.mark.parametrize(
    ("name", "command", "environment", "sentence"),
    [
        ("a", "", "", "Enter the command that starts the server."),
        ("a", "npx 'x", "", "A quotation mark in the command line is not closed."),
        ("git", "npx x", "", "There already is a server “git”."),
        ("---", "npx x", "", "Give the server a name."),
        ("a", "npx x", "TOKEN", "“TOKEN” is not of the form NAME=…."),
    ],
)
def test_what_cannot_be_used_says_why(
    dialog: ServerDialog, given: list[ServerConfig], name: str, command: str, environment: str, sentence: str
) -> None:
    dialog.name.setText(name)
    dialog.command.setText(command)
    dialog.environment.setPlainText(environment)
    dialog.add.click()
    assert dialog.problem.text() == sentence
    assert given == []
    assert dialog.isVisible()


def test_an_address_must_be_one_of_the_web(dialog: ServerDialog, given: list[ServerConfig]) -> None:
    dialog.kind.choose(ADDRESS)
    dialog.url.setText("ftp://example.org")
    dialog.add.click()
    assert dialog.problem.text() == "The address must begin with http:// or https://."


def test_one_that_is_known_is_changed(window: QWidget, given: list[ServerConfig]) -> None:
    known = ServerConfig("git", "uvx", ("mcp-server-git", "a b"), {"A": "1"}, folder="/tmp", timeout_s=5.0)
    dialog = ServerDialog(window, known)
    dialog.given.connect(given.append)
    dialog.show()
    assert dialog.command.text() == "uvx mcp-server-git 'a b'"
    dialog.add.click()
    assert given == [known]


def test_what_was_typed_is_there_when_the_dialog_is_opened_again_until_it_is_used(window: QWidget) -> None:
    drafts = Drafts()
    ServerDialog(window, None, (), drafts).environment.setPlainText("TOKEN=a")
    PasteDialog(lambda _text: (), window, drafts).text.setPlainText('{"mcpServers": {')
    again = ServerDialog(window, None, (), drafts)
    assert again.environment.toPlainText() == "TOKEN=a"
    assert ServerDialog(window, ServerConfig("git", "uvx"), (), drafts).environment.toPlainText() == ""
    again.command.setText("npx server")
    again.add.click()
    assert ServerDialog(window, None, (), drafts).environment.toPlainText() == ""
    paste = PasteDialog(lambda _text: (ServerConfig("git", "uvx"),), window, drafts)
    assert paste.text.toPlainText() == '{"mcpServers": {'
    paste.add.click()
    assert PasteDialog(lambda _text: (), window, drafts).text.toPlainText() == ""
