import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.engine.types import HibernatedChat
from app.inspector.panel import NO_MODEL, InspectorPanel
from app.inspector.slot_text import COLUMNS
from tests.fakes import model_info
from tests.inspector.reports import decoding, report


@pytest.fixture
def panel(qtbot: QtBot) -> InspectorPanel:
    panel = InspectorPanel()
    qtbot.addWidget(panel)
    panel.resize(600, 700)
    panel.set_model(model_info(n_ctx=4096, n_seq_max=4))
    panel.set_titles({"sums": "Sums", "notes": "Notes"})
    return panel


def row(panel: InspectorPanel, number: int) -> list[str]:
    return [panel.slots.index(number, column).data() for column in range(len(COLUMNS))]


def test_without_a_model_it_says_what_to_do(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.set_model(None)
    panel.show()
    assert any(
        label.text() == NO_MODEL and label.isVisible() for label in panel.findChildren(type(panel._step_head))
    )


def test_a_new_context_begins_with_one_empty_row_for_each_slot(panel: InspectorPanel) -> None:
    assert [row(panel, n)[2] for n in range(4)] == ["empty"] * 4


def test_rows_show_the_slots_of_the_newest_report(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    panel.apply(
        (report(1, decoding(0, "sums", 400)), report(2, decoding(0, "sums", 412), decoding(1, "notes")))
    )
    assert row(panel, 0)[:6] == ["0", "Sums", "decode", "0", "411", "412"]
    assert row(panel, 1)[1] == "Notes"
    assert row(panel, 2)[2] == "empty"


def test_a_chat_without_a_tab_is_called_closed(panel: InspectorPanel) -> None:
    panel.show()
    panel.apply((report(1, decoding(0, "gone")),))
    assert row(panel, 0)[1] == "closed chat"


def test_hidden_it_keeps_only_the_newest_report_and_draws_nothing(panel: InspectorPanel) -> None:
    for step in range(1000):
        panel.apply((report(step, decoding(0, "sums")),))
    assert row(panel, 0)[2] == "empty"
    assert not panel._pending
    assert not panel._pulse.isActive()
    assert panel.timeline.text == ""


def test_shown_again_it_shows_the_newest_at_once(panel: InspectorPanel) -> None:
    panel.apply((report(7, decoding(0, "sums")),))
    panel.show()
    assert row(panel, 0)[2] == "decode"


def test_reports_in_between_wait_for_the_next_tenth_of_a_second(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    panel.apply((report(1, decoding(0, "sums", 10)),))
    panel.apply((report(2, decoding(0, "sums", 11)),))
    assert row(panel, 0)[5] == "10"
    qtbot.waitUntil(lambda: row(panel, 0)[5] == "11")


def test_the_pulse_stops_when_no_reports_come(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    panel.apply((report(1, decoding(0, "sums")),))
    assert panel._pulse.isActive()
    qtbot.waitUntil(lambda: not panel._pulse.isActive())


def test_a_click_on_a_row_names_its_chat(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    panel.apply((report(1, decoding(1, "notes")),))
    place = panel.table.visualRect(panel.slots.index(1, 1)).center()
    with qtbot.waitSignal(panel.chat_activated) as clicked:
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == ["notes"]


def test_an_empty_row_leads_nowhere(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    place = panel.table.visualRect(panel.slots.index(3, 1)).center()
    with qtbot.assertNotEmitted(panel.chat_activated):
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_column_widths_hold_while_numbers_grow(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    widths = [panel.table.columnWidth(column) for column in range(len(COLUMNS))]
    panel.apply((report(1, decoding(0, "sums", 9)),))
    panel.apply((report(2, decoding(0, "sums", 4096)),))
    qtbot.waitUntil(lambda: row(panel, 0)[5] == "4,096")
    assert [panel.table.columnWidth(column) for column in range(len(COLUMNS))] == widths


def test_rare_events_are_kept_as_lines(panel: InspectorPanel) -> None:
    panel.show()
    panel.apply((report(1204, events=("closed chat evicted from slot 4",)),))
    assert panel.events.toPlainText() == "#1,204  closed chat evicted from slot 4"


def test_a_report_in_which_nothing_was_computed_leaves_the_last_step(
    panel: InspectorPanel, qtbot: QtBot
) -> None:
    panel.show()
    panel.apply((report(7, decoding(0, "sums")),))
    panel.apply((report(7),))
    qtbot.waitUntil(lambda: row(panel, 0)[2] == "empty")
    assert panel._step_head.text() == "#7 · 1 row"


def test_hibernated_chats_are_listed_and_take_room_only_then(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    assert not panel._hibernated_section.isVisible()
    asleep = (HibernatedChat("sums", 1210, 3 * 2**20, False), HibernatedChat("gone", 64, 2**20, True))
    panel.apply((report(1, decoding(0, "notes"), hibernated=asleep),))
    assert panel._hibernated_section.isVisible()
    assert panel._hibernated_head.text() == "2 chats · 3.0 MiB of RAM"
    assert panel.cells.text == "used 216, shared 196, free 3,684"  # what was saved has no cells
    panel.apply((report(2, decoding(0, "notes")),))
    qtbot.waitUntil(lambda: not panel._hibernated_section.isVisible())


def test_a_click_on_a_hibernated_chat_names_it(panel: InspectorPanel, qtbot: QtBot) -> None:
    panel.show()
    panel.apply((report(1, hibernated=(HibernatedChat("sums", 1210, 2**20, False),)),))
    table = panel.hibernated
    place = table.visualRect(table.chats.index(0, 0)).center()
    with qtbot.waitSignal(panel.chat_activated) as clicked:
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == ["sums"]


def test_another_model_starts_afresh(panel: InspectorPanel) -> None:
    panel.show()
    asleep = (HibernatedChat("notes", 64, 2**20, True),)
    panel.apply((report(1, decoding(0, "sums"), events=("evicted",), hibernated=asleep),))
    panel.set_model(model_info(n_seq_max=2))
    assert panel.slots.rowCount() == 2
    assert row(panel, 0)[2] == "empty"
    assert panel.events.toPlainText() == ""
    assert not panel._hibernated_section.isVisible()


def test_the_table_is_a_proper_model(panel: InspectorPanel) -> None:
    QAbstractItemModelTester(panel.slots, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    panel.show()
    panel.apply((report(1, decoding(0, "sums")),))
    panel.set_model(model_info(n_seq_max=7))
    panel.set_titles({})
