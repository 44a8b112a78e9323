import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.chats.attachment import Attachment
from app.ui.base.attachment_preview import AttachmentPreview
from app.ui.transcript.turn_editor import MAX_LINES, TurnEditor
from tests.ui.pictures import a_picture

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def ground(qtbot: QtBot) -> QWidget:
    ground = QWidget()
    qtbot.addWidget(ground)
    ground.resize(500, 900)
    ground.show()
    return ground


@pytest.fixture
def editor(ground: QWidget) -> TurnEditor:
    editor = TurnEditor("Count", "Save", ground)
    editor.show()
    editor.arrange(400)
    return editor


def test_enter_saves_and_shift_enter_makes_a_line_as_in_the_composer(
    editor: TurnEditor, qtbot: QtBot
) -> None:
    with qtbot.assertNotEmitted(editor.saved):
        qtbot.keyClick(editor.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(editor.text, "to 5")
    with qtbot.waitSignal(editor.saved) as saved:
        qtbot.keyClick(editor.text, Qt.Key.Key_Return)
    assert [line.strip() for line in saved.args[0].splitlines()] == ["Count", "to 5"]


def test_where_enter_makes_a_line_ctrl_enter_saves(editor: TurnEditor, qtbot: QtBot) -> None:
    editor.enter_saves = False
    with qtbot.assertNotEmitted(editor.saved):
        qtbot.keyClick(editor.text, Qt.Key.Key_Return)
    qtbot.keyClicks(editor.text, "to 5")
    with qtbot.waitSignal(editor.saved) as saved:
        qtbot.keyClick(editor.text, Qt.Key.Key_Return, CTRL)
    assert saved.args == ["Count\nto 5", ()]


def test_nothing_can_be_saved_as_nothing(editor: TurnEditor, qtbot: QtBot) -> None:
    editor.text.setPlainText("  \n")
    assert not editor.save.isEnabled()
    with qtbot.assertNotEmitted(editor.saved):
        qtbot.keyClick(editor.text, Qt.Key.Key_Return, CTRL)


def test_what_was_attached_is_kept_until_it_is_removed(ground: QWidget, qtbot: QtBot) -> None:
    cat, notes = a_picture("cat.png"), Attachment("notes.txt", "text")
    editor = TurnEditor("", "Save", ground, (cat, notes))
    editor.show()
    editor.arrange(400)
    assert editor.save.isEnabled()
    assert [chip.attachment for chip in editor.chips.chips] == [cat, notes]
    assert editor.chips.geometry().bottom() < editor.text.geometry().top()
    qtbot.keyClick(editor.chips.chips[1], Qt.Key.Key_Return)
    (preview,) = editor.findChildren(AttachmentPreview)
    assert preview.text.toPlainText() == "text"
    preview.close()
    with qtbot.waitSignal(editor.height_changed):
        editor.chips.chips[1].cross.click()
    with qtbot.waitSignal(editor.saved) as saved:
        editor.save.click()
    assert saved.args == ["", (cat,)]
    editor.chips.chips[0].cross.click()
    assert not editor.save.isEnabled()


def test_it_grows_with_its_lines_up_to_a_limit(editor: TurnEditor, qtbot: QtBot) -> None:
    before = editor.height()
    with qtbot.waitSignal(editor.height_changed):
        editor.text.setPlainText("line\n" * 6)
    assert editor.arrange(400) > before
    editor.text.setPlainText("line\n" * MAX_LINES)
    tall = editor.arrange(400)
    editor.text.setPlainText("line\n" * 10 * MAX_LINES)
    assert editor.arrange(400) == tall
    assert editor.text.verticalScrollBar().maximum() > 0


def test_all_lines_of_a_short_text_are_seen(editor: TurnEditor) -> None:
    editor.text.setPlainText("\n".join("abcdefgh"))
    editor.arrange(400)
    assert editor.text.verticalScrollBar().maximum() == 0


def test_an_endless_word_is_not_wrapped(ground: QWidget) -> None:
    assert TurnEditor("x" * 9000, "Save", ground).text.lineWrapMode() is QPlainTextEdit.LineWrapMode.NoWrap
