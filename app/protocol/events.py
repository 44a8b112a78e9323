"""What happened to sequences and cells. Frozen, so any thread may hold it.

`app/inspector/event_words.py` has a sentence for each. Chats are named by `chat_id` only, not by titles.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from app.protocol.travel import Sentence


class EventKind(StrEnum):
    """The kind of an event, for filters."""

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
    GRAMMAR = "grammar"
    TOOL = "tool"
    DRAFT = "draft"  # of the draft model
    ENCODE = "encode"  # a picture or a sound
    VERIFY = "verify"
    CONNECTION = "connection"  # to an engine on another machine
    NATIVE = "native log"  # a warning or an error of llama.cpp


@dataclass(frozen=True, slots=True)
class Told:
    """In words already: a line of llama.cpp's log, an error, an event of a recording."""

    kind: EventKind
    text: Sentence
    seq_id: int | None = None
    chat_id: str | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """`seq_id` and `chat_id` are those it happened to, if any."""

    kind: ClassVar[EventKind]

    seq_id: int | None
    chat_id: str | None


@dataclass(frozen=True, slots=True)
class Leased(Happening):
    kind = EventKind.LEASE

    num_there: int
    num_missing: int  # tokens to compute
    is_ahead: bool = False  # of a message that was not sent yet


@dataclass(frozen=True, slots=True)
class Resumed(Happening):
    """A paused answer got a slot again."""

    kind = EventKind.RESUME

    num_there: int
    num_missing: int


@dataclass(frozen=True, slots=True)
class Released(Happening):
    kind = EventKind.RELEASE

    num_tokens: int
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Shared(Happening):
    """Cells of the sequence `donor`, without a copy or with one."""

    kind = EventKind.SHARE

    donor: int
    num_cells: int
    is_copied: bool


@dataclass(frozen=True, slots=True)
class Forked(Happening):
    """All cells of the sequence `source` are shared with this one."""

    kind = EventKind.FORK

    source: int
    num_cells: int


@dataclass(frozen=True, slots=True)
class Hibernated(Happening):
    kind = EventKind.HIBERNATE

    num_tokens: int


@dataclass(frozen=True, slots=True)
class NotHibernated(Happening):
    """It holds no cells, or is answering; with a `seq_id`, its state could not be saved."""

    kind = EventKind.HIBERNATE

    is_answering: bool = False


@dataclass(frozen=True, slots=True)
class Evicted(Happening):
    """Its cells were freed, and not saved."""

    kind = EventKind.EVICT

    num_tokens: int


@dataclass(frozen=True, slots=True)
class StateLost(Happening):
    """A saved state had to make room."""

    kind = EventKind.EVICT

    num_tokens: int


@dataclass(frozen=True, slots=True)
class Restored(Happening):
    kind = EventKind.RESTORE

    num_tokens: int


@dataclass(frozen=True, slots=True)
class NotRestored(Happening):
    """It has no saved state, or running answers left no room for that."""

    kind = EventKind.RESTORE

    is_saved: bool


@dataclass(frozen=True, slots=True)
class StateUnusable(Happening):
    kind = EventKind.RESTORE


@dataclass(frozen=True, slots=True)
class Cleared(Happening):
    kind = EventKind.CLEAR

    num_tokens: int


@dataclass(frozen=True, slots=True)
class StateDropped(Happening):
    kind = EventKind.CLEAR

    num_tokens: int


@dataclass(frozen=True, slots=True)
class NotCleared(Happening):
    """It holds no cells, or is answering."""

    kind = EventKind.CLEAR

    is_answering: bool


@dataclass(frozen=True, slots=True)
class Shifted(Happening):
    kind = EventKind.SHIFT

    num_cells: int
    num_positions: int


@dataclass(frozen=True, slots=True)
class Pinned(Happening):
    kind = EventKind.PIN

    is_pinned: bool  # False: it no longer is


class PauseReason(StrEnum):
    NO_CELLS = "no cells"
    FRONT = "front"  # the current tab goes first
    TURNS = "turns"  # another caller has none, or fewer
    ENCODING = "encoding"  # a picture or sound that was computed is encoded again


@dataclass(frozen=True, slots=True)
class Paused(Happening):
    kind = EventKind.PAUSE

    reason: PauseReason


@dataclass(frozen=True, slots=True)
class BrokenOff(Happening):
    kind = EventKind.ABORT

    num_tokens: int  # of the answer


@dataclass(frozen=True, slots=True)
class Shortened(Happening):
    """A prompt; `notice` says how."""

    kind = EventKind.OVERFLOW

    notice: Sentence


@dataclass(frozen=True, slots=True)
class Triggered(Happening):
    """The answer has written what its grammar waited for, such as the beginning of a call of a tool."""

    kind = EventKind.GRAMMAR

    num_tokens: int  # of the answer, up to there


@dataclass(frozen=True, slots=True)
class ToolRan(Happening):
    """Which an answer of the chat had called. Its sequence keeps its cells meanwhile, if it can."""

    kind = EventKind.TOOL

    tool: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Encoded(Happening):
    """A picture or a sound, or a part of one, for a request of the chat. `ms` is 0 if it was known."""

    kind = EventKind.ENCODE

    sha256: str
    num_cells: int
    ms: float


@dataclass(frozen=True, slots=True)
class Verified(Happening):
    """All cells are compared with the library, or positions, where the model has no cells."""

    kind = EventKind.VERIFY

    num_cells: int | None


@dataclass(frozen=True, slots=True)
class Disagreed(Happening):
    kind = EventKind.VERIFY

    difference: Sentence


Event = (
    Told
    | Leased
    | Resumed
    | Released
    | Shared
    | Forked
    | Hibernated
    | NotHibernated
    | Evicted
    | StateLost
    | Restored
    | NotRestored
    | StateUnusable
    | Cleared
    | StateDropped
    | NotCleared
    | Shifted
    | Pinned
    | Paused
    | BrokenOff
    | Shortened
    | Triggered
    | ToolRan
    | Encoded
    | Verified
    | Disagreed
)
