import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.attachments.refusal import Reason
from app.bridge.tasks import finish_all
from app.bridge.token_counter import TokenCount
from app.chats.attachment import Attachment
from app.chats.chat import Turn, TurnState
from app.chats.summary import ASKED, Summary
from app.look.theme import apply_theme
from app.protocol.media import Senses
from app.protocol.output import Usage
from app.protocol.report import SlotSnapshot, SlotState
from app.protocol.request import Overflow, Role
from app.ui.base.screenshot import Screenshot
from app.ui.composer.message_draft import MAX_FILES
from app.ui.tabs.chat_view import ChatView
from tests.fake_sound_devices import FakePortAudio, port_audio
from tests.media.test_sound_devices import LOUD, frames
from tests.ui.fakes import FakeSession
from tests.ui.pictures import a_picture
from tests.ui.windows import opened

__all__ = ["port_audio"]
NOTES = Attachment("notes.txt", "remember the milk")
ANSWERED = (
    Turn(Role.USER, "Count"),
    Turn(Role.ASSISTANT, "1, 2", usage=Usage(num_prompt_tokens=100, num_generated_tokens=42)),
)
WARM = SlotSnapshot(0, SlotState.WARM, pos_min=0, pos_max=119)


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
def view(qtbot: QtBot, session: FakeSession) -> Iterator[ChatView]:
    view = opened(session)
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    yield view


def files(*names: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(f"/folder/{name}") for name in names])
    return data


def is_taken(widget: QWidget, data: QMimeData) -> bool:
    """Whether `widget` would have what is dragged over it."""
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    held = QDragEnterEvent(QPoint(2, 2), Qt.DropAction.CopyAction, data, left, none)
    held.ignore()  # as Qt hands it out
    QApplication.sendEvent(widget, held)
    return held.isAccepted()


# Files


def test_files_dropped_on_the_chat_are_read_and_shown_meanwhile(view: ChatView, session: FakeSession) -> None:
    data = files("a.txt", "b.pdf")
    assert is_taken(view, data)
    assert view.overlay.isVisible()
    assert view.overlay.text == "Attach 2 files"
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    dropped = QDropEvent(QPointF(100, 100), Qt.DropAction.CopyAction, data, left, none)
    QApplication.sendEvent(view, dropped)
    assert session.files.asked_for == [Path("/folder/a.txt"), Path("/folder/b.pdf")]
    assert view.composer.chips.pending_names == ("a.txt", "b.pdf")
    assert not view.overlay.isVisible()


def test_a_file_that_takes_too_long_need_not_be_waited_for(view: ChatView, session: FakeSession) -> None:
    view.composer.set_text("Look")
    view.message_draft.attach([Path("a.txt"), Path("slow.pdf")])
    view.composer.chips.pending[1].cross.click()
    assert view.composer.chips.pending_names == ("a.txt",)
    view.composer.chips.pending[0].cross.click()
    assert view.composer.button.isEnabled()


def test_a_model_dropped_on_the_chat_is_left_to_the_window(view: ChatView) -> None:
    assert not is_taken(view, files("a.txt", "model.gguf"))


