"""The output of one request, its usage, and the answer as its model means it, whole and in pieces.

Frozen, so any thread may hold it.
"""

import uuid
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from app.protocol.answer_format import AnswerFormat
from app.protocol.travel import Part, Sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
else:  # see `report`
    Floats = Annotated[Any, Part("<f4")]


def new_call_id() -> str:
    """Nine letters and digits: there are templates that take no other."""
    return uuid.uuid4().hex[:9]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is a JSON object as text, as OpenAI has it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """`id` and `name` come once, with the first delta of the call number `index`."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """What is new of an answer that grows."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()

    def __add__(self, more: "MessageDelta") -> "MessageDelta":
        return MessageDelta(
            self.content + more.content, self.reasoning + more.reasoning, self.tool_calls + more.tool_calls
        )


@dataclass(frozen=True, slots=True)
class AnswerMessage:
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()

    def grown(self, delta: MessageDelta) -> "AnswerMessage":
        calls = list(self.tool_calls)
        for one in delta.tool_calls:
            if one.index == len(calls):
                calls.append(ToolCall(one.id, one.name, one.arguments))
            else:
                call = calls[one.index]
                calls[one.index] = ToolCall(call.id, call.name, call.arguments + one.arguments)
        return AnswerMessage(self.content + delta.content, self.reasoning + delta.reasoning, tuple(calls))


class FinishReason(StrEnum):
    STOP = "stop"  # end of the answer, or a stop string
    LENGTH = "length"  # max_tokens reached, or the context is full
    ABORT = "abort"  # it was stopped by a user or caller
    ERROR = "error"


class PrefixEnd(StrEnum):
    """Why the cached prefix of a prompt ended where it did."""

    NEW_CHAT = "new chat"  # the engine knew nothing of this chat
    NEW_TEXT = "new text"  # all that was held is part of the prompt; the rest is new
    SAME = "all of it was there"  # all that can be: the last token is always computed
    RESUMED = "resumed"  # a paused answer got all of its cells back
    SUMMED_UP = "turns summed up"  # a summary stands for other turns than before
    EDITED = "edited message"  # a message is not the one of the last request
    ANSWER = "another last answer"  # not as it was generated
    SYSTEM = "another system prompt"
    TOOLS = "other tools"
    OPTIONS = "other template options"
    TEMPLATE = "template changed the history"  # same messages, but the template renders them differently
    DIFFERENT = "another prompt"  # a raw one, or one after cells of which nobody knows the messages
    REPLACED = "replaced while reading ahead"  # a draft, since given up, was to follow something else
    DROPPED = "turns left out"  # by the chat's overflow choice
    NOT_USED = "cached, not used"  # cells had seen turns that are left out, or would have cost others more
    NO_ROLLBACK = "model cannot remove a tail"  # sliding window or recurrent state
    CHECKPOINT = "model goes back to checkpoints only"  # and none was near enough
    EVICTED = "evicted"  # its cells were freed, and its state was not saved
    LOST = "saved state dropped"  # others needed its room
    CLEARED = "cleared"  # by a command, or after a decode that failed
    DOUBTED = "saved state failed its checks"  # or could not be loaded


CHANGES = (
    PrefixEnd.SUMMED_UP,
    PrefixEnd.EDITED,
    PrefixEnd.ANSWER,
    PrefixEnd.SYSTEM,
    PrefixEnd.TOOLS,
    PrefixEnd.OPTIONS,
    PrefixEnd.TEMPLATE,
    PrefixEnd.DIFFERENT,
)  # between two requests of a chat


@dataclass(frozen=True, slots=True)
class Usage:
    """The statistics of one answer so far. Times in seconds.

    Prompt tokens are reused (their cells were warm), shared (their cells are another chat's too), restored
    (their cells were saved) or computed. `prefix_end` says why the prefix was not longer. Checkpoints
    spared `num_checkpoint_tokens` of them being computed. `num_ahead_tokens` of the reused or restored ones
    were computed for this very message before it was sent. All this is of the first slot that it got: what a
    pause costs is in `num_computed_tokens` alone.
    `num_computed_tokens` are all rows computed for it: the rest of the prompt, the answer's own tokens, those
    recomputed after a pause or with a shorter prompt, and rejected draft tokens. Of `num_drafted_tokens`
    draft tokens `num_kept_tokens` were accepted; `num_model_…` are those of the draft model among them, the
    others come from prompt lookup. `num_summed_up` turns had a summary in their place: the chat notes that.
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
    num_checkpoint_tokens: int = 0
    num_ahead_tokens: int = 0
    num_summed_up: int = 0

    @property
    def num_cached_tokens(self) -> int:
        """The tokens of the prompt that were not computed for it."""
        return self.num_reused_tokens + self.num_shared_tokens + self.num_restored_tokens

    @property
    def num_missing_tokens(self) -> int:
        """The tokens of the prompt that were to be computed."""
        return max(self.num_prompt_tokens - self.num_cached_tokens, 0)

    @property
    def num_computed_prompt_tokens(self) -> int:
        """Fewer than were missing if it was stopped before."""
        return min(self.num_missing_tokens, self.num_computed_tokens)

    @property
    def tokens_per_s(self) -> float:
        """Decode speed; the first token belongs to the prompt's time."""
        return (self.num_generated_tokens - 1) / self.decode_s if self.decode_s > 0 else 0.0

    def followed_by(self, rest: "Usage") -> "Usage":
        """The usage of an interrupted answer plus its `rest`, with the prompt's figures of the first part."""
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


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely one token was: `logprob` before, and `probability` after the samplers.

    `logprob` is the natural logarithm of the softmax of the raw logits. A `probability` of 0: ruled out by a
    sampler. `text` may be part of a character, and of a control token its name.
    """

    token_id: int
    text: bytes
    logprob: float
    probability: float
    is_control: bool = False  # it has no text


@dataclass(frozen=True, slots=True)
class SampledToken:
    """A token of an answer, and the model's likeliest tokens at its place, often including it."""

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
    `ended_by` is the end token, if logprobs were asked for. `format`, in the first output alone, tells how
    the model writes this answer. `delta` is what `text` means where another program has read it already.
    `model` is the title of the one that wrote it, where that is not the one that was asked.
    """

    request_id: str
    chat_id: str
    text: str = ""
    finish_reason: FinishReason | None = None
    notice: Sentence = ""
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[SampledToken, ...] = ()
    found_no_room: bool = False
    token_ids: tuple[int, ...] = ()
    is_refused: bool = False
    stopping_word: str = ""
    ended_by: SampledToken | None = None
    format: AnswerFormat | None = None
    delta: MessageDelta | None = None
    model: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Embedded(Output):
    """The vectors of a text: shape (1, n_embd), or a row for each token where nothing is pooled.

    A reranker's is that of a query with a document: shape (1, 1).
    """

    vectors: Floats | None = None
