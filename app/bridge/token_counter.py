"""Counts the tokens of unsent text and media for the active model. GUI thread.

Texts are counted beside the engine, in pieces, so that other chats' prompts are not delayed. Nothing goes to
another machine to be counted: for a model there they are estimated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from app.bridge.engines import ChatEngine, Engines
from app.bridge.tasks import spawn
from app.protocol.errors import EngineError, RequestError
from app.protocol.media import Media

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

PIECE_CHARS = 32_000  # some 10 ms
Counted = str | Media
MAX_COUNTED_CHARS = 32 * PIECE_CHARS  # of one text; the rest is extrapolated
USUAL_BYTES_PER_TOKEN = 3  # rather too few


@dataclass(frozen=True, slots=True)
class TokenCount:
    number: int
    is_exact: bool = True


class TokenCounter(QObject):
    """Caches the counts of the texts asked for last, until the model changes."""

    counted = Signal()  # another text was counted, or the counts were dropped

    def __init__(self, engine: ChatEngine | Engines, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._wanted: tuple[Counted, ...] = ()
        self._known: dict[Counted, TokenCount] = {"": TokenCount(0)}
        self._is_counting = False
        engine.loaded.connect(self._on_model_changed)
        engine.engine_failed.connect(self._on_model_changed)

    def count(self, texts: Iterable[Counted]) -> None:
        """Counts these texts, and cancels what was asked for before."""
        self._wanted = tuple(texts)
        self._known = {text: count for text, count in self._known.items() if text in (*self._wanted, "")}
        self._go_on()

    def num_tokens(self, text: Counted) -> TokenCount | None:
        """None: not counted yet, or there is no model. A picture that it does not see has no tokens."""
        return self._known.get(text)

    @Slot()
    def _on_model_changed(self) -> None:
        self._known = {"": TokenCount(0)}
        self.counted.emit()
        self._go_on()

    def _go_on(self) -> None:
        if self._next() is not None and not self._is_counting:
            self._is_counting = True
            spawn(self._count_all())

    def _next(self) -> Counted | None:
        model = self._engine.model
        if not model or model.is_foreign or self._engine.is_asleep:  # does not wake it up
            return None
        return next((text for text in self._wanted if text not in self._known), None)

    async def _count_all(self) -> None:
        try:
            while (text := self._next()) is not None:
                model = self._engine.model
                if model and model.server:
                    count: TokenCount | None = TokenCount(estimated(text), is_exact=False)
                else:
                    count = await (self._count_media(text) if isinstance(text, Media) else self._count(text))
                if not isValid(self):  # its chat was closed, and asked for this in its last moment
                    return
                if count and text in self._wanted and model is self._engine.model:
                    self._known[text] = count
                    self.counted.emit()
        except EngineError:  # it is gone: the next one counts again
            pass
        finally:
            self._is_counting = False

    async def _count_media(self, media: Media) -> TokenCount:
        work = partial(_num_media_tokens, media)
        try:
            return TokenCount(await asyncio.wrap_future(self._engine.use_prompts(work)))
        except RequestError:  # the model does not take it
            return TokenCount(0)

    async def _count(self, text: str) -> TokenCount | None:
        """None if it is no longer wanted."""
        num_tokens = start = 0
        while start < min(len(text), MAX_COUNTED_CHARS):
            if text not in self._wanted:
                return None
            end = _end_of_piece(text, start)
            num_tokens += await asyncio.wrap_future(self._engine.use_prompts(_counting(text[start:end])))
            start = end
        if start >= len(text):
            return TokenCount(num_tokens)
        return TokenCount(num_tokens * len(text) // start, is_exact=False)


def estimated(text: Counted) -> int:
    """Its tokens, for a model on another machine. 0: unknown, as those of a picture are."""
    return 0 if isinstance(text, Media) else len(text.encode("utf-8", "replace")) // USUAL_BYTES_PER_TOKEN


def _num_media_tokens(media: Media, prompts: PromptBuilder) -> int:
    return prompts.num_media_tokens(media)


def _counting(piece: str) -> Callable[[PromptBuilder], int]:
    return lambda prompts: len(prompts.tokenize(piece, parse_special=False))


def _end_of_piece(text: str, start: int) -> int:
    """Between two lines, where no token is cut, if there are lines."""
    end = start + PIECE_CHARS
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", start, end)
    return line_end + 1 if line_end > start else end
