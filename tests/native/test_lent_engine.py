"""An engine that another process lends: a window uses it like its own, also when that process is killed."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from app.bridge.engines import Engines
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import Fork, Pause, StepOnce, Submit, WatchCells
from app.protocol.load import LoadParams, Server, ServerKind
from app.protocol.output import FinishReason, Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from tests.driver import ask as ask_alone

pytestmark = [pytest.mark.native, pytest.mark.timeout(120)]

KEY = "k"


@contextlib.contextmanager
def served(path: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "app", "serve", str(path), "--engine", "--engine-control"]
    command += ["--api-key", KEY, "--port", str(port), "--ctx", "512", "--threads", "1", "--alias", "tiny"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        assert process.stdout.readline().startswith("listening")
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.fixture
def engine(qloop: QEventLoop) -> Iterator[Engines]:
    engine = Engines()
    yield engine
    qloop.run_until_complete(engine.close())


def question() -> Request:
    sampling = SamplingParams(temperature=0.0, ignore_eos=True)
    return Request("r", "chat", (Message(Role.USER, "Tell me more."),), sampling, 60)


def answer_alone(path: Path) -> str:
    with open_llama_backend(LoadParams(path, n_ctx=512, n_threads=1)) as backend:
        engine = Engine(backend)
        text = ask_alone(engine, question()).text
        engine.close()
    return text


def test_an_answer_goes_on_after_the_engine_elsewhere_was_killed_and_started_again(
    tiny_gguf: Callable[[str], Path], engine: Engines, qtbot: QtBot, port: int
) -> None:
    path = tiny_gguf("qwen3")
    reports: list[StepReport] = []
    ends: list[Output] = []
    told: list[str] = []
    engine.reported.connect(reports.extend)
    engine.ended.connect(ends.append)
    engine.recovering.connect(told.append)

    def outputs() -> list[Output]:
        return [one for report in reports for one in report.outputs] + ends

    def text() -> str:
        return "".join(output.text for output in outputs())

    def has_begun() -> bool:
        engine.post(StepOnce())
        return len(text()) > 20

    server = Server(f"http://127.0.0.1:{port}", ServerKind.SKEIN, KEY)
    with served(path, port) as process:
        with qtbot.waitSignal(engine.loaded, timeout=60_000):
            engine.load(LoadParams(Path("tiny"), server=server))
        assert engine.model
        assert engine.model.n_vocab == read_model(path)
        assert engine.use_prompts(lambda prompts: prompts.tokenize("hello")).result(20)
        engine.post(WatchCells())
        engine.post(Pause())
        engine.post(Submit(question()))
        qtbot.waitUntil(has_begun, timeout=60_000)
        qtbot.waitUntil(lambda: any(report.cell_map for report in reports), timeout=20_000)
        assert any(report.pause for report in reports)
        engine.post(Fork("chat", "copy"))
        process.kill()
        qtbot.waitUntil(lambda: any(report.trouble for report in reports), timeout=20_000)
    with served(path, port):
        qtbot.waitUntil(lambda: any(output.finish_reason for output in outputs()), timeout=60_000)
    assert told
    assert [one.finish_reason for one in outputs() if one.finish_reason] == [FinishReason.LENGTH]
    assert text() == answer_alone(path)


def read_model(path: Path) -> int:
    with open_llama_backend(LoadParams(path, n_ctx=64)) as backend:
        return backend.model.n_vocab
