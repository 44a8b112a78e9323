import pytest

from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.idle import SHORTEST_IDLE_S, TRIAL_STEPS, IdleChats
from app.engine.engine import Engine
from tests.driver import ask, request
from tests.fakes import CountingBackend, endless_token


def run_evenly(idle: IdleChats, step_ms: float, num_decoding: int = 3) -> None:
    for _ in range(TRIAL_STEPS + 1):
        idle.learn(num_decoding, 0, step_ms)


@pytest.fixture
def idle():
    idle = IdleChats()
    run_evenly(idle, 40.0)
    return idle


def test_a_trial_begins_only_while_answers_run_evenly():
    idle = IdleChats()
    assert not idle.can_try
    run_evenly(idle, 40.0)
    assert idle.can_try
    idle.learn(3, num_prompt_tokens=20, step_ms=100.0)
    assert not idle.can_try


def test_a_gain_keeps_the_wait_short(idle):
    idle.note_hibernated(cost_ms=50.0)
    assert not idle.can_try
    run_evenly(idle, 36.0)
    assert idle.can_try
    assert idle.min_idle_s == SHORTEST_IDLE_S


def test_without_a_gain_the_next_trial_comes_later(idle):
    idle.note_hibernated(cost_ms=50.0)
    run_evenly(idle, 39.9)
    assert idle.min_idle_s == 2 * SHORTEST_IDLE_S


def test_a_trial_that_was_disturbed_says_nothing(idle):
    idle.note_hibernated(cost_ms=50.0)
    idle.learn(4, 0, 55.0)
    run_evenly(idle, 55.0, num_decoding=4)
    assert idle.can_try
    assert idle.min_idle_s == SHORTEST_IDLE_S


def engine_with_an_idle_chat(monkeypatch, idle_s: float) -> tuple[Engine, str]:
    monkeypatch.setattr("app.engine.cells.idle.MIN_CELLS", 16)
    engine = Engine(CountingBackend(endless_token), HibernatedChats(ram_bytes=2**20))
    engine._idle.min_idle_s = idle_s
    sleeper = request("a chat that nobody looks at", max_tokens=4)
    ask(engine, sleeper)
    ask(engine, request("a chat that goes on and on", max_tokens=60))
    return engine, sleeper.chat_id


def test_a_chat_idle_for_long_sleeps_while_others_talk(monkeypatch):
    engine, sleeper = engine_with_an_idle_chat(monkeypatch, idle_s=0.0)
    assert [chat.chat_id for chat in engine.slots.hibernated.chats()] == [sleeper]


def test_a_chat_that_was_used_just_now_stays_warm(monkeypatch):
    engine, _ = engine_with_an_idle_chat(monkeypatch, idle_s=3600.0)
    assert engine.slots.hibernated.chats() == ()


def test_alone_an_idle_chat_stays_warm(monkeypatch):
    engine, _ = engine_with_an_idle_chat(monkeypatch, idle_s=3600.0)
    engine._idle.min_idle_s = 0.0
    while engine.has_work:
        engine.step()
    assert engine.slots.hibernated.chats() == ()
