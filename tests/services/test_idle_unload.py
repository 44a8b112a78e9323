import pytest

from app.protocol.commands import Submit
from app.protocol.output import FinishReason, Output
from app.protocol.request import Message, Request, Role
from app.services.model_state import IdleUnload
from app.services.preferences import Preferences
from app.settings.settings import Settings

QUESTION = Request("r1", "c1", (Message(Role.USER, "hello"),))


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("app.bridge.model_engine.monotonic", clock)
    return clock


@pytest.fixture
def preferences(qapp) -> Preferences:
    return Preferences(Settings(unload_after_min=10))


@pytest.fixture
def idle(engine, preferences) -> IdleUnload:
    return IdleUnload(engine, preferences, engine)


def test_after_so_long_a_silence_the_model_sleeps_and_not_before(idle, engine, load, clock) -> None:
    thread = load()
    clock.now_s += 9 * 60
    idle._timer.timeout.emit()
    assert not engine.is_asleep
    engine.post(Submit(QUESTION))
    clock.now_s += 60 * 60  # a long answer
    idle._timer.timeout.emit()
    assert not engine.is_asleep
    thread.report(Output("r1", "c1", "done", FinishReason.STOP))
    clock.now_s += 9 * 60
    idle._timer.timeout.emit()
    assert not engine.is_asleep
    assert idle._timer.interval() == 60_000
    clock.now_s += 60
    idle._timer.timeout.emit()
    assert (engine.is_asleep, thread.stopped, idle._timer.isActive()) == (True, True, False)


def test_awake_again_it_sleeps_again(idle, engine, load, threads, clock) -> None:
    load()
    clock.now_s += 600
    idle._timer.timeout.emit()
    engine.post(Submit(QUESTION))
    threads[1].finish_loading()
    threads[1].report(Output("r1", "c1", "done", FinishReason.STOP))
    assert idle._timer.isActive()
    clock.now_s += 600
    idle._timer.timeout.emit()
    assert engine.is_asleep


def test_zero_minutes_never_let_it_sleep_and_a_new_number_counts_at_once(
    idle, engine, load, preferences: Preferences, clock
) -> None:
    preferences.set("unload_after_min", 0)
    load()
    clock.now_s += 1_000_000
    assert not idle._timer.isActive()
    preferences.set("unload_after_min", 5)
    assert engine.is_asleep
