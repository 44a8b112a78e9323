"""Everything that can go wrong in the engine, by blame.

A `RequestError` ends one answer, any other `EngineError` ends the engine. Messages are written for the
person at the screen: what failed, why, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.engine.types import ModelInfo


class EngineError(Exception):
    """The engine cannot go on: the model did not load, or a decode failed for good."""


class ModelLoadError(EngineError):
    """The GGUF could not be turned into a running context."""


class ModelLoadCancelledError(ModelLoadError):
    """The load was called off before it was done."""


class DecodeError(EngineError):
    """`llama_decode` failed, and not for want of room."""


class NoKvCellsError(EngineError):
    """`llama_decode` found no room for the batch (code 1). The memory is exactly as it was before."""


class DecodeInterruptedError(EngineError):
    """`llama_decode` was stopped by `Backend.interrupt` (code 2). Part of the batch may be in memory."""


class PositionMismatchError(EngineError):
    """Our books and the library disagree about the positions of a sequence. Always our bug."""


class RequestError(Exception):
    """One request cannot be answered; the others go on."""


class InvalidRequestError(RequestError):
    """A value of the request is out of range."""


class PromptTooLongError(RequestError):
    """The prompt alone does not fit into the context."""

    def __init__(self, num_tokens: int, model: ModelInfo) -> None:
        super().__init__(
            f"This chat needs {num_tokens:,} tokens, but the context holds {model.max_sequence_tokens:,}. "
            f"Shorten the text. {model.longer_chats_need}"
        )


class ChatTemplateError(RequestError):
    """The model's chat template failed, took too long, or used too much memory."""


class BadLogitsError(RequestError):
    """The model produced numbers that cannot be sampled from."""
