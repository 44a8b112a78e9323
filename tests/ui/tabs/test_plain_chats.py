"""A chat that could not be drawn the last time is shown as it was written, until somebody wants otherwise."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, Turn
from app.look.strip import Strip
from app.protocol.request import Role
from app.ui.base.notices import NOTE, Notices
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.plain_chats import PlainChats
from tests.ui.fakes import FakeWorkspace


class Hangs:
    """What is known of them."""

    def __init__(self, *chat_ids: str) -> None:
        self.chat_ids = set(chat_ids)

    def has_hung(self, chat_id: str) -> bool:
        return chat_id in self.chat_ids

    def forgive(self, chat_id: str) -> None:
        self.chat_ids.remove(chat_id)


@pytest.fixture
def hangs() -> Hangs:
    return Hangs("bad")


@pytest.fixture
def tabs(qtbot: QtBot, hangs: Hangs) -> Iterator[ChatTabs]:
    """A good chat and a bad one, which is shown."""
    holder = QWidget()
    qtbot.addWidget(holder)
    workspace = FakeWorkspace()
    tabs = ChatTabs(workspace, Notices(holder), holder)  # type: ignore[arg-type]
    tabs.resize(1000, 600)
    PlainChats(tabs, hangs, tabs)  # type: ignore[arg-type]
    for name in ("good", "bad"):
        turns = [Turn(Role.USER, "Count"), Turn(Role.ASSISTANT, "**1**, 2")]
        workspace.open(Chat(id=name, turns=turns), 9)
    holder.resize(1000, 600)
    holder.show()
    yield tabs


def banners(tabs: ChatTabs) -> list[Strip]:
    assert tabs.current
    return [strip for strip in tabs.current.findChildren(Strip) if strip.look is NOTE]


def text(tabs: ChatTabs) -> str:
    assert tabs.current
    return tabs.current.transcript.plain_text()


def test_it_is_plain_text_and_says_why(tabs: ChatTabs, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: text(tabs) == "Count\n**1**, 2")
    (banner,) = banners(tabs)
    assert "hung last time it showed this chat" in banner.text
    assert banner.isVisible()


def test_it_is_drawn_again_when_somebody_wants_that(tabs: ChatTabs, hangs: Hangs, qtbot: QtBot) -> None:
    (banner,) = banners(tabs)
    banner.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: text(tabs) == "Count\n1, 2")
    assert hangs.chat_ids == set()
    qtbot.waitUntil(lambda: banners(tabs) == [])


def test_other_chats_are_as_ever(tabs: ChatTabs, qtbot: QtBot) -> None:
    tabs.show_index(0)
    qtbot.waitUntil(lambda: text(tabs) == "Count\n1, 2")
    assert banners(tabs) == []
