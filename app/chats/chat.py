"""One conversation: its turns in all their versions, and the messages made of them.

Turns form a tree: each knows its parent, and children of the same parent are versions of each other. One path
through the tree is shown; editing or regenerating loses nothing. Belongs to the GUI thread; the engine gets
frozen `Message`s made from it.
"""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, dropwhile, pairwise, zip_longest
from typing import Any

from app.chats.attachment import Attachment, placed_media, with_attachments
from app.chats.summary import Summary
from app.chats.summary import messages_of as summary_messages
from app.chats.thinking import Split, split_thinking
from app.chats.titles import NEW_CHAT, NEW_NOTEBOOK, title_of_copy
from app.chats.tool_use import ToolRound, messages_of
from app.protocol.output import Usage
from app.protocol.request import Message, Overflow, Role

FIRST = ""  # what the first turn of a chat follows


class TurnState(StrEnum):
    DONE = "done"
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user, or by the end of the program; the text so far counts
    FAILED = "failed"


THEN = " → "


def answered_by(before: str, model: str) -> str:
    """The models of an answer that `model` continues."""
    if model == before.rpartition(THEN)[2]:
        return before
    return THEN.join(filter(None, (before, model)))


@dataclass(slots=True)
class Turn:
    """A user message or an answer. User messages are always DONE.

    Its text is final once it is DONE: an edit makes another version. Only an answer that ended early may
    grow again, when it is continued.
    """

    role: Role
    text: str
    state: TurnState = TurnState.DONE
    notice: str = ""  # why it ended early, one sentence
    model: str = ""  # the model that answered; those that did, one after the other, joined by THEN
    usage: Usage = field(default_factory=Usage)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created_at: float = field(default_factory=time.time)  # seconds since the epoch
    overflowed: bool = False  # the chat was full, so it ended early or never began
    parent_id: str = FIRST
    attachments: tuple[Attachment, ...] = ()
    thinking_s: float = 0.0  # from its first token to the end of what it thought
    rounds: list[ToolRound] = field(default_factory=list)  # its parts before `text`, ending in calls
    reading: Split | None = None  # `text` as its model means it; None: as the marks in it say
    summary: Summary | None = None  # of all turns up to this one
    _messages: tuple[Message, ...] = field(default=(), init=False, repr=False, compare=False)  # once read

    @property
    def message_text(self) -> str:
        """What the model reads."""
        return with_attachments(self.text, self.attachments) if self.attachments else self.text

    @property
    def split(self) -> Split:
        """What is shown of an answer's `text`."""
        return self.reading or split_thinking(self.text, is_growing=self.state is TurnState.STREAMING)

    @property
    def used_summary(self) -> Summary | None:
        """What the model reads in the place of all turns up to this one."""
        summary = self.summary.kept if self.summary else None
        return summary if summary and summary.is_used else None

    @property
    def is_empty(self) -> bool:
        """The model reads nothing of it."""
        return not (self.text or self.attachments or self.rounds)

    @property
    def failed_at_once(self) -> bool:
        """An answer that never began."""
        return self.state is TurnState.FAILED and self.is_empty

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the model reads: calls and their results stand before the text."""
        if not self.attachments and not self.rounds:  # most turns: a long chat has thousands of them
            if not self.text:
                return ()
            if not self._messages or self._messages[0].content is not self.text:
                self._messages = (Message(self.role, self.text),)
            return self._messages
        calls = self.round_messages
        if not self.text and not self.attachments:
            return calls
        written = self.text if self.rounds else ""
        content = self.message_text
        media = placed_media(self.attachments, len(content))
        return (*calls, Message(self.role, content, written=written, media=media))

    @property
    def round_messages(self) -> tuple[Message, ...]:
        return tuple(chain.from_iterable(map(messages_of, self.rounds)))

    @property
    def whole_rounds(self) -> list[ToolRound]:
        """Copies of those that text can follow: not of one that was stopped while it was written."""
        return [round_.copied() for round_ in self.rounds if round_.is_whole]

    def copied(self) -> "Turn":
        """Nothing that happens to it from now on changes the copy, which has no summary in the making."""
        summary = self.summary.kept if self.summary else None
        return replace(self, rounds=[round_.copied() for round_ in self.rounds], summary=summary)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message written during an answer; sent when that is done."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Removed:
    """What `Chat.remove` took out, for `Chat.restore`."""

    turn: Turn
    gone_with_it: tuple[Turn, ...]  # what followed a version that was removed
    moved_up: tuple[Turn, ...]  # what followed it, and now follows what it followed

    @property
    def turns(self) -> tuple[Turn, ...]:
        return (self.turn, *self.gone_with_it)


@dataclass(slots=True)
class Chat:
    """A title, settings of its own, and its turns."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    title: str = ""  # given by the user
    system_prompt: str = ""
    turns: list[Turn] = field(default_factory=list)  # the path that is shown, oldest first
    created_at: float = field(default_factory=time.time)
    overflow: Overflow = Overflow.SUM_UP
    max_context_tokens: int = 0  # 0: as the settings say for all chats
    asides: dict[str, list[Turn]] = field(default_factory=dict)  # all other turns, by what they follow;
    # of each list, the one that was shown last is at the end
    auto_title: str = ""  # made from the first message
    folder: str = ""
    is_pinned: bool = False
    sampling: dict[str, Any] = field(default_factory=dict)  # SamplingParams this chat has of its own, by name
    max_tokens: int | None = None  # longest answer; None: as the settings say
    queue: list[QueuedMessage] = field(default_factory=list)
    model_path: str = ""  # the file that answered last
    is_notebook: bool = False  # plain text that the model continues: its turns one behind the other
    shelf_id: str = ""  # whose files the model reads
    tools: tuple[str, ...] = ()  # offered to the model: "server/tool", or "server/*" for all of a server

    def __post_init__(self) -> None:
        for before, turn in pairwise(self.turns):
            turn.parent_id = before.id

    @property
    def is_answering(self) -> bool:
        return bool(self.turns) and self.turns[-1].state is TurnState.STREAMING

    @property
    def open_question(self) -> Turn | None:
        """What is being answered right now, if that is a message of the user's."""
        before = self.turns[-2:-1] if self.is_answering else []
        return before[0] if before and before[0].role is Role.USER else None

    @property
    def display_title(self) -> str:
        """The given title, else one made from the first message."""
        return self.title or self.auto_title or (NEW_NOTEBOOK if self.is_notebook else NEW_CHAT)

    @property
    def text(self) -> str:
        """The text of a notebook."""
        return "".join(turn.text for turn in self.turns)

    def messages(self, num_turns: int | None = None, *, but: Turn | None = None) -> tuple[Message, ...]:
        """The first `num_turns` turns as messages: those with text, except questions that failed at once.

        A question that was too long for the context would make every later one too long as well. The last
        summary that is used stands for the turns up to its own; that of the turn `but` is not.
        """
        messages = [Message(Role.SYSTEM, self.system_prompt)] if self.system_prompt else []
        turns = self.turns[:num_turns]
        begin = self.num_summed_up(num_turns, but=but)
        if begin and (summary := turns[begin - 1].used_summary):
            messages += summary_messages(
                summary, chain.from_iterable(one.attachments for one in turns[:begin])
            )
            turns = turns[begin:]
        for turn, after in zip_longest(turns, turns[1:]):
            if after is None or after.text or not after.failed_at_once:  # most have a text
                messages += turn.messages
        return tuple(messages)

    def num_summed_up(self, num_turns: int | None = None, *, but: Turn | None = None) -> int:
        """Of the first `num_turns` turns, those that a summary stands for in the next prompt."""
        for index in range(len(self.turns[:num_turns]), 0, -1):
            turn = self.turns[index - 1]
            if turn.used_summary and turn is not but:
                return index
        return 0

    def has_messages_before(self, turn: Turn) -> bool:
        """Whether the model is shown anything when it is asked for `turn`."""
        back_from_it = dropwhile(lambda known: known is not turn, reversed(self.turns))
        return bool(self.system_prompt) or any(
            before.messages and (after is turn or not after.failed_at_once)
            for after, before in pairwise(back_from_it)
        )

    def index_of(self, turn: Turn) -> int:
        """Its index among the shown turns, by identity: another turn may be equal."""
        return next(index for index, known in enumerate(self.turns) if known is turn)

    def shows(self, turn: Turn) -> bool:
        return any(known is turn for known in self.turns)

    @property
    def num_turns(self) -> int:
        """All turns, also those that are not shown."""
        return len(self.turns) + sum(len(versions) for versions in self.asides.values())

    def all_turns(self) -> Iterator[Turn]:
        yield from self.turns
        for versions in self.asides.values():
            yield from versions

    # Growing, and versions

    def add(self, *turns: Turn) -> None:
        """At the end of what is shown."""
        for turn in turns:
            turn.parent_id = self.turns[-1].id if self.turns else FIRST
            self.turns.append(turn)

    def add_aside(self, turn: Turn) -> None:
        """Adds another version, by its `parent_id`, of what is shown."""
        self.asides.setdefault(turn.parent_id, []).append(turn)

    def put_aside(self, index: int) -> None:
        """Shows only the first `index` turns: what is added next is another version of the one after them."""
        for turn in self.turns[index:]:
            self.add_aside(turn)
        del self.turns[index:]

    def versions_of(self, turn: Turn) -> tuple[Turn, ...]:
        """All versions of a turn, oldest first, itself included."""
        versions = self.asides.get(turn.parent_id)
        if not versions:
            return (turn,)
        if any(version is turn for version in versions):
            shown = self._shown_after(turn.parent_id)
            everyone = [*versions, *([shown] if shown else [])]
        else:
            everyone = [*versions, turn]
        return tuple(sorted(everyone, key=lambda version: version.created_at))

    def show_version(self, turn: Turn) -> None:
        """Shows the path to `turn`, and what was last shown after it."""
        shown = {known.id: index for index, known in enumerate(self.turns)}
        if turn.id in shown:
            return
        aside = {known.id: known for versions in self.asides.values() for known in versions}
        line = [turn]
        while line[-1].parent_id not in shown and line[-1].parent_id != FIRST:
            line.append(aside[line[-1].parent_id])
        self.put_aside(shown.get(line[-1].parent_id, -1) + 1)
        for version in reversed(line):
            self._take_from_aside(version)
        while followers := self.asides.get(self.turns[-1].id):
            self._take_from_aside(followers[-1])

    def remove(self, turn: Turn) -> Removed:
        """Takes out a shown turn: with everything below it if it has other versions, else it alone."""
        index = self.index_of(turn)
        if versions := self.asides.get(turn.parent_id):
            gone = (*self.turns[index + 1 :], *self._below(self.turns[index:]))
            del self.turns[index:]
            for parent in (turn, *gone):
                self.asides.pop(parent.id, None)
            self.show_version(versions[-1])
            return Removed(turn, gone, ())
        followers = (*self.asides.pop(turn.id, []), *self.turns[index + 1 : index + 2])
        del self.turns[index]
        for follower in followers:
            follower.parent_id = turn.parent_id
        for follower in followers[: None if index == len(self.turns) else -1]:
            self.add_aside(follower)
        return Removed(turn, (), followers)

    def restore(self, removed: Removed) -> None:
        """Undoes `remove`. Turns added since become another version."""
        above = removed.turn.parent_id
        self.put_aside(
            next((i for i, turn in enumerate(self.turns) if turn.parent_id == above), len(self.turns))
        )
        for follower in removed.moved_up:
            self._drop_aside(follower)
            follower.parent_id = removed.turn.id
            self.add_aside(follower)
        for turn in reversed(removed.turns):
            self.add_aside(turn)
        self.show_version(removed.turn)

    # Copies

    def fork(self, num_turns: int | None = None) -> "Chat":
        """A new chat with copies of the first `num_turns` shown turns.

        An answer in progress stays in this chat alone.
        """
        num_open = self.is_answering + (self.open_question is not None)
        return self._copy(self.turns[: len(self.turns) - num_open][:num_turns])

    def fork_at(self, answer: Turn, text: str) -> "Chat":
        """A new chat that is the same up to `answer`, which begins with `text` there."""
        begun = Turn(answer.role, text, created_at=answer.created_at, rounds=answer.whole_rounds)
        return self._copy([*self.turns[: self.index_of(answer)], begun])

    def _copy(self, turns: list[Turn]) -> "Chat":
        return replace(
            self,
            id=uuid.uuid4().hex,
            title=title_of_copy(self.display_title),
            turns=[replace(turn.copied(), id=uuid.uuid4().hex) for turn in turns],
            asides={},
            created_at=time.time(),
            is_pinned=False,
            sampling=dict(self.sampling),
            queue=[],
        )

    # The tree

    def _shown_after(self, parent_id: str) -> Turn | None:
        return next((turn for turn in self.turns if turn.parent_id == parent_id), None)

    def _below(self, turns: list[Turn]) -> Iterator[Turn]:
        """All turns aside that follow one of `turns`, and those that follow them."""
        waiting = list(turns)  # no recursion: an imported chat may be thousands of turns deep
        while waiting:
            versions = self.asides.get(waiting.pop().id, [])
            yield from versions
            waiting += versions

    def _take_from_aside(self, turn: Turn) -> None:
        self._drop_aside(turn)
        self.turns.append(turn)

    def _drop_aside(self, turn: Turn) -> None:
        versions = self.asides[turn.parent_id]
        left = [version for version in versions if version is not turn]
        if left:
            self.asides[turn.parent_id] = left
        else:
            del self.asides[turn.parent_id]
