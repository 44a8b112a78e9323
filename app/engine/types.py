"""The values that enter and leave the engine. All frozen, so any thread may hold them."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from app.engine.errors import InvalidRequestError
from app.engine.json_object import read_object
from app.engine.sampling import SamplingParams
from app.said import said

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int32]
    Words: TypeAlias = npt.NDArray[np.uint64]
else:  # to import numpy takes a tenth of a second, and the window is shown without
    Ints = Words = memoryview  # for whoever reads annotations: nothing that a file could hold

MIN_CONTEXT_TOKENS = 16  # a template alone takes about ten
DEFAULT_N_CTX = 8192  # where there is room for it
DEFAULT_N_UBATCH = 256
MAX_DRAFTED_TOKENS = 64  # in one step; as many rows with logits cost 75 MiB with a vocabulary of 152,000
USUAL_DRAFTED_TOKENS = 8  # where a draft model was chosen, and no number
MAX_LOGPROBS = 100  # each costs some 6 us a token, and all other answers wait meanwhile


class Speed(StrEnum):
    """How much of a step prompts may take while answers are running."""

    RESPONSIVE = "responsive"  # running answers hardly slow down
    BALANCED = "balanced"
    THROUGHPUT = "throughput"  # prompts take the fastest chunk, running answers wait for it


class Overflow(StrEnum):
    """What becomes of a chat that no longer fits its context."""

    STOP = "stop"
    ROLLING_WINDOW = "rolling_window"  # the oldest turns are left out, the system prompt stays
    TRUNCATE_MIDDLE = "truncate_middle"  # beginning and end stay, turns between them are left out


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # what a tool returned that the assistant called


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as the chat template sees it.

    `fields` is a JSON object of what it has besides: `tool_calls`, `tool_call_id`, `name`.
    """

    role: Role
    content: str
    fields: str = ""

    def __post_init__(self) -> None:
        if taken := read_object(self.fields, "The fields of a message").keys() & {"role", "content"}:
            raise InvalidRequestError(f"The fields of a message cannot set its {min(taken)} once more.")


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller wants: the next answer in a chat.

    `chat_id` names the chat whose cells may be reused; `max_tokens` None means as many as the context holds.
    `sampling` None means as the model's maker recommends.
    `keep_cells` False is for a chat that has no next turn: its cells are freed with its last token.
    `max_context_tokens` caps prompt and answer together below what the context holds.
    `num_logprobs` asks how likely each token was, and so many others in its place; 0 asks nothing.
    `max_tokens` 0 computes the prompt and makes no answer.
    `prompt` stands for `messages` where the caller writes the whole prompt: pieces of text, in which control
    tokens count, and token ids. Where text comes first, the model's own beginning (BOS) is put before it
    unless it is there; where ids come first, nothing is added.
    The answer goes on behind `answer_start`, which is part of it, but costs what a prompt costs and is not
    told again: text in which no control tokens count, or token ids. Stop strings are looked for behind it.
    `template_variables` is a JSON object of what the chat template is given besides the messages, such as
    `tools` or `enable_thinking`.
    With `shares_prefix` False nothing that was computed for another chat is used.
    `is_saved` says that the chat is there at the next start, so that its cells may be kept until then.
    """

    request_id: str
    chat_id: str
    messages: tuple[Message, ...] = ()
    sampling: SamplingParams | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    keep_cells: bool = True
    overflow: Overflow = Overflow.STOP
    max_context_tokens: int | None = None
    num_logprobs: int = 0
    prompt: tuple[str | int, ...] = ()
    answer_start: str | tuple[int, ...] = ()
    template_variables: str = ""
    shares_prefix: bool = True
    is_saved: bool = False

    def __post_init__(self) -> None:
        if not self.messages and not self.prompt:
            raise InvalidRequestError("There is no message to answer.")
        if self.messages and self.prompt:
            raise InvalidRequestError("A request has messages or a prompt, not both. Leave one out.")
        if self.max_tokens is not None and self.max_tokens < 0:
            raise InvalidRequestError(f"max_tokens must be at least 0, not {self.max_tokens}.")
        if "messages" in read_object(self.template_variables, "template_variables"):
            raise InvalidRequestError("template_variables cannot set the messages once more.")
        if self.max_context_tokens is not None and self.max_context_tokens < MIN_CONTEXT_TOKENS:
            raise InvalidRequestError(
                f"A chat's context must hold at least {MIN_CONTEXT_TOKENS} tokens, "
                f"not {self.max_context_tokens}."
            )
        if any(not text for text in self.stop):
            raise InvalidRequestError("A stop string must not be empty.")
        if not 0 <= self.num_logprobs <= MAX_LOGPROBS:
            raise InvalidRequestError(
                f"num_logprobs must be between 0 and {MAX_LOGPROBS}, not {self.num_logprobs}."
            )

    @property
    def is_repeatable(self) -> bool:
        return self.sampling is not None and self.sampling.repeatable


class FinishReason(StrEnum):
    STOP = "stop"  # end of the answer, or a stop string
    LENGTH = "length"  # max_tokens reached, or the context is full
    ABORT = "abort"  # somebody stopped it
    ERROR = "error"


class PrefixEnd(StrEnum):
    """Why the cached prefix of a prompt ended where it did."""

    NEW_CHAT = "new chat"  # nothing of this chat was ever computed
    NEW_TEXT = "new text"  # all that was held is part of the prompt; the rest is new
    EDITED = "edited message"  # an earlier message is another one now
    TEMPLATE = "template changed the history"  # same messages, but the template renders them differently
    DROPPED = "turns left out"  # by the chat's overflow choice
    NO_ROLLBACK = "model cannot remove a tail"  # sliding window or recurrent state
    EVICTED = "evicted"  # its cells were needed, and its state was not kept
    DOUBTED = "saved state in doubt"  # it did not pass a check, so it was not used
    WHOLE_CHUNKS = "repeatable: whole chunks only"  # the rest was computed in another shape


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer cost so far. Times in seconds.

    Prompt tokens are reused (their cells were warm), shared (their cells are another chat's too), restored
    (their cells were saved) or computed. `prefix_end` tells why not more of them were there already.
    `num_computed_tokens` are all rows computed for it: the rest of the prompt, the answer's own tokens, and
    those that a pause or a shorter prompt made it compute again, and guesses that were wrong. Of
    `num_drafted_tokens` guessed ones `num_kept_tokens` were right; `num_model_…` are those of a draft model
    among them, the others came from the chat's own text.
    """

    num_prompt_tokens: int = 0
    num_reused_tokens: int = 0
    num_shared_tokens: int = 0
    num_restored_tokens: int = 0
    num_computed_tokens: int = 0
    prefix_end: str = ""  # a PrefixEnd; text, so that an answer saved by a later version can be read
    num_generated_tokens: int = 0
    num_drafted_tokens: int = 0
    num_kept_tokens: int = 0
    num_model_drafted_tokens: int = 0
    num_model_kept_tokens: int = 0
    queue_s: float = 0.0
    prompt_s: float = 0.0  # from the slot to the first token, or so far
    time_to_first_token_s: float = 0.0  # from submission: `queue_s` and `prompt_s` are part of it
    decode_s: float = 0.0  # first token to last

    @property
    def num_cached_tokens(self) -> int:
        """Of the prompt: all that had not to be computed for it."""
        return self.num_reused_tokens + self.num_shared_tokens + self.num_restored_tokens

    @property
    def tokens_per_s(self) -> float:
        """Decode speed; the first token belongs to the prompt's time."""
        return (self.num_generated_tokens - 1) / self.decode_s if self.decode_s > 0 else 0.0

    def followed_by(self, rest: "Usage") -> "Usage":
        """Of an answer that was broken off and went on. What became of its prompt is told as it was first."""
        if not self.num_generated_tokens:
            return rest
        return replace(
            self,
            num_computed_tokens=self.num_computed_tokens + rest.num_computed_tokens,
            num_generated_tokens=self.num_generated_tokens + rest.num_generated_tokens,
            num_drafted_tokens=self.num_drafted_tokens + rest.num_drafted_tokens,
            num_kept_tokens=self.num_kept_tokens + rest.num_kept_tokens,
            num_model_drafted_tokens=self.num_model_drafted_tokens + rest.num_model_drafted_tokens,
            num_model_kept_tokens=self.num_model_kept_tokens + rest.num_model_kept_tokens,
            decode_s=self.decode_s + rest.decode_s,
        )


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely one token was: to the model by `logprob`, and after the samplers by `probability`.

    `logprob` is the natural logarithm of the softmax of the raw logits. A `probability` of 0 was ruled out.
    `text` may be part of a character, and of a control token its name.
    """

    token_id: int
    text: bytes
    logprob: float
    probability: float
    is_control: bool = False  # it stands for no text


@dataclass(frozen=True, slots=True)
class SampledToken:
    """A token of an answer, and the likeliest ones for the model in its place, that one often among them."""

    chosen: TokenLogprob
    likeliest: tuple[TokenLogprob, ...]  # by `logprob`, highest first


@dataclass(frozen=True, slots=True)
class Output:
    """New text of one request. With a `finish_reason` it is the last one, and `usage` is final.

    `logprobs`, if asked for, come with the step that made the token, whose text may come later or never.

    `notice` tells why an answer ended early (ERROR, or LENGTH by a full context), and what of the chat was
    left out of the context. Only the last output has one. `found_no_room`: the chat does not fit its context.
    `is_refused`: the error is the request's own, and it would fail again.
    `token_ids` are the tokens sampled since the last output, also those whose text is held back or was cut
    off; the one that ended the answer is not among them. `stopping_word` is the stop string that ended it.
    `ended_by` is the end token, if logprobs were asked for.
    """

    request_id: str
    chat_id: str
    text: str = ""
    finish_reason: FinishReason | None = None
    notice: str = ""
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[SampledToken, ...] = ()
    found_no_room: bool = False
    token_ids: tuple[int, ...] = ()
    is_refused: bool = False
    stopping_word: str = ""
    ended_by: SampledToken | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """A request got a slot: where its prompt came from, and where and why the cached prefix ended.

    Prompt and held tokens have the first `num_common_tokens` in common; `common` are the last few of those,
    `wanted` and `held` the next few of each. Where the model could not be cut back there, less of the prefix
    was used.
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
    is_repeatable: bool = False  # it has a context and steps of its own

    @property
    def is_running(self) -> bool:
        """An answer is being made in it."""
        return self.state in (SlotState.PREFILL, SlotState.DECODE)


