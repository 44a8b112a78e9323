"""The self-test in a process beside the window."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.bridge import tasks
from app.protocol.model import ModelInfo
from app.selftest.report import TITLES, Outcome, Report, ReportLine
from app.services import self_test
from app.services.self_test import SelfTest, needed_memory, save
from app.system import paths, worker
from tests.fakes import model_info

LINE = ReportLine("a", TITLES["a"], "asked", "the same", Outcome.PASSED, 0.5)
SAY = (
    "import json, os, sys, time\n"
    "def say(**message): print(json.dumps(message), flush=True)\n"
    f"say(progress=0.1, doing='Loading the model'); say(line={json.loads(json.dumps(LINE.as_json()))})\n"
)


class Told:
    """What a test has told so far; `result` is the report, or why there is none."""

    def __init__(self, test: SelfTest) -> None:
        self.progress: list[tuple[float, str]] = []
        self.lines: list[ReportLine] = []
        self.result: asyncio.Future[Report | str] = asyncio.get_running_loop().create_future()
        test.progressed.connect(lambda *values: self.progress.append(values))
        test.checked.connect(self.lines.append)
        test.ended.connect(self.result.set_result)
        test.failed.connect(self.result.set_result)


@pytest.fixture
def test(qloop: asyncio.AbstractEventLoop) -> Iterator[SelfTest]:
    test = SelfTest()
    yield test
    qloop.run_until_complete(test.close())
    qloop.run_until_complete(tasks.finish_all())
    test.deleteLater()


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets another program play the self-test."""

    def play(program: str) -> None:
        monkeypatch.setattr(worker, "command", lambda *_names: [sys.executable, "-c", SAY + program])

    return play


def starter() -> ModelInfo:
    return model_info(path=paths.starter_model(), n_ctx=512, n_seq_max=4)


@pytest.mark.native
async def test_the_starter_model_passes_in_a_context_like_the_one_it_has(qloop, test) -> None:
    told = Told(test)
    test.start(starter(), n_threads=1)
    report = await told.result
    assert report.passed
    assert (report.n_ctx, report.n_seq_max, report.architecture) == (512, 4, "qwen3")
    assert tuple(told.lines) == report.lines
    assert [line.name for line in told.lines] == list(TITLES)
    assert told.progress[-1][0] == 1.0
    assert not test.is_running


@pytest.mark.native
async def test_a_cancelled_test_tells_what_it_has_found(qloop, test) -> None:
    told = Told(test)
    test.checked.connect(test.cancel)
    test.start(starter(), n_threads=1)
    report = await told.result
    assert report.was_cancelled
    assert report.lines == tuple(told.lines) == report.lines[:1]


async def test_a_process_that_does_not_listen_is_ended(qloop, test, script, monkeypatch) -> None:
    monkeypatch.setattr(self_test, "PATIENCE_S", 0.0)
    script("time.sleep(1000)")
    told = Told(test)
    test.checked.connect(test.cancel)
    test.start(starter(), 1)
    report = await told.result
    assert report.was_cancelled
    assert report.lines == (LINE,)


@pytest.mark.parametrize("has_begun", [False, True])
async def test_closing_ends_the_process_at_once(qloop, test, script, has_begun) -> None:
    script("time.sleep(1000)")
    told = Told(test)
    test.start(starter(), 1)
    if has_begun:
        begun = asyncio.Event()
        test.checked.connect(lambda _line: begun.set())
        await begun.wait()
    await test.close()
    assert not test.is_running
    assert told.result.result().was_cancelled


async def test_a_crash_is_a_finding(qloop, test, script) -> None:
    script("print('ggml.c:7: GGML_ASSERT(n > 0) failed', file=sys.stderr, flush=True); os.abort()")
    told = Told(test)
    test.start(starter(), 1)
    report = await told.result
    assert not report.passed
    assert not report.was_cancelled
    assert report.lines[0] == LINE
    crashed = report.lines[1]
    assert (crashed.name, crashed.outcome) == ("b", Outcome.FAILED)
    assert "SIGABRT: ggml.c:7: GGML_ASSERT(n > 0) failed" in crashed.seen


async def test_a_crash_at_the_very_end_is_one_too(qloop, test, script) -> None:
    more = [replace(LINE, name=name, title=title).as_json() for name, title in list(TITLES.items())[1:]]
    script(f"for line in {json.loads(json.dumps(more))}: say(line=line)\nos.abort()")
    told = Told(test)
    test.start(starter(), 1)
    report = await told.result
    assert [line.name for line in report.lines] == list(TITLES)
    assert [line.name for line in report.lines if line.outcome is Outcome.FAILED] == ["g"]


@pytest.mark.native
async def test_a_model_that_is_not_there_any_more_is_told(qloop, test, tmp_path: Path) -> None:
    told = Told(test)
    test.start(model_info(path=tmp_path / "gone.gguf"), 1)
    assert "gone.gguf" in await told.result


async def test_a_process_that_cannot_be_started_is_told(qloop, test, monkeypatch) -> None:
    def refuse(*_values: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(self_test, "_start", refuse)
    told = Told(test)
    test.start(starter(), 1)
    assert "could not be started: Resource temporarily unavailable" in await told.result
    assert not test.is_running


def test_the_settings_are_those_of_the_running_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(self_test, "Child", lambda _name, arguments, **_options: started.append(arguments))
    self_test._start(model_info(path=Path("m.gguf"), is_unified=False), 3)
    assert " ".join(started[0]) == (
        "selftest --progress --model m.gguf --ctx 512 --slots 4 --threads 3 --isolated"
    )


def test_a_second_model_needs_its_weights_and_its_cells() -> None:
    small = needed_memory(model_info(size_bytes=1 << 30))
    assert needed_memory(model_info(size_bytes=1 << 30, cell_bytes=1 << 20)) - small == 512 << 20
    assert small > 1 << 30


def test_a_report_is_saved_as_text_or_as_json(tmp_path: Path) -> None:
    report = Report("m", "qwen3", 512, 4, "0.3", (LINE,))
    save(report, tmp_path / "report.json")
    save(report, tmp_path / "report.txt")
    assert Report.of(json.loads((tmp_path / "report.json").read_text())) == report
    assert (tmp_path / "report.txt").read_text() == f"{report.as_text()}\n"


def test_a_report_that_cannot_be_saved_says_why(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        save(Report("m", "qwen3", 512, 4, "0.3", ()), tmp_path / "none" / "report.json")
