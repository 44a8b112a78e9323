"""The panel of tools on the window, and what cards call the tools of their calls."""

import asyncio
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge.tasks import finish_all
from app.chats.chat import Turn, TurnState
from app.chats.tool_use import Decision, ToolRound, ToolState, ToolUse
from app.protocol.request import Role
from app.tools.mcp_server import Status
from app.tools.tool import Approval
from app.ui.main_window import MainWindow
from app.ui.settings.tools_panel import ToolsPanel
from app.ui.transcript.answer_view import AnswerView
from tests.ui.fakes import FakeSession, FakeWorkspace
from tests.ui.tool_fakes import READ, WRITE, FakeToolService, server


@pytest.fixture
def tools() -> FakeToolService:
    return FakeToolService(server("files", READ, WRITE), server("dead", status=Status.FAILED, sentence="No."))


@pytest.fixture
def services(tools: FakeToolService) -> dict[str, Any]:
    return {"tools": tools}


def opened(window: MainWindow) -> ToolsPanel:
    window.tab_commands.on_current(window.tab_commands.open_tools)
    return window.chat_tools.panel


def session(workspace: FakeWorkspace) -> FakeSession:
    return workspace.sessions[0]


async def test_tools_are_chosen_for_this_chat(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, workspace: FakeWorkspace, tools: FakeToolService
) -> None:
    panel = opened(window)
    assert [section.fold.text() for section in panel.sections] == ["Built in", "files", "dead"]
    await finish_all()
    assert QApplication.focusWidget() is panel.sections[0].switch
    assert ("prepare", "files/*", "dead/*") in tools.done, "so that their tools are known"
    assert panel.sections[2]._state.text() == "No."
    panel.sections[1].switch.click()
    panel.sections[0].rows[0].switch.click()
    assert session(workspace).chat.tools == ("files/*", "skein/time")
    button = window.tabs.views[0].composer.tools
    assert button.text().strip() == "3"
    assert "3 tools are on" in button.accessibleName()
    opened(window)
    assert not panel.isVisible()
    focused = QApplication.focusWidget()
    assert focused is not None
    assert window.tabs.views[0].composer.isAncestorOf(focused)


def test_a_server_that_has_not_told_its_tools_counts_too(
    window: MainWindow, workspace: FakeWorkspace, tools: FakeToolService
) -> None:
    session(workspace).set_tools(("files/*", "gone/*"))
    assert window.tabs.views[0].composer.tools.text().strip() == "3"
    tools.show()
    assert window.tabs.views[0].composer.tools.text().strip() == "2"


async def test_settings_lead_to_it_and_it_leads_to_its_page(
    qloop: asyncio.AbstractEventLoop, window: MainWindow
) -> None:
    window.tab_commands.on_current(window.tab_commands.open_settings)
    window.chat_options.panel.choose_tools.click()
    panel = window.chat_tools.panel
    assert panel.isVisible()
    assert not window.chat_options.panel.isVisible()
    panel.manage.click()
    assert window.settings_window.isVisible()
    assert window.settings_window.tools.isVisible()
    window.settings_window.hide()
    await finish_all()


def test_the_palette_switches_all_of_a_server(window: MainWindow, workspace: FakeWorkspace) -> None:
    entries = {entry.name: entry for entry in window.command_palette.entries()}
    entries["tools files"].run()
    assert session(workspace).chat.tools == ("files/*",)
    entries = {entry.name: entry for entry in window.command_palette.entries()}
    assert entries["tools files"].is_on
    entries["tools files"].run()
    assert session(workspace).chat.tools == ()


def test_a_call_that_asks_is_answered_in_its_card_and_by_key(
    window: MainWindow, workspace: FakeWorkspace
) -> None:
    asks = ToolUse("1", "write", '{"path": "a"}', ToolState.ASKING)
    current = session(workspace)
    current.set_tools(("files/*",))
    answer = Turn(Role.ASSISTANT, "", TurnState.STREAMING, rounds=[ToolRound(uses=[asks])])
    current.chat.add(Turn(Role.USER, "Write"), answer)
    current.request_id = "1"
    current.changed.emit()
    QApplication.processEvents()
    view = window.tabs.views[0].transcript.live_views[-1]
    assert isinstance(view, AnswerView)
    card = view.rounds.cards[0]
    assert card.header.words.startswith("Write a file files a")
    assert "waiting for your decision" in view.footer.text()
    card.buttons[Decision.ALWAYS].click()
    allow, refuse = window.menus.decide_tool
    allow.trigger()
    refuse.trigger()
    assert current.decided == [(asks, Decision.ALWAYS), (asks, Decision.ONCE), (asks, Decision.REFUSE)]
    asks.state = ToolState.DONE
    current.changed.emit()
    window.menus.show_chat_state()
    assert not allow.isEnabled()


async def test_a_tool_that_never_runs_is_not_counted_for_the_model_is_not_told_of_it(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, workspace: FakeWorkspace, tools: FakeToolService
) -> None:
    tools.approvals[READ.key] = Approval.NEVER
    session(workspace).set_tools(("files/*",))
    assert window.tabs.views[0].composer.tools.text().strip() == "1"
    panel = opened(window)
    await finish_all()
    assert panel.total.text().startswith("1 tool")
