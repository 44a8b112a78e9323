"""Requests of a job and what becomes of their outputs, without an engine."""

import pytest

from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.errors import InvalidRequestError
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.request import Request
from app.protocol.sampling import SamplingParams
from app.rows.answer_form import AnswerForm, Kind
from app.rows.job import Counts, Job, JobSettings
from app.rows.runner import Runner

CHOICE = AnswerForm(Kind.CHOICE, ("a", "b"))
TOKENS = tuple(range(100))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x\n1\n2\n1\n3\n")
    return path


def opened(table, **fields) -> Job:
    job = Job.at(table.parent / "rows", JobSettings(str(table), "Is it a or b? {x}", **fields))
    list(job.read())
    return job


def runner_of(job: Job, **options) -> Runner:
    return Runner(job, SamplingParams(), ChatWorker(), **options)


def answer(runner: Runner, request: Request, text: str = "a", reason=FinishReason.STOP, **fields) -> None:
    runner.take(Output(request.request_id, request.chat_id, text[:1]))
    runner.take(Output(request.request_id, request.chat_id, text[1:], reason, **fields))


def asked(requests: list[Request]) -> list[str]:
    return [request.messages[-1].content[-1] for request in requests]


def test_rows_wait_for_what_they_begin_with_and_are_asked_once(table) -> None:
    job = opened(table)
    runner = runner_of(job)
    assert runner.beginning.messages[-1].content == "Is it a or b? "
    beginning = runner.begin(TOKENS)
    assert beginning
    assert beginning.is_beginning
    assert (beginning.prompt, beginning.max_tokens) == (TOKENS, 0)
    assert runner.next_requests(9) == []
    assert runner.num_running == 1
    usage = Usage(num_prompt_tokens=100, num_computed_tokens=100)
    answer(runner, beginning, "", FinishReason.LENGTH, usage=usage)
    requests = runner.next_requests(2)
    assert asked(requests) == ["1", "2"]
    assert all(one.begins_as == beginning.chat_id and not one.keep_cells for one in requests)
    requests += runner.next_requests(9)
    assert asked(requests) == ["1", "2", "3"]
    usage = Usage(num_prompt_tokens=110, num_shared_tokens=100, num_computed_tokens=15)
    for one in requests:
        answer(runner, one, usage=usage)
    assert runner.save() == 4
    assert (runner.num_running, runner.next_requests(9), job.counts()) == (0, [], Counts(4, 4, 0))
    assert (runner.num_computed_tokens, runner.num_prompt_tokens) == (130, 330)
    job.close()


def test_a_short_beginning_is_not_computed_alone(table) -> None:
    job = opened(table)
    runner = runner_of(job, limit=1)
    assert runner.begin(TOKENS[:5]) is None
    assert asked(runner.next_requests(9)) == ["1"]
    job.close()


def test_what_was_broken_off_is_asked_the_next_time(table) -> None:
    job = opened(table)
    runner = runner_of(job)
    first, *_others = runner.next_requests(3)
    answer(runner, first, reason=FinishReason.ABORT)
    assert runner.next_requests(9) == []
    runner.save()
    assert asked(runner_of(job).next_requests(9)) == ["1", "2", "3"]
    job.close()


def test_errors_stay_with_their_rows(table) -> None:
    job = opened(table, form=CHOICE)
    runner = runner_of(job)
    one, two, three = runner.next_requests(3)
    answer(runner, one, "c")
    answer(runner, two, "", FinishReason.ERROR, notice="Too long.")
    answer(runner, three, "a", FinishReason.LENGTH)
    assert runner.save() == 4
    assert [row.error for row in job.rows(1, 4)] == [
        "The answer is none of the choices.",
        "Too long.",
        "The answer is none of the choices.",
        "The answer was cut off at its limit of tokens.",
    ]
    assert [row.texts for row in job.rows(1, 2)] == [("c",), ("",)]
    assert job.counts() == Counts(4, 0, 4)
    job.close()


def test_a_text_that_was_cut_off_is_kept_and_told(table) -> None:
    job = opened(table)
    runner = runner_of(job)
    answer(runner, runner.next_requests(1)[0], "Begun", FinishReason.LENGTH)
    runner.save()
    row = job.rows(1, 1)[0]
    assert (row.values, bool(row.error)) == (("Begun",), True)
    assert job.counts() == Counts(4, 2, 0)
    job.again()
    assert len(job.waiting(0, 9)) == 4
    job.close()


def test_of_some_answers_the_one_that_most_gave_counts(table) -> None:
    job = opened(table, form=CHOICE, num_votes=3, seed=7)
    runner = runner_of(job, limit=2)
    requests = runner.next_requests(9)
    assert asked(requests) == ["1"] * 3 + ["2"] * 3
    assert [one.sampling.seed for one in requests if one.sampling] == [7, 8, 9] * 2
    for request, text in zip(requests, ("a", "b", "b", "a", "c", "c"), strict=True):
        assert runner.save() == 0 or request is requests[3]
        answer(runner, request, text)
    assert runner.save() == 1
    assert [(row.values, row.share, row.error) for row in job.rows(1, 2)] == [
        (("b",), 2 / 3, ""),
        (("a",), 1 / 3, ""),
    ]
    job.close()
    job = opened(table, num_votes=3, temperature=0.0)
    with pytest.raises(InvalidRequestError, match="temperature 0"):
        runner_of(job)
    job.close()


def test_files_that_cannot_be_read_cost_their_rows_only(tmp_path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("first")
    (folder / "b.bin").write_bytes(b"\0\1" * 99)
    job = Job.at(tmp_path / "rows", JobSettings(str(folder), "{name} says: {text}"))
    list(job.read())
    runner = runner_of(job)
    (request,) = runner.next_requests(9)
    assert request.messages[-1].content == "a.txt says: first"
    assert runner.save() == 1
    assert "b.bin" in job.rows(2, 1)[0].error
    job.close()