class WaitReason(StrEnum):
    """Why a request has no slot now."""

    QUEUED = "waiting"
    SHARES_PREFIX = "waiting for a shared prefix"  # that a running prompt computes
    PAUSED = "paused"  # its answer had begun; its cells were needed
    REFITTING = "making a shorter prompt"


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request without a slot, in the order in which they are let in."""

    request_id: str
    chat_id: str
    reason: WaitReason
    num_prompt_tokens: int
    num_generated_tokens: int
    waiting_s: float  # since it was submitted, or paused


class EventKind(StrEnum):
    """What an event is about, in the words of a filter."""

    LEASE = "lease"
    RELEASE = "release"
    SHARE = "share"
    FORK = "fork"
    HIBERNATE = "hibernate"
    RESTORE = "restore"
    EVICT = "evict"
    CLEAR = "clear"
    SHIFT = "shift"
    PIN = "pin"
    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"
    OVERFLOW = "overflow"
    DRAFT = "draft"  # of the draft model
    VERIFY = "verify"
    NATIVE = "native log"  # a warning or an error of llama.cpp


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, in one line. A chat is named by `chat_id` only: the text has no titles."""

    kind: EventKind
    text: str
    seq_id: int | None = None
    chat_id: str | None = None


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
    wants_logits: bool  # of its last row, and of those in front of guesses
    num_generated_tokens: int  # after the step
    max_tokens: int | None
    is_prefill: bool = False
    token_bytes: bytes = b""  # the rows' tokens as int32, as the batch had them
    num_drafted: int = 0  # of its rows, at their end: guesses at the tokens that come next
    num_kept: int = 0  # of those: they were right

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
    high_water: int = 0  # cells used at most since the model was loaded


