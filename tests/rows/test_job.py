"""Answers stay with their rows: over restarts, changed tables, and failures."""

import json

import pytest
from openpyxl import load_workbook

from app.protocol.errors import InvalidRequestError
from app.rows.answer_form import AnswerForm, Kind
from app.rows.export import export
from app.rows.job import Answered, Counts, Job, JobSettings, State
from app.system.said import Said, said


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1,red\n2,green\n3,red\n4,blue\n")
    return path


def opened(table, **fields) -> Job:
    job = Job.at(table.parent / "rows", JobSettings(str(table), "About {text}:", **fields))
    assert list(job.read()) in ([], [4], [5])
    return job


def answer_all(job: Job) -> list[int]:
    waiting = {asked.prompt: asked for asked in job.waiting(0, 100)}
    done = [
        Answered(one.prompt, (one.cells[1].upper(),), 1.0, texts=(one.cells[1].upper(),))
        for one in waiting.values()
    ]
    job.put(done)
    return [one.number for one in waiting.values()]


def test_rows_that_ask_the_same_have_one_answer(table) -> None:
    job = opened(table)
    assert answer_all(job) == [3, 2, 4]  # by prompt, of which the last row counts here
    assert [(row.number, row.values) for row in job.rows(1, 10)] == [
        (1, ("RED",)),
        (2, ("GREEN",)),
        (3, ("RED",)),
        (4, ("BLUE",)),
    ]
    assert job.counts() == Counts(4, 4, 0)
    assert job.counts(limit=2) == Counts(2, 2, 0)
    job.close()


def test_the_same_job_goes_on_and_a_changed_table_keeps_its_answers(table) -> None:
    job = opened(table)
    answer_all(job)
    job.close()
    job = opened(table)
    assert not job.waiting(0, 10)
    job.close()
    table.write_text("id,text\n0,black\n9,blue\n1,red\n2,green\n3,red\n")
    job = opened(table)
    assert [asked.cells for asked in job.waiting(0, 10)] == [("0", "black")]
    assert [row.values for row in job.rows(2, 2)] == [("BLUE",), ("RED",)]
    job.close()
    other = opened(table, seed=1)
    assert len(other.waiting(0, 10)) == 5
    other.close()


def test_a_table_that_was_read_in_part_is_read_again(table, monkeypatch) -> None:
    monkeypatch.setattr("app.rows.job.ROWS_AT_ONCE", 2)
    job = Job.at(table.parent, JobSettings(str(table), "{text}"))
    assert next(job.read()) == 2
    job.close()
    job = Job(job.path)
    assert list(job.read()) == [2, 4]
    assert job.counts().num_rows == 4
    job.close()


def test_what_failed_is_told_and_can_be_asked_again(table) -> None:
    table.write_text(table.read_text() + "1,2,3\n")
    job = opened(table)
    first = job.waiting(0, 1)[0]
    assert job.put([Answered(first.prompt, error=said("It has {n} faults.", n=2))]) == 2
    row, *_, last = job.rows(1, 5)
    assert (row.state, row.error, last.state) == (State.FAILED, "It has 2 faults.", State.FAILED)
    assert isinstance(row.error, Said)
    assert "3 cells" in last.error
    assert job.counts() == Counts(5, 0, 3)
    job.again()
    assert [asked.number for asked in job.waiting(0, 9)] == [1, 2, 3, 4]
    job.close()


def test_one_process_works_on_a_job(table) -> None:
    job, other = opened(table), opened(table)
    assert job.claim()
    assert not other.claim()
    job.close()
    assert other.claim()
    other.close()


def test_exports_have_the_columns_of_both_and_run_nothing(tmp_path) -> None:
    table = tmp_path / "table.csv"
    table.write_text('answer,x\n=1+1,"a, b"\n-5,"@cmd"\n')
    form = AnswerForm(Kind.SCHEMA, schema='{"properties": {"answer": {}, "n": {}}}')
    job = Job.at(tmp_path / "rows", JobSettings(str(table), "{x}", form, num_votes=3))
    list(job.read())
    job.put([Answered(job.waiting(0, 1)[0].prompt, ("+49\ud800", 1.5), 2 / 3)])
    for suffix in (".csv", ".jsonl", ".xlsx"):
        export(job, tmp_path / f"out{suffix}")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "answer,x,answer (2),n,share,error",
        "'=1+1,\"a, b\",'+49?,1.5,0.6666666666666666,",
        "-5,'@cmd,,,,",
    ]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines[0] == {
        "answer": "=1+1",
        "x": "a, b",
        "answer (2)": "+49?",
        "n": 1.5,
        "share": 2 / 3,
        "error": "",
    }
    sheet = load_workbook(tmp_path / "out.xlsx").active
    assert sheet is not None
    cell = sheet["A2"]
    assert (cell.value, cell.data_type, sheet["D2"].value) == ("=1+1", "s", 1.5)
    with pytest.raises(InvalidRequestError, match="must end in"):
        export(job, tmp_path / "out.doc")
    job.close()
