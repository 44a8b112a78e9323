from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.engine.types import HibernatedChat
from app.inspector.hibernated_table import MAX_ROWS, ROW_HEIGHT, HibernatedTable, row_texts, total_text

IN_RAM = HibernatedChat("sums", 1210, 141 * 2**20, is_on_disk=False)
ON_DISK = HibernatedChat("notes", 640, 75 * 2**20 // 2, is_on_disk=True)


def test_a_row_tells_title_length_size_and_place() -> None:
    assert row_texts(IN_RAM, "Sums") == ("Sums", "1,210 tokens", "141.0 MiB", "RAM")
    assert row_texts(ON_DISK, "Notes") == ("Notes", "640 tokens", "37.5 MiB", "disk")


def test_the_head_tells_how_many_and_what_they_take_of_the_memory() -> None:
    assert total_text((IN_RAM, ON_DISK)) == "2 chats · 141.0 MiB of RAM"
    assert total_text((ON_DISK,)) == "1 chat · 0.0 MiB of RAM"
    assert total_text(()) == ""


def test_it_is_a_proper_model(qtbot: QtBot) -> None:
    table = HibernatedTable(None)  # type: ignore[arg-type]
    qtbot.addWidget(table)
    QAbstractItemModelTester(table.chats, QAbstractItemModelTester.FailureReportingMode.Fatal, table)
    table.apply((IN_RAM, ON_DISK))
    table.set_titles({"sums": "Sums"})
    assert [table.chats.index(row, 0).data() for row in range(2)] == ["Sums", "closed chat"]
    table.apply((ON_DISK,))
    assert table.chats.rowCount() == 1


def test_more_chats_than_fit_are_scrolled_to(qtbot: QtBot) -> None:
    table = HibernatedTable(None)  # type: ignore[arg-type]
    qtbot.addWidget(table)
    table.apply((IN_RAM,) * 100)
    assert table.height() <= MAX_ROWS * ROW_HEIGHT + 4
