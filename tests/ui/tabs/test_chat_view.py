import asyncio

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.chats.chat import QueuedMessage, Turn
from app.look.fonts import choose_column
from app.protocol.request import Overflow, Role
from app.ui.composer.recording_bar import LevelMeter
from app.ui.message.safe_browser import SafeBrowser
from app.ui.tabs.chat_view import ChatView
from app.ui.transcript.empty_chat import EmptyChat
from app.ui.transcript.find_in_chat import FindBar
from app.ui.transcript.greeting import Greeting, Primary
from app.ui.transcript.message_picker import PickerBar
from app.ui.transcript.turn_actions import TurnAction
from tests.inspector.reports import decoding
from tests.ui.fakes import FakeSession
from tests.ui.windows import opened


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
def view(qtbot: QtBot, session: FakeSession) -> ChatView:
    view = opened(session)
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    return view


def test_an_empty_chat_offers_messages_to_try(view: ChatView, session: FakeSession) -> None:
    view.empty.apply(Greeting("starter", prompts=("What is 34 + 21?", "Count from 7 to 30")))
    assert view.empty.isVisible()
    assert [button.text() for button in view.empty.buttons] == ["What is 34 + 21?", "Count from 7 to 30"]
    view.empty.buttons[0].click()
    assert session.sent == ["What is 34 + 21?"]
    assert not view.empty.isVisible()
    assert view.transcript.isVisible()


def test_what_most_chats_never_need_is_not_made_with_them(qtbot: QtBot, session: FakeSession) -> None:
    """A new tab is one turn of the loop, and each of these would hold it longer."""
    session.chat.add(Turn(Role.USER, "Hi"))
    view = opened(session)
    qtbot.addWidget(view)
    view.show()
    for kind in (EmptyChat, FindBar, PickerBar, LevelMeter):
        assert view.findChildren(kind) == []
    for part in (view.model_line, view.composer.notice, view.composer.waiting, view.composer.recording):
        assert part.findChildren(QWidget) == []
    session.chat.turns.clear()
    session.changed.emit()
    assert view.empty.isVisible()
    view.finder.open()
    assert view.find_bar.isVisible()
    assert view.find_bar.mapTo(view, QPoint(0, 0)) == QPoint(0, 0)


@pytest.mark.parametrize("width", [420, 700, 901, 1280, 1921])
@pytest.mark.parametrize("column", ["normal", "wide", "full"])
def test_text_and_composer_stand_in_the_middle_to_the_pixel(
    read: ChatView, qapp: QApplication, width: int, column: str
) -> None:
    choose_column(qapp, column)
    read.set_zoom(0)  # as the settings do
    read.resize(width, 500)
    qapp.processEvents()
    composer, page = read.composer, read.transcript
    answer = page.live_views[-1]
    text = QRect(answer.mapTo(read, QPoint(0, 0)), answer.size())
    frame = QRect(composer.mapTo(read, QPoint(0, 0)), composer.size())
    for place in (text, frame):
        assert abs(place.left() - (read.width() - place.left() - place.width())) <= 1
    assert text.left() - frame.left() == frame.right() - text.right()
    assert column == "full" or text.width() <= 1100
    choose_column(qapp, "normal")


def test_the_column_has_720_pixels_where_there_is_room(read: ChatView, qapp: QApplication) -> None:
    read.resize(1280, 500)
    qapp.processEvents()
    assert read.transcript.live_views[-1].width() >= 720


def test_what_is_typed_and_entered_is_sent_and_shown(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    qtbot.keyClicks(view.composer.editor, "What is 34 + 21?")
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_Return)
    session.say("34 + 21 = ")
    session.say("55")
    session.finish()
    qtbot.waitUntil(lambda: view.transcript.plain_text() == "What is 34 + 21?\n34 + 21 = 55")
    assert session.draft == ""


