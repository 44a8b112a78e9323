"""An engine in a process of its own answers as one in this process does, and its end is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.engine.children.engine_process import EngineProcess
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import Abort, DescribeTokens, Submit
from app.protocol.errors import EngineCrashedError, EngineError, ModelLoadCancelledError, ModelLoadError
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output
from app.protocol.report import Answer, HibernatedChat, TokenTexts
from app.protocol.wire import ReportWriter
from tests.driver import ask, request
from tests.fakes import CountingBackend

pytestmark = [pytest.mark.native, pytest.mark.timeout(120)]

PATIENCE_S = 60


def params(path: Path) -> LoadParams:
    return LoadParams(path, n_ctx=512, n_seq_max=2, n_threads=1, own_process=True)


@dataclass
class Running:
    """Its `run` has a thread, and what it tells is kept."""

    process: EngineProcess
    outputs: list[Output] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    error: Exception | None = None
    told: threading.Condition = field(default_factory=threading.Condition)

    def run(self) -> None:
        try:
            self.process.run()
        except EngineError as error:
            self.error = error

    def on_reports_ready(self) -> None:
        with self.told:
            for report in self.process.take_reports():
                self.outputs += report.outputs
                self.answers += report.answers
            self.told.notify_all()

    def wait_for(self, condition: Callable[[], object]) -> None:
        with self.told:
            assert self.told.wait_for(condition, PATIENCE_S)

    def last_output(self, request_id: str) -> Output | None:
        return next((one for one in self.outputs if one.request_id == request_id and one.finish_reason), None)

    def text(self, request_id: str) -> str:
        return "".join(one.text for one in self.outputs if one.request_id == request_id)


@contextmanager
def running(path: Path) -> Iterator[Running]:
    process = EngineProcess(params(path), lambda _fraction: True, lambda: found.on_reports_ready())
    found = Running(process)
    with process.loaded():
        thread = threading.Thread(target=found.run)
        thread.start()
        try:
            yield found
        finally:
            process.stop()
            thread.join()


def test_it_answers_as_an_engine_of_this_process(tiny_gguf: Callable[[str], Path]) -> None:
    path = tiny_gguf("qwen3")
    with open_llama_backend(params(path)) as backend:
        engine = Engine(backend)
        expected = ask(engine, request("Tell me more.")).text
        engine.close()
    one = request("Tell me more.")
    with running(path) as engine_process:
        engine_process.process.post(Submit(one))
        engine_process.wait_for(lambda: engine_process.last_output(one.request_id))
        assert engine_process.text(one.request_id) == expected


def test_an_abort_and_a_question_of_the_inspector_reach_it(tiny_gguf: Callable[[str], Path]) -> None:
    one = request("Tell me more.", max_tokens=400)
    with running(tiny_gguf("qwen3")) as engine_process:
        engine_process.process.post(Submit(one))
        engine_process.process.post(Abort(one.request_id))
        engine_process.process.post(DescribeTokens((5,)))
        engine_process.wait_for(lambda: engine_process.last_output(one.request_id) and engine_process.answers)
        last = engine_process.last_output(one.request_id)
        assert last
        assert last.finish_reason is FinishReason.ABORT
        [answer] = engine_process.answers
        assert isinstance(answer, TokenTexts)
        assert answer.token_ids == (5,)


def test_texts_are_tokenised_in_it(tiny_gguf: Callable[[str], Path]) -> None:
    with running(tiny_gguf("qwen3")) as engine_process:
        future = engine_process.process.use_prompts(lambda prompts: prompts.tokens_behind("more"))
        assert future.result(PATIENCE_S)
    with pytest.raises(EngineError):
        engine_process.process.use_prompts(lambda prompts: prompts.end_tokens).result(PATIENCE_S)


def run_and_kill(path: Path) -> None:
    process = EngineProcess(params(path), lambda _fraction: True, lambda: None)
    with process.loaded():
        process._worker.kill()
        process.run()


def test_a_crash_is_an_error_of_its_own(tiny_gguf: Callable[[str], Path]) -> None:
    with pytest.raises(EngineCrashedError, match="ran out of memory"):
        run_and_kill(tiny_gguf("qwen3"))


def test_a_file_that_is_no_model_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelLoadError, match=r"broken\.gguf"), running(path):
        pass


def test_a_load_can_be_called_off(tiny_gguf: Callable[[str], Path]) -> None:
    process = EngineProcess(params(tiny_gguf("qwen3")), lambda _fraction: False, lambda: None)
    with pytest.raises(ModelLoadCancelledError), process.loaded():
        pass


def test_hibernated_chats_go_over_when_they_change_however_many_there_are() -> None:
    writer = ReportWriter()
    many = tuple(HibernatedChat(f"chat {number}", 10, 1000, is_on_disk=False) for number in range(1000))
    sent = [(), many, many, many, many[1:], ()]
    one = Engine(CountingBackend()).report()
    told_by_child = [writer.packed([replace(one, hibernated=hibernated)]) for hibernated in sent]
    sizes = [sum(map(len, parts)) for parts in told_by_child]
    assert max(sizes[0], sizes[2], sizes[3]) < sizes[1] / 10

    process = EngineProcess(LoadParams(Path("model.gguf")), lambda _: True, lambda: None)
    for parts in told_by_child:
        process._take({}, *parts)
    told = [report.hibernated for report in process.take_reports()]
    assert told == sent
    assert told[1] is told[2] is told[3]
