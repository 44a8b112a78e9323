"""Loads that are called off, threads that end, and the end of all. As `ModelEngine` uses them."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from app.bridge.model_engine import ModelEngine
from app.protocol.load import LoadParams

Load = Callable[..., Any]


@pytest.fixture
def engine(model_engine: ModelEngine) -> ModelEngine:
    return model_engine


def test_a_second_load_calls_off_the_first(engine, threads) -> None:
    loaded: list[str] = []
    engine.loaded.connect(lambda model: loaded.append(model.path.name))
    engine.load(LoadParams(Path("a.gguf")))
    engine.load(LoadParams(Path("b.gguf")))
    assert threads[0].stopped

    threads[0].finish_loading()  # it was done already when it was called off
    assert engine.model is None
    assert len(threads) == 1, "the memory of two models at once"
    threads[0].finished.emit()
    threads[1].finish_loading()
    assert (engine.model.path, loaded) == (Path("b.gguf"), ["b.gguf"])


def test_a_load_that_was_called_off_and_does_not_end_is_not_waited_for_for_ever(engine, threads) -> None:
    engine.load(LoadParams(Path("dead-network-drive.gguf")))
    engine.load(LoadParams(Path("b.gguf")))
    engine._threads._patience.timeout.emit()
    threads[1].finish_loading()
    assert engine.model.path == Path("b.gguf")
    threads[0].finished.emit()
    assert len(threads) == 2


async def test_closing_waits_for_every_thread(qloop, engine, threads, load: Load) -> None:
    load("a.gguf")
    engine.load(LoadParams(Path("b.gguf")))
    closing = qloop.create_task(engine.close())
    for thread in threads:
        assert not closing.done()
        await asyncio.sleep(0)
        assert thread.stopped
        thread.finished.emit()
    await closing


async def test_closing_without_a_thread_has_nothing_to_wait_for(qloop, engine) -> None:
    assert await engine.close()


def test_a_finished_thread_is_deleted(engine, threads, qtbot: QtBot) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    threads[0].failed.emit("no")
    with qtbot.waitSignal(threads[0].destroyed):
        threads[0].finished.emit()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
