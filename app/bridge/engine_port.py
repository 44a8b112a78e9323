"""The engines, for another thread. What it asks of them reaches them on the GUI thread, in its order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import FOR_ALL, Engines
from app.bridge.model_engine import ModelEngine, pass_on
from app.protocol.commands import Command

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")


class EnginePort(QObject):
    posted = Signal(str, object)  # address, Command
    asked = Signal(
        str, object, object
    )  # address, what gets its PromptBuilder, the Future of what that returns

    def __init__(self, engines: Engines, parent: QObject) -> None:
        super().__init__(parent)
        self._engines = engines
        self.known = engines.known  # what it returns has a model and a state that any thread may read
        self.posted.connect(self._post)
        self.asked.connect(self._use_prompts)

    @property
    def default(self) -> str:
        """Address of the model of a request that names none. "": there is none. Any thread."""
        params = self._engines.of_callers.params
        return params.address if params else ""

    @Slot(str, object)
    def _post(self, address: str, command: Command) -> None:
        engine = self._engines if isinstance(command, FOR_ALL) else self._called(address)
        engine.post(command)

    @Slot(str, object, object)
    def _use_prompts(self, address: str, work: Callable[[PromptBuilder], T], future: Future[T]) -> None:
        pass_on(self._called(address).use_prompts(work), future)

    def _called(self, address: str) -> ModelEngine:
        self._engines.called.add(address)
        return self._engines.at(address)