@dataclass(frozen=True, slots=True)
class CellCheck:
    """Our books beside the library's: how many cells were compared, and what differs, if anything."""

    step: int
    num_cells: int
    difference: str = ""
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
class TokenisedText:
    """A text as the model's tokens, behind other text."""

    text: str
    tokens: TokenTexts


@dataclass(frozen=True, slots=True)
class ChatTokens:
    """A chat's prompt as it was asked last, then its answer: `num_prompt_tokens`, and those of `pieces`.

    `pieces` are the bytes each token of the answer stands for; none for a control token. Without tokens
    nothing of the chat is held any more. `sampling` is what the request had.
    """

    chat_id: str
    token_ids: tuple[int, ...] = ()
    num_prompt_tokens: int = 0
    pieces: tuple[bytes, ...] = ()
    sampling: SamplingParams | None = None


Answer = CellCheck | TokenTexts | TokenisedText | ChatTokens


@dataclass(frozen=True, slots=True)
class PauseState:
    """The batcher stands still: why, and what it computes next."""

    reason: str  # "" for somebody's wish, else the condition that came true, in words
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
    events: tuple[Event, ...] = ()
    leases: tuple[Lease, ...] = ()  # of this step
    hibernated: tuple[HibernatedChat, ...] = ()
    started_at: float = 0.0  # `time.perf_counter()` seconds
    return_code: int = 0  # what llama_decode returned, if it was called
    sample_ms: float = 0.0  # part of `update_ms`
    waiting: tuple[WaitingRequest, ...] = ()
    last_check: CellCheck | None = None  # the newest comparison of all cells with the library
    cell_map: CellMap | None = None
    pause: PauseState | None = None  # None: it runs
    answers: tuple[Answer, ...] = ()
    draft_ms: float = 0.0  # part of `schedule_ms`: what the draft model took

    @property
    def num_rows(self) -> int:
        return sum(span.num_rows for span in self.spans)

    @property
    def num_waiting(self) -> int:
        return len(self.waiting)


