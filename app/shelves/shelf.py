"""A shelf, the private file that lists all of them, and what a chat may ask of them. Any thread.

Whoever knows the shelves implements `ShelfSource`; a chat's loop calls it.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from app.chats.attachment import Attachment
from app.protocol.request import SHELF
from app.system.files import Stamp, private_file, replacing_private, set_aside

log = logging.getLogger(__name__)

PASSAGE_TOKENS, MAX_PASSAGES = 300, 8  # of one, about; and so many of one message
PASSAGES_SHARE = 1 / 4  # of the context, for those of one message


@dataclass(frozen=True, slots=True)
class Shelf:
    """`folder` is watched, with all below it; without one `files` were named one by one. Absolute paths."""

    name: str
    folder: str = ""
    files: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def chat_id(self) -> str:
        """The id of its own sequence, as the engine knows it."""
        return f"{SHELF}{self.id}"


class FileState(StrEnum):
    WAITING = "waiting"  # it is read once nobody writes to it any more
    READ = "read"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ShelfFile:
    """`number` is its own for as long as the shelf exists: chats cite it. `name` is what is shown.

    `num_chars` is what was read last, which stays in use while a change waits to be read.
    """

    number: int
    path: str
    name: str
    stamp: Stamp
    state: FileState = FileState.WAITING
    reason: str = ""  # why it is unreadable: an attachments' Reason
    num_chars: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in the text of a shelf's file. `start` and `end` count characters of it, `line` from one."""

    file_number: int
    name: str
    start: int
    end: int
    line: int
    text: str


def num_passages(room: int) -> int:
    """How many passages one message gets."""
    return max(1, min(MAX_PASSAGES, int(room * PASSAGES_SHARE) // PASSAGE_TOKENS))


def read_shelves(path: Path) -> list[Shelf]:
    """None if there is no such file. A file that cannot be read is kept under another name."""
    try:
        private_file(path)
        entries = json.loads(path.read_text(encoding="utf-8") or "[]")
        return [_shelf(entry) for entry in entries]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        log.warning("The list of shelves cannot be read: %s.", type(error).__name__)
        set_aside(path)
        return []


def write_shelves(path: Path, shelves: Iterable[Shelf]) -> None:
    """Raises OSError."""
    entries = [
        {"id": one.id, "name": one.name, "folder": one.folder, "files": list(one.files)} for one in shelves
    ]
    with replacing_private(path) as file:
        file.write(json.dumps(entries, indent=2))


def _shelf(entry: dict[str, Any]) -> Shelf:
    files = tuple(str(path) for path in entry["files"])
    return Shelf(str(entry["name"]), str(entry["folder"]), files, str(entry["id"]))


class ShelfSource(Protocol):
    """A shelf that is gone counts as none."""

    def is_ready(self, shelf_id: str) -> bool:
        """What it holds is known, and how much of the model's context that takes."""
        ...

    async def prepare(self, shelf_id: str) -> None:
        """Returns once the shelf is ready, or cannot be."""
        ...

    def is_whole(self, shelf_id: str, room: int) -> bool:
        """The whole text stands before a chat of at most `room` tokens; otherwise the shelf is searched."""
        ...

    def text_before(self, shelf_id: str, room: int) -> str:
        """What stands before a chat of at most `room` tokens; empty without a shelf."""
        ...

    async def passages(
        self, shelf_id: str, text: str, before: str, first_number: int, room: int
    ) -> tuple[Attachment, ...]:
        """What is found for a message, if it is searched. `before`: the question that it may refer to."""
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
        """The id of the first shelf with this name or id."""
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
        self, _shelf_id: str, _text: str, _before: str, _first_number: int, _room: int
    ) -> tuple[Attachment, ...]:
        return ()
