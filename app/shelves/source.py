"""What a chat may ask of the shelves. Whoever knows them implements it; a chat's loop calls it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.chats.attachment import Attachment


class ShelfSource(Protocol):
    """A shelf that is gone counts as none."""

    def is_ready(self, shelf_id: str) -> bool:
        """What it holds is known, and how much of the model's context that takes."""
        ...

    async def prepare(self, shelf_id: str) -> None:
        """Returns once it is, or cannot be."""
        ...

    def is_whole(self, shelf_id: str, room: int) -> bool:
        """All of it stands before a chat of at most `room` tokens. Else it is searched."""
        ...

    def text_before(self, shelf_id: str, room: int) -> str:
        """What stands before such a chat. Empty without a shelf."""
        ...

    async def passages(
        self, shelf_id: str, text: str, first_number: int, room: int
    ) -> tuple[Attachment, ...]:
        """What is found for a message, if it is searched."""
        ...


@dataclass(frozen=True, slots=True)
class ListedShelf:
    """`num_tokens` is that of the open model; None: not counted."""

    id: str
    name: str
    num_files: int
    num_tokens: int | None


class NamedShelves(ShelfSource, Protocol):
    """For those who know a shelf by its name."""

    async def refresh(self) -> None:
        """Looks at the list of shelves again, if another program changes it."""
        ...

    def id_of(self, name: str) -> str | None:
        """Of the first shelf with this name or id."""
        ...

    def listed(self) -> tuple[ListedShelf, ...]: ...


class NoShelves:
    """Until there is another."""

    def is_ready(self, _shelf_id: str) -> bool:
        return True

    async def prepare(self, _shelf_id: str) -> None: ...

    def is_whole(self, _shelf_id: str, _room: int) -> bool:
        return True

    def text_before(self, _shelf_id: str, _room: int) -> str:
        return ""

    async def passages(
        self, _shelf_id: str, _text: str, _first_number: int, _room: int
    ) -> tuple[Attachment, ...]:
        return ()
