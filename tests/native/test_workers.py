"""One model over several machines: the same answers as on one, and none is lost with a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from app.bridge.engines import Engines
from app.engine.children.engine_process import EngineProcess
from app.engine.children.workers import WorkerState, ask
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.engine.loop import EngineLoop
from app.models.memory_fit import plan
from app.models.model_file import read_whole_header
from app.protocol.commands import Fork, Hibernate, Pause, Resume, StepOnce, Submit
from app.protocol.errors import InvalidRequestError
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.services.model_fits import ExpectedRoom
from tests.driver import ask as ask_alone
from tests.ready_children import has_ended
from tests.worker_machines import Machine, NotPermittedError, machines

pytestmark = [pytest.mark.native, pytest.mark.timeout(120)]

NUM_TOKENS = 120


@pytest.fixture(params=["loopback", "namespaces"])
def two_machines(request: pytest.FixtureRequest) -> Iterator[list[Machine]]:
    try:
        with machines(2, request.param) as found:
            yield found
    except NotPermittedError as error:
        pytest.skip(f"no network namespaces here: {error}")


def params(path: Path, *workers: str, **changes: object) -> LoadParams:
    values: dict[str, object] = {"n_ctx": 512, "n_seq_max": 2, "n_threads": 1, "workers": workers}
    return LoadParams(path, **(values | changes))  # type: ignore[arg-type]


def question(name: str = "r", max_tokens: int = NUM_TOKENS) -> Request:
    sampling = SamplingParams(temperature=0.0, ignore_eos=True)
    return Request(name, f"chat {name}", (Message(Role.USER, "Tell me more."),), sampling, max_tokens)


def check_estimate(engine: Engines, path: Path) -> None:
    """Each machine took what was expected of it, before anything was loaded."""
    assert engine.model
    assert engine.front.loaded_params
    model, room = engine.model, ExpectedRoom.of(engine).room(engine.front.loaded_params)
    expected = plan(read_whole_header(path), engine.front.loaded_params, room)
    taken = dict(model.memory_elsewhere)
    assert [worker.name for worker in model.workers] == [worker.name for worker in room.workers]
    for worker, need in zip(room.workers, expected.needs[1:], strict=True):
        for name in ("weights_bytes", "kv_bytes"):  # of which the library tells hundredths of a MiB
            assert abs(getattr(taken[worker.name], name) - getattr(need, name)) < 10_000, (worker.name, name)
        # The last layer alone computes in less: only rows that get logits go all the way.
        assert 0 <= taken[worker.name].compute_bytes <= need.compute_bytes + 10_000
    assert model.memory.total_bytes < expected.need.total_bytes


def engine_children() -> list[psutil.Process]:
    """Without those that have ended and are not reaped yet."""
    alive = [one for one in psutil.Process().children() if not has_ended(one)]
    return [one for one in alive if "app.engine.children.engine_child" in one.cmdline()]


def answer_alone(path: Path) -> str:
    with open_llama_backend(params(path)) as backend:
        engine = Engine(backend)
        text = ask_alone(engine, question()).text
        engine.close()
    return text


class Answer:
    """What has come of the questions, from wherever it comes."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []

    def add_reports(self, reports: tuple[StepReport, ...] | list[StepReport]) -> None:
        for report in reports:
            self.outputs += report.outputs

    def add(self, output: Output) -> None:
        self.outputs.append(output)

    def text(self, name: str = "r") -> str:
        return "".join(output.text for output in self.outputs if output.request_id == name)

    def end(self, name: str = "r") -> FinishReason | None:
        return next((o.finish_reason for o in self.outputs if o.request_id == name and o.finish_reason), None)


@pytest.fixture
def engine(qloop: QEventLoop) -> Iterator[Engines]:
    engine = Engines()
    yield engine
    qloop.run_until_complete(engine.close())


