from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.inspector.prefix_panel import COLUMNS, COMPUTED, NOTHING, WHY, PrefixPanel
from app.inspector.recording import MAX_LEASES, Recording
from app.protocol.commands import DescribeTokens
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease, SlotSnapshot, SlotState, Span, TokenTexts
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

EDITED = Lease("r1", "sums", 1, 212, 180, 0, 0, 88, PrefixEnd.EDITED, (5, 6), (7,), (3, 4))
NEW = Lease("r2", "notes", 0, 0, 0, 0, 0, 20, PrefixEnd.NEW_CHAT)


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[PrefixPanel]:
    recording = Recording()
    recording.start(model_info(n_seq_max=4))
    panel = PrefixPanel(recording)
    qtbot.addWidget(panel)
    panel.resize(600, 320)
    panel.set_titles({"sums": "Sums", "notes": "Notes"})
    panel.show()
    yield panel


def leased(panel: PrefixPanel, *leases: Lease) -> None:
    panel.recording.append([replace(report(7, decoding(1, "sums")), leases=leases)])
    panel.draw()


def test_before_the_first_request_it_says_what_will_be_here(panel: PrefixPanel) -> None:
    assert panel.reason.text() == NOTHING


def test_each_request_is_a_row_the_newest_first(panel: PrefixPanel) -> None:
    QAbstractItemModelTester(panel.requests, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    leased(panel, EDITED)
    leased(panel, NEW)
    assert [panel.requests.index(0, column).data() for column in range(len(COLUMNS))] == [
        "7",
        "0",
        "Notes",
        "20",
        "0%",
        "0",
        "Nothing of this chat was cached",
    ]
    assert panel.requests.index(1, WHY).data() == "An earlier message was edited, removed or exchanged"


def test_the_newest_request_is_shown_until_another_one_is_chosen(panel: PrefixPanel) -> None:
    leased(panel, EDITED)
    assert panel.head.text() == "An earlier message was edited, removed or exchanged · Sums"
    leased(panel, NEW)
    assert panel.head.text() == "Nothing of this chat was cached · Notes"
    panel.table.selectRow(1)
    leased(panel, replace(NEW, request_id="r3"))
    assert panel.head.text() == "An earlier message was edited, removed or exchanged · Sums"


def test_a_sequence_chosen_elsewhere_shows_its_newest_request(panel: PrefixPanel) -> None:
    leased(panel, EDITED, replace(EDITED, num_tokens_to_compute=5), NEW)
    panel.select_sequence(1)
    assert "0 of 185 prompt tokens" in panel.reason.text()


def test_an_older_request_stays_shown_while_all_panels_mark_its_sequence(
    panel: PrefixPanel, qtbot: QtBot
) -> None:
    panel.sequence_selected.connect(panel.select_sequence)  # as every panel is told
    leased(panel, EDITED, replace(EDITED, prefix_end=PrefixEnd.SYSTEM), NEW)
    panel.table.setFocus()
    place = panel.table.visualRect(panel.requests.index(2, WHY)).center()
    with qtbot.waitSignal(panel.sequence_selected):
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.head.text() == "An earlier message was edited, removed or exchanged · Sums"
    assert panel.table.currentIndex().row() == panel.table.selectionModel().selectedRows()[0].row() == 2
    leased(panel, replace(NEW, request_id="r3"))
    assert panel.table.currentIndex().row() == 3


def test_the_tokens_at_the_parting_are_asked_for_once_and_then_shown(
    panel: PrefixPanel, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(panel.commanded) as asked:
        leased(panel, EDITED)
    assert asked.args == [DescribeTokens((3, 4, 7, 5, 6))]
    assert panel.parting.text == "cached: 3 4 | 7\nwanted: 3 4 | 5 6"
    with qtbot.assertNotEmitted(panel.commanded):
        panel.draw()
    texts = TokenTexts((3, 4, 5, 6, 7), (b"The", b" ", b"blue", b".", b"red"))
    panel.recording.append([replace(report(8), answers=(texts,))])
    panel.draw()
    assert panel.parting.text == "cached: The ␣ | red\nwanted: The ␣ | blue ."


def test_a_hidden_panel_asks_for_nothing(panel: PrefixPanel, qtbot: QtBot) -> None:
    leased(panel, NEW)
    panel.hide()
    panel.recording.append([replace(report(9), leases=(EDITED,))])
    with qtbot.assertNotEmitted(panel.commanded):
        panel.select_sequence(1)
    with qtbot.waitSignal(panel.commanded):
        panel.show()


def computed(panel: PrefixPanel, num_rows: int, *slots: SlotSnapshot) -> None:
    """A step that computes so many rows for the edited chat."""
    rows = Span(1, "sums", EDITED.request_id, 180, num_rows, False, 0, None, is_prefill=True)
    panel.recording.append([replace(report(8, *slots, decode_ms=210.0), spans=(rows,))])
    panel.draw()


def test_what_was_computed_is_told_as_it_grows_and_in_which_time(panel: PrefixPanel) -> None:
    leased(panel, EDITED)
    running = replace(decoding(1, "sums"), state=SlotState.PREFILL, request_id=EDITED.request_id)
    computed(panel, 36, running)
    assert "36 of 268 prompt tokens computed in 0.2 s." in panel.reason.text()
    assert "broken off" not in panel.reason.text()
    assert panel.requests.index(0, COMPUTED).data() == "36"
    computed(panel, 60)
    assert "88 of 268 prompt tokens computed in 0.4 s." in panel.reason.text()


def test_what_was_broken_off_is_told_with_what_was_computed(panel: PrefixPanel) -> None:
    leased(panel, EDITED)
    computed(panel, 36)
    assert "36 of 268 prompt tokens computed in 0.2 s. It was broken off before the other 52 tokens." in (
        panel.reason.text()
    )
    assert panel.sources.text == "reused 180, computed 36, not computed 52"


def test_a_prompt_that_was_not_sent_is_told_as_read_ahead(panel: PrefixPanel) -> None:
    leased(panel, replace(NEW, is_ahead=True))
    assert panel.requests.index(0, WHY).data() == "Read ahead"
    assert panel.head.text() == "Read ahead · Notes"
    assert "was computed before it was sent. Nothing of this chat was cached." in panel.reason.text()
    assert panel.requests.index(0, WHY).data(Qt.ItemDataRole.ToolTipRole) == "Read ahead"


def test_requests_are_bounded(panel: PrefixPanel) -> None:
    for _ in range(3):
        leased(panel, *[NEW] * (MAX_LEASES // 2))
    assert panel.requests.rowCount() == MAX_LEASES


def test_another_model_starts_afresh(panel: PrefixPanel) -> None:
    leased(panel, EDITED)
    panel.recording.start(None)
    panel.reset()
    assert panel.requests.rowCount() == 0
    assert panel.reason.text() == NOTHING
