"""Pictures and sounds of a message, and how a model sees and hears. Frozen, so any thread may hold it."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from app.protocol.travel import Part, Sentence


class MediaKind(StrEnum):
    PICTURE = "picture"
    SOUND = "sound"


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or a sound of a message. It stands before character `at` of the content.

    `file` is as it was sent, and is read in a child process whenever the model needs it. `width` and `height`
    are pixels as the model is shown it; `duration_s` is that of a sound.
    """

    kind: MediaKind
    sha256: str  # of `file`, hexadecimal
    file: Annotated[bytes, Part()] = field(repr=False, compare=False)
    width: int = 0
    height: int = 0
    duration_s: float = 0.0
    at: int = 0


@dataclass(frozen=True, slots=True)
class Senses:
    """What the loaded model takes besides text, by its projector.

    Without one, `reason` is a sentence about what is missing. A projector with `takes_whole` has pictures
    computed in one step each, for which running answers wait.
    """

    sees: bool = False
    hears: bool = False
    projector: Path | None = None
    reason: Sentence = ""
    takes_whole: bool = False
    size_bytes: int = 0  # of the projector
    is_told: bool = True  # False: a server that may refuse what it is said to take here

    @property
    def any(self) -> bool:
        return self.sees or self.hears

    def takes(self, kind: MediaKind) -> bool:
        return self.sees if kind is MediaKind.PICTURE else self.hears


NO_SENSES = Senses()


@dataclass(frozen=True, slots=True)
class MediaSpan:
    """Cells of a slot that are (a part of) a picture or a sound.

    They stand for `num_cells` tokens from number `first_token` on, and take `num_positions` positions.
    `sha256` is empty where only the cells are left of it, since a restart.
    """

    first_token: int
    num_cells: int
    first_pos: int
    num_positions: int
    kind: MediaKind | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Encoding:
    """A request waits for its pictures and sounds to be encoded: `num_done` of `num_total` rows are."""

    request_id: str
    chat_id: str
    sha256: str  # of the one that is encoded now
    num_done: int
    num_total: int
    elapsed_s: float


def is_media(token_id: int) -> bool:
    """Whether it stands for a row of a picture or a sound in a list of tokens; -1 is a free cell."""
    return token_id < -1
