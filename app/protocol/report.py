"""What one step did, and how the context looks after it. Frozen, so any thread may hold it."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from app.protocol.events import Event
from app.protocol.lens import LensAnswer
from app.protocol.media import Encoding, MediaSpan
from app.protocol.output import Output, PrefixEnd, Usage
from app.protocol.sampling import SamplingParams
from app.protocol.server_figures import ServerFigures
from app.protocol.travel import NAMED, Part, Sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int32]
    Words: TypeAlias = npt.NDArray[np.uint64]
    Bytes: TypeAlias = npt.NDArray[np.uint8]
else:  # importing numpy takes a tenth of a second, too long before the first paint
    Ints, Words, Bytes = (Annotated[Any, Part(dtype)] for dtype in ("<i4", "<u8", "u1"))


class SectionKind(StrEnum):
    SYSTEM = "system"
    TOOL = "tool"  # its description
    USER = "user"
    ANSWER = "answer"
    RESULT = "result"  # of a tool


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a prompt, from byte `start` of its text on, in UTF-8 as the template wrote it, up to `end`.

    What the template writes behind it has no section of its own.

    `name` is the tool's that is described, or those of all that an answer called, by spaces.
    """

    kind: SectionKind
    start: int
    end: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """A request got a slot: the sources of its prompt, and where and why the cached prefix ended.

    Prompt and held tokens have the first `num_common_tokens` in common; `common` are the last few of those,
    `wanted` and `held` the next few of each. Where the model could not be cut back there, less of the prefix
    was used. What was read ahead counts among the reused tokens, but not among the held ones. What another
    chat had then, and was not computed, stays shared.

    `prompt_bytes` are the prompt's tokens as int32; a raw prompt has no `sections`.
    """

    request_id: str
    chat_id: str
    seq_id: int
    num_common_tokens: int
    num_reused_tokens: int
    num_shared_tokens: int
    num_restored_tokens: int
    num_tokens_to_compute: int
    prefix_end: PrefixEnd
    wanted: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    common: tuple[int, ...] = ()
    is_from_checkpoint: bool = False  # without one nothing of the prefix could have been used
    is_ahead: bool = False  # of a message that was not sent yet
    num_ahead_tokens: int = 0  # of the reused or restored ones: computed before the message was sent
    prompt_bytes: bytes = b""  # all its tokens, as int32: after a pause, with those of its answer
    sections: tuple[Section, ...] = ()
    caller: str = ""  # its program; none for the window's chats

    @property
    def prompt_ids(self) -> tuple[int, ...]:
        return tuple(memoryview(self.prompt_bytes).cast("i"))


@dataclass(frozen=True, slots=True)
class HibernatedChat:
    """A chat without a slot whose cells were saved."""

    chat_id: str
    num_tokens: int
    size_bytes: int
    is_on_disk: bool


class SlotState(StrEnum):
    EMPTY = "empty"
    WARM = "warm"  # released, cells kept for the chat's next turn
    PREFILL = "prefill"
    DECODE = "decode"
    AHEAD = "ahead"  # computes a prompt that was not sent yet, and gives way to anything else


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
    max_context_tokens: int = 0  # how long its chat may get; 0 while empty
    is_pinned: bool = False
    checkpoints: tuple[int, ...] = ()  # numbers of tokens that it can go back to, where the model needs such
    checkpoint_bytes: int = 0  # of this machine's memory, with those that other sequences have, too
    media: tuple[MediaSpan, ...] = ()

    @property
    def is_running(self) -> bool:
        """An answer is being generated in it."""
        return self.state in (SlotState.PREFILL, SlotState.DECODE)


