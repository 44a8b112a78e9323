from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.look.table import LEFT, RIGHT, Column, RowModel
from app.look.tokens import current

Role = Qt.ItemDataRole
COLUMNS = (Column("name"), Column("size", "In bytes", is_number=True, is_muted=True))


class Files(RowModel):
    files: tuple[tuple[str, str], ...] = ()

    def num_rows(self) -> int:
        return len(self.files)

    def text_at(self, row: int, column: int) -> str:
        return self.files[row][column]


def test_a_column_says_how_its_texts_look(qtbot: QtBot) -> None:
    files = Files(COLUMNS)
    files.files = (("notes.txt", "9"),)
    name, size = (files.index(0, column) for column in range(2))
    assert (name.data(), size.data()) == ("notes.txt", "9")
    assert (name.data(Role.TextAlignmentRole), size.data(Role.TextAlignmentRole)) == (LEFT, RIGHT)
    assert (name.data(Role.ForegroundRole), size.data(Role.ForegroundRole)) == (None, QColor(current().muted))
    assert files.headerData(1, Qt.Orientation.Horizontal, Role.ToolTipRole) == "In bytes"


def test_only_rows_that_are_there_are_drawn_again(qtbot: QtBot) -> None:
    files = Files(COLUMNS)
    with qtbot.assertNotEmitted(files.dataChanged):
        files.redraw()
    files.files = (("a", "1"), ("b", "2"))
    with qtbot.waitSignal(files.dataChanged) as changed:
        files.redraw(1)
    first, last, _roles = changed.args
    assert ((first.row(), first.column()), (last.row(), last.column())) == ((0, 1), (1, 1))