def compute_a_part(engine: Engines, answer: Answer, qtbot: QtBot) -> None:
    """Asks, and stands still in mid-answer, however fast the machine is."""
    engine.post(Pause())
    engine.post(Submit(question()))

    def has_begun() -> bool:
        engine.post(StepOnce())
        return len(answer.text()) > 20

    qtbot.waitUntil(has_begun, timeout=60_000)
    assert not answer.end()


def test_one_model_in_three_parts_answers_as_on_one_machine_also_when_it_loses_one(
    two_machines: list[Machine],
    tiny_gguf: Callable[[str], Path],
    engine: Engines,
    qtbot: QtBot,
) -> None:
    """It is loaded again without that one, and the answer goes on where it was."""
    path, answer, told = tiny_gguf("qwen3"), Answer(), []
    engine.reported.connect(answer.add_reports)
    engine.ended.connect(answer.add)
    engine.recovering.connect(told.append)
    lost, kept = two_machines
    with qtbot.waitSignal(engine.loaded, timeout=60_000):
        engine.load(params(path, lost.address, kept.address))
    check_estimate(engine, path)

    engine.post(Submit(question("whole", 40)))
    qtbot.waitUntil(lambda: bool(answer.end("whole")), timeout=60_000)
    compute_a_part(engine, answer, qtbot)
    lost.kill()
    engine.post(Resume())
    qtbot.waitUntil(lambda: bool(answer.end()), timeout=60_000)
    alone = answer_alone(path)
    assert lost.address in told[0]
    assert kept.address not in told[0]
    assert engine.front.params
    assert engine.front.params.workers == (kept.address,)
    assert answer.end() is FinishReason.LENGTH
    assert answer.text() == alone
    assert alone.startswith(answer.text("whole"))


def test_an_engine_in_a_process_of_its_own_does_all_that_others_do_and_comes_back_when_killed(
    tiny_gguf: Callable[[str], Path], engine: Engines, qtbot: QtBot
) -> None:
    public = {name for name in vars(EngineLoop) if not name.startswith("_")}
    assert public <= set(dir(EngineProcess))

    path, answer, told, crashes = tiny_gguf("qwen3"), Answer(), [], []
    engine.reported.connect(answer.add_reports)
    engine.reported.connect(told.extend)
    engine.recovering.connect(crashes.append)
    with qtbot.waitSignal(engine.loaded, timeout=60_000):
        engine.load(params(path, own_process=True))
    [child] = engine_children()
    engine.post(Submit(question("first", max_tokens=4)))
    qtbot.waitUntil(lambda: bool(answer.end("first")), timeout=60_000)
    engine.post(Fork("chat first", "chat copy"))
    engine.post(Hibernate("chat copy"))
    qtbot.waitUntil(lambda: any(report.hibernated for report in told), timeout=20_000)

    assert engine.use_prompts(lambda prompts: prompts.tokenize("hello")).result(20)
    assert engine.use_prompts(lambda prompts: prompts.takes_tools).result(20) is False
    with pytest.raises(InvalidRequestError, match="-1 is no token"):
        engine.use_prompts(lambda prompts: prompts.written([-1])).result(20)
    with pytest.raises(ZeroDivisionError):
        engine.use_prompts(lambda _prompts: 1 // 0).result(20)

    compute_a_part(engine, answer, qtbot)
    child.kill()
    engine.post(Resume())
    qtbot.waitUntil(lambda: bool(answer.end()), timeout=60_000)
    assert "ran out of memory" in crashes[0]
    assert answer.text() == answer_alone(path)


def test_a_worker_says_what_it_is_and_serves_one_at_a_time() -> None:
    with machines(1, "loopback") as [machine]:
        found = ask(machine.address)
        assert (found.state, found.num_devices) == (WorkerState.READY, 1)
        assert 0 < found.free_bytes <= found.total_bytes
        for _ in range(300):  # whenever they come: while it begins to wait, or ends
            machine.process.terminate()
        assert machine.process.wait(20) == 0
        assert ask(machine.address).state is WorkerState.UNREACHABLE
