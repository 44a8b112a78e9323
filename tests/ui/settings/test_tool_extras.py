"""Prompts, resources and questions of MCP servers on the window."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.services.tools import PromptArgument, Resource, ServerPrompt
from app.tools.mcp_server import Status
from app.ui.main_window import MainWindow
from app.ui.settings.question_dialog import PageDialog, PromptDialog, QuestionDialog
from tests.ui.fakes import FakeWorkspace
from tests.ui.tool_fakes import FakeToolService, server

REVIEW = ServerPrompt("review", "Review", "Reviews a change.", (PromptArgument("branch", "Which", True),))
HELLO = ServerPrompt("hello", "", "Greets.", ())
NOTES = Resource("notes://today", "Today", "What is on.", "text/plain")


@pytest.fixture
def tools() -> FakeToolService:
    service = FakeToolService(server("git"))
    service.listed["git"] = (REVIEW, HELLO, NOTES)
    return service


@pytest.fixture
def services(tools: FakeToolService) -> dict[str, Any]:
    return {"tools": tools}


async def typed(window: MainWindow, qtbot: QtBot, text: str) -> list[str]:
    """What is suggested then."""
    composer = window.tabs.views[0].composer
    composer.setFocus()
    qtbot.keyClicks(composer.editor, text)
    await finish_all()
    shown = composer.completion.list
    if shown is None or shown.isHidden():
        return []
    return [shown.rows.item(row).text() for row in range(shown.rows.count())]


async def test_a_prompt_goes_into_the_message(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, qtbot: QtBot
) -> None:
    assert await typed(window, qtbot, "/hel") == ["/hello"]
    editor = window.tabs.views[0].composer.editor
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    await finish_all()
    assert editor.toPlainText() == "git says hello {}"


async def test_one_with_arguments_asks_for_them(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, qtbot: QtBot
) -> None:
    assert await typed(window, qtbot, "/") == ["/review", "/hello", "/compact"]
    editor = window.tabs.views[0].composer.editor
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    dialog = window.frame.findChild(PromptDialog)
    assert isinstance(dialog, PromptDialog)
    dialog.insert.click()
    assert dialog.isVisible(), "an argument is missing"
    dialog.form.fields["branch"].control.setText("main")  # type: ignore[attr-defined]
    dialog.insert.click()
    await finish_all()
    assert editor.toPlainText() == "git says review {'branch': 'main'}"


async def test_a_resource_is_attached(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
) -> None:
    assert await typed(window, qtbot, "see @to") == ["Today"]
    qtbot.keyClick(window.tabs.views[0].composer.editor, Qt.Key.Key_Tab)
    await finish_all()
    attached = workspace.sessions[0].draft_attachments
    assert [(each.name, each.text) for each in attached] == [("git: Today", "git says notes://today")]
    assert window.tabs.views[0].composer.attachments == attached
    assert window.tabs.views[0].composer.editor.toPlainText() == "see "


async def test_what_cannot_be_read_says_why(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, tools: FakeToolService, qtbot: QtBot
) -> None:
    await typed(window, qtbot, "/hel")
    tools.problem = "It has ended."
    composer = window.tabs.views[0].composer
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    await finish_all()
    assert composer.notice.text == "The prompt could not be read: It has ended."


async def test_only_servers_in_use_are_asked(
    qloop: asyncio.AbstractEventLoop, window: MainWindow, tools: FakeToolService, qtbot: QtBot
) -> None:
    tools.show(server("git", is_trusted=False))
    assert await typed(window, qtbot, "/") == ["/compact"]


def test_a_question_is_a_form_that_says_who_asks(window: MainWindow, tools: FakeToolService) -> None:
    answers: list[Any] = []
    schema = {"properties": {"width": {"type": "integer"}}, "required": ["width"]}
    tools.elicitation.emit("git", "Which size?", schema, answers.append)
    dialog = window.tool_extras.questions[0]
    assert isinstance(dialog, QuestionDialog)
    assert dialog.isVisible()
    assert not dialog.isModal()
    assert dialog.windowTitle() == "git asks"
    dialog.send.click()
    assert answers == []
    dialog.form.fields["width"].control.setText("7")  # type: ignore[attr-defined]
    dialog.send.click()
    assert answers == [{"width": 7}]
    assert not dialog.isVisible()
    assert window.tool_extras.questions == ()


def test_closing_it_declines_and_it_goes_when_nobody_waits(
    window: MainWindow, tools: FakeToolService
) -> None:
    answers: list[Any] = []
    answer = answers.append
    tools.elicitation.emit("git", "Which?", {}, answer)
    dialog = window.tool_extras.questions[0]
    dialog.close()
    assert not dialog.isVisible()
    assert answers == [None]
    tools.elicitation.emit("git", "Which?", {}, answer)
    dialog = window.tool_extras.questions[0]
    tools.elicitation_over.emit(answer)
    assert not dialog.isVisible()
    assert window.tool_extras.questions == ()
    assert answers == [None]


def test_a_page_to_visit_is_shown_with_its_address(window: MainWindow, tools: FakeToolService) -> None:
    answers: list[Any] = []
    tools.page_asked.emit("git", "Sign in", "file:///etc/passwd", answers.append)
    dialog = window.tool_extras.questions[0]
    assert isinstance(dialog, PageDialog)
    assert not dialog.visit.isEnabled(), "only web pages are opened"
    dialog.reject()
    assert answers == [None]


async def test_a_server_that_does_not_run_says_why_it_offers_nothing(
    qloop: asyncio.AbstractEventLoop,
    window: MainWindow,
    workspace: FakeWorkspace,
    tools: FakeToolService,
    qtbot: QtBot,
) -> None:
    tools.show(server("git", status=Status.STOPPED))
    editor = window.tabs.views[0].composer.editor
    assert await typed(window, qtbot, "@") == ["git"]
    completion = window.tabs.views[0].composer.completion
    assert completion.list
    assert completion.list.current.sentence == "It is not running: switch on one of its tools in this chat."
    qtbot.keyClicks(editor, "b")
    assert completion.list.isHidden(), "somebody's name, perhaps"
    qtbot.keyClick(editor, Qt.Key.Key_Backspace)
    tools.listed.clear()
    workspace.sessions[0].set_tools(("git/*",))
    completion.refresh()
    assert completion.list.current.sentence == "It is starting…"
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "@", "there is nothing to take"
