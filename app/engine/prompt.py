"""What the model is shown of a chat, and what of that need not be computed. Values; any thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.protocol.answer_format import PLAIN_TEXT, AnswerFormat
from app.protocol.media import is_media

if TYPE_CHECKING:
    from app.engine.media.rows import Chunk
    from app.protocol.report import Section
    from app.protocol.request import Message


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What begins and ends a model's reasoning, in tokens, and when it is made to end.

    After `budget` tokens of it `forced` is written, which closes it; None: never.
    """

    start: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]
    budget: int | None = None
    forced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Guide:
    """What the tokens of an answer must follow.

    `opening` are the tokens at the end of the prompt that begin the answer; with `is_begun` the caller's own
    beginning is among them. `grammar` is GBNF that was
    checked; it holds for what comes after them, and with `is_in_grammar` for them, too. With `triggers`,
    patterns of a text, it holds only from where the answer has one of them outside its reasoning: from its
    first group, or else its beginning.
    """

    grammar: str = ""
    triggers: tuple[re.Pattern[bytes], ...] = ()
    opening: tuple[int, ...] = ()
    is_begun: bool = False
    is_in_grammar: bool = False
    reasoning: Reasoning | None = None


NO_GUIDE = Guide()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of a chat with the shown `messages`: all, or those left by its overflow choice.

    The last `num_start_tokens` are the beginning of the answer, which the caller gave. Of the answer,
    `shown_tokens` are written as text although they are control tokens. `chunks` are the pictures and sounds
    among `token_ids`.
    """

    token_ids: tuple[int, ...]
    messages: tuple[Message, ...] = ()
    num_dropped_messages: int = 0
    notice: str = ""  # one sentence about what was left out
    num_start_tokens: int = 0
    format: AnswerFormat = PLAIN_TEXT
    guide: Guide = NO_GUIDE
    shown_tokens: frozenset[int] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def text_tokens(self) -> tuple[int, ...]:
        return tuple(token_id for token_id in self.token_ids if not is_media(token_id))


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
