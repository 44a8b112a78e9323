import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.composer import MAX_LINES, Composer


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.resize(500, 100)
    composer.show()
    return composer


def test_enter_sends_what_was_typed_and_empties_the_editor(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(composer.editor, "What is 34 + 21?")
    with qtbot.waitSignal(composer.submitted) as sent:
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent.args == ["What is 34 + 21?"]
    assert composer.editor.toPlainText() == ""


def test_shift_enter_makes_a_new_line(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClicks(composer.editor, "one")
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        qtbot.keyClicks(composer.editor, "two")
    assert composer.editor.toPlainText() == "one\ntwo"


def test_enter_belongs_to_the_input_method_while_it_composes(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("に")
    QApplication.sendEvent(composer.editor, QInputMethodEvent("ほん", []))
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    QApplication.sendEvent(composer.editor, QInputMethodEvent("", []))
    with qtbot.waitSignal(composer.submitted):
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)


def test_nothing_is_sent_without_words(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text(" \n ")
    assert not composer.button.isEnabled()
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)


def test_while_busy_one_may_type_but_not_send_and_the_button_stops(composer: Composer, qtbot: QtBot) -> None:
    composer.set_busy(True)
    qtbot.keyClicks(composer.editor, "next")
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.editor.toPlainText() == "next"
    assert composer.button.accessibleName() == "Stop"
    with qtbot.waitSignal(composer.stop_requested):
        composer.button.click()


def test_the_editor_grows_with_its_lines_up_to_eight(composer: Composer) -> None:
    heights = []
    for lines in (1, 3, MAX_LINES, MAX_LINES + 5):
        composer.set_text("\n".join("x" * lines))
        heights.append(composer.editor.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


def test_pasted_text_is_plain(composer: Composer) -> None:
    data = QMimeData()
    data.setHtml('<b>bold</b><img src="file:///dev/zero">')
    data.setText("bold")
    composer.editor.insertFromMimeData(data)
    assert composer.editor.toPlainText() == "bold"


def test_a_very_long_run_can_be_pasted(composer: Composer) -> None:
    data = QMimeData()
    data.setText("x" * 1_000_000)
    composer.editor.insertFromMimeData(data)
    assert len(composer.editor.toPlainText()) == 1_000_000


def test_a_model_file_dropped_on_it_is_left_to_the_window(composer: Composer) -> None:
    data = QMimeData()
    data.setUrls([QUrl("file:///models/Model.GGUF")])
    assert not composer.editor.canInsertFromMimeData(data)


def test_the_draft_is_told_as_it_changes(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.draft_changed) as draft:
        qtbot.keyClicks(composer.editor, "h")
    assert draft.args == ["h"]


def test_the_meter_tells_how_much_of_the_context_is_used(composer: Composer) -> None:
    composer.meter.apply(412, 4096)
    width = composer.meter.sizeHint().width()
    assert composer.meter.text == "412 / 4,096"
    composer.meter.apply(4096, 4096)
    assert composer.meter.sizeHint().width() == width
