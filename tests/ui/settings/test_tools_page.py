from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.tools.mcp_server import Status
from app.tools.server_config import ServerConfig
from app.tools.tool import Approval
from app.ui.settings.server_dialog import InputsDialog, PasteDialog, ServerDialog
from app.ui.settings.server_row import ServerLog
from app.ui.settings.tools_page import ToolsPage
from tests.ui.tool_fakes import FETCH, READ, WRITE, FakeToolService, server


@pytest.fixture
def service() -> FakeToolService:
    return FakeToolService(server("files", READ, WRITE))


@pytest.fixture
def page(qtbot: QtBot, service: FakeToolService) -> Iterator[ToolsPage]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 700)
    page = ToolsPage(service, Preferences(Settings(), window), window)  # type: ignore[arg-type]
    page.resize(640, 700)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    yield page


def dialog(page: ToolsPage, kind: type[QDialog]) -> QDialog:
    return next(each for each in page.findChildren(kind) if each.isVisible())


def test_servers_say_how_they_are(page: ToolsPage, service: FakeToolService) -> None:
    assert page.servers["files"].state.text() == "ready · 2 tools"
    service.show(server("files", status=Status.FAILED, sentence="It ended with exit code 1."))
    row = page.servers["files"]
    assert (row.state.text(), row.sentence.text()) == ("failed", "It ended with exit code 1.")
    assert row.sentence.isVisible()
    service.show(replace(server("files"), is_enabled=False))
    assert row.state.text() == "off"
    service.show()
    assert page.servers == {}
    assert page._nothing.isVisible()


def test_each_tool_may_ask_run_always_or_never(page: ToolsPage, service: FakeToolService) -> None:
    row = page.servers["files"]
    assert row.rows == {}, "made when they are first shown"
    row.fold.click()
    write = row.rows["files/write"]
    assert write.warning.isHidden()
    write.choice.activated.emit(1)
    assert service.approvals == {"files/write": Approval.ALWAYS}
    assert not write.warning.isHidden(), "it may change something"
    row.rows["files/read"].choice.activated.emit(1)
    assert row.rows["files/read"].warning.isHidden()
    assert page.built_in[FETCH.key].choice.count() == 2, "it always asks, or never runs"


def test_a_command_that_the_user_typed_needs_no_second_permission(
    page: ToolsPage, service: FakeToolService
) -> None:
    page.add.click()
    adding = dialog(page, ServerDialog)
    assert isinstance(adding, ServerDialog)
    adding.command.setText("npx -y server")
    adding.name.setText("new")
    adding.add.click()
    assert service.done[-1][0] == "add"
    assert service.done[-1][2] is True
    for is_trusted in (True, False):
        service.show(replace(service.state("new"), is_trusted=is_trusted))
        page.servers["new"].change_requested.emit()
        changing = dialog(page, ServerDialog)
        assert isinstance(changing, ServerDialog)
        changing.environment.setPlainText("KEY=1")
        changing.add.click()
        assert service.done[-1][3] is is_trusted, "what was imported is still to be confirmed"


def test_a_command_with_hidden_characters_is_shown_whole_and_confirmed_before_it_first_runs(
    page: ToolsPage, service: FakeToolService
) -> None:
    page.add.click()
    adding = dialog(page, ServerDialog)
    assert isinstance(adding, ServerDialog)
    adding.command.setText("npx -y 'a server' --all \u202e")
    adding.name.setText("new")
    adding.add.click()
    assert service.done[-1][0] == "add"
    assert service.done[-1][2] is False
    row = page.servers["new"]
    assert row.state.text() == "not confirmed yet"
    assert row.question.command.text() == "npx -y 'a server' --all '⟦U+202E⟧'"
    assert row.question.start.hasFocus()
    row.question.start.click()
    assert service.state("new").is_trusted
    assert not row.question.isVisible()


def test_removing_can_be_undone(page: ToolsPage, service: FakeToolService) -> None:
    config = service.state("files").config
    page.servers["files"].removed.emit()
    assert service.servers == ()
    assert page.undo.text == "Removed “files”."
    page.undo.buttons[0].click()
    assert service.done[-1] == ("add", config, True)
    assert not page.undo.isVisible()


def test_one_is_switched_restarted_changed_and_its_log_read(
    page: ToolsPage, service: FakeToolService
) -> None:
    row = page.servers["files"]
    row.switch.click()
    assert not service.state("files").is_enabled
    assert not row.restart.isEnabled()
    row.switch.click()
    row.restart.trigger()
    assert service.done[-1] == ("restart", "files")
    row.change_requested.emit()
    changing = dialog(page, ServerDialog)
    assert isinstance(changing, ServerDialog)
    changing.command.setText("uvx other")
    changing.add.click()
    assert service.done[-1][:2] == ("change", "files")
    assert service.done[-1][2].command == "uvx"
    row.log_requested.emit()
    log = dialog(page, ServerLog)
    assert isinstance(log, ServerLog)
    assert log.text.toPlainText() == "started"
    service.show(replace(service.state("files"), log=("started", "bad \u202e")))
    assert log.text.toPlainText() == "started\nbad ⟦U+202E⟧"
    service.show()
    log.close()


def test_an_mcp_json_is_pasted(page: ToolsPage, service: FakeToolService) -> None:
    page.paste.click()
    pasting = dialog(page, PasteDialog)
    assert isinstance(pasting, PasteDialog)
    pasting.text.setPlainText("{")
    assert pasting.verdict.text().startswith("The list of MCP servers cannot be read")
    assert not pasting.add.isEnabled()
    pasting.text.setPlainText('{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}')
    assert pasting.verdict.text() == "1 server: time"
    pasting.add.click()
    assert list(page.servers) == ["files", "time"]


def test_values_that_a_file_leaves_out_are_asked_for(
    page: ToolsPage, service: FakeToolService, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        '{"inputs": [{"id": "key", "description": "API key", "password": true}],'
        '"servers": {"web": {"url": "https://example.org", "headers": {"X": "${input:key}"}}}}'
    )
    page.import_file(file)
    asking = dialog(page, InputsDialog)
    assert isinstance(asking, InputsDialog)
    assert not asking.add.isEnabled()
    asking.fields["key"].setText("secret")
    asking.add.click()
    added: ServerConfig = service.done[-1][1]
    assert added.headers == {"X": "secret"}


def test_a_file_that_is_none_says_why(page: ToolsPage, tmp_path: Path) -> None:
    page.import_file(tmp_path / "gone.json")
    assert page.problem.text() == "gone.json cannot be read: No such file or directory."
    (tmp_path / "no.json").write_text("[]")
    page.import_file(tmp_path / "no.json")
    assert page.problem.text().startswith("The list of MCP servers cannot be read")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(2 << 20)
    page.import_file(tmp_path / "large.json")
    assert page.problem.text() == "large.json is too large."


def test_folders_for_the_file_tools(page: ToolsPage, tmp_path: Path) -> None:
    page._set_folders([tmp_path])
    assert page._preferences.settings.tool_folders == [tmp_path]
    assert list(page.folders) == [tmp_path]
    page._set_folders([])
    QApplication.processEvents()
    assert page.folders == {}