@pytest.fixture
def read(view: ChatView, session: FakeSession, qtbot: QtBot) -> ChatView:
    """One question, one answer, and the keyboard in the transcript."""
    qtbot.waitExposed(view)
    session.send("Hello")
    session.say("Hi")
    session.finish()
    qtbot.waitUntil(lambda: len(view.transcript.live_views) == 2)
    view.transcript.setFocus()
    return view


def test_whoever_types_while_reading_writes_a_message(read: ChatView, qtbot: QtBot) -> None:
    editor = read.composer.editor
    qtbot.keyClick(read.transcript, "h")
    assert editor.hasFocus()
    qtbot.keyClicks(editor, "i there")
    assert editor.toPlainText() == "hi there"
    read.transcript.setFocus()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_PageUp):
        qtbot.keyClick(read.transcript, key)
    qtbot.keyClick(read.transcript, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText() == "hi there"
    assert not editor.hasFocus()


def test_after_a_message_was_edited_the_next_one_can_be_written(
    read: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    question = read.transcript.live_views[0]
    question.start_editing()
    assert question.editor
    qtbot.keyClicks(question.editor.text, " there")
    qtbot.keyClick(question.editor.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [text for _, text in session.edited] == ["Hello there"]
    assert read.composer.editor.hasFocus()


def test_the_draft_is_kept_with_the_chat(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    qtbot.keyClicks(view.composer.editor, "half a thou")
    assert session.draft == "half a thou"


def test_the_meter_shows_the_chats_own_cap(view: ChatView, session: FakeSession) -> None:
    view.set_slot(decoding(0, "sums", 412), 4096)
    assert view.composer.meter.text == "412 / 4,096"
    session.set_limits(Overflow.STOP, 1024)
    assert view.composer.meter.text == "412 / 1,024"


def test_the_button_beside_the_meter_follows_the_chat(view: ChatView, session: FakeSession) -> None:
    view.set_slot(None, 4096)
    session.set_limits(Overflow.ROLLING_WINDOW, 512)
    assert view.composer.settings.text().strip() == "Chat settings"
    assert view.composer.settings.accessibleName() == "Chat settings: Rolling window"
    assert view.composer.settings.limit == 512


def test_a_chat_opened_with_limits_shows_them(qtbot: QtBot) -> None:
    session = FakeSession()
    session.chat.overflow = Overflow.TRUNCATE_MIDDLE
    view = opened(session)
    qtbot.addWidget(view)
    assert view.composer.settings.accessibleName() == "Chat settings: Truncate the middle"


def test_the_settings_button_shows_the_beginning_of_the_system_prompt(qtbot: QtBot) -> None:
    session = FakeSession()
    session.chat.system_prompt = "Answer like a pirate.\n" + "Say arr. " * 50
    view = opened(session)
    qtbot.addWidget(view)
    shown = view.composer.settings.text().strip()
    assert shown.startswith("Answer like a pirate. Say")
    assert shown.endswith("…")


def test_a_full_chat_goes_on_with_a_rolling_window(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    session.send("Count")
    session.chat.turns[-1].overflowed = True
    session.finish(notice="The answer was cut.")
    page = view.transcript
    qtbot.waitUntil(lambda: page.live_views != [] and page.live_views[-1].keep_going.isVisible())
    page.live_views[-1].keep_going.click()
    assert session.num_keep_goings == 1
    qtbot.waitUntil(view.composer.editor.hasFocus)
    qtbot.waitUntil(lambda: not page.live_views[-1].keep_going.isVisible())


def test_a_fork_ends_with_the_answer_it_was_asked_for(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    for question in ("a", "b"):
        session.chat.turns += [Turn(Role.USER, question), Turn(Role.ASSISTANT, question)]
    with qtbot.waitSignal(view.turn_actions.fork_requested) as forked:
        view.transcript.acted.emit(TurnAction.FORK, session.chat.turns[1])
    assert forked.args == [session, 2]


def test_a_hidden_chat_goes_on_and_is_drawn_when_shown(view: ChatView, session: FakeSession) -> None:
    view.hide()
    session.send("Count")
    session.say("1, 2, 3")
    assert view.transcript.plain_text() == ""
    view.show()
    assert view.transcript.plain_text() == "Count\n1, 2, 3"


def test_the_end_of_an_answer_is_said_to_those_who_listen(
    view: ChatView, session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: said.append(event.message()))
    session.send("Count")
    session.finish()
    assert said[-1] == "This answer has already finished."
    view.hide()
    session.send("Count")
    session.finish()
    assert said.count("This answer has already finished.") == 1


def test_one_that_is_given_up_asks_nothing_of_a_session_that_is_gone(
    qtbot: QtBot, session: FakeSession
) -> None:
    view = opened(session)
    view.show()
    assert view.message_draft._count_timer.isActive()
    view.give_up()
    assert not view.isVisible()
    assert not view.message_draft._count_timer.isActive()
    qtbot.waitUntil(lambda: not isValid(view))


async def test_what_is_being_copied_from_a_chat_that_is_closed_is_copied_whole(qloop: object) -> None:
    session = FakeSession()
    view = opened(session)
    view.show()
    for number in range(2_000):
        session.chat.turns.append(Turn(Role.USER, f"Message {number}"))
    session.changed.emit()
    view.transcript.selection.select_all()
    view.transcript.selection.copy()
    view.give_up()
    async with asyncio.timeout(20):
        while isValid(view):
            await asyncio.sleep(0.001)
    copied = QApplication.clipboard().text()
    assert copied.count("Message ") == 2_000


def test_arabic_stands_at_the_right_in_the_question_and_in_the_answer(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    arabic = "مرحبا، كيف حالك اليوم؟\nهذا سطر ثان"

    def shown() -> list[SafeBrowser]:
        return [each for each in view.transcript.findChildren(SafeBrowser) if each.isVisible()]

    session.send(arabic)
    session.say(arabic)
    session.finish()
    qtbot.waitUntil(lambda: len(shown()) == 2)
    for text in shown():
        block = text.document().begin()
        while block.isValid():
            line = block.layout().lineAt(0)
            assert line.naturalTextRect().right() == pytest.approx(text.document().textWidth(), abs=2)
            block = block.next()


def test_a_message_that_waits_for_a_model_is_shown(view: ChatView, session: FakeSession) -> None:
    session.chat.queue.append(QueuedMessage("What is 34 + 21?"))
    session.waits_for_model = True
    session.changed.emit()
    assert not view.empty.isVisible()
    assert [bubble.words.text() for bubble in view.transcript.queue.bubbles] == ["What is 34 + 21?"]


def test_a_click_on_the_page_of_a_new_chat_leaves_the_keyboard_in_the_composer(
    view: ChatView, qtbot: QtBot
) -> None:
    view.empty.apply(Greeting("starter", primary=Primary.GET_MODEL, label="Get a real model"))
    view.activateWindow()
    view.composer.editor.setFocus()
    with qtbot.waitSignal(view.empty.model_requested):
        qtbot.mouseClick(view.empty.primary, Qt.MouseButton.LeftButton)
    assert view.composer.editor.hasFocus()


def test_the_page_keys_scroll_the_chat_from_the_composer(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    session.send("Count")
    session.say("\n\n".join(map(str, range(200))))
    session.finish()
    bar = view.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 500 and bar.value() == bar.maximum())
    editor = view.composer.editor
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_PageUp)
    assert bar.value() < bar.maximum()
    qtbot.keyClick(editor, Qt.Key.Key_PageDown)
    assert bar.value() == bar.maximum()
    view.composer.set_text("\n".join(map(str, range(200))))
    qtbot.keyClick(editor, Qt.Key.Key_PageUp)
    assert bar.value() == bar.maximum(), "a long draft is scrolled itself"
