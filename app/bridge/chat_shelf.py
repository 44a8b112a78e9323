"""The shelf and the project of one chat: what they add to its prompts, and the passages of its messages.

GUI thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from app.bridge.chat_limits import ChatLimits
from app.chats.attachment import IS_FOUND, PASSAGE, Attachment
from app.chats.chat import Chat, Turn
from app.chats.project import Project
from app.protocol.output import FinishReason, Output
from app.protocol.request import SHELF, Request, Role
from app.shelves.documents import is_cited, number_of, renumbered, with_text_before
from app.shelves.recall import MAX_RECALLED, Said, recalled_for, said_in
from app.shelves.shelf import NoShelves, ShelfSource, num_passages


class ShelfAccess:
    """What all sessions share: who knows the shelves, and the projects."""

    def __init__(self) -> None:
        self.source: ShelfSource = NoShelves()
        self.project_of: Callable[[str], Project | None] = lambda _folder: None


class ChatShelf:
    def __init__(self, chat: Chat, access: ShelfAccess, limits: ChatLimits) -> None:
        self._chat, self._access, self._limits = chat, access, limits
        self._unwanted: set[tuple[str, str]] = set()  # passages that were taken out of the next message
        self._summed_up: tuple[tuple[str, int], list[Said]] = (("", 0), [])  # up to which turn what was said

    @property
    def _source(self) -> ShelfSource:
        return self._access.source

    @property
    def project(self) -> Project | None:
        """A notebook has none: nothing stands before its text."""
        return None if self._chat.is_notebook else self._access.project_of(self._chat.folder)

    @property
    def id(self) -> str:
        """Of the chat's own shelf, else of its project's. A notebook has none."""
        own = "" if self._chat.is_notebook else self._chat.shelf_id
        return own or (self.project.shelf_id if self.project else "")

    @property
    def text(self) -> str:
        """What the model reads before everything else."""
        project, room = self.project, self._limits.room
        documents = self._source.text_before(self.id, room) if self.id else ""
        return project.text_around(documents, room) if project else documents

    @property
    def begins_as(self) -> str:
        """The id of the sequence that has that text, as far as there is one."""
        if self.project and self.id == self.project.shelf_id:
            return self.project.chat_id
        is_whole = not self.project and self.id and self._source.is_whole(self.id, self._limits.room)
        return f"{SHELF}{self.id}" if is_whole else ""

    @property
    def first_number(self) -> int:
        """Of the next message's first passage: each number is one place in the whole chat."""
        used = (number_of(one) for turn in self._chat.all_turns() for one in turn.attachments)
        return max(used, default=0) + 1

    def is_ready(self) -> bool:
        return not self.id or self._source.is_ready(self.id)

    async def prepare(self) -> None:
        if self.id:
            await self._source.prepare(self.id)

    def before(self, request: Request) -> Request:
        """The same with what the model is to read first."""
        text = self.text
        if not text:
            return request
        messages = with_text_before(text, request.messages)
        return replace(request, messages=messages, begins_as=self.begins_as)

    @property
    def is_searched(self) -> bool:
        """Each message comes with what is found for it: on a shelf that does not fit, or behind a summary."""
        return self._has_large_shelf or bool(self._chat.num_summed_up())

    @property
    def _has_large_shelf(self) -> bool:
        return bool(self.id) and not self._source.is_whole(self.id, self._limits.room)

    def wants_passages(self, question: Turn | None) -> bool:
        """Something is to be searched for this message, and was not yet."""
        if question is None or question.role is not Role.USER or has_passages(question.attachments):
            return False
        return self.is_searched

    async def found_for(self, text: str) -> tuple[Attachment, ...]:
        """None where nothing is asked, or searched; without what was taken out, or was given before."""
        if not text.strip() or not self.is_ready() or not self.is_searched:
            return ()
        num_summed_up = self._chat.num_summed_up()
        shown = self._chat.turns[num_summed_up:]
        before = [turn for turn in shown if has_passages(turn.attachments)]
        asked = before[-1].text if before else ""
        room = self._limits.room
        known = self._said_up_to(num_summed_up)
        if self._chat.overflow.leaves_out:
            before = before[-1:]  # earlier ones may have been cut off
        given = {_place_and_text(one) for turn in before for one in turn.attachments}
        without = {text for _place, text in self._unwanted | given}
        most = min(num_passages(room), MAX_RECALLED)
        found = await asyncio.to_thread(recalled_for, known, text, most, without)
        if self._has_large_shelf:
            found += await self._source.passages(self.id, text, asked, self.first_number, room)
        return self.numbered_on(one for one in found if _place_and_text(one) not in self._unwanted | given)

    def _said_up_to(self, num_turns: int) -> list[Said]:
        """Of thousands of turns it takes a few frames, and a draft is searched for again and again."""
        turns = self._chat.turns[:num_turns]
        key = turns[-1].id if turns else "", num_turns
        if self._summed_up[0] != key:
            self._summed_up = key, said_in(turns)
        return self._summed_up[1]

    def uncited_by(self, question: Turn | None, answer: Turn, last: Output) -> tuple[int, ...]:
        """The numbers of the passages that a whole answer was given and should have cited one of.

        None where it did, or where its form is the user's: by a grammar, or by calls of tools.
        """
        text = answer.split.answer
        passages = [one for one in question.attachments if one.kind == PASSAGE] if question else []
        is_free = not ({"grammar", "json_schema"} & self._chat.sampling.keys()) and not answer.rounds
        is_whole = last.finish_reason is FinishReason.STOP and bool(text.strip())
        if not is_free or not is_whole or any(is_cited(one, text) for one in passages):
            return ()
        return tuple(map(number_of, passages))

    def note_choice(self, before: Iterable[Attachment], after: Iterable[Attachment]) -> None:
        """What the user took out of the next message, or put back."""
        kept = set(map(_place_and_text, after))
        self._unwanted = (self._unwanted | set(map(_place_and_text, before))) - kept

    def begin_message(self) -> None:
        """All passages may come with it."""
        self._unwanted = set()

    def numbered_on(self, attachments: Iterable[Attachment]) -> tuple[Attachment, ...]:
        """Other messages may have been sent since these were found."""
        found = tuple(attachments)
        return renumbered(found, self.first_number) if found else ()


def _place_and_text(passage: Attachment) -> tuple[str, str]:
    """The number of a file's passage changes from search to search."""
    return passage.name.rpartition("] ")[2], passage.text


def has_passages(attachments: Iterable[Attachment]) -> bool:
    return any(one.kind in IS_FOUND for one in attachments)


def without_passages(attachments: Iterable[Attachment]) -> tuple[Attachment, ...]:
    return tuple(one for one in attachments if one.kind not in IS_FOUND)
