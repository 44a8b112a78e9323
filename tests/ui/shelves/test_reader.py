"""The reader shows the passage that was cited, wherever it is and whatever is in the text."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.ui.shelves.reader import Reader


@pytest.fixture
def reader(qtbot: QtBot) -> Reader:
    reader = Reader()
    qtbot.addWidget(reader)
    reader.resize(420, 300)
    return reader


def test_the_passage_is_marked_and_in_sight(reader: Reader, qtbot: QtBot) -> None:
    text = "\n".join(f"Line {number} 😀" for number in range(1, 200))
    start = text.index("Line 150")
    reader.show_file("docs/a.txt", text, start, start + len("Line 150"))
    assert reader.marked == "Line 150"
    (selection,) = reader.text.extraSelections()
    assert selection.cursor.selectedText() == "Line 150"
    assert reader.note.text() == "Line 150"
    qtbot.waitUntil(lambda: 0 < reader.text.verticalScrollBar().value() <= 149)


def test_a_file_without_a_passage_begins_at_its_top(reader: Reader) -> None:
    reader.show_file("a.txt", "text")
    assert reader.marked == ""
    assert reader.text.extraSelections() == []


def test_escape_closes_it(reader: Reader, qtbot: QtBot) -> None:
    reader.show_file("a.txt", "text")
    with qtbot.waitSignal(reader.closed):
        qtbot.keyClick(reader, Qt.Key.Key_Escape)
    assert reader.isHidden()
