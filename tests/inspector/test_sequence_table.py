from collections.abc import Iterator

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.inspector.sequence_rows import COLUMNS, SEQ, TAB, SequenceRow
from app.inspector.sequence_table import SequenceModel, SequenceTable
from app.protocol.report import SlotSnapshot, SlotState, WaitingRequest, WaitReason
from tests.inspector.reports import decoding

HEADS = [column.head for column in COLUMNS]
OWN, POS_MIN = HEADS.index("cells\nown"), HEADS.index("pos\nmin")


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[SequenceTable]:
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.resize(900, 300)
    table = SequenceTable(frame)
    table.resize(900, 300)
    frame.show()
    yield table


def slots(*num_cells: int) -> tuple[SequenceRow, ...]:
    return tuple(
        SequenceRow(f"chat {seq_id}", slot=decoding(seq_id, f"chat {seq_id}", number))
        for seq_id, number in enumerate(num_cells)
    )


def waits(chat_id: str) -> SequenceRow:
    return SequenceRow(chat_id, waiting=WaitingRequest("r", chat_id, WaitReason.QUEUED, 9, 0, 0.1))


def keys(model: SequenceModel) -> list[str]:
    return [model.row_at(number).key for number in range(model.rowCount())]


def changed_rows(model: SequenceModel, rows: tuple[SequenceRow, ...]) -> list[int]:
    seen: list[int] = []

    def note(first: QModelIndex, last: QModelIndex) -> None:
        assert first.row() == last.row()
        seen.append(first.row())

    model.dataChanged.connect(note)
    model.apply(rows)
    model.dataChanged.disconnect(note)
    return seen


def test_it_is_a_proper_model(table: SequenceTable) -> None:
    model = table.rows
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, table)
    model.apply(slots(300, 200, 400))
    model.sort(OWN, Qt.SortOrder.DescendingOrder)
    model.apply((*slots(300, 500), waits("letter")))
    model.apply((waits("letter"), *slots(300)))
    model.apply(())


def test_only_rows_that_have_changed_are_painted_again(table: SequenceTable) -> None:
    table.rows.apply(slots(300, 200))
    assert changed_rows(table.rows, slots(300, 200)) == []
    assert changed_rows(table.rows, slots(300, 201)) == [1]


def test_a_mark_that_changes_is_painted_again(table: SequenceTable) -> None:
    table.rows.apply((SequenceRow(slot=SlotSnapshot(0, SlotState.WARM, "sums")),))
    pinned = SequenceRow(slot=SlotSnapshot(0, SlotState.WARM, "sums", is_pinned=True))
    assert changed_rows(table.rows, (pinned,)) == [0]


def test_rows_equal_in_the_sorted_column_stay_in_their_order(table: SequenceTable) -> None:
    table.rows.apply(slots(300, 300, 200, 300))
    table.sortByColumn(OWN, Qt.SortOrder.DescendingOrder)
    assert keys(table.rows) == ["slot 0", "slot 1", "slot 3", "slot 2"]
    table.sortByColumn(OWN, Qt.SortOrder.AscendingOrder)
    assert keys(table.rows) == ["slot 2", "slot 0", "slot 1", "slot 3"]


def test_sorted_by_sequence_who_has_none_comes_last(table: SequenceTable) -> None:
    table.rows.apply((*slots(300, 200), waits("letter")))
    assert keys(table.rows) == ["slot 0", "slot 1", "request r"]


def test_the_chosen_row_stays_chosen_while_rows_move(table: SequenceTable) -> None:
    table.sortByColumn(OWN, Qt.SortOrder.DescendingOrder)
    table.apply(slots(300, 200, 100))
    table.choose("slot 2")
    assert table.currentIndex().row() == 2
    table.apply(slots(300, 200, 900))
    assert table.currentIndex().row() == 0
    assert [index.row() for index in table.selectionModel().selectedRows()] == [0]
    assert table.chosen_row
    assert table.chosen_row.key == "slot 2"


def test_a_chosen_request_is_followed_into_its_slot(table: SequenceTable, qtbot: QtBot) -> None:
    table.apply((*slots(300), waits("chat 1")))
    table.choose("request r")
    with qtbot.waitSignal(table.chosen) as chosen:
        table.apply(slots(300, 20))
    assert chosen.args[0].key == "slot 1"
    assert table.currentIndex().row() == 1


def test_a_chosen_row_that_is_gone_leaves_nothing_chosen(table: SequenceTable, qtbot: QtBot) -> None:
    table.apply((*slots(300), waits("letter")))
    table.choose("request r")
    with qtbot.waitSignal(table.chosen) as chosen:
        table.apply(slots(300))
    assert chosen.args == [None]
    assert not table.selectionModel().hasSelection()


def test_a_click_on_a_title_and_enter_on_a_row_lead_to_the_chat(table: SequenceTable, qtbot: QtBot) -> None:
    table.apply(slots(300, 200))
    place = table.visualRect(table.rows.index(1, TAB)).center()
    with qtbot.waitSignal(table.chat_activated) as clicked:
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == ["chat 1"]
    table.choose("slot 0")
    with qtbot.waitSignal(table.chat_activated) as entered:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert entered.args == ["chat 0"]


def test_the_focus_alone_chooses_nothing(table: SequenceTable, qtbot: QtBot) -> None:
    table.apply(slots(300, 200))
    table.activateWindow()
    with qtbot.assertNotEmitted(table.chosen):
        table.setFocus()
        qtbot.waitUntil(table.hasFocus)
    with qtbot.waitSignal(table.chosen) as chosen:
        qtbot.keyClick(table, Qt.Key.Key_Down)
    assert chosen.args[0].key == "slot 0"


def test_a_click_beside_the_title_only_chooses_the_row(table: SequenceTable, qtbot: QtBot) -> None:
    table.apply(slots(300, 200))
    place = table.visualRect(table.rows.index(1, OWN)).center()
    with qtbot.assertNotEmitted(table.chat_activated):
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert table.chosen_row
    assert table.chosen_row.key == "slot 1"


def test_an_empty_slot_leads_nowhere(table: SequenceTable, qtbot: QtBot) -> None:
    table.apply((SequenceRow(slot=SlotSnapshot(0, SlotState.EMPTY)),))
    place = table.visualRect(table.rows.index(0, TAB)).center()
    with qtbot.assertNotEmitted(table.chat_activated):
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_column_widths_hold_while_numbers_grow(table: SequenceTable) -> None:
    table.fit_columns(131_072)
    widths = [table.columnWidth(number) for number in range(len(COLUMNS))]
    table.apply(slots(9))
    table.apply(slots(131_072))
    assert [table.columnWidth(number) for number in range(len(COLUMNS))] == widths
    assert table.fontMetrics().horizontalAdvance("131,072") < widths[OWN]


def test_columns_are_hidden_and_moved_and_that_is_remembered(table: SequenceTable, qtbot: QtBot) -> None:
    menu = table.column_menu()
    hide = next(action for action in menu.actions() if action.text() == "pos min")
    hide.trigger()
    menu.deleteLater()
    table.horizontalHeader().moveSection(table.horizontalHeader().visualIndex(OWN), SEQ)
    assert table.isColumnHidden(POS_MIN)

    other = SequenceTable(table.parentWidget())
    other.restore_columns(table.save_columns())
    assert other.isColumnHidden(POS_MIN)
    assert other.horizontalHeader().visualIndex(OWN) == SEQ
