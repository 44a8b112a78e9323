"""Rows of real tables in a job on disk, answered by the scripted engine."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.bridge.model_engine import ENGINE_GONE
from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.request import ROWS, Role
from app.rows.answer_form import AnswerForm, Kind
from app.rows.job import Job, JobSettings, State
from app.services import rows as service_module
from app.services.rows import OTHER_MODEL, RowJobs, ShownRow
from tests.bridge.conftest import ScriptedThread

NUM_ROWS, NUM_AT_ONCE = 20, 6  # four slots and two ahead
CHOICE = AnswerForm(Kind.CHOICE, ("good", "bad"))


@pytest.fixture(autouse=True)
def no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "shared_tokens", lambda _prompts, beginning: tuple(range(20)))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("name,text\n" + "".join(f"n{one},t{one}\n" for one in range(NUM_ROWS)))
    return path


@pytest.fixture
def rows(engine, tmp_path) -> RowJobs:
    return RowJobs(engine, ChatWorker(), tmp_path / "rows", engine)


def settings_of(table: Path, prompt: str = "Good or bad? {text}", **fields) -> JobSettings:
    return JobSettings(str(table), prompt, **({"form": CHOICE, "model": "a.gguf"} | fields))


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.005)


def has_come(rows: RowJobs) -> bool:
    return not rows.is_busy


class Answerer:
    """Answers what the rows ask, each request once."""

    def __init__(self, thread: ScriptedThread) -> None:
        self.thread, self.num_answered, self.num_ended = thread, 0, 0

    def open(self):
        return self.thread.submitted[self.num_answered :]

    def answer(self, count: int = 1000, text: str = "good", reason=FinishReason.STOP, notice: str = ""):
        for request in self.open()[:count]:
            self.num_answered += 1
            is_aborted = request.request_id in self.thread.aborted
            end = FinishReason.ABORT if is_aborted else reason
            self.thread.answer(request, "" if request.max_tokens == 0 else text, end, notice)

    async def answer_all(self, rows: RowJobs, text: str = "good") -> None:
        async with asyncio.timeout(20):
            while not has_come(rows):
                self.answer(text=text)
                await asyncio.sleep(0.005)


async def begun(rows: RowJobs, thread: ScriptedThread, settings: JobSettings, **options) -> Answerer:
    """With what all rows begin with."""
    answers = Answerer(thread)
    answers.num_answered = len(thread.submitted)
    before = len(thread.submitted)
    rows.start(settings, **options)
    await until(lambda: len(thread.submitted) > before)
    answers.answer(1)
    await until(lambda: len(answers.open()) >= min(NUM_AT_ONCE, options.get("limit") or NUM_AT_ONCE))
    return answers


async def test_rows_fill_the_slots_behind_their_beginning_and_are_a_caller_of_their_own(
    qloop, rows, thread, table
) -> None:
    answers = await begun(rows, thread, settings_of(table))
    beginning, *asked = thread.submitted
    assert (beginning.max_tokens, beginning.is_beginning) == (0, True)
    assert len(asked) == NUM_AT_ONCE
    assert [one.messages[-1].content[-2:] for one in asked[:3]] == ["t0", "t1", "t2"]
    assert {one.caller.program for one in thread.submitted} == {ROWS}
    answers.answer(2)
    await until(lambda: len(answers.open()) == NUM_AT_ONCE)
    assert rows.is_running
    await answers.answer_all(rows)
    assert rows.counts == (NUM_ROWS, NUM_ROWS, 0)
    assert len(thread.submitted) == NUM_ROWS + 1, "each once"
    assert thread.forgotten == [beginning.chat_id]
    assert await rows.rows(19, 5) == [ShownRow(("n19", "t19", "good"), State.DONE)]
    assert (await rows.as_chat(3)) == ("Good or bad? t3", "good")
    await rows.close()


async def test_a_pause_breaks_off_what_runs_and_it_goes_on_without_a_row_lost(
    qloop, rows, thread, table
) -> None:
    settings = settings_of(table)
    answers = await begun(rows, thread, settings)
    answers.answer(2)
    await until(lambda: len(answers.open()) == NUM_AT_ONCE)
    rows.pause()
    assert len(thread.aborted) == NUM_AT_ONCE
    await answers.answer_all(rows)
    assert (rows.counts, rows.trouble) == ((NUM_ROWS, 2, 0), "")
    thread.aborted.clear()
    answers = await begun(rows, thread, settings)
    await answers.answer_all(rows)
    assert rows.counts == (NUM_ROWS, NUM_ROWS, 0)
    prompts = [one.messages[-1].content for one in thread.submitted if one.messages]
    assert len(prompts) == NUM_ROWS + NUM_AT_ONCE, "only what was broken off is asked twice"
    await rows.close()


async def test_a_preview_asks_the_first_rows_only(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table), limit=3)
    await answers.answer_all(rows)
    assert len(thread.submitted) == 4
    assert rows.counts == (NUM_ROWS, 3, 0)
    assert rows.sharing
    assert not rows.sharing.is_better
    await rows.close()


async def test_an_engine_that_is_gone_pauses_the_rows_and_says_so(qloop, rows, engine, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table))
    answers.answer(1)
    await until(lambda: len(answers.open()) == NUM_AT_ONCE)
    thread.failed.emit("It crashed.")
    await until(lambda: has_come(rows))
    assert rows.trouble == ENGINE_GONE
    assert rows.counts == (NUM_ROWS, 1, 0), "no row has failed"
    rows.start(settings_of(table))
    await until(lambda: has_come(rows))
    assert rows.trouble.startswith("No model is loaded.")
    await rows.close()


async def test_another_model_that_is_loaded_pauses_the_rows(qloop, rows, engine, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table))
    engine.load(LoadParams(Path("b.gguf")))
    await answers.answer_all(rows)
    assert (rows.trouble, rows.counts.num_done) == (OTHER_MODEL, 0)
    await rows.close()


async def test_stopping_all_answers_stops_the_rows(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table))
    answers.answer(1, reason=FinishReason.ABORT)
    await answers.answer_all(rows)
    assert len(thread.submitted) == 1 + NUM_AT_ONCE
    assert (rows.num_ended, rows.is_running) == (0, False)
    await rows.close()


async def test_two_of_three_votes_win(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table, num_votes=3), limit=1)
    assert len(answers.open()) == 3
    for text in ("bad", "good", "good"):
        answers.answer(1, text)
    await until(lambda: has_come(rows))
    assert await rows.rows(0, 1) == [ShownRow(("n0", "t0", "good", str(2 / 3)), State.DONE)]
    assert rows.added == ("answer", "share", "error")
    await rows.close()


async def test_what_failed_is_asked_again_only_when_wanted(qloop, rows, thread, table) -> None:
    settings = settings_of(table)
    answers = await begun(rows, thread, settings, limit=1)
    answers.answer(1, "", FinishReason.ERROR, "It does not fit.")
    await until(lambda: has_come(rows))
    assert rows.counts == (NUM_ROWS, 0, 1)
    assert (await rows.rows(0, 1))[0].error == "It does not fit."
    rows.start(settings, 1)
    await until(lambda: has_come(rows))
    assert rows.counts == (NUM_ROWS, 0, 1)
    answers = await begun(rows, thread, settings, limit=1, again=True)
    await answers.answer_all(rows)
    assert rows.counts == (NUM_ROWS, 1, 0)
    await rows.close()


async def test_what_cannot_be_asked_makes_no_job_and_leaves_the_open_one(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table), limit=1)
    await answers.answer_all(rows)
    for bad, told in (
        (settings_of(table, "All the same."), "names no column"),
        (settings_of(table.parent / "gone.csv"), "no longer exists"),
    ):
        rows.start(bad)
        await until(lambda: has_come(rows))
        assert told in rows.trouble
        assert rows.settings == settings_of(table)
    assert len(await rows.earlier()) == 1
    await rows.close()


async def test_a_table_is_looked_at_before_it_is_a_job(qloop, rows, table) -> None:
    rows.look_at(table)
    await until(lambda: rows.columns and has_come(rows))
    assert (rows.columns, rows.settings) == (("name", "text"), None)
    assert (await rows.rows(1, 1))[0].cells == ("n1", "t1")
    rows.look_at(table.parent)
    await until(lambda: has_come(rows))
    assert (rows.columns, (await rows.rows(0, 1))[0].cells) == (("name", "text"), ("table.csv",))
    rows.look_at(table.parent / "gone.csv")
    await until(lambda: has_come(rows))
    assert "no longer exists" in rows.trouble
    assert rows.columns == ("name", "text")
    await rows.close()


async def test_a_job_is_found_again_also_without_its_table_and_deleted_with_a_way_back(
    qloop, engine, rows, thread, table, tmp_path
) -> None:
    answers = await begun(rows, thread, settings_of(table), limit=2)
    await answers.answer_all(rows)
    await rows.close()
    table.unlink()
    later = RowJobs(engine, ChatWorker(), tmp_path / "rows", engine)
    (job,) = await later.earlier()
    assert job == settings_of(table)
    path = tmp_path / "rows" / f"{job.id}.db"
    later.open(job)
    await until(lambda: later.columns and has_come(later))
    assert "no longer exists" in later.trouble
    assert later.counts == (NUM_ROWS, 2, 0)
    await later.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "n0,t0,good,"
    later.delete(job)
    await until(lambda: not path.exists() and has_come(later))
    assert (later.settings, later.table) == (None, None)
    assert await later.earlier() == []
    later.put_back(job)
    await until(lambda: path.exists() and has_come(later))
    assert await later.earlier() == [job]
    later.delete(job)
    await until(lambda: not path.exists() and has_come(later))
    await later.close()
    assert not [one for one in (tmp_path / "rows").iterdir() if not one.name.endswith(".lock")]


async def test_the_job_that_answers_came_to_last_is_the_newest(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table, "One {text}"), limit=1)
    await answers.answer_all(rows)
    answers = await begun(rows, thread, settings_of(table, "Two {text}"), limit=1)
    await answers.answer_all(rows)
    os.utime(rows._path_of(settings_of(table, "Two {text}")), (1, 1))  # SQLite writes beside it first
    assert [job.prompt for job in await rows.earlier()] == ["Two {text}", "One {text}"]
    await rows.close()


async def test_deleted_answers_leave_the_table(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table), limit=1)
    await answers.answer_all(rows)
    rows.delete(settings_of(table))
    await until(lambda: rows.settings is None and has_come(rows))
    assert (rows.table, rows.columns) == (table, ("name", "text"))
    assert len(await rows.rows(0, NUM_ROWS)) == NUM_ROWS
    await rows.close()


async def test_a_table_that_was_mended_is_read_again(qloop, rows, thread, table) -> None:
    table.write_text("name,text\nn0,t0,too much\n")
    settings = settings_of(table)
    rows.start(settings)
    await until(lambda: has_come(rows))
    assert rows.counts == (1, 0, 1)
    table.write_text("name,text\nn0,t0\nn1,t1\n")
    answers = Answerer(thread)
    answers.num_answered = len(thread.submitted)
    rows.start(settings, again=True)
    await answers.answer_all(rows)
    assert rows.counts == (2, 2, 0)
    await rows.close()


async def test_the_end_of_the_program_waits_for_no_answer(qloop, rows, thread, table) -> None:
    answers = await begun(rows, thread, settings_of(table))
    answers.answer(3)
    async with asyncio.timeout(10):
        await rows.close()
    assert len(thread.aborted) >= 3
    job = Job.at(table.parent / "rows", settings_of(table))
    assert job.counts() == (NUM_ROWS, 3, 0)
    job.close()


async def test_a_pause_ends_the_wait_for_a_model_that_sleeps(qloop, rows, engine, thread, table) -> None:
    rows.look_at(table)
    await until(lambda: rows.columns and has_come(rows))
    engine.known("a.gguf").sleep()
    rows.start(settings_of(table))
    await until(lambda: rows._shared)
    rows.pause()
    await until(lambda: has_come(rows))
    assert rows.trouble == ""
    assert thread.submitted == []
    await rows.close()


async def test_a_disk_that_is_full_is_told_in_a_sentence(qloop, rows, thread, table, monkeypatch) -> None:
    answers = await begun(rows, thread, settings_of(table))

    def put(_job, _answered) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Job, "put", put)
    await answers.answer_all(rows)
    assert "disk is full" in rows.trouble
    assert rows.counts.num_done == 0
    monkeypatch.undo()
    monkeypatch.setattr(service_module, "shared_tokens", lambda _prompts, beginning: ())
    rows.start(replace(settings_of(table)), 1)
    await answers.answer_all(rows)
    assert rows.counts.num_done == 1
    await rows.close()


async def test_an_answer_that_is_a_chat_is_what_was_asked(qloop, rows, thread, table, workspace) -> None:
    answers = await begun(rows, thread, settings_of(table), limit=1)
    await answers.answer_all(rows)
    prompt, text = await rows.as_chat(0)
    session = workspace.new_chat()
    session.insert(Role.USER, prompt)
    session.insert(Role.ASSISTANT, text)
    assert [turn.text for turn in session.chat.turns] == ["Good or bad? t0", "good"]
    await rows.close()
