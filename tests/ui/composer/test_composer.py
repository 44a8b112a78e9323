from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QImage, QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bridge.token_counter import TokenCount
from app.chats.attachment import PASSAGE, Attachment
from app.protocol.request import Overflow, Role
from app.ui.base.attachment_preview import SHOWN_CHARS
from app.ui.base.attachment_words import PASTED
from app.ui.base.thumbnails import Thumbnails
from app.ui.composer.composer import Composer
from app.ui.composer.context_meter import ContextFigures
from app.ui.composer.message_editor import MAX_CHARS, MAX_PASTED_CHARS
from tests.ui.pictures import a_picture, with_pictures

CTRL = Qt.KeyboardModifier.ControlModifier

NOTES = Attachment("notes.txt", "remember the milk")
REPORT = Attachment("report.pdf", "all is well", "pdf")
Key, Modifier = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.resize(600, 100)
    composer.set_room(600)
    composer.show()
    return composer


def data(text: str = "", urls: Sequence[str] = (), image: QImage | None = None) -> QMimeData:
    given = QMimeData()
    if text:
        given.setText(text)
    if urls:
        given.setUrls([QUrl(url) for url in urls])
    if image:
        given.setImageData(image)
    return given


def paste(composer: Composer, given: QMimeData) -> None:
    assert composer.editor.canInsertFromMimeData(given)
    composer.editor.insertFromMimeData(given)


# Sending


