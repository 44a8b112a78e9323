"""The values that enter and leave the engine. All frozen, so any thread may hold them."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from app.engine.errors import InvalidRequestError


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as the chat template sees it."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen. Defaults are llama-server's; `temperature` 0 is greedy.

    `top_k` 0, `top_p` 1, `min_p` 0 and the penalties' neutral values switch a sampler off.
    `seed` None draws a new one for each answer.
    """

    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_last_n: int = 64
    seed: int | None = None

    def __post_init__(self) -> None:
        _require("temperature", self.temperature, 0.0, 100.0)
        _require("top_k", self.top_k, 0, 1_000_000)
        _require("top_p", self.top_p, 0.0, 1.0)
        _require("min_p", self.min_p, 0.0, 1.0)
        _require("repeat_penalty", self.repeat_penalty, 0.01, 100.0)
        _require("frequency_penalty", self.frequency_penalty, -100.0, 100.0)
        _require("presence_penalty", self.presence_penalty, -100.0, 100.0)
        _require("penalty_last_n", self.penalty_last_n, 0, 65_536)
        if self.seed is not None:
            _require("seed", self.seed, 0, 2**32 - 2)  # 2**32 - 1 is llama.cpp's "draw one"


def _require(name: str, value: float, low: float, high: float) -> None:
    if not math.isfinite(value) or not low <= value <= high:
        raise InvalidRequestError(f"{name} must be between {low:,} and {high:,}, not {value}.")


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller wants: the next answer in a chat.

    `chat_id` names the chat whose cells may be reused; `max_tokens` None means as many as the context holds.
    `sampling` None means as the model's maker recommends.
    `keep_cells` False is for a chat that has no next turn: its cells are freed with its last token.
    """

    request_id: str
    chat_id: str
    messages: tuple[Message, ...]
    sampling: SamplingParams | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    keep_cells: bool = True

    def __post_init__(self) -> None:
        if not self.messages:
            raise InvalidRequestError("There is no message to answer.")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InvalidRequestError(f"max_tokens must be at least 1, not {self.max_tokens}.")
        if any(not text for text in self.stop):
            raise InvalidRequestError("A stop string must not be empty.")


class FinishReason(StrEnum):
    STOP = "stop"  # end of the answer, or a stop string
    LENGTH = "length"  # max_tokens reached, or the context is full
    ABORT = "abort"  # somebody stopped it
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer cost so far. Times in seconds.

    Prompt tokens are either reused (their cells were warm), shared (their cells were another chat's)
    or computed. A paused answer computes tokens again, so `num_computed_tokens` can exceed the prompt.
    """

    num_prompt_tokens: int = 0
    num_reused_tokens: int = 0
    num_shared_tokens: int = 0
    num_computed_tokens: int = 0
    num_generated_tokens: int = 0
    queue_s: float = 0.0
    time_to_first_token_s: float = 0.0  # from submission: `queue_s` is part of it
    decode_s: float = 0.0  # first token to last

    @property
    def tokens_per_s(self) -> float:
        """Decode speed; the first token belongs to the prompt's time."""
        return (self.num_generated_tokens - 1) / self.decode_s if self.decode_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Output:
    """New text of one request. With a `finish_reason` it is the last one, and `usage` is final.

    `notice` tells in one sentence why an answer ended early (ERROR, or LENGTH by a full context).
    """

    request_id: str
    chat_id: str
    text: str = ""
    finish_reason: FinishReason | None = None
    notice: str = ""
    usage: Usage = field(default_factory=Usage)


class SlotState(StrEnum):
    EMPTY = "empty"
    WARM = "warm"  # released, cells kept for the chat's next turn
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class SlotSnapshot:
    """One `seq_id` at the end of a step. Positions are the library's; -1 means it holds none."""

    seq_id: int
    state: SlotState
    chat_id: str | None = None
    request_id: str | None = None
    pos_min: int = -1
    pos_max: int = -1
    num_cells: int = 0
    num_shared_cells: int = 0
    num_pending_tokens: int = 0  # still to compute
    usage: Usage = field(default_factory=Usage)

    @property
    def is_running(self) -> bool:
        """An answer is being made in it."""
        return self.state in (SlotState.PREFILL, SlotState.DECODE)


@dataclass(frozen=True, slots=True)
class CellUsage:
    """KV cells of the whole context. `num_shared` of the used ones belong to more than one sequence."""

    num_total: int
    num_used: int = 0
    num_shared: int = 0

    @property
    def num_free(self) -> int:
        return self.num_total - self.num_used


@dataclass(frozen=True, slots=True)
class Span:
    """The rows one sequence had in one batch: `num_rows` tokens from position `first_pos` on."""

    seq_id: int
    chat_id: str
    request_id: str
    first_pos: int
    num_rows: int
    wants_logits: bool  # of its last row
    num_generated_tokens: int  # after the step
    max_tokens: int | None
    is_prefill: bool = False


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step: what was computed, what came out, how the context looks now. Times in milliseconds."""

    step: int
    outputs: tuple[Output, ...]
    spans: tuple[Span, ...]
    slots: tuple[SlotSnapshot, ...]
    cells: CellUsage
    num_waiting: int
    schedule_ms: float = 0.0
    decode_ms: float = 0.0
    update_ms: float = 0.0
    events: tuple[str, ...] = ()  # rare things worth a line: evicted, paused, no room

    @property
    def num_rows(self) -> int:
        return sum(span.num_rows for span in self.spans)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The loaded model and its context, as the library reports them."""

    path: Path
    name: str
    description: str  # such as "qwen3 0.6B Q4_K - Medium"
    architecture: str
    n_vocab: int
    n_params: int
    size_bytes: int
    n_ctx: int
    n_ctx_train: int
    n_seq_max: int
    n_batch: int
    n_swa: int = 0  # > 0: sliding-window attention
    is_recurrent: bool = False
    is_hybrid: bool = False
    sampling: SamplingParams = SamplingParams()  # recommended in the file, else llama-server's defaults

    @property
    def max_sequence_tokens(self) -> int:
        """How long one chat can get: all cells, but no position the model was never trained on."""
        return min(self.n_ctx, self.n_ctx_train) if self.n_ctx_train else self.n_ctx

    @property
    def longer_chats_need(self) -> str:
        """What a user can do about a chat that does not fit, in one sentence."""
        if self.n_ctx_train and self.n_ctx >= self.n_ctx_train:
            return "Start a new chat: this model was trained for no longer ones."
        return "Start a new chat, or load the model with a larger context (--ctx)."

    @property
    def has_plain_attention(self) -> bool:
        """Every cell is one token at one position, so prefixes can be cut and shared at will."""
        return not (self.n_swa or self.is_recurrent or self.is_hybrid)


@dataclass(frozen=True, slots=True)
class LoadParams:
    """How a model is turned into a context. Zero means "choose for me"."""

    path: Path
    n_ctx: int = 0
    n_seq_max: int = 8
    n_batch: int = 512
    n_threads: int = 0
