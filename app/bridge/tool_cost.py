"""What the tools of a chat cost in each of its prompts, for the gauge. GUI thread."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.active_engine import ActiveEngine
from app.bridge.tasks import spawn
from app.protocol.answer_format import AnswerWishes
from app.protocol.errors import EngineError, RequestError
from app.protocol.request import Message, Request, Role

if TYPE_CHECKING:
    from app.engine.prompt_builder import PromptBuilder

_ANY = (Message(Role.USER, "x"),)


class ToolCost(QObject):
    measured = Signal()

    def __init__(self, engine: ActiveEngine, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._known: dict[tuple[str, str], int | None] = {}  # by model and definitions; the last one
        self._is_measuring = False

    def of(self, definitions: str) -> int | None:
        """Tokens of these definitions, a JSON list, as the model's template writes them.

        None: they are not measured yet, which begins with this call, or the model takes none.
        """
        if not definitions:
            return 0
        model = self._engine.model
        if model is None or self._engine.is_asleep:  # does not wake it up
            return None
        key = (str(model.path), definitions)
        if key not in self._known and not self._is_measuring:
            self._is_measuring = True
            spawn(self._measure(key))
        return self._known.get(key)

    async def _measure(self, key: tuple[str, str]) -> None:
        number = None
        try:
            number = await asyncio.wrap_future(self._engine.use_prompts(partial(_num_tokens, key[1])))
        except RequestError:  # its template has no place for tools
            pass
        except EngineError:  # it is gone: the next call measures again
            self._is_measuring = False
            return
        self._is_measuring = False
        self._known = {key: number}
        if isValid(self):  # its chat was not closed meanwhile
            self.measured.emit()


def _num_tokens(definitions: str, prompts: PromptBuilder) -> int:
    """The prompt thread."""
    plain = Request("", "", _ANY)
    with_tools = Request("", "", _ANY, wishes=AnswerWishes(tools=definitions))
    texts = (prompts.render(request) for request in (with_tools, plain))
    with_them, without = (len(prompts.tokenize(text)) for text in texts)
    return with_them - without
