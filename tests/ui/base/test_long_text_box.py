from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.ui.base.long_text_box import MAX_CHARS, PART_BYTES, LongTextBox
from app.ui.base.setting import Setting

LINE = "".join(f"sentence {number}. " for number in range(2_000))  # some 28,000 characters
MOVE = QTextCursor.MoveOperation
UNDO = (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)


class Box(LongTextBox):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(Setting("system_prompt", "", ""), parent)
        self.chosen: list[str] = []
        self.value_chosen.connect(self.chosen.append)

    def paste(self, text: str) -> None:
        data = QMimeData()
        data.setText(text)
        self.insertFromMimeData(data)


@pytest.fixture
def box(qtbot: QtBot) -> Iterator[Box]:
    ground = QWidget()
    qtbot.addWidget(ground)
    box = Box(ground)
    box.resize(400, box.height())
    ground.show()
    yield box


def all_parts(box: Box) -> list[str]:
    """From the one that is shown to the last."""
    parts = [box.toPlainText()]
    while box.stepper.next.isEnabled():
        box.stepper.next.click()
        parts.append(box.toPlainText())
    return parts


@pytest.mark.parametrize(
    ("text", "num_chars"),
    [
        (LINE, PART_BYTES),
        ("word\n" + "\u4e00" * 30_000, PART_BYTES // 3 + 5),
        ("abcdefghij\n" * 12_000, PART_BYTES),
        ("\n" * 60_000, 1_000),
    ],
    ids=["a line", "a line of Chinese", "many characters", "many lines"],
)
def test_a_text_that_is_too_long_to_be_laid_out_is_shown_in_parts(
    box: Box, text: str, num_chars: int
) -> None:
    box.show_value(text)
    parts = all_parts(box)
    assert "".join(parts) == text
    assert max(map(len, parts)) <= num_chars
    assert box.stepper.count.text() == f"Part {len(parts)} of {len(parts)}"
    assert box.chosen == []


def test_a_long_text_of_short_lines_is_shown_as_a_whole(box: Box) -> None:
    text = "a line of a prompt as people write it\n" * 2_000
    box.show_value(text)
    assert box.toPlainText() == text
    assert "stepper" not in vars(box)


def test_what_is_typed_in_one_part_leaves_the_others_as_they_are(box: Box, qtbot: QtBot) -> None:
    box.show_value(LINE)
    box.stepper.next.click()
    begin = LINE.index(box.toPlainText())
    qtbot.keyClicks(box, "Hi")
    expected = LINE[:begin] + "Hi" + LINE[begin:]
    assert box.chosen[-1] == expected
    box.stepper.previous.click()
    assert "".join(all_parts(box)) == expected
    box.show_value("Be brief.")
    assert box.toPlainText() == "Be brief."
    assert box.stepper.isHidden()


@pytest.mark.parametrize("text", [LINE, "\u4e00\U0001f600" * 9_000, "a" * 50_000])
def test_a_long_text_is_kept_as_it_is_pasted_and_the_cursor_is_behind_it(box: Box, text: str) -> None:
    box.show_value("\U0001f600 Before, after.")
    cursor = box.textCursor()
    cursor.setPosition(len("\U0001f600 Before,") + 1)  # which Qt counts twice
    box.setTextCursor(cursor)
    box.paste(text)
    assert box.chosen == [f"\U0001f600 Before,{text} after."]
    box.insertPlainText("|")
    assert box.chosen[-1] == f"\U0001f600 Before,{text}| after."


def test_line_ends_of_windows_become_ours(box: Box) -> None:
    box.paste("one\r\ntwo\r" + LINE)
    assert box.chosen == ["one\ntwo\n" + LINE]


def test_spaces_that_do_not_break_stay(box: Box) -> None:
    box.paste("10\u00a0km")
    assert box.chosen == ["10\u00a0km"]


@pytest.mark.parametrize("text", ["Be brief.", LINE.upper()], ids=["short", "long"])
def test_a_paste_over_all_that_is_shown_replaces_the_other_parts_too(
    box: Box, qtbot: QtBot, text: str
) -> None:
    box.show_value(LINE)
    box.selectAll()
    box.paste(text)
    assert box.chosen == [text]
    qtbot.keyClick(box, *UNDO)
    assert box.chosen == [text, LINE]
    assert box.toPlainText() == LINE[: len(box.toPlainText())]


def test_who_deletes_all_that_is_shown_means_the_other_parts_too_and_can_undo_it(
    box: Box, qtbot: QtBot
) -> None:
    box.show_value(LINE)
    box.selectAll()
    qtbot.keyClick(box, Qt.Key.Key_Delete)
    assert box.chosen == [""]
    qtbot.keyClicks(box, "Hi")
    assert box.chosen[-1] == "Hi"
    for _ in range(3):
        qtbot.keyClick(box, *UNDO)
    assert box.chosen[-1] == LINE


@pytest.mark.parametrize("kept", ["first", "last"])
def test_a_letter_that_is_left_keeps_the_other_parts(box: Box, qtbot: QtBot, kept: str) -> None:
    text = "a line of some length\n" * 6_000
    box.show_value(text)
    num_shown = len(box.toPlainText())
    box.moveCursor(MOVE.Start if kept == "last" else MOVE.End)
    box.moveCursor(MOVE.End if kept == "last" else MOVE.Start, QTextCursor.MoveMode.KeepAnchor)
    box.moveCursor(MOVE.Left if kept == "last" else MOVE.Right, QTextCursor.MoveMode.KeepAnchor)
    qtbot.keyClick(box, Qt.Key.Key_Delete)
    rest = text[num_shown:]
    assert box.chosen == [text[num_shown - 1] + rest if kept == "last" else text[0] + rest]


def test_what_is_longer_than_any_prompt_is_not_pasted(box: Box) -> None:
    box.paste("ab " * (MAX_CHARS // 3 + 1))
    assert box.chosen == []
    assert box.toPlainText() == ""


def test_undo_of_another_text_is_not_offered(box: Box, qtbot: QtBot) -> None:
    box.paste(LINE)
    box.show_value("Another chat.")
    qtbot.keyClick(box, *UNDO)
    assert box.toPlainText() == "Another chat."


@given(st.text(alphabet="ab \n\u4e00\U0001f600", max_size=40), st.integers(1, 3_000), st.integers(0, 60_000))
def test_parts_together_are_the_text_wherever_one_types(
    qapp: QApplication, piece: str, times: int, at: int
) -> None:
    ground = QWidget()
    box = Box(ground)
    text = piece * times
    place = min(at, len(text))
    box.show_value(text)
    box._show(text, place)
    box.insertPlainText("|")
    assert box.chosen == [text[:place] + "|" + text[place:]]
    ground.deleteLater()


def test_a_text_that_never_fits_has_its_scroll_bar_before_it_is_laid_out(box: Box, qtbot: QtBot) -> None:
    widths = set()
    box.updateRequest.connect(lambda *_: widths.add(box.viewport().width()))
    full = box.viewport().width()
    box.show_value(LINE[:3_000])
    QApplication.processEvents()
    assert len(widths) == 1
    assert widths.pop() < full
    box.selectAll()
    box.paste("short")
    QApplication.processEvents()
    assert box.viewport().width() == full
