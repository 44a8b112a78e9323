from dataclasses import replace

import numpy as np

from app.inspector.recording import MAX_TITLES, Recording
from app.inspector.stalls import Stall
from app.protocol.events import EventKind, Told
from app.protocol.report import CellMap, ChatTokens, TokenizedText, TokenTexts
from tests.fakes import model_info
from tests.inspector.steps import busy_step, idle_step, span, step


def cell_map() -> CellMap:
    return CellMap(np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros((4, 1), np.uint64))


def test_the_last_steps_are_kept_and_counted() -> None:
    recording = Recording(max_steps=400)
    recording.append(busy_step(number) for number in range(1000))
    assert recording.num_seen == 1000
    assert [report.step for report in recording.steps] == list(range(600, 1000))
    assert recording.newest == busy_step(999)
    assert len(recording.columns) == 400


def test_each_reader_gets_what_is_new_to_it() -> None:
    recording = Recording(max_steps=300)
    recording.append(step(number) for number in range(350))
    assert [report.step for report in recording.new_since(347)] == [347, 348, 349]
    assert recording.new_since(350) == []
    assert len(recording.new_since(0)) == 300


def test_a_report_is_found_by_its_number_as_long_as_it_is_kept() -> None:
    recording = Recording(max_steps=300)
    recording.append(step(number) for number in range(350))
    assert recording.report_at(50) == step(50)
    assert recording.report_at(349) == step(349)
    assert recording.report_at(49) is None
    assert recording.report_at(350) is None


def test_another_model_begins_anew_but_the_count_goes_on() -> None:
    recording = Recording()
    recording.append([replace(step(1), answers=(TokenTexts((1,), (b"a",)),), cell_map=cell_map())])
    recording.start(model_info())
    assert (len(recording.steps), len(recording.columns), recording.num_seen) == (0, 0, 1)
    assert (recording.token_texts, recording.cell_map, recording.newest) == ({}, None, None)
    recording.append([step(1)])
    assert recording.new_since(1) == [step(1)]


def test_of_cell_maps_only_the_newest_is_kept() -> None:
    recording = Recording()
    first, second = cell_map(), cell_map()
    recording.append([replace(step(1), cell_map=first), replace(step(2), cell_map=second), step(3)])
    assert recording.cell_map is second
    assert list(recording.steps) == [step(1), step(2), step(3)]


def test_texts_of_tokens_are_known_once_they_were_told() -> None:
    recording = Recording()
    recording.append([replace(step(1), answers=(TokenTexts((4, 9), (b" cat", b"\xe2")),))])
    assert recording.token_texts == {4: b" cat", 9: b"\xe2"}


def test_a_title_stays_after_its_tab_is_closed() -> None:
    recording = Recording()
    recording.note_titles({"a": "Sums", "b": "Notes"})
    recording.note_titles({"b": "Release notes"})
    assert recording.titles == {"a": "Sums", "b": "Release notes"}


def test_titles_are_bounded_and_the_oldest_go_first() -> None:
    recording = Recording()
    recording.note_titles({str(number): "" for number in range(MAX_TITLES)})
    recording.note_titles({"0": "used again", "new": ""})
    assert len(recording.titles) == MAX_TITLES
    assert "0" in recording.titles
    assert "1" not in recording.titles


def test_causes_are_told_as_they_were_marked() -> None:
    """Also when the steps are packed by then, and where news came between them."""
    recording = Recording()
    saved = Told(EventKind.HIBERNATE, "hibernated sequence 1: 90 tokens", 1)
    for number in range(0, 600, 2):
        is_odd = number % 10 == 0
        recording.append(
            [
                step(number, span(0, 50 + number), span(1, 50)),
                idle_step(number),
                step(
                    number + 1,
                    span(0, 51 + number),
                    span(2, 0, 99, is_prefill=True),
                    decode_ms=80.0 if is_odd else 10.0,
                    schedule_ms=30.0 if number % 14 == 0 else 0.1,
                    events=(saved,),
                    return_code=-1 if number % 50 == 0 else 0,
                    started_at=0.0 if is_odd else 2000.0 + number,
                ),
            ]
        )
    stalls = recording.columns.figures["stall"]
    assert set(stalls) == {Stall.NONE, Stall.NO_WORK, Stall.HELD_UP, Stall.FAILED}
    for index, stall in enumerate(stalls):
        kinds = [cause.kind for cause in recording.causes_at(index)]
        assert max(kinds, default=Stall.NONE) == stall


def test_the_oldest_step_has_no_step_before_it() -> None:
    recording = Recording(max_steps=2)
    recording.append([step(1), step(2, started_at=2000.0), step(3, started_at=3000.0)])
    assert recording.causes_at(0) == []


def test_what_one_panel_asked_for_is_not_kept_with_the_step() -> None:
    recording = Recording()
    tokens = ChatTokens("chat 0", (1, 2), 1, (b"a",))
    text = TokenizedText(" cat", TokenTexts((4,), (b" cat",)))
    recording.append([replace(step(1), answers=(tokens, text))])
    assert (recording.chat_tokens, recording.tokenized) == (tokens, text)
    assert recording.token_texts[4] == b" cat"
    assert recording.newest is not None
    assert recording.newest.answers == ()
    recording.start(None)
    assert (recording.chat_tokens, recording.tokenized) == (None, None)
