"""Tabs of three chats in a window of their own."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat
from app.ui.base.notices import Notices, UndoToast
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.tab_commands import TabCommands
from tests.ui.fakes import FakeWorkspace


@pytest.fixture
def workspace(qapp: object) -> FakeWorkspace:
    return FakeWorkspace()


@pytest.fixture
def tabs(qtbot: QtBot, workspace: FakeWorkspace) -> Iterator[ChatTabs]:
    """Three chats called A, B and C; A is shown."""
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(1000, 600)
    tabs = ChatTabs(workspace, Notices(holder), holder)  # type: ignore[arg-type]
    tabs.resize(1000, 600)
    for title in "ABC":
        workspace.add(Chat(title=title), 9)
    workspace.set_current(workspace.sessions[0])
    holder.show()
    qtbot.waitExposed(holder)
    yield tabs
    holder.hide()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def undo(tabs: ChatTabs) -> UndoToast:
    return UndoToast(tabs)


@pytest.fixture
def commands(tabs: ChatTabs, workspace: FakeWorkspace, undo: UndoToast, said: list[str]) -> TabCommands:
    return TabCommands(tabs, workspace, undo, said.append, tabs)  # type: ignore[arg-type]


def texts(tabs: ChatTabs) -> list[str]:
    return [tabs.strip.bar.tabText(index) for index in range(tabs.strip.bar.count())]


def sessions(workspace: FakeWorkspace) -> str:
    return "".join(session.chat.title for session in workspace.sessions)


def shown(tabs: ChatTabs) -> str:
    return "".join(view.session.chat.title for view in tabs.shown_views)
