"""One conversation: its turns in order and what the model is shown of them.

Belongs to the GUI thread; the engine gets frozen `Message`s made from it.
"""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import zip_longest

from app.engine.types import Message, Overflow, Role, Usage

MAX_TITLE_CHARS = 48


class TurnState(StrEnum):
    DONE = "done"
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user, or by the end of the program; the text so far counts
    FAILED = "failed"


@dataclass(slots=True)
class Turn:
    """One message of the user or one answer. Only an answer is ever other than DONE."""

    role: Role
    text: str
    state: TurnState = TurnState.DONE
    notice: str = ""  # why it ended early, one sentence
    model: str = ""  # who answered
    usage: Usage = field(default_factory=Usage)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created_at: float = field(default_factory=time.time)  # seconds since the epoch
    overflowed: bool = False  # the chat was full, so it ended early or never began


@dataclass(slots=True)
class Chat:
    """A title and its turns, oldest first."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    title: str = ""
    system_prompt: str = ""
    turns: list[Turn] = field(default_factory=list)
    created_at: float = field(default_factory=time.time)
    overflow: Overflow = Overflow.STOP
    max_context_tokens: int = 0  # 0: as the settings say for all chats

    @property
    def open_question(self) -> str:
        """What is being answered right now."""
        is_answering = bool(self.turns) and self.turns[-1].state is TurnState.STREAMING
        return self.turns[-2].text if is_answering else ""

    @property
    def display_title(self) -> str:
        """The given title, else the beginning of the first message."""
        if self.title:
            return self.title
        first = next((turn.text for turn in self.turns if turn.role is Role.USER), "")
        line = " ".join(first.split())
        return line[: MAX_TITLE_CHARS - 1] + "…" if len(line) > MAX_TITLE_CHARS else line or "New chat"

    def messages(self, num_turns: int | None = None) -> tuple[Message, ...]:
        """What the model is shown of `num_turns`: those with text but the questions that failed at once.

        A question that was too long for the context would make every later one too long as well.
        """
        system = [Message(Role.SYSTEM, self.system_prompt)] if self.system_prompt else []
        shown = self._shown_turns(self.turns[:num_turns])
        return (*system, *(Message(turn.role, turn.text) for turn in shown))

    def fork(self, num_turns: int | None = None) -> "Chat":
        """A chat of its own that begins with copies of the first `num_turns` turns.

        What is still being answered belongs to this chat alone.
        """
        return self._copy(self.turns[: -2 if self.open_question else None][:num_turns])

    def fork_at(self, answer: Turn, text: str) -> "Chat":
        """A chat of its own that is the same up to `answer`, which begins with `text` there."""
        begun = Turn(answer.role, text, created_at=answer.created_at)
        return self._copy([*self.turns[: self.index_of(answer)], begun])

    def index_of(self, turn: Turn) -> int:
        """Which of the turns it is: another may say the same."""
        return next(index for index, known in enumerate(self.turns) if known is turn)

    def _copy(self, turns: list[Turn]) -> "Chat":
        return Chat(
            title=f"{self.display_title} (fork)",
            system_prompt=self.system_prompt,
            turns=[replace(turn, id=uuid.uuid4().hex) for turn in turns],
            overflow=self.overflow,
            max_context_tokens=self.max_context_tokens,
        )

    def _shown_turns(self, turns: list[Turn]) -> Iterator[Turn]:
        for turn, after in zip_longest(turns, turns[1:]):
            failed_at_once = after is not None and after.state is TurnState.FAILED and not after.text
            if turn.text and not failed_at_once:
                yield turn
