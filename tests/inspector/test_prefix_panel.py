from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.inspector.prefix_panel import COLUMNS, NOTHING, WHY, PrefixPanel
from app.inspector.recording import MAX_LEASES, Recording
from app.protocol.commands import DescribeTokens
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease, TokenTexts
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
        "20",
        "new chat",
    ]
    assert panel.requests.index(1, WHY).data() == "edited message"


def test_the_newest_request_is_shown_until_another_one_is_chosen(panel: PrefixPanel) -> None:
    leased(panel, EDITED)
    assert panel.head.text() == "An earlier message was edited · Sums"
    leased(panel, NEW)
    assert panel.head.text() == "A new chat · Notes"
    panel.table.selectRow(1)
    leased(panel, replace(NEW, request_id="r3"))
    assert panel.head.text() == "An earlier message was edited · Sums"


def test_a_sequence_chosen_elsewhere_shows_its_newest_request(panel: PrefixPanel) -> None:
    leased(panel, EDITED, replace(EDITED, num_tokens_to_compute=5), NEW)
    panel.select_sequence(1)
    assert "5 of 185 prompt tokens" in panel.reason.text()


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


def test_the_time_it_took_is_told_while_the_slot_still_knows_it(panel: PrefixPanel) -> None:
    slot = decoding(1, "sums")
    slot = replace(slot, usage=replace(slot.usage, prompt_s=0.42))
    panel.recording.append([replace(report(7, slot), leases=(EDITED,))])
    panel.draw()
    assert "88 of 268 prompt tokens computed in 0.4 s." in panel.reason.text()


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
