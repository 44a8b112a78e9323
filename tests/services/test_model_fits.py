"""What models would take of a memory whose size the test says."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bridge import tasks
from app.bridge.engines import Engines
from app.engine.children.workers import RemoteWorker, WorkerState
from app.models.folders import Folder
from app.models.memory_fit import Fit
from app.models.model_file import FileKind, ModelFile, ModelSource, read_whole_header
from app.protocol.load import LoadParams
from app.protocol.model import Device, DeviceKind, LibraryInfo, MemoryNeed
from app.services import model_fits
from app.services.model_fits import ExpectedRoom, ModelFits, Taken
from app.services.preferences import Preferences
from app.settings.settings import ModelSettings, Settings
from tests.native.tiny_ggufs import write_tiny_gguf

MIB = 2**20


class Machine:
    def __init__(self) -> None:
        self.free_bytes = 4096 * MIB
        self.reads: list[str] = []


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()

    def read(path: Path) -> object:
        machine.reads.append(path.name)
        return read_whole_header(path)

    monkeypatch.setattr(model_fits, "free_memory_bytes", lambda: machine.free_bytes)
    monkeypatch.setattr(model_fits, "read_whole_header", read)
    return machine


@pytest.fixture
def preferences() -> Preferences:
    return Preferences(Settings(n_ctx=4096))


@pytest.fixture
def fits(
    qloop: asyncio.AbstractEventLoop, preferences: Preferences, engine: Engines, machine: Machine
) -> Iterator[ModelFits]:
    fits = ModelFits(preferences, engine)
    yield fits
    fits.close()
    qloop.run_until_complete(tasks.finish_all())
    fits.deleteLater()


@pytest.fixture
def models(tmp_path: Path) -> tuple[ModelFile, ...]:
    from app.models.catalog import scan

    for name in ("a", "b"):
        write_tiny_gguf(tmp_path / f"{name}.gguf", "qwen3")
    (tmp_path / "c.gguf").write_text("damaged")
    return tuple(sorted(scan([Folder(tmp_path, ModelSource.FOLDER)]), key=lambda model: model.path))


async def told(fits: ModelFits, models: tuple[ModelFile, ...]) -> None:
    fits.ask(models)
    await tasks.finish_all()


async def test_chat_models_are_estimated_once(qloop, fits, models, machine) -> None:
    assert fits.fitting(models[0]) is None
    await told(fits, models)
    fitting = fits.fitting(models[0])
    assert fitting
    assert fitting.free_bytes == 4096 * MIB
    assert 0 < fitting.needed_bytes < 1024 * MIB
    assert fitting.fit is Fit.FITS
    assert models[2].kind is FileKind.DAMAGED
    assert fits.fitting(models[2]) is None
    await told(fits, models)
    assert machine.reads == ["a.gguf", "b.gguf"]


async def test_a_model_that_does_not_fit_comes_with_advice_until_it_does(
    qloop, fits, models, machine
) -> None:
    machine.free_bytes = MIB
    await told(fits, models)
    fitting = fits.fitting(models[0])
    assert fitting
    assert fitting.fit is Fit.TOO_LARGE
    assert fitting.advice
    machine.free_bytes = 4096 * MIB
    await told(fits, models)
    fitting = fits.fitting(models[0])
    assert fitting
    assert (fitting.fit, fitting.advice) == (Fit.FITS, "")


async def test_other_settings_make_another_estimate(qloop, fits, models, preferences) -> None:
    await told(fits, models)
    before = fits.fitting(models[0])
    preferences.set("n_ctx", 65_536)
    assert fits.fitting(models[0]) is None
    await tasks.finish_all()
    after = fits.fitting(models[0])
    assert before
    assert after
    assert after.needed_bytes > before.needed_bytes


async def test_the_model_in_use_tells_what_it_has_taken_and_the_others_count_on_that(
    qloop, fits, models, machine, engine, threads
) -> None:
    await told(fits, models)
    expected = fits.fitting(models[0])
    engine.load(LoadParams(models[0].path))
    threads[0].finish_loading(n_ctx=4096, memory=MemoryNeed(600 * MIB, 100 * MIB, mapped_bytes=500 * MIB))
    await told(fits, models)
    assert fits.taken(models[0]) == Taken(expected.needed_bytes, 700 * MIB)
    assert fits.taken(models[1]) is None
    assert fits.fitting(models[1]).free_bytes == (4096 + 200) * MIB
    engine.front.sleep()
    await told(fits, models)
    assert fits.taken(models[0]) is None
    assert fits.fitting(models[1]).free_bytes == 4096 * MIB


async def test_a_model_over_several_machines_counts_the_memory_of_all(
    qloop, fits, models, preferences, monkeypatch
) -> None:
    def ask(address: str) -> RemoteWorker:
        free_bytes = 1024 * MIB if address == "good:1" else 0
        return RemoteWorker(address, WorkerState.READY, free_bytes=free_bytes, total_bytes=4096 * MIB)

    monkeypatch.setattr(model_fits, "ask", ask)
    preferences.set_of_model(models[0].path, ModelSettings(workers=("good:1",)))
    await told(fits, models)
    fitting = fits.fitting(models[0])
    assert (fitting.fit, fitting.free_bytes) == (Fit.FITS, (4096 + 1024) * MIB)
    preferences.set_of_model(models[0].path, ModelSettings(workers=("good:1", "full:1")))
    await told(fits, models)
    assert fits.fitting(models[0]).fit is Fit.TOO_LARGE


async def test_nobody_knows_whether_a_model_fits_on_a_worker_that_does_not_answer(
    qloop, fits, models, preferences, monkeypatch
) -> None:
    monkeypatch.setattr(model_fits, "ask", lambda address: RemoteWorker(address, WorkerState.UNREACHABLE))
    preferences.set_of_model(models[0].path, ModelSettings(workers=("gone:1",)))
    await told(fits, models[1:])
    fits.ask(models)
    await tasks.finish_all()
    assert fits.fitting(models[0]) is None


async def test_a_file_that_has_gone_is_not_told_of(qloop, fits, models) -> None:
    models[0].path.unlink()
    await told(fits, models)
    assert fits.fitting(models[0]) is None
    assert fits.fitting(models[1])


@pytest.mark.parametrize(
    ("kind", "here", "there", "asleep"),
    [
        # 1000 MiB are free here. The model has 10 here, of which 4 are pages of its file, and 70 there.
        (DeviceKind.GPU, 1006, 370, 1000),
        (DeviceKind.INTEGRATED, 1076, 370, 1000),
    ],
)
def test_what_the_model_holds_counts_as_free_while_it_is_there(
    engine, load, monkeypatch, kind, here, there, asleep
) -> None:
    monkeypatch.setattr(model_fits, "free_memory_bytes", lambda: 1000 * MIB)
    elsewhere = MemoryNeed(weights_bytes=70 * MIB)
    load(
        "a.gguf",
        library=LibraryInfo(devices=(Device("V0", "", kind, 500 * MIB, 300 * MIB),)),
        memory=elsewhere + MemoryNeed(weights_bytes=10 * MIB, mapped_bytes=4 * MIB),
        memory_elsewhere=(("V0", elsewhere),),
    )
    params = LoadParams(engine.model.path)
    room = ExpectedRoom.of(engine).room(params)
    assert (room.here_bytes, room.gpus[0].free_bytes) == (here * MIB, there * MIB)
    engine.front.sleep()
    room = ExpectedRoom.of(engine).room(params)
    assert (room.here_bytes, room.gpus[0].free_bytes) == (asleep * MIB, there * MIB)


def test_without_a_model_it_is_what_is_free(engine, monkeypatch) -> None:
    monkeypatch.setattr(model_fits, "free_memory_bytes", lambda: 1000 * MIB)
    assert ExpectedRoom.of(engine).total_bytes() == 1000 * MIB