def test_enter_sends_what_was_typed_and_empties_the_editor(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(composer.editor, "What is 34 + 21?")
    with qtbot.waitSignal(composer.submitted) as sent:
        qtbot.keyClick(composer.editor, Key.Key_Return)
    assert sent.args == ["What is 34 + 21?", ()]
    assert composer.editor.toPlainText() == ""


def test_shift_enter_makes_a_new_line(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClicks(composer.editor, "one")
        qtbot.keyClick(composer.editor, Key.Key_Return, Modifier.ShiftModifier)
        qtbot.keyClicks(composer.editor, "two")
    assert composer.editor.toPlainText() == "one\ntwo"


def test_enter_may_make_lines_and_control_enter_send(composer: Composer, qtbot: QtBot) -> None:
    composer.set_enter_sends(False)
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClicks(composer.editor, "one")
        qtbot.keyClick(composer.editor, Key.Key_Return)
        qtbot.keyClicks(composer.editor, "two")
    with qtbot.waitSignal(composer.submitted) as sent:
        qtbot.keyClick(composer.editor, Key.Key_Enter, Modifier.ControlModifier | Modifier.KeypadModifier)
    assert sent.args == ["one\ntwo", ()]
    assert "Ctrl+Enter" in composer.button.toolTip()


def test_enter_belongs_to_the_input_method_while_it_composes(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("に")
    QApplication.sendEvent(composer.editor, QInputMethodEvent("ほん", []))
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.editor, Key.Key_Return)
        qtbot.keyClick(composer.editor, Key.Key_Return, Modifier.ControlModifier)
    QApplication.sendEvent(composer.editor, QInputMethodEvent("", []))
    with qtbot.waitSignal(composer.submitted) as sent:
        qtbot.keyClick(composer.editor, Key.Key_Return)
    assert sent.args == ["に", ()]


def test_nothing_is_sent_without_words_or_files(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text(" \n ")
    assert not composer.button.isEnabled()
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.editor, Key.Key_Return)
    composer.set_attachments([NOTES])
    with qtbot.waitSignal(composer.submitted) as sent:
        composer.button.click()
    assert sent.args == [" \n ", (NOTES,)]


def test_while_busy_a_message_is_queued_and_another_button_stops(composer: Composer, qtbot: QtBot) -> None:
    assert not composer.stop.isVisible()
    composer.set_busy(True)
    assert composer.button.accessibleName() == "Queue"
    assert not composer.button.isEnabled()
    assert composer.stop.isVisible()
    qtbot.keyClicks(composer.editor, "next")
    with qtbot.waitSignal(composer.submitted) as queued:
        qtbot.keyClick(composer.editor, Key.Key_Return)
    assert queued.args == ["next", ()]
    composer.set_busy(False)
    assert composer.button.accessibleName() == "Send"
    assert not composer.stop.isVisible()


def test_a_message_can_be_added_without_asking(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("a note")
    composer.set_attachments([NOTES])
    with qtbot.waitSignal(composer.insert_requested) as added:
        composer.more.add.trigger()
    assert added.args == [Role.USER, "a note", (NOTES,)]
    assert (composer.editor.toPlainText(), composer.attachments) == ("", ())
    composer.set_text("as if")
    with qtbot.waitSignal(composer.insert_requested) as added:
        composer.more.add_answer.trigger()
    assert added.args == [Role.ASSISTANT, "as if", ()]


def test_nothing_is_added_while_an_answer_is_written(composer: Composer) -> None:
    composer.set_text("a note")
    composer.set_busy(True)
    assert composer.more.send.isEnabled()
    assert not composer.more.add.isEnabled()
    assert not composer.more.add_answer.isEnabled()


def test_up_asks_for_the_last_message_only_where_there_is_nothing(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.editor.edit_last_requested):
        qtbot.keyClick(composer.editor, Key.Key_Up)
    qtbot.keyClicks(composer.editor, "x")
    with qtbot.assertNotEmitted(composer.editor.edit_last_requested):
        qtbot.keyClick(composer.editor, Key.Key_Up)


def test_the_editor_grows_with_its_lines_up_to_its_share_of_the_chat(composer: Composer) -> None:
    heights = []
    for num_lines in (1, 3, 60, 100):
        composer.set_text("\n".join("x" * num_lines))
        heights.append(composer.editor.height())
    assert heights[0] < heights[1] < heights[2] == heights[3] == 240


def test_the_draft_is_told_as_it_changes(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.draft_changed) as draft:
        qtbot.keyClicks(composer.editor, "h")
    assert draft.args == ["h"]


# Pasting and dropping


def test_pasted_text_is_plain(composer: Composer) -> None:
    given = data("bold")
    given.setHtml('<b>bold</b><img src="file:///dev/zero">')
    paste(composer, given)
    assert composer.editor.toPlainText() == "bold"


@pytest.mark.parametrize(
    "text",
    ["x" * 10_000_000, "many lines\n" * 200_000, "🧵\0\uffff" * 5_000, "字" * (MAX_PASTED_CHARS + 1)],
    ids=["one line", "many lines", "odd characters", "just too long"],
)
def test_a_very_long_paste_becomes_an_attachment(composer: Composer, qtbot: QtBot, text: str) -> None:
    """Qt would need seconds to lay it out."""
    composer.set_text("before")
    with qtbot.waitSignal(composer.attachments_changed) as changed:
        paste(composer, data(text))
    (attachment,) = changed.args[0]
    assert attachment.kind == PASTED
    assert attachment.text == text
    assert composer.editor.toPlainText() == "before"
    assert composer.chips.chips[0].name == f"Pasted text, {len(text):,} characters"


def test_pastes_that_come_to_much_do_so_too(composer: Composer) -> None:
    for _ in range(MAX_CHARS // MAX_PASTED_CHARS + 1):
        paste(composer, data("x" * MAX_PASTED_CHARS))
    assert len(composer.editor.toPlainText()) <= MAX_CHARS
    assert len(composer.attachments) == 2


def test_a_draft_that_is_too_long_to_write_in_becomes_an_attachment(composer: Composer) -> None:
    composer.set_text("x" * MAX_CHARS + "\ud800")
    assert composer.editor.toPlainText() == ""
    assert [attachment.text for attachment in composer.attachments] == ["x" * MAX_CHARS + "?"]


def test_pasted_files_are_handed_on(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.editor.files_given) as given:
        paste(composer, data("file:///a/b.txt", urls=["file:///a/b.txt", "file:///a/c.pdf"]))
    assert given.args == [[Path("/a/b.txt"), Path("/a/c.pdf")]]
    assert composer.editor.toPlainText() == ""


def test_a_pasted_link_is_text(composer: Composer) -> None:
    paste(composer, data("https://example.org/", urls=["https://example.org/"]))
    assert composer.editor.toPlainText() == "https://example.org/"


def test_a_pasted_picture_is_handed_on_as_the_other_program_gave_it(composer: Composer, qtbot: QtBot) -> None:
    given = data()
    given.setData("image/png", b"not looked at here")
    with qtbot.waitSignal(composer.editor.picture_given) as heard:
        paste(composer, given)
    assert heard.args == [b"not looked at here"]
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    with qtbot.waitSignal(composer.editor.picture_given) as heard:  # as on Windows, pixels alone
        paste(composer, data(image=image))
    assert heard.args[0].startswith(b"\x89PNG")
    paste(composer, data("cells of a sheet, which come with their picture", image=image))
    assert composer.editor.toPlainText() == "cells of a sheet, which come with their picture"


def test_a_model_file_dropped_on_it_is_left_to_the_window(composer: Composer) -> None:
    assert not composer.editor.canInsertFromMimeData(data(urls=["file:///models/Model.GGUF"]))


# Attachments


def test_a_picture_shows_itself_and_its_tokens_and_can_be_moved_and_enlarged(
    composer: Composer, qtbot: QtBot
) -> None:
    cat = a_picture("cat.png")
    composer.chips.set_thumbnails(Thumbnails(with_pictures("cat.png"), composer))  # type: ignore[arg-type]
    composer.set_attachments([NOTES, cat])
    composer.chips.show_tokens({NOTES.text: TokenCount(1204), cat.media: TokenCount(273)}.get)
    chip = composer.chips.chips[1]
    assert (chip.name, chip.detail) == ("cat.png", "640 × 480 · 273 tokens")
    scale = chip.devicePixelRatioF()
    assert chip.grab().toImage().pixelColor(int(26 * scale), int(26 * scale)).name() == "#ff0000"
    with qtbot.waitSignal(composer.picture_opened) as opened:
        qtbot.keyClick(chip, Qt.Key.Key_Return)
    assert opened.args == [1]
    with qtbot.waitSignal(composer.attachments_changed):
        qtbot.keyClick(chip, Qt.Key.Key_Left, CTRL)
    assert composer.attachments == (cat, NOTES)
    assert composer.chips.chips[0].hasFocus()
    qtbot.keyClick(composer.chips.chips[0], Qt.Key.Key_Left, CTRL)  # it is the first already
    assert composer.attachments == (cat, NOTES)


def test_attachments_show_what_they_are_and_what_they_cost(composer: Composer) -> None:
    composer.set_attachments([NOTES, REPORT])
    composer.chips.show_tokens({NOTES.text: TokenCount(1204)}.get)
    chips = composer.chips.chips
    assert [(chip.name, chip.detail) for chip in chips] == [
        ("notes.txt", "Text · 1,204 tokens"),
        ("report.pdf", "PDF"),
    ]
    assert chips[0].accessibleName() == "Attachment: notes.txt"
    assert chips[0].accessibleDescription() == "Text · 1,204 tokens"


def test_an_attachment_is_removed_by_its_cross_and_can_be_put_back(composer: Composer, qtbot: QtBot) -> None:
    composer.set_attachments([NOTES, REPORT])
    with qtbot.waitSignal(composer.attachments_changed) as changed:
        composer.chips.chips[0].cross.click()
    assert changed.args == [(REPORT,)]
    assert composer.notice.text == "Removed “notes.txt”."
    composer.notice.buttons[0].click()
    assert composer.attachments == (NOTES, REPORT)
    assert not composer.notice.isVisible()


def test_found_passages_can_be_removed_together(composer: Composer, qtbot: QtBot) -> None:
    passages = [Attachment(f"[{n}] a.md:{n}", "text", PASSAGE) for n in (1, 2, 3)]
    composer.set_attachments([NOTES, *passages])
    composer.chips.chips[1].cross.click()
    remove_all = composer.notice.buttons[1]
    assert remove_all.text() == "Remove all passages"
    with qtbot.waitSignal(composer.attachments_changed) as changed:
        remove_all.click()
    assert changed.args == [(NOTES,)]
    composer.notice.buttons[0].click()
    assert composer.attachments == (NOTES, *passages[1:])


def test_attachments_are_reached_and_removed_by_backspace(composer: Composer, qtbot: QtBot) -> None:
    composer.set_attachments([NOTES, REPORT])
    composer.editor.setFocus()
    qtbot.keyClick(composer.editor, Key.Key_Backspace)
    assert composer.chips.chips[1].hasFocus()
    qtbot.keyClick(composer.chips.chips[1], Key.Key_Left)
    assert composer.chips.chips[0].hasFocus()
    qtbot.keyClick(composer.chips.chips[0], Key.Key_Backspace)
    assert composer.attachments == (REPORT,)
    assert composer.chips.chips[0].hasFocus()
    qtbot.keyClick(composer.chips.chips[0], Key.Key_Delete)
    assert composer.attachments == ()
    assert composer.editor.hasFocus()


def test_backspace_behind_text_only_deletes_text(composer: Composer, qtbot: QtBot) -> None:
    composer.set_attachments([NOTES])
    composer.editor.setFocus()
    qtbot.keyClicks(composer.editor, "ab")
    qtbot.keyClick(composer.editor, Key.Key_Backspace)
    assert composer.editor.toPlainText() == "a"
    assert composer.editor.hasFocus()


def test_a_chip_opens_the_text_that_the_model_will_read(composer: Composer, qtbot: QtBot) -> None:
    long = Attachment("long.txt", "y" * (SHOWN_CHARS + 1))
    composer.set_attachments([NOTES, long])
    qtbot.mouseClick(composer.chips.chips[0], Qt.MouseButton.LeftButton)
    assert composer.preview.isVisible()
    assert composer.preview.text.toPlainText() == NOTES.text
    assert not composer.preview.into_text.isVisible()
    composer.preview.close()
    qtbot.keyClick(composer.chips.chips[1], Key.Key_Return)
    assert len(composer.preview.text.toPlainText()) == SHOWN_CHARS
    assert "first 12,000 characters" in composer.preview.figures.text()
    composer.preview.remove.click()
    assert composer.attachments == (NOTES,)


def test_what_was_pasted_can_be_turned_back_into_text(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("Look: ")
    composer.editor.moveCursor(composer.editor.textCursor().MoveOperation.End)
    text = "z" * (MAX_PASTED_CHARS + 1)
    paste(composer, data(text))
    qtbot.keyClick(composer.chips.chips[0], Key.Key_Space)
    composer.preview.into_text.click()
    assert composer.attachments == ()
    assert composer.editor.toPlainText() == f"Look: {text}"


def test_what_is_too_long_to_write_in_stays_an_attachment(composer: Composer, qtbot: QtBot) -> None:
    paste(composer, data("z" * (MAX_CHARS + 1)))
    qtbot.keyClick(composer.chips.chips[0], Key.Key_Return)
    assert not composer.preview.into_text.isVisible()
    composer.preview.close()


def test_a_message_waits_for_files_that_are_still_being_read(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("Look")
    composer.set_pending(["slow.pdf"])
    assert composer.chips.pending_names == ("slow.pdf",)
    assert not composer.button.isEnabled()
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.editor, Key.Key_Return)
    composer.set_pending([])
    assert composer.button.isEnabled()
    assert not composer.chips.isVisible()


def test_many_attachments_scroll(composer: Composer, qtbot: QtBot) -> None:
    composer.set_attachments([Attachment(f"{number} {'name' * 20}.txt", "x") for number in range(12)])
    qtbot.waitUntil(lambda: composer.chips.verticalScrollBar().maximum() > 0)
    assert composer.chips.height() <= 120


def test_several_problems_are_told_together_and_dismissed(composer: Composer) -> None:
    for number in range(6):
        composer.notice.add_problem(f"Problem {number}.")
    assert composer.notice.text.splitlines() == [f"Problem {number}." for number in range(2, 6)]
    composer.notice.cross.click()
    assert not composer.notice.isVisible()
    composer.notice.add_problem("Another.")
    assert composer.notice.text == "Another."


def test_what_is_only_a_button_has_a_name(composer: Composer) -> None:
    composer.set_attachments([NOTES])
    buttons = [composer.attach, composer.more, composer.stop, composer.button, composer.notice.cross]
    assert all(button.accessibleName() for button in [*buttons, composer.chips.chips[0].cross])


def test_the_settings_keep_their_words_where_there_is_room_for_all(composer: Composer) -> None:
    composer.settings.apply("", Overflow.ROLLING_WINDOW, 4096)
    composer.meter.apply(ContextFigures(used=412, draft=9, limit=4096))
    for width, has_words in ((600, True), (300, False), (600, True)):
        composer.resize(width, 120)
        QApplication.processEvents()
        style = composer.settings.toolButtonStyle()
        assert (style is Qt.ToolButtonStyle.ToolButtonTextBesideIcon) == has_words
        assert composer.settings.x() - composer.shelf.geometry().right() < 12
