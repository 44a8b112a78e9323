import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.ui.tabs.chat_view import ChatView
from app.ui.transcript.message_picker import PickCover
from tests.ui.fakes import FakeSession
from tests.ui.windows import opened


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    for n in range(3):
        chat.add(Turn(Role.USER, f"Question {n}?"), Turn(Role.ASSISTANT, f"**Answer** {n}.", model="starter"))
    return chat


@pytest.fixture
def view(qtbot: QtBot, chat: Chat) -> ChatView:
    view = opened(FakeSession(chat))
    qtbot.addWidget(view)
    view.resize(700, 800)
    view.show()
    qtbot.waitUntil(lambda: len(view.transcript.live_views) == 6)
    return view


def cover(view: ChatView, row: int) -> PickCover:
    covers = {cover.y(): cover for cover in view.picker._covers.values()}
    return [covers[y] for y in sorted(covers)][row]


def click(view: ChatView, qtbot: QtBot, row: int, *modifiers: Qt.KeyboardModifier) -> None:
    qtbot.mouseClick(cover(view, row), Qt.MouseButton.LeftButton, *modifiers)


def test_a_click_picks_a_message_and_another_drops_it(view: ChatView, chat: Chat, qtbot: QtBot) -> None:
    view.picker.start(chat.turns[1])
    assert view.picker.bar.count.text() == "1 message selected"
    click(view, qtbot, 3)
    assert view.picker.picked == [chat.turns[1], chat.turns[3]]
    click(view, qtbot, 1)
    assert view.picker.picked == [chat.turns[3]]
    assert not cover(view, 1).isChecked()
    assert cover(view, 3).isChecked()


def test_with_shift_all_up_to_there_are_picked(view: ChatView, chat: Chat) -> None:
    view.picker.start(chat.turns[4])
    view.picker._pick(chat.turns[1], is_range=True)
    assert view.picker.picked == chat.turns[1:5]


def test_picked_messages_are_copied_with_who_said_them(view: ChatView, chat: Chat) -> None:
    view.picker.start(chat.turns[0])
    view.picker._pick(chat.turns[1], is_range=True)
    view.picker.bar.markdown.click()
    assert QApplication.clipboard().text() == "**You:**\n\nQuestion 0?\n\n**starter:**\n\n**Answer** 0."
    assert not view.picker.is_on
    view.picker.start(chat.turns[1])
    view.picker.bar.plain.click()
    assert QApplication.clipboard().text() == "starter:\nAnswer 0."


def test_with_none_picked_there_is_nothing_to_copy(view: ChatView, chat: Chat, qtbot: QtBot) -> None:
    view.picker.start(chat.turns[1])
    click(view, qtbot, 1)
    assert view.picker.bar.count.text() == "0 messages selected"
    assert not view.picker.bar.markdown.isEnabled()


@pytest.mark.parametrize("place", ["bar", "turn"])
def test_escape_ends_it(view: ChatView, chat: Chat, qtbot: QtBot, place: str) -> None:
    view.picker.start(chat.turns[1])
    qtbot.keyClick(view.picker.bar if place == "bar" else cover(view, 2), Qt.Key.Key_Escape)
    assert not view.picker.is_on
    assert not view.picker.bar.isVisible()
    assert view.picker._covers == {}


def test_the_keyboard_picks_too_and_listeners_hear_what(view: ChatView, chat: Chat, qtbot: QtBot) -> None:
    view.picker.start(chat.turns[1])
    qtbot.keyClick(cover(view, 2), Qt.Key.Key_Space)
    assert view.picker.picked == chat.turns[1:3]
    assert cover(view, 2).accessibleName() == "You: Question 1?"
