"""Everything that can be asked of a running engine.

Frozen values for its mailbox, so any thread may make and post them. Results are in a `StepReport`: in
`outputs`, `answers`, `pause` or `events`.
"""

from dataclasses import dataclass
from typing import Annotated

from app.protocol.lens import LensQuestion, StopLens
from app.protocol.load import CellStore, Speed
from app.protocol.report import SavedState
from app.protocol.request import Request
from app.protocol.travel import NAMED

# Answers and chats.


@dataclass(frozen=True, slots=True)
class Submit:
    request: Request


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """Compute what the prompts will begin with whose last message begins as this one's.

    Only while nothing else is to be done: the next command ends it. There is no output.
    """

    request: Request


@dataclass(frozen=True, slots=True)
class Abort:
    """End an answer before the next batch. Its last output has reason ABORT."""

    request_id: str


@dataclass(frozen=True, slots=True)
class AbortAll:
    """End every answer, also in the middle of a decode."""


@dataclass(frozen=True, slots=True)
class Forget:
    """The chat was closed: abort its answer and free its cells."""

    chat_id: str


@dataclass(frozen=True, slots=True)
class Fork:
    """`new_chat_id` begins as a copy of `chat_id`: let it hold the same cells."""

    chat_id: str
    new_chat_id: str


@dataclass(frozen=True, slots=True)
class SetFront:
    """The chat in the front tab: its prompt goes first, and it is never paused for another."""

    chat_id: str | None


@dataclass(frozen=True, slots=True)
class SetSpeed:
    speed: Speed


@dataclass(frozen=True, slots=True)
class KeepCells:
    """Where the cells of saved chats are kept between runs; None: not at all."""

    store: CellStore | None


# The batcher, step by step.


@dataclass(frozen=True, slots=True)
class Pause:
    """Compute nothing more until `Resume`. The batch that would be computed next is in `StepReport.pause`."""


@dataclass(frozen=True, slots=True)
class Resume:
    pass


@dataclass(frozen=True, slots=True)
class StepOnce:
    """While paused: run the batch that was planned, then pause again."""


@dataclass(frozen=True, slots=True)
class UntilPosition:
    """Sequence `seq_id` holds position `pos`."""

    seq_id: int
    pos: int


@dataclass(frozen=True, slots=True)
class UntilToken:
    """Any answer, or the one of `chat_id`, gets this token."""

    token_id: int
    chat_id: str | None = None


@dataclass(frozen=True, slots=True)
class UntilEnd:
    """Any answer, or the one of `chat_id`, ends."""

    chat_id: str | None = None


@dataclass(frozen=True, slots=True)
class UntilDecodeFails:
    """`llama_decode` returns anything but 0."""


StopCondition = UntilPosition | UntilToken | UntilEnd | UntilDecodeFails


@dataclass(frozen=True, slots=True)
class RunUntil:
    """Continue, and pause after the step that meets `condition`, or when there is nothing left to do."""

    condition: Annotated[StopCondition, NAMED]


# One chat's cells.


@dataclass(frozen=True, slots=True)
class Hibernate:
    """Save the cells of an idle chat and free them."""

    chat_id: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring the saved cells of a chat back into a slot, before it asks for anything."""

    chat_id: str


@dataclass(frozen=True, slots=True)
class ClearCells:
    """Free the cells of an idle chat without saving them: its next turn computes everything."""

    chat_id: str


@dataclass(frozen=True, slots=True)
class Pin:
    """Never hibernate or evict this chat's cells, nor pause it, while that can be avoided."""

    chat_id: str
    is_pinned: bool = True


@dataclass(frozen=True, slots=True)
class NoteTool:
    """A tool that an answer of the chat called has ended. It becomes a `ToolRan` among the events."""

    chat_id: str
    tool: str
    seconds: float


# Slots by their numbers, as llama-server's callers have them. Each has a `SlotAnswer`.


@dataclass(frozen=True, slots=True)
class SaveSlot:
    """Hand out the state of an idle slot."""

    query_id: str
    seq_id: int


@dataclass(frozen=True, slots=True, eq=False)
class FillSlot:
    """Put a saved state into an idle slot; the chat in it is hibernated before."""

    query_id: str
    seq_id: int
    saved: SavedState


@dataclass(frozen=True, slots=True)
class EraseSlot:
    """Free the cells of an idle slot, and what else was saved of its chat."""

    query_id: str
    seq_id: int


SlotCommand = SaveSlot | FillSlot | EraseSlot

# Queries. Each answer names its query.


@dataclass(frozen=True, slots=True)
class CheckCells:
    """Compare our books with the library cell by cell now. Answer: a `CellCheck`."""


@dataclass(frozen=True, slots=True)
class WatchCells:
    """Add a `CellMap` to the reports, at most ten a second, until it is switched off.

    An engine that another program runs adds its `ServerFigures`, one a second.
    """

    is_watching: bool = True


@dataclass(frozen=True, slots=True)
class DescribeTokens:
    """How these tokens are written. Answer: a `TokenTexts`."""

    token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tokenize:
    """How the model tokenizes this text and control tokens in it. Answer: a `TokenizedText`."""

    text: str


@dataclass(frozen=True, slots=True)
class TokensOf:
    """The tokens of a chat's newest answer and of its prompt. Answer: a `ChatTokens`."""

    chat_id: str


Command = (
    Submit
    | ReadAhead
    | Abort
    | AbortAll
    | Forget
    | Fork
    | SetFront
    | SetSpeed
    | KeepCells
    | Pause
    | Resume
    | StepOnce
    | RunUntil
    | Hibernate
    | Restore
    | ClearCells
    | Pin
    | NoteTool
    | SaveSlot
    | FillSlot
    | EraseSlot
    | CheckCells
    | WatchCells
    | DescribeTokens
    | Tokenize
    | TokensOf
    | LensQuestion
    | StopLens
)


def ends(command: Command, request: Request) -> bool:
    """Whether `command` ends the answer to `request`."""
    match command:
        case Abort(request_id):
            return request.request_id == request_id
        case Forget(chat_id):
            return request.chat_id == chat_id
        case AbortAll():
            return True
    return False
