"""Calls on the tokenizer that wait until an engine is loaded. GUI thread; they complete on any thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from app.bridge.engine_thread import EngineThread
from app.protocol.errors import EngineError

if TYPE_CHECKING:
    from app.engine.prompt_builder import PromptBuilder

T = TypeVar("T")


class PromptUses:
    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[PromptBuilder], Any], Future[Any]]] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        future: Future[T] = Future()
        self._waiting.append((work, future))
        return future

    def hand_to(self, engine: EngineThread) -> None:
        waiting, self._waiting = self._waiting, []
        for work, future in waiting:
            _pass_on(engine.use_prompts(work), future)

    def fail(self, message: str) -> None:
        waiting, self._waiting = self._waiting, []
        for _, future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(EngineError(message))


def _pass_on(source: Future[T], target: Future[T]) -> None:
    """Copies the outcome of `source` to `target`, on the thread that completes it."""
    if not target.set_running_or_notify_cancel():
        source.cancel()
        return

    def on_done(done: Future[T]) -> None:
        error = done.exception()
        if error:
            target.set_exception(error)
        else:
            target.set_result(done.result())

    source.add_done_callback(on_done)