def test_files_are_chosen_without_stopping_the_program(view: ChatView, session: FakeSession) -> None:
    view.composer.attach.click()
    (dialog,) = view.composer.findChildren(QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFiles
    dialog.filesSelected.emit(["/folder/a.txt"])
    dialog.close()
    assert session.files.asked_for == [Path("/folder/a.txt")]


def test_what_was_read_goes_with_the_message(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.draft_attachments = (NOTES,)  # as the session does when a file has been read
    assert [chip.attachment for chip in view.composer.chips.chips] == [NOTES]
    view.composer.set_text("Look")
    view.composer.button.click()
    assert session.chat.turns[0].attachments == (NOTES,)
    assert session.draft_attachments == ()
    assert session.draft == ""
    assert not view.composer.chips.isVisible()


def test_a_file_that_cannot_be_read_is_told_in_the_tab(view: ChatView, session: FakeSession) -> None:
    session.files.refused.emit("photo.png", Reason.IMAGE)
    session.files.refused.emit("locked.pdf", Reason.PASSWORD)
    assert len(view.composer.notice.text.splitlines()) == 2
    assert view.composer.notice.isVisible()


def test_a_model_that_does_not_see_is_said_at_once_and_the_picture_stays(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    session.draft_attachments = (a_picture("cat.png"),)
    view.message_draft.show_state()
    assert not view.composer.senses.isVisible(), "there is no model"
    session.requests.senses = Senses(reason="Its projector is missing.")
    view.message_draft.show_state()
    assert view.composer.senses.isVisible()
    assert view.composer.senses.text().endswith("only told that there is one. Its projector is missing.")
    assert view.composer.get_model.isVisible()
    session.requests.senses = Senses(sees=True)
    view.message_draft.show_state()
    assert not view.composer.senses.isVisible()
    assert len(view.composer.chips.chips) == 1


def test_files_say_where_they_go_before_they_are_sent(view: ChatView, session: FakeSession) -> None:
    session.requests.host = "gpu-box:8000"
    view.message_draft.show_state()
    assert not view.composer.forecast.isVisible(), "words alone are as expected"
    session.draft_attachments = (a_picture("cat.png"),)
    view.message_draft.show_state()
    assert view.composer.forecast.text() == "Goes to gpu-box:8000."
    assert view.composer.forecast.isVisible()


async def test_a_sound_is_recorded_where_the_model_hears(
    qloop, view: ChatView, session: FakeSession, port_audio: FakePortAudio, qtbot: QtBot
) -> None:
    composer = view.composer
    session.requests.senses = Senses(sees=True)
    view.message_draft.show_state()
    assert not composer.record.isVisible()
    session.requests.senses = Senses(hears=True)
    view.message_draft.show_state()
    composer.record.click()
    assert composer.recording.time.text() == "Opening the microphone…"
    assert not composer.recording.stop.isEnabled()
    await finish_all()
    port_audio.streams[0].call(LOUD * 100)
    view.message_draft.show_state()
    assert composer.recording.isVisible()
    assert composer.recording.time.text() == "0:01"
    assert composer.recording.meter.level > 0.8
    view.hide()  # a microphone that nobody sees is closed
    await finish_all()
    (content, name) = session.files.given[0]
    assert (frames(content)[1], name) == (LOUD * 100, "Recording")
    view.show()
    assert not composer.recording.isVisible()
    port_audio.has_devices = False
    composer.record.click()
    await finish_all()
    assert composer.notice.text.startswith("No microphone was found.")


def test_a_screenshot_is_of_all_of_the_screen_or_of_a_part(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    for places in (QPoint(10, 10), QPoint(60, 40)), (QPoint(10, 10), QPoint(11, 11)), ():
        view.message_draft.take_screenshot()
        (screenshot,) = view.findChildren(Screenshot)
        assert not view.isVisible()
        qtbot.waitUntil(lambda shot=screenshot: bool(shot.areas))
        area = screenshot.areas[0]
        if places:
            qtbot.mousePress(area, Qt.MouseButton.LeftButton, pos=places[0])
            qtbot.mouseMove(area, places[1])
            qtbot.mouseRelease(area, Qt.MouseButton.LeftButton, pos=places[1])
        else:
            qtbot.keyClick(area, Qt.Key.Key_Escape)
        assert view.isVisible()
        with qtbot.waitSignal(screenshot.destroyed):
            pass
    part, whole = (QImage.fromData(content) for content, _ in session.files.given)
    screen = view.screen()
    assert whole.size() == screen.size() * screen.devicePixelRatio()
    assert (part.width(), part.height()) == (51, 31)
    assert {name for _, name in session.files.given} == {"Screenshot"}


def test_too_many_files_are_refused_together(view: ChatView, session: FakeSession) -> None:
    session.draft_attachments = (NOTES,) * (MAX_FILES - 1)
    view.message_draft.attach([Path("a"), Path("b")])
    assert session.files.asked_for == []
    assert "21 files" in view.composer.notice.text


def test_attachments_are_kept_with_the_draft(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setText("x" * 5000)
    view.composer.editor.insertFromMimeData(data)
    assert [attachment.text for attachment in session.draft_attachments] == ["x" * 5000]
    other = opened(session)
    qtbot.addWidget(other)
    assert other.composer.attachments == session.draft_attachments


def test_a_draft_that_was_kept_is_not_emptied_on_the_way(qtbot: QtBot) -> None:
    session = FakeSession()
    session.draft, session.draft_attachments = "half a thou", (NOTES,)
    drafts = []
    session.draft_changed.connect(lambda: drafts.append(session.draft))
    view = opened(session)
    qtbot.addWidget(view)
    assert (view.composer.editor.toPlainText(), session.draft) == ("half a thou", "half a thou")
    assert "" not in drafts


# Tokens


def test_tokens_are_counted_once_the_typing_rests(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.draft_attachments = (NOTES,)
    qtbot.keyClicks(view.composer.editor, "what to buy")
    assert session.tokens.asked_for == []
    qtbot.waitUntil(lambda: bool(session.tokens.asked_for))
    frame = "File: notes.txt\n```\n\n```"  # what the model reads around it
    assert session.tokens.asked_for == [("what to buy", NOTES.text, frame, "")]
    assert view.composer.chips.chips[0].detail == "Text · 3 tokens"
    assert view.composer.meter.figures.draft == 10


def test_an_estimate_of_a_draft_is_told_as_one(
    view: ChatView, session: FakeSession, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not view.composer.meter.figures.is_estimated
    estimate = TokenCount(7, is_exact=False)
    monkeypatch.setattr(session.tokens, "num_tokens", lambda text: estimate if text else TokenCount(0))
    view.composer.set_text("what to buy")
    qtbot.waitUntil(lambda: view.composer.meter.figures.is_estimated)
    assert view.composer.meter.figures.draft == 7


def test_the_gauge_is_steady_while_somebody_types(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    view.composer.set_text("one two")
    qtbot.waitUntil(lambda: view.composer.meter.figures.draft == 2)
    qtbot.keyClicks(view.composer.editor, "x")
    view.set_slot(WARM, 4096)  # as ten times a second while an answer is written
    assert view.composer.meter.figures.draft == 2
    view.composer.set_text("")
    assert view.composer.meter.figures.draft == 0


def test_the_gauge_shows_used_cached_and_draft(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.chat.add(*ANSWERED)
    view.set_slot(WARM, 4096)
    view.composer.set_text("and then")
    qtbot.waitUntil(lambda: view.composer.meter.figures.draft == 2)
    figures = view.composer.meter.figures
    assert (figures.used, figures.cached, figures.limit) == (142, 120, 4096)
    assert view.composer.meter.text == "142 + 2 / 4,096"


def test_the_gauge_never_falls_to_nothing_when_earlier_turns_are_summed_up(
    view: ChatView, session: FakeSession, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, meter = replace(ANSWERED[1]), view.composer.meter
    session.chat.add(ANSWERED[0], answered, Turn(Role.USER, "four words are here"))
    session.changed.emit()
    view.set_slot(WARM, 4096)
    qtbot.waitUntil(lambda: meter.figures.used == 146)
    answered.summary = Summary("- one two", created_at=time.time())
    words = f"{ASKED}\n\n- one two\n\nfour words are here"
    with monkeypatch.context() as uncounted:
        uncounted.setattr(session.tokens, "num_tokens", lambda text: None if text else TokenCount(0))
        session.changed.emit()
        assert (meter.figures.used, meter.figures.is_used_estimated) == (len(words) // 3, True)
    session.changed.emit()
    qtbot.waitUntil(lambda: meter.figures.used == len(words.split()))


def test_a_hibernated_chat_is_cached_and_an_evicted_one_is_not(view: ChatView, session: FakeSession) -> None:
    session.chat.add(*ANSWERED)
    view.set_slot(None, 4096, is_hibernated=True)
    assert view.composer.meter.figures.cached == 142
    view.set_slot(None, 4096)
    assert view.composer.meter.figures.cached == 0


def test_what_was_added_without_asking_is_used_but_not_cached(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    session.chat.add(*ANSWERED)
    view.set_slot(WARM, 4096)
    view.composer.set_text("one two three")
    view.composer.more.add.trigger()
    assert session.inserted == [(Role.USER, "one two three", ())]
    qtbot.waitUntil(lambda: view.composer.meter.figures.used == 145)
    assert view.composer.meter.figures.cached == 120


def test_what_will_happen_to_a_full_chat_is_told(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.chat.add(*ANSWERED)
    view.set_slot(WARM, 150)
    view.composer.set_text("word " * 9)
    qtbot.waitUntil(lambda: "will be summed up" in view.composer.forecast.text())
    session.set_limits(Overflow.STOP, 0)
    qtbot.waitUntil(lambda: "choose what to leave out" in view.composer.forecast.text())
    session.set_limits(Overflow.ROLLING_WINDOW, 0)
    assert "oldest turns will be left out" in view.composer.forecast.text()
    view.composer.set_text("")
    assert not view.composer.forecast.isVisible()


# The queue


def test_a_message_sent_while_busy_is_queued(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.send("Count")
    qtbot.keyClicks(view.composer.editor, "and then")
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_Return)
    assert [message.text for message in session.queue] == ["and then"]
    assert session.sent == ["Count"]
    assert not view.composer.waiting.isVisible()  # it is sent by itself when the answer is done


def test_what_waits_for_a_model_says_so(view: ChatView, session: FakeSession) -> None:
    session.send("Count")
    session.send("and then")
    session.waits_for_model = True
    view.composer.stop.click()
    assert view.composer.waiting.text == "Sent once a model is loaded."
    assert not view.composer.waiting.offers


def test_what_waits_after_a_stop_can_be_sent(view: ChatView, session: FakeSession) -> None:
    session.send("Count")
    session.send("and then")
    view.composer.stop.click()
    assert view.composer.waiting.text == "1 message queued."
    view.composer.waiting.buttons[0].click()
    assert session.sent == ["Count", "and then"]
    assert not view.composer.waiting.isVisible()


def test_up_edits_the_last_message_in_its_place(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.chat.add(*ANSWERED)
    session.changed.emit()
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_Up)
    (edited,) = [turn_view for turn_view in view.transcript.live_views if turn_view.editor]
    assert edited.turn is ANSWERED[0]


def test_a_setting_swaps_what_enter_does(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    session.enter_sends = False
    view.show_limits()  # as after any change in the settings
    qtbot.keyClicks(view.composer.editor, "one")
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_Return)
    assert session.sent == []
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert session.sent == ["one\n"]


def test_the_composer_takes_its_share_of_a_chat(view: ChatView) -> None:
    view.composer.set_text("line\n" * 100)
    assert view.composer.editor.height() == 200
    view.resize(700, 800)
    assert view.composer.editor.height() == 320


def test_stopped_and_failed_chats_can_be_written_in(view: ChatView, session: FakeSession) -> None:
    session.send("Count")
    session.finish(TurnState.FAILED, "The context is full.")
    assert view.composer.button.accessibleName() == "Send"
    assert not view.composer.stop.isVisible()


def test_what_is_written_has_its_place_in_a_small_chat(
    view: ChatView, session: FakeSession, qapp: QApplication
) -> None:
    """Where a panel beside it leaves little room: the hints give way, and nothing covers anything."""
    apply_theme(qapp, "light")
    view.resize(300, 400)
    view.composer.set_text("two\nlines")
    session.draft_attachments = (NOTES,) * 6
    session.files.refused.emit("photo.png", Reason.IMAGE)
    QApplication.processEvents()
    parts = (view.composer.notice, view.composer.chips, view.composer.editor)
    for above, below in pairwise(parts):
        assert above.geometry().bottom() < below.geometry().top()
    assert view.height() == 400


def test_files_may_be_dropped_on_what_was_said_too(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    session.chat.add(*ANSWERED)
    session.changed.emit()
    qtbot.waitUntil(lambda: bool(view.transcript.live_views))
    pane = view.transcript.live_views[-1].text_panes()[0]
    assert is_taken(pane.viewport(), files("a.txt"))
    assert view.overlay.text == "Attach a.txt"
