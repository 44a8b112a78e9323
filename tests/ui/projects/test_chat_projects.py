"""Projects in the whole window, over a scripted workspace."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, Turn
from app.chats.project import Fact, Project
from app.chats.summary import ASKED, Summary
from app.protocol.request import Role
from app.ui.main_window import MainWindow
from app.ui.projects.chat_projects import told_text
from tests.ui.fakes import FakeProjects, FakeSession

BOAT = Project("Boat", "boat", facts=(Fact("Ann steers."),))


@pytest.fixture
def projects() -> FakeProjects:
    return FakeProjects(BOAT)


@pytest.fixture
def services(projects: FakeProjects) -> dict[str, object]:
    return {"projects": projects}


@pytest.fixture
def session(window: MainWindow, workspace: Any) -> FakeSession:
    """The current chat, in the project."""
    session = workspace.new_chat("Boat")
    session.shelf.project = BOAT
    session.changed.emit()
    return session


def propose(projects: FakeProjects, session: FakeSession, *texts: str) -> None:
    session.shelf.project = projects.of("Boat").with_proposed(map(Fact, texts))  # type: ignore[union-attr]
    projects.set(session.shelf.project)


def test_proposed_facts_are_told_in_a_line_for_which_there_is_room(
    window, projects, session, qtbot: QtBot
) -> None:
    view = window.tabs.current
    line, page = view.facts_line, view.transcript
    assert line.isHidden()
    qtbot.waitUntil(lambda: page.height() > 0)
    before = page.geometry()
    propose(projects, session, "Bob cooks.", "Eve swims.")
    assert line.text == "2 facts proposed"
    view.layout().activate()
    assert page.geometry() == before, "the text that is read stays where it is"
    line.cross.click()
    assert line.isHidden()
    propose(projects, session, "Eve swims.", "Bob is 40.")
    assert line.text == "3 facts proposed", "there is another"
    line.buttons[0].click()
    assert window.projects.window.isVisible()
    assert window.projects.window.windowTitle() == "Project: Boat"
    window.projects.window.close()


def test_a_chat_of_no_project_has_no_such_line(window, workspace) -> None:
    workspace.new_chat()
    line = window.tabs.current.facts_line
    assert line.isHidden()
    assert not line.sizePolicy().retainSizeWhenHidden()


def test_a_folder_becomes_a_project_when_its_page_is_asked_for_and_can_be_a_folder_again(
    window, projects
) -> None:
    window.navigation.sidebar.project_requested.emit("Work")
    assert projects.of("Work") is not None
    page = window.projects.window
    page._remove()
    assert projects.of("Work") is None
    assert window.undo.text == "“Work” is a plain folder now. Its chats are kept."
    window.undo.undo()
    assert projects.of("Work") is not None


def test_what_a_chat_was_told_is_what_stands_before_its_first_message() -> None:
    question, answer = Turn(Role.USER, "What is 34 + 21?"), Turn(Role.ASSISTANT, "55")
    session: Any = FakeSession(Chat(turns=[question, answer]))
    assert told_text(session) == ""
    session.chat.system_prompt = "Be brief."
    assert told_text(session) == "Be brief."
    session.shelf.text = "- Ann steers."
    assert told_text(session) == "- Ann steers.\n\nBe brief."
    answer.summary = Summary("It is 55.")
    assert told_text(session) == f"- Ann steers.\n\nBe brief.\n\n{ASKED}\n\nIt is 55."


def test_the_window_with_that_text_follows_the_chat_and_its_project(
    window, projects, session, workspace, qtbot: QtBot
) -> None:
    window.projects.told.trigger()
    told = window.projects.told_window
    assert told.text.toPlainText() == ""
    assert not told.copy.isEnabled()
    session.shelf.text = "- Ann steers."
    projects.changed.emit()
    assert told.text.toPlainText() == "- Ann steers."
    qtbot.mouseClick(told.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "- Ann steers."
    workspace.new_chat()
    assert told.text.toPlainText() == ""
    told.close()


def test_a_folder_that_is_a_project_has_a_mark(window, projects, monkeypatch) -> None:
    library = window._services.chat_library
    library.folders = ("Boat", "Work")
    window.navigation._show_chats()
    rows = {row.text: row.is_project for row in window.navigation.sidebar.model.rows if row.folder}
    assert rows == {"Boat": True, "Work": False}
    projects.remove("Boat")
    assert not any(row.is_project for row in window.navigation.sidebar.model.rows)


def test_a_failure_is_told_in_the_window(window, projects) -> None:
    projects.failed.emit("The disk is full.")
    assert [banner.text for banner in window.notices.banners()] == ["The disk is full."]
