"""The engine's errors, by who is to blame.

A `RequestError` ends one answer, any other `EngineError` ends the engine. Messages are written for the
person at the screen: what failed, why, and what to do.
"""


class EngineError(Exception):
    """The engine cannot go on: the model did not load, or a decode failed for good."""


class ModelLoadError(EngineError):
    """The GGUF could not be turned into a running context."""


class NoRoomYetError(ModelLoadError):
    """There will be memory for the model once the former one has freed its own."""


class ModelLoadCancelledError(ModelLoadError):
    """The load was cancelled."""


class EngineCrashedError(EngineError):
    """The process of the engine died. `lost_workers` are the machines that do not answer any more."""

    def __init__(self, message: str, lost_workers: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.lost_workers = lost_workers


class DecodeError(EngineError):
    """`llama_decode` failed, not because of missing cells."""

    def __init__(self, message: str, return_code: int = -1) -> None:
        super().__init__(message)
        self.return_code = return_code


class NoKvCellsError(EngineError):
    """`llama_decode` found no room for the batch (code 1). The memory is exactly as it was before."""

    return_code = 1


class DecodeInterruptedError(EngineError):
    """`llama_decode` was stopped by `Backend.interrupt` (code 2), or not begun because of it.

    If it `has_begun`, part of the batch may be in memory.
    """

    def __init__(self, message: str, *, has_begun: bool = False) -> None:
        super().__init__(message)
        self.has_begun = has_begun
        self.return_code = 2 if has_begun else 0


class PositionMismatchError(EngineError):
    """Our books and the library disagree about what a sequence holds. Always our bug."""


class RequestError(Exception):
    """One request cannot be answered; the others go on."""


class InvalidRequestError(RequestError):
    """A value of the request is out of range."""


class PromptTooLongError(RequestError):
    """The part of a chat that must be shown does not fit into its context."""

    def __init__(self, message: str, num_prompt_tokens: int = 0) -> None:
        super().__init__(message)
        self.num_prompt_tokens = num_prompt_tokens


class ChatTemplateError(RequestError):
    """The model's chat template failed, took too long, or used too much memory."""


class BadLogitsError(RequestError):
    """The model produced numbers that cannot be sampled from."""


class GrammarError(RequestError):
    """The grammar of an answer allows no next token, or takes too long to find one."""


class LensRefusedError(RequestError):
    """The inside of this model cannot be read; the message says why."""


class LensInterruptedError(RequestError):
    """Nobody wants to know any more."""


class SamplingInterruptedError(RequestError):
    """A grammar was stopped by `Backend.interrupt`: the answer is to be aborted."""
