"""What every engine to come is told, as `ModelEngine` tells it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.bridge.model_engine import ModelEngine
from app.protocol.commands import (
    CheckCells,
    Command,
    Forget,
    Hibernate,
    Pause,
    Pin,
    SetFront,
    SetSpeed,
    Submit,
    WatchCells,
)
from app.protocol.load import LoadParams, Speed
from app.protocol.request import Message, Request, Role

Load = Callable[..., Any]


@pytest.fixture
def engine(model_engine: ModelEngine) -> ModelEngine:
    return model_engine


def test_a_new_model_is_told_the_speed_and_the_chat_in_front(engine, threads, load: Load) -> None:
    engine.post(SetSpeed(Speed.THROUGHPUT))
    engine.post(SetFront("c1"))
    first = load("a.gguf")
    assert (first.speed, first.front) == (Speed.THROUGHPUT, "c1")

    engine.post(SetFront("c2"))
    engine.post(SetSpeed(Speed.BALANCED))
    second = load("b.gguf")
    assert (first.speed, first.front) == (second.speed, second.front) == (Speed.BALANCED, "c2")


def test_the_chat_in_front_is_known_before_the_first_question_is_asked(engine, threads) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(SetFront("c1"))
    engine.post(Submit(Request("r1", "c1", (Message(Role.USER, "hello"),))))
    fronts: list[str | None] = []
    posted = threads[0].post

    def post(command: Command) -> None:
        posted(command)
        if isinstance(command, Submit):
            fronts.append(threads[0].front)

    threads[0].post = post
    threads[0].finish_loading()
    assert fronts == ["c1"]


def test_commands_reach_the_active_engine_and_are_dropped_without_one(engine, load: Load) -> None:
    engine.post(CheckCells())
    engine.post(Pause())
    first = load("a.gguf")
    assert first.posted == []
    engine.post(Hibernate("c1"))
    assert first.posted == [Hibernate("c1")]


def test_pins_and_an_open_map_hold_for_every_model_to_come_and_a_pause_does_not(engine, load: Load) -> None:
    engine.post(Pin("c1"))
    first = load("a.gguf")
    assert first.posted == [Pin("c1")]
    for command in (Pin("c2"), Pin("c3"), Pin("c3", is_pinned=False), WatchCells(), Pause()):
        engine.post(command)
    engine.post(Forget("c1"))
    second = load("b.gguf")
    assert second.posted == [Pin("c2"), WatchCells()]

    engine.post(WatchCells(is_watching=False))
    assert load("c.gguf").posted == [Pin("c2")]
