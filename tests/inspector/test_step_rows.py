from dataclasses import replace

import pytest
from PySide6.QtTest import QAbstractItemModelTester

from app.inspector.recording import shown
from app.inspector.step_rows import COLUMNS, StepRows
from tests.inspector.steps import busy_step, span, step

TEXTS = {100: b" cat", 110: b"\xe2\x80"}


@pytest.fixture
def rows() -> StepRows:
    rows = StepRows()
    rows.apply(step(1, span(0, 50), span(2, 10, 3, is_prefill=True)), TEXTS, {"chat 2": "Notes"})
    return rows


def texts(rows: StepRows, row: int) -> list[str]:
    return [rows.index(row, column).data() for column in range(len(COLUMNS))]


def test_every_row_of_the_batch_tells_what_was_computed_where_and_for_whom(rows: StepRows) -> None:
    assert rows.rowCount() == 4
    assert texts(rows, 0) == ["0", "100", "␣cat", "50", "0", "no tab", "decode", "wanted"]
    assert texts(rows, 1) == ["1", "110", "\\xe2\\x80", "10", "2", "Notes", "prefill", ""]
    assert texts(rows, 3) == ["3", "112", "", "12", "2", "Notes", "prefill", "wanted"]
    assert [rows.seq_at(row) for row in range(4)] == [0, 2, 2, 2]


def test_guesses_are_told_from_the_answers_own_row_and_by_whether_they_were_right(rows: StepRows) -> None:
    rows.apply(step(2, replace(span(0, 50, 4), num_drafted=3, num_kept=1)), TEXTS, {})
    assert [texts(rows, row)[-2:] for row in range(4)] == [
        ["decode", "wanted"],
        ["draft, accepted", "wanted"],
        ["drafted", "wanted"],
        ["drafted", "wanted"],
    ]


def test_rows_of_a_step_without_tokens_have_their_places(rows: StepRows) -> None:
    rows.apply(step(2, replace(span(0, 50), token_bytes=b"")), TEXTS, {})
    assert texts(rows, 0)[:4] == ["0", "", "", "50"]
    assert list(rows.token_ids) == []


def test_another_step_replaces_all_rows(rows: StepRows) -> None:
    QAbstractItemModelTester(rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
    rows.apply(busy_step(50), TEXTS, {})
    assert rows.rowCount() == busy_step(50).num_rows
    rows.apply(None, {}, {})
    assert rows.rowCount() == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b" a b", "␣a␣b"),
        (b"a\nb\tc\r", "a⏎b⇥c␍"),
        ("grüß dich 🙂".encode(), "grüß␣dich␣🙂"),
        (b"\xe2\x80", "\\xe2\\x80"),
        (b"\x00\x1b[", "\\x00\\x1b["),
        ("\u202e\u2028x".encode(), "\\u202e\\u2028x"),
        (b"", ""),
    ],
)
def test_a_token_is_shown_in_one_line(text: bytes, line: str) -> None:
    assert shown(text) == line
