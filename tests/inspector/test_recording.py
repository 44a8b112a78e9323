from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.inspector.recording import (
    LAST_TEXT,
    MAX_TITLES,
    NUM_UNPACKED,
    Journal,
    JournalEntry,
    PackedSteps,
    Recording,
)
from app.inspector.stalls import Stall
from app.protocol.events import EventKind, Told
from app.protocol.output import FinishReason, PrefixEnd, SampledToken, TokenLogprob
from app.protocol.report import (
    CellCheck,
    CellMap,
    ChatTokens,
    HibernatedChat,
    Lease,
    PauseState,
    StepReport,
    TokenizedText,
    TokenTexts,
)
from tests.fakes import model_info
from tests.inspector.reports import report
from tests.inspector.steps import busy_step, idle_step, span, step, waiting

RARE = replace(
    busy_step(3),
    outputs=(
        replace(
            busy_step(3).outputs[0],
            finish_reason=FinishReason.STOP,
            notice="cut",
            logprobs=(SampledToken(TokenLogprob(7, b"\xe2", float("-inf"), 0.0), ()),),
        ),
    ),
    events=(Told(EventKind.HIBERNATE, "hibernated", 2, "chat 2"),),
    leases=(Lease("request 1", "chat 1", 1, 5, 4, 0, 0, 9, PrefixEnd.EDITED, (1, 2), (1, 3)),),
    hibernated=(HibernatedChat("chat 9", 400, 1 << 20, True),),
    waiting=(waiting(),),
    last_check=CellCheck(3, 8192, "cell 4: ours 3, theirs 5"),
    pause=PauseState("", (span(0, 9),)),
    answers=(TokenTexts((7,), (b"\xe2",)),),
    return_code=1,
)


def cell_map() -> CellMap:
    return CellMap(np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros((4, 1), np.uint64))


def test_the_last_steps_are_kept_and_counted() -> None:
    recording = Recording(max_steps=400)
    recording.append(busy_step(number) for number in range(1000))
    assert recording.num_seen == 1000
    assert [report.step for report in recording.steps] == list(range(600, 1000))
    assert recording.newest == busy_step(999)
    assert len(recording.columns) == recording.num_steps == 400
    recording.append([idle_step(999)] * 100)
    assert (len(recording.columns), recording.num_steps, len(recording.steps)) == (400, 300, 400)


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


def test_a_reader_gets_what_is_new_to_it() -> None:
    journal: Journal[str] = Journal(3)
    for number, word in enumerate("abcde"):
        journal.append(JournalEntry(number, 0.0, word))
    assert [entry.what for entry in journal.new_since(3)] == ["d", "e"]
    assert [entry.what for entry in journal.new_since(0)] == ["c", "d", "e"]  # the first two are forgotten
    assert journal.new_since(5) == []


def test_events_keep_the_step_they_happened_in() -> None:
    recording = Recording()
    recording.append([report(7, events=(Told(EventKind.FORK, "forked", 1, "sums"),))])
    (entry,) = recording.events.entries
    assert (entry.step, entry.what.text) == (7, "forked")


def test_the_first_disagreement_is_kept() -> None:
    recording = Recording()
    first = CellCheck(3, 100, "one more")
    for check in (CellCheck(1, 100), first, CellCheck(5, 100, "two more"), CellCheck(9, 100)):
        recording.append([replace(report(check.step), last_check=check)])
    assert recording.disagreement == first


def test_a_report_comes_back_as_it_was() -> None:
    reports = [busy_step(1), step(2), RARE, idle_step(4)] * NUM_UNPACKED
    kept = PackedSteps(1_000)
    for one in reports:
        kept.append(one)
    assert list(kept) == reports
    assert type(kept[2].slots[0].state) is type(RARE.slots[0].state)
    assert kept[2].outputs[0].finish_reason is FinishReason.STOP


@given(st.integers(0, NUM_UNPACKED), st.integers(1, 2 * NUM_UNPACKED))
def test_the_newest_steps_are_kept_whatever_is_packed(more: int, max_steps: int) -> None:
    all_steps = _cheap_steps(NUM_UNPACKED + more)
    kept = PackedSteps(max_steps)
    for one in all_steps:
        kept.append(one)
    expected = all_steps[-max_steps:]
    assert len(kept) == len(expected)
    assert list(kept) == expected
    assert list(kept.copy()) == expected
    assert (kept[0], kept[-1], kept[len(expected) // 2]) == (
        expected[0],
        expected[-1],
        expected[len(expected) // 2],
    )
    for number in (0, 1, len(expected) // 2, len(expected)):
        assert kept.newest(number) == expected[len(expected) - number :]


def test_what_was_kept_at_one_moment_stays_while_steps_go_on() -> None:
    kept = PackedSteps(NUM_UNPACKED)
    for one in _cheap_steps(NUM_UNPACKED):
        kept.append(one)
    before = kept.copy()
    for one in _cheap_steps(NUM_UNPACKED):
        kept.append(one)
    assert list(before) == _cheap_steps(NUM_UNPACKED)
    assert len(before) == NUM_UNPACKED


def test_there_is_nothing_beyond_the_ends() -> None:
    kept = PackedSteps(10)
    kept.append(step(1))
    assert kept[0] == step(1)
    for place in (1, -2):
        with pytest.raises(IndexError):
            kept[place]


def _cheap_steps(number: int) -> list[StepReport]:
    return [step(one) for one in range(number)]


def test_tokens_without_a_text_are_asked_for_once() -> None:
    recording = Recording()
    recording.token_texts[7] = b" cat"
    assert recording.unknown_tokens([9, 7, 9, LAST_TEXT - 1, 8]) == (9, 8)
    assert recording.unknown_tokens([8, 10]) == (10,)
    recording.start(model_info())
    assert recording.unknown_tokens([8]) == (8,)