class WaitReason(StrEnum):
    """Why a request has no slot now."""

    QUEUED = "waiting"
    SHARES_PREFIX = "waiting for a shared prefix"  # that a running prompt computes
    PAUSED = "paused"  # its answer had begun; its cells were needed by others
    REFITTING = "shortening the prompt"
    ENCODING = "encoding"  # pictures or sounds for its prompt


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request without a slot, in the order of admission."""

    request_id: str
    chat_id: str
    reason: WaitReason
    num_prompt_tokens: int
    num_generated_tokens: int
    waiting_s: float  # since it was submitted, or paused


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
    wants_logits: bool  # of its last row, and of those before draft tokens
    num_generated_tokens: int  # after the step
    max_tokens: int | None
    is_prefill: bool = False
    token_bytes: bytes = b""  # the rows' tokens as int32, as the batch had them
    num_drafted: int = 0  # its last rows: draft tokens
    num_kept: int = 0  # of those, accepted
    is_ahead: bool = False  # of a message that was not sent yet
    logits_hashes: bytes = b""  # 4 bytes for each sampled row: that of its newest token, then kept ones

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(memoryview(self.token_bytes).cast("i"))


@dataclass(frozen=True, slots=True, eq=False)
class CellMap:
    """Every cell of the context at the end of a step, in the library's order. Read-only arrays.

    `pos` and `token_ids`: shape (n_ctx,), int32, -1 where the cell is free. `holders`: shape
    (n_ctx, num_words), uint64; bit `seq_id % 64` of word `seq_id // 64` is set for each sequence that holds
    the cell.
    """

    pos: Ints
    token_ids: Ints
    holders: Words
    high_water: int = 0  # the most cells used since the model was loaded


@dataclass(frozen=True, slots=True)
class CellCheck:
    """A comparison of our books with the library: the number of cells, and differences, if any."""

    step: int
    num_cells: int
    difference: Sentence = ""
    can_compare: bool = True  # False: this model's memory is not made of cells that can be listed
    is_order_only: bool = False  # the same cells in another order: answers are right, the map of them is not

    @property
    def agrees(self) -> bool:
        return not self.difference


@dataclass(frozen=True, slots=True)
class TokenTexts:
    """How tokens are written; a control token by its name. `texts` has one entry for each of `token_ids`."""

    token_ids: tuple[int, ...]
    texts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text as the model's tokens, behind other text."""

    text: str
    tokens: TokenTexts


@dataclass(frozen=True, slots=True)
class ChatTokens:
    """A chat's last prompt, then its answer: `num_prompt_tokens`, and those of `pieces`.

    `pieces` are the bytes each token of the answer stands for; none for a control token. Without tokens:
    nothing of the chat is held any more. `sampling` is what the request had.
    """

    chat_id: str
    token_ids: tuple[int, ...] = ()
    num_prompt_tokens: int = 0
    pieces: tuple[bytes, ...] = ()
    sampling: SamplingParams | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SavedState:
    """The state of a slot with its tokens. It is valid where `fingerprint` is that of the engine."""

    token_ids: tuple[int, ...]
    state: Bytes
    fingerprint: str


@dataclass(frozen=True, slots=True, eq=False)
class SlotAnswer:
    """What came of a command about a slot: `num_tokens` were saved, restored or erased.

    With a `refusal` nothing was done.
    """

    query_id: str
    num_tokens: int = 0
    saved: SavedState | None = None
    refusal: Sentence = ""


Answer = CellCheck | TokenTexts | TokenizedText | ChatTokens | SlotAnswer | LensAnswer


@dataclass(frozen=True, slots=True)
class PauseState:
    """The engine is paused: why, and what it computes next."""

    reason: Sentence  # "" if the user paused it, else the condition that was met, in words
    planned: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step: what was computed, what came out, how the context looks now. Times in milliseconds."""

    step: int
    outputs: tuple[Output, ...]
    spans: tuple[Span, ...]
    slots: tuple[SlotSnapshot, ...]
    cells: CellUsage
    schedule_ms: float = 0.0
    decode_ms: float = 0.0
    update_ms: float = 0.0
    events: tuple[Annotated[Event, NAMED], ...] = ()
    leases: tuple[Lease, ...] = ()  # of this step
    hibernated: tuple[HibernatedChat, ...] = ()
    started_at: float = 0.0  # `time.perf_counter()` seconds
    return_code: int = 0  # what llama_decode returned, if it was called
    sample_ms: float = 0.0  # part of `update_ms`
    waiting: tuple[WaitingRequest, ...] = ()
    last_check: CellCheck | None = None  # the newest comparison of all cells with the library
    cell_map: CellMap | None = None
    pause: PauseState | None = None  # None: it runs
    answers: tuple[Annotated[Answer, NAMED], ...] = ()
    draft_ms: float = 0.0  # part of `schedule_ms`: the draft model's time
    encodings: tuple[Encoding, ...] = ()
    trouble: Sentence = ""  # of the engine as a whole, such as a broken connection to it; it goes on
    server: ServerFigures | None = None  # of an engine that another program runs

    def without_step(self, **changes: Any) -> "StepReport":
        """The same states, and nothing that happened."""
        nothing: dict[str, Any] = {"outputs": (), "spans": (), "events": (), "leases": (), "answers": ()}
        return replace(self, **nothing | {"cell_map": None, "trouble": ""} | changes)

    @property
    def num_rows(self) -> int:
        return sum(span.num_rows for span in self.spans)

    @property
    def num_waiting(self) -> int:
        return len(self.waiting)
