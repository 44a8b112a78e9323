"""Which of several engines computes. Threads, each of which says when it goes on."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.engine import turns as turns_module
from app.engine.turns import FRONT_STEPS, StepTurns


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def steps_of(names: str, turns: StepTurns, pool: ThreadPoolExecutor, num_steps: int) -> str:
    """The order in which engines take `num_steps` each: all wait before the first one runs."""
    order: list[str] = []

    def run(name: str) -> None:
        for _ in range(num_steps):
            with turns.turn(name):
                order.append(name)

    with turns.turn("before"):
        running = [pool.submit(run, name) for name in names]
        while len(turns._waiting) < len(names):
            pass
    for one in running:
        one.result(10)
    return "".join(order)


def test_never_two_at_once(pool) -> None:
    turns, inside, most = StepTurns(), [], []

    def run(name: str) -> None:
        for _ in range(200):
            with turns.turn(name):
                inside.append(name)
                most.append(len(inside))
                inside.pop()

    for one in [pool.submit(run, name) for name in "abcd"]:
        one.result(30)
    assert max(most) == 1


def test_without_one_in_front_they_take_turns_and_nobody_waits_for_ever(pool) -> None:
    order = steps_of("abc", StepTurns(), pool, 20)
    assert sorted(order) == sorted("abc" * 20)


def test_the_one_in_front_has_several_steps_before_each_of_another(pool, monkeypatch) -> None:
    monkeypatch.setattr(turns_module, "GRACE_S", 30.0)  # however slow the machine: it is there again
    turns = StepTurns()
    turns.front = "f"
    order = steps_of("fo", turns, pool, 2 * FRONT_STEPS)
    assert order.startswith(("f" * FRONT_STEPS + "o") * 2)


def test_an_engine_in_front_that_has_nothing_to_do_keeps_nobody_waiting(pool) -> None:
    turns = StepTurns()
    turns.front = "idle"
    assert steps_of("o", turns, pool, 3) == "ooo"


def test_who_computes_knows_whether_another_one_has_work(monkeypatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(turns_module, "monotonic", lambda: clock[0])
    turns, told = StepTurns(), []
    for name in "aab":
        with turns.turn(name) as others_wait:
            told.append(others_wait)
    clock[0] += turns_module.RECENT_S
    with turns.turn("b") as others_wait:
        told.append(others_wait)
    assert told == [False, False, True, False]


def test_a_step_that_fails_gives_its_turn_back(pool) -> None:
    turns = StepTurns()
    with pytest.raises(ValueError, match="no"), turns.turn("a"):
        raise ValueError("no")
    done = threading.Event()

    def run() -> None:
        with turns.turn("b"):
            done.set()

    pool.submit(run)
    assert done.wait(10)
