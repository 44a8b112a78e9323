"""The commands about the shown chat, as the menus and their keys have them."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chats.chat import Turn
from app.protocol.request import Role
from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeSession, FakeWorkspace


@pytest.fixture
def session(window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot) -> FakeSession:
    """Two questions with their answers, drawn."""
    session = workspace.sessions[0]
    for question, answer in (("One?", "First."), ("Two?", "Second.")):
        session.send(question)
        session.say(answer)
        session.finish()
    qtbot.waitUntil(lambda: "Second." in window.tabs.views[0].transcript.plain_text())
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    return session


def action(window: MainWindow, name: str) -> QAction:
    found = window.frame.findChild(QAction, name)
    assert isinstance(found, QAction)
    return found


def focus(window: MainWindow, turn: Turn, qtbot: QtBot) -> None:
    """As a click into this message does."""
    view = window.tabs.views[0].transcript.show_turn(turn)
    assert view
    view.focus_chain()[0].setFocus()
    qtbot.waitUntil(lambda: window.tabs.views[0].transcript.focused_turn is turn)


def test_the_last_answer_is_meant_where_no_message_has_the_focus(
    window: MainWindow, session: FakeSession, qtbot: QtBot
) -> None:
    window.tabs.views[0].composer.editor.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert session.regenerated == [session.chat.turns[-1]]


def test_the_message_with_the_focus_is_meant(window, session, qtbot: QtBot) -> None:
    first_answer = session.chat.turns[1]
    focus(window, first_answer, qtbot)
    action(window, "message.regenerate").trigger()
    action(window, "message.copy").trigger()
    assert session.regenerated == [first_answer]
    assert QApplication.clipboard().text() == "First."


def test_a_command_from_the_palette_is_about_the_message_that_had_the_focus(
    window, session, qtbot: QtBot
) -> None:
    focus(window, session.chat.turns[0], qtbot)
    window.command_palette.open_up()
    qtbot.keyClicks(window.command_palette.field, "copy message")
    assert window.command_palette.model.hits[0].entry.name == "command message.copy"
    qtbot.keyClick(window.command_palette.field, Qt.Key.Key_Return)
    assert QApplication.clipboard().text() == "One?"


def test_what_makes_no_sense_for_a_message_cannot_be_chosen(window, session, qtbot: QtBot) -> None:
    focus(window, session.chat.turns[0], qtbot)
    window.menus.message.show_states()
    assert action(window, "message.edit").isEnabled()
    assert not action(window, "message.tokens").isEnabled()


def test_while_an_answer_is_written_its_turns_stay_as_they_are(window, session) -> None:
    session.send("Three?")
    action(window, "message.regenerate").trigger()
    assert "Stop it first" in window.tabs.current.composer.notice.text
    window.menus.message.show_states()  # as the menu shows them
    assert not action(window, "message.regenerate").isEnabled()
    assert not action(window, "message.delete").isEnabled()
    assert action(window, "message.copy").isEnabled()
    session.finish()
    assert action(window, "message.regenerate").isEnabled()


def test_in_an_empty_chat_nothing_can_be_done_with_messages(
    window: MainWindow, workspace: FakeWorkspace
) -> None:
    for name in (
        "message.copy",
        "message.regenerate",
        "message.previous-version",
        "chat.find",
        "chat.copy-answer",
    ):
        assert not action(window, name).isEnabled(), name


def test_versions_are_walked_by_keys(window, session) -> None:
    question, former = session.chat.turns[-2:]
    former.parent_id = question.id
    session.chat.put_aside(len(session.chat.turns) - 1)
    session.chat.add(Turn(Role.ASSISTANT, "Otherwise."))
    session.changed.emit()
    newer = session.chat.turns[-1]
    assert newer is not former
    assert not action(window, "message.next-version").isEnabled()
    action(window, "message.previous-version").trigger()
    assert session.chat.turns[-1] is former
    action(window, "message.next-version").trigger()
    assert session.chat.turns[-1] is newer


def test_a_message_is_edited_where_it_stands(window, session, qtbot: QtBot) -> None:
    focus(window, session.chat.turns[0], qtbot)
    action(window, "message.edit").trigger()
    view = window.tabs.views[0].transcript.show_turn(session.chat.turns[0])
    assert view
    assert view.editor


def test_what_was_written_can_be_added_without_asking(window, session) -> None:
    window.menus.show_chat_state()
    assert not action(window, "message.add").isEnabled()
    window.tabs.views[0].composer.editor.setPlainText("By the way")
    window.menus.show_chat_state()
    action(window, "message.add").trigger()
    assert [(role, text) for role, text, _ in session.inserted] == [(Role.USER, "By the way")]


def test_words_are_found_by_the_usual_keys(window, session, qtbot: QtBot) -> None:
    view = window.tabs.views[0]
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert not view.find_bar.isHidden()
    assert view.find_bar.field.hasFocus()


def test_the_last_answer_is_copied_as_it_was_written(window, session) -> None:
    action(window, "chat.copy-answer").trigger()
    assert QApplication.clipboard().text() == "Second."
