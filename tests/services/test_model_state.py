from pathlib import Path

import pytest

from app.protocol.load import LoadParams
from app.services.model_state import ModelState, ModelWatch
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine

BIG = Path("/m/big.gguf")


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def watch(engine: FakeEngine) -> ModelWatch:
    return ModelWatch(engine)  # type: ignore[arg-type]


def test_a_load_is_followed_to_its_end(engine: FakeEngine, watch: ModelWatch) -> None:
    told: list[ModelState] = []
    watch.changed.connect(told.append)
    engine.load(LoadParams(BIG))
    big = model_info(name="big", path=BIG)
    engine.finish_load(big)
    assert told == [ModelState(loading=BIG), ModelState(big)]


def test_a_failed_load_is_remembered_only_while_there_is_no_other(
    engine: FakeEngine, watch: ModelWatch
) -> None:
    engine.default = str(BIG)
    engine.load_failed.emit(BIG, "It is gone.")
    assert watch.state == ModelState(absent=BIG)
    starter = model_info(name="starter")
    engine.finish_load(starter)
    engine.load_failed.emit(BIG, "It is gone.")
    assert watch.state == ModelState(starter)


def test_sleep_crash_and_a_cancelled_load_are_followed(engine: FakeEngine, watch: ModelWatch) -> None:
    starter = model_info(name="starter")
    engine.finish_load(starter)
    engine.load(LoadParams(BIG))
    engine.cancel_load()
    assert watch.state == ModelState(starter)
    engine.sleep()
    assert watch.state == ModelState(starter, is_asleep=True)
    engine.model, engine.is_asleep = None, False
    engine.engine_failed.emit("It stopped.")
    assert watch.state == ModelState(absent=starter.path)