class DeviceKind(StrEnum):
    CPU = "cpu"
    GPU = "gpu"
    INTEGRATED = "integrated"  # a GPU that uses the machine's memory
    ACCELERATOR = "accelerator"  # used together with the CPU


@dataclass(frozen=True, slots=True)
class Device:
    """What llama.cpp can compute on."""

    name: str  # the library's, such as "CUDA0"
    description: str  # such as "AMD EPYC"
    kind: DeviceKind = DeviceKind.CPU
    total_bytes: int = 0  # memory; 0: the library does not tell
    free_bytes: int = 0  # when it was asked


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """llama.cpp as it runs here."""

    version: str = ""  # of ggml, with its commit
    features: tuple[str, ...] = ()  # what it uses of the CPU, and how it was built: "AVX2", "OPENMP"
    devices: tuple[Device, ...] = ()

    @property
    def gpus(self) -> tuple[Device, ...]:
        """Those that it takes where none are chosen: with memory of their own, if there are any."""
        own = tuple(device for device in self.devices if device.kind is DeviceKind.GPU)
        return own or tuple(device for device in self.devices if device.kind is DeviceKind.INTEGRATED)


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """What a model and its context take, by what for: estimated before a load, told by the library after it.

    Each weight counts once, wherever it is. Not in it: the vocabulary, and what Python takes.
    """

    weights_bytes: int = 0  # with those of adapters
    kv_bytes: int = 0  # and recurrent states
    compute_bytes: int = 0
    output_bytes: int = 0
    mapped_bytes: int = 0  # of the weights: pages of the file, which count as free; known after a load

    @property
    def total_bytes(self) -> int:
        return self.weights_bytes + self.kv_bytes + self.compute_bytes + self.output_bytes

    def __add__(self, other: "MemoryNeed") -> "MemoryNeed":
        return MemoryNeed(
            self.weights_bytes + other.weights_bytes,
            self.kv_bytes + other.kv_bytes,
            self.compute_bytes + other.compute_bytes,
            self.output_bytes + other.output_bytes,
            self.mapped_bytes + other.mapped_bytes,
        )


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
    is_unified: bool = True  # False: each sequence has cells of its own, `n_ctx / n_seq_max` of them
    can_shift: bool = True  # positions of cells can be moved (RoPE of the plain kind)
    n_ubatch: int = 256  # rows that are computed at once: a longer batch goes through in parts
    num_drafted_tokens: int = 0  # most guesses in one step; 0: not wanted, or it cannot take a wrong one back
    cell_bytes: int = 0  # keys and values of one KV cell; 0 where not every cell is one token's
    library: LibraryInfo = LibraryInfo()
    # Recommended in the file, else llama-server's defaults.
    sampling: SamplingParams = field(default_factory=SamplingParams)
    n_ctx_scaled: int = 0  # `n_ctx_train` as RoPE scaling was chosen to stretch it; 0: it was not
    memory: MemoryNeed = MemoryNeed()  # what was taken, by a draft model, too
    # Of that, what is not in this machine's own memory, by the names of devices and addresses of workers.
    memory_elsewhere: tuple[tuple[str, MemoryNeed], ...] = ()
    workers: tuple[Device, ...] = ()  # named by their addresses, as they were before it was loaded
    n_gpu_layers: int | None = None  # as it was loaded; None: all, where there is a device for them
    draft_model: str = ""  # the name of the model that guesses for this one

    @property
    def held_bytes(self) -> dict[str, int]:
        """What will be free once it is gone, by devices' names, "" for this machine.

        Pages of its file count as free already.
        """
        held = {"": self.memory.total_bytes - self.memory.mapped_bytes}
        for name, need in self.memory_elsewhere:
            held[name] = held.get(name, 0) + need.total_bytes
            held[""] -= need.total_bytes
        return held

    @property
    def max_positions(self) -> int:
        """How far the model can count; 0 where nobody knows."""
        return self.n_ctx_scaled or self.n_ctx_train

    @property
    def max_sequence_tokens(self) -> int:
        """How long one chat can get: no position is used that the model was never trained on."""
        return min(self.n_ctx_seq, self.max_positions) if self.max_positions else self.n_ctx_seq

    @property
    def n_ctx_seq(self) -> int:
        """Cells that one sequence can have."""
        return self.n_ctx if self.is_unified else self.n_ctx // self.n_seq_max

    @property
    def n_outputs_max(self) -> int:
        """Rows of one step that can have logits: one a sequence, and those of guesses for all together."""
        return self.n_seq_max + self.num_drafted_tokens

    @property
    def longer_chats_need(self) -> str:
        """What a user can do about a chat that does not fit, in one sentence."""
        if self.max_positions and self.n_ctx_seq >= self.max_positions:
            return said("Start a new chat: this model was trained for no longer ones.")
        return said("Start a new chat, or choose a larger context in Context settings (--ctx).")

    @property
    def has_plain_attention(self) -> bool:
        """Every cell is one token at one position, so prefixes can be cut and shared at will."""
        return not (self.n_swa or self.is_recurrent or self.is_hybrid)

    @property
    def has_states(self) -> bool:
        """What it remembers of a sequence is, at least in part, one state for all of its tokens."""
        return self.is_recurrent or self.is_hybrid

    @property
    def takes_one_prompt_a_step(self) -> bool:
        """With states a micro-batch has equally many rows of each sequence, and with a window there must be
        one: only single rows may stand beside a prompt, for they lose nothing to the second one.
        """
        return self.n_swa > 0 and self.is_hybrid and self.is_unified

    @property
    def can_share_cells(self) -> bool:
        """Several sequences can hold one cell."""
        return self.is_unified and self.has_plain_attention


