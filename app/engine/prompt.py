"""What the model is shown of a chat, and what of that need not be computed. Values; any thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.protocol.request import Message


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of a chat with the shown `messages`: all, or those left by its overflow choice.

    The last `num_start_tokens` are the beginning of the answer, which the caller gave.
    """

    token_ids: tuple[int, ...]
    messages: tuple[Message, ...] = ()
    num_dropped_messages: int = 0
    notice: str = ""  # one sentence about what was left out
    num_start_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """The tokens of a prompt that need not be computed, by source."""

    num_reused: int = 0
    num_shared: int = 0
    num_restored: int = 0
    is_from_checkpoint: bool = False  # else the model could have kept nothing, or less
    is_doubted: bool = False  # a saved state was found, but failed its checks

    @property
    def num_tokens(self) -> int:
        return self.num_reused + self.num_shared + self.num_restored
