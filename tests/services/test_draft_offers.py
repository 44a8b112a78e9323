"""A smaller model is tried as a draft model while all is quiet, and offered if answers become faster."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.bridge.tasks import finish_all
from app.protocol.load import LoadParams
from app.protocol.model import ModelInfo
from app.services import draft_offers as offers_module
from app.services.draft_offers import DraftOffer, DraftOffers
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine
from tests.ui.models.library_fakes import FakeModelLibrary, model_file


class Driver:
    def __init__(self, model: Path, draft: Path) -> None:
        self.small = model_file("small", 0.5, path=draft, parts=(draft,))
        self.library = FakeModelLibrary(model_file("large", 1.0, path=model, parts=(model,)), self.small)
        self.engine = FakeEngine()
        self.offers = DraftOffers(self.engine, self.library)  # type: ignore[arg-type]
        self.model: ModelInfo = model_info(path=model, num_drafted_tokens=8)
        self.offered: list[DraftOffer] = []
        self.offers.offered.connect(self.offered.append)

    async def load(self, **params: object) -> None:
        self.engine.loads.append(LoadParams(self.model.path, **params))  # type: ignore[arg-type]
        self.engine.finish_load(self.model)
        await finish_all()

    async def be_quiet(self) -> bool:
        """Whether anything waited for that."""
        was_waited_for = self.offers._quiet.isActive()
        self.offers._quiet.stop()
        if was_waited_for:
            self.offers._quiet.timeout.emit()
        await finish_all()
        return was_waited_for


@pytest.fixture
def trials(monkeypatch) -> list[LoadParams]:
    """What was tried; what is found is at `found`."""
    tried: list[LoadParams] = []

    def measured(params, _gpus, worker):
        tried.append(params)
        return found.pop(0) if (found := FOUND) else [1.0, 1.0]

    monkeypatch.setattr(offers_module, "_measured", measured)
    monkeypatch.setattr(offers_module, "is_on_mains", lambda: True)
    FOUND.clear()
    return tried


FOUND: list[object] = []


@pytest.fixture
def driver(qloop, tiny_gguf) -> Driver:
    return Driver(tiny_gguf("qwen3"), tiny_gguf("llama"))


async def test_what_is_worth_it_is_offered_once_all_is_quiet(driver, trials) -> None:
    FOUND.append([2.6, 1.0])
    await driver.load(n_threads=3)
    assert trials == []
    assert await driver.be_quiet()
    assert driver.offered == [DraftOffer(driver.model.path, driver.small, 2.6, 1.0)]
    [params] = trials
    assert (params.path, params.draft_model) == (driver.model.path, driver.small.path)
    assert (params.n_threads, params.n_seq_max) == (3, 1)
    driver.engine.reported.emit(())
    assert not await driver.be_quiet()


@pytest.mark.parametrize("found", [[1.1, 0.8], [], "refused"])
async def test_what_is_not_worth_it_or_was_refused_is_not_offered(driver, trials, found) -> None:
    FOUND.append(found)
    await driver.load()
    assert await driver.be_quiet()
    assert driver.offered == []
    assert not await driver.be_quiet()


async def test_an_answer_ends_the_trial_which_is_begun_again_later(driver, trials) -> None:
    FOUND.extend([None, [1.0, 1.3]])
    await driver.load()
    await driver.be_quiet()
    assert driver.offered == []
    assert await driver.be_quiet()
    assert driver.offered[0].free == 1.3


async def test_a_question_ends_the_process_at_once(driver, trials, monkeypatch) -> None:
    workers = []

    def measured(_params, _gpus, worker):
        workers.append(worker)
        driver.engine.asked.emit()
        assert worker.is_closed

    monkeypatch.setattr(offers_module, "_measured", measured)
    await driver.load()
    await driver.be_quiet()
    assert len(workers) == 1


@pytest.mark.parametrize(
    "params", [{"num_drafted_tokens": 0}, {"draft_model": Path("other.gguf")}, {"workers": ("host:1",)}]
)
async def test_nothing_is_tried_where_nothing_could_be_offered(driver, trials, params) -> None:
    if params == {"num_drafted_tokens": 0}:
        driver.model = replace(driver.model, num_drafted_tokens=0)
    await driver.load(**params)
    driver.engine.reported.emit(())
    assert not await driver.be_quiet()
    assert trials == []


async def test_nothing_is_tried_on_battery_or_while_the_engine_is_at_work(
    driver, trials, monkeypatch
) -> None:
    monkeypatch.setattr(offers_module, "is_on_mains", lambda: False)
    await driver.load()
    assert await driver.be_quiet()
    monkeypatch.setattr(offers_module, "is_on_mains", lambda: True)
    driver.engine.is_loading = True
    driver.engine.reported.emit(())
    assert await driver.be_quiet()
    assert trials == []
    driver.engine.is_loading = False
    driver.engine.reported.emit(())
    assert await driver.be_quiet()
    assert len(trials) == 1


async def test_a_model_that_was_replaced_meanwhile_is_offered_nothing(driver, trials, monkeypatch) -> None:
    def measured(*_args):
        return [2.0, 2.0]

    monkeypatch.setattr(offers_module, "_measured", measured)
    await driver.load()
    driver.offers._quiet.timeout.emit()
    await driver.load(draft_model=driver.small.path)
    assert driver.offered == []