class KvType(StrEnum):
    """How a key or a value is kept. Quantised values need flash attention."""

    F16 = "f16"
    BF16 = "bf16"
    Q8_0 = "q8_0"
    Q5_1 = "q5_1"
    Q5_0 = "q5_0"
    Q4_1 = "q4_1"
    Q4_0 = "q4_0"


class FlashAttention(StrEnum):
    AUTO = "auto"
    ON = "on"
    OFF = "off"


class RopeScaling(StrEnum):
    """How positions beyond those a model was trained on are squeezed into them."""

    MODEL = "model"  # as its file says
    NONE = "none"
    LINEAR = "linear"
    YARN = "yarn"


@dataclass(frozen=True, slots=True)
class LoraAdapter:
    path: Path
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class CellStore:
    """Where the cells of saved chats are kept from one start to the next, and what encrypts them."""

    folder: Path
    key: bytes = field(repr=False)  # of 32 bytes
    max_bytes: int = 4 * 2**30


@dataclass(frozen=True, slots=True)
class LoadParams:
    """How a model is turned into a context. Zero means "choose for me", and so does None.

    `isolated` gives each sequence cells of its own, `n_ctx` for all of them together.
    """

    path: Path
    n_ctx: int = 0
    n_seq_max: int = 8
    n_batch: int = 512
    n_ubatch: int = 0  # rows that are computed at once
    n_threads: int = 0
    isolated: bool = False
    verify: bool = False  # compare our books with the library after every step
    type_k: KvType = KvType.F16
    type_v: KvType = KvType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    use_mmap: bool = True  # the weights stay in the file's pages, which the system can take back
    n_gpu_layers: int | None = None  # None: as many as fit
    devices: tuple[str, ...] = ()  # by the library's names, such as "CUDA0"; (): all it has
    rope_scaling: RopeScaling = RopeScaling.MODEL
    rope_factor: float = 0.0  # how many times longer; 0: as the model says
    adapters: tuple[LoraAdapter, ...] = ()
    workers: tuple[str, ...] = ()  # "host:port" of other machines that take a share of the layers
    own_process: bool = False  # the engine in a child process, as always with `workers`
    num_drafted_tokens: int = 0  # most tokens guessed and checked in one step
    draft_model: Path | None = None  # guesses where the chat's own text does not tell

    def without_workers(self, lost: tuple[str, ...]) -> "LoadParams":
        """How what is left is loaded after a crash: without any of them, still in a process of its own."""
        left = tuple(worker for worker in self.workers if worker not in lost)
        return replace(self, workers=left, own_process=self.own_process or not left)

    @property
    def of_draft_model(self) -> "LoadParams | None":
        """How it is loaded: with as many cells and sequences as this model. None: it is not."""
        if not (self.draft_model and self.num_drafted_tokens):
            return None
        return replace(
            self,
            path=self.draft_model,
            isolated=False,
            n_gpu_layers=None,
            adapters=(),
            workers=(),  # it is small, and asked all the time
            num_drafted_tokens=0,
            draft_model=None,
        )
