import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.inspector.chat_names import PROBE_ID, READING_ID
from app.inspector.costs_panel import NOTHING, CostsPanel
from app.inspector.recording import Recording
from app.protocol.commands import DescribeTokens
from app.protocol.report import Span, TokenTexts
from tests.fakes import model_info
from tests.inspector.reports import decoding, report
from tests.inspector.test_session_costs import LONG, PROGRAM, TEXTS, leased, tool

FIRST = replace(leased(("S", "", LONG), tool("read"), ("U", "", "Hello")).lease, request_id="r1")
AGAIN = replace(FIRST, request_id="r2", num_reused_tokens=len(FIRST.prompt_ids) - 1, num_tokens_to_compute=1)
OWN = replace(FIRST, chat_id="notes", caller="", request_id="own")


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[CostsPanel]:
    recording = Recording()
    recording.start(model_info(n_seq_max=4))
    panel = CostsPanel(recording)
    qtbot.addWidget(panel)
    panel.set_titles({"notes": "Notes"})
    panel.resize(600, 400)
    panel.show()
    yield panel


def asked(panel: CostsPanel, *leases) -> None:
    texts = TokenTexts(tuple(TEXTS), tuple(TEXTS.values()))
    spans = tuple(
        Span(0, one.chat_id, one.request_id, 0, one.num_tokens_to_compute, True, 0, None) for one in leases
    )
    step = replace(report(7, decoding(0, "api-1")), leases=leases, spans=spans, answers=(texts,))
    panel.recording.append([step])
    panel.draw()


def test_before_the_first_request_it_says_what_will_be_here(panel: CostsPanel) -> None:
    assert panel.message.text() == NOTHING
    assert panel.export.isHidden()


def test_programs_and_chats_have_a_list_of_requests_each(panel: CostsPanel) -> None:
    QAbstractItemModelTester(panel.requests, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    asked(panel, FIRST)
    asked(panel, replace(OWN, seq_id=1))
    assert [panel.sessions.label, panel.requests.num_rows()] == [PROGRAM, 1]
    panel.select_sequence(1)
    assert [panel.sessions.label, panel.requests.num_rows()] == ["Notes", 1]
    assert panel.message.isHidden()


def test_the_chat_in_front_is_chosen_first_then_what_was_chosen_last(panel: CostsPanel) -> None:
    own = replace(OWN, seq_id=1)
    panel.front = lambda: "notes"
    asked(panel, FIRST, own)
    assert panel.sessions.label == "Notes"
    panel.select_sequence(0)
    assert panel.sessions.label == PROGRAM
    panel.show_recording(Recording())  # another engine
    asked(panel, own)
    assert panel.sessions.label == "Notes"
    panel.show_recording(Recording())
    asked(panel, own, FIRST)
    assert panel.sessions.label == PROGRAM


@pytest.mark.parametrize("start", [READING_ID, PROBE_ID])
def test_what_the_inspector_computes_itself_is_no_request(panel: CostsPanel, start: str) -> None:
    asked(panel, replace(OWN, chat_id=f"{start}1"), replace(OWN, is_ahead=True))
    assert (panel.sessions.value, panel.requests.num_rows()) == (None, 0)


def test_the_newest_request_is_chosen_and_its_sections_are_shown(panel: CostsPanel) -> None:
    asked(panel, FIRST)
    asked(panel, AGAIN)
    assert panel.table.currentIndex().row() == 1
    rows = [[panel.parts.index(row, column).data() for column in range(4)] for row in range(3)]
    assert rows[0] == ["system prompt", f"{len(LONG):,}", "0", ""]
    assert rows[1] == ["tool", f"{len(tool('read')[2]):,}", "0", "read"]
    panel.table.selectRow(0)
    asked(panel, AGAIN)
    assert panel.table.currentIndex().row() == 0


def test_a_tool_that_answers_did_not_call_is_marked(panel: CostsPanel) -> None:
    said = ("A", "", "No."), ("U", "", "Why?"), ("A", "", "So.")
    asked(panel, leased(("S", "", LONG), tool("read"), ("U", "", "Hello"), *said).lease)
    assert panel.parts.index(1, 3).data() == "read, never called"
    assert "read: described in" in panel.advice.text()


def test_texts_are_asked_for_once(panel: CostsPanel) -> None:
    commands: list[object] = []
    panel.commanded.connect(commands.append)
    panel.recording.append([replace(report(7), leases=(FIRST,))])
    panel.draw()
    panel.recording.append([replace(report(8), leases=(OWN,))])
    panel.draw()
    (command,) = commands
    assert isinstance(command, DescribeTokens)
    assert set(command.token_ids) == set(FIRST.prompt_ids)


def test_what_is_computed_meanwhile_is_shown(panel: CostsPanel) -> None:
    step = replace(report(7), leases=(FIRST,))
    panel.recording.append([step])
    panel.draw()
    with_span = Span(0, FIRST.chat_id, FIRST.request_id, 0, 5, False, 0, None)
    panel.recording.append([replace(report(8), spans=(with_span,))])
    panel.draw()
    assert panel.requests.index(0, 3).data() == "5"


async def test_all_of_it_is_saved_as_json(panel: CostsPanel, tmp_path: Path) -> None:
    asked(panel, FIRST)
    await panel.save(tmp_path / "costs.json")
    found = json.loads((tmp_path / "costs.json").read_text())
    assert (found["session"], len(found["requests"])) == (PROGRAM, 1)
    await panel.save(tmp_path / "none" / "costs.json")
    assert "could not be written" in panel.advice.text()


def test_another_recording_is_shown_from_its_beginning(panel: CostsPanel) -> None:
    asked(panel, FIRST)
    panel.show_recording(Recording(name="a file"))
    assert (panel.requests.num_rows(), panel.message.text()) == (0, NOTHING)
