"""Databases with something to lose, and what the store makes of them once they are damaged."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.storage.backups import BackupReason, Backups
from app.storage.chat_rows import DAMAGED, ChatChange
from app.storage.chat_store import ChatStore
from app.storage.database import HEADER_BYTES
from app.storage.list_rows import Tabs

NUM_CHATS = 6
NUM_TURNS = 12


def text_of(chat: int, turn: int) -> str:
    return f"turn {turn} of chat {chat}: " + "a few words " * (40 * turn)


def a_chat(number: int) -> Chat:
    chat = Chat(f"chat{number}", f"Chat {number}")
    chat.add(
        *(
            Turn(Role.USER, text_of(number, turn), id=f"t{number}-{turn}", created_at=float(turn))
            for turn in range(NUM_TURNS)
        )
    )
    return chat


async def fill(path: Path, *numbers: int) -> None:
    store = ChatStore(path)
    await store.open()
    for number in numbers:
        await store.save([ChatChange.of(a_chat(number))], Tabs((f"chat{number}",)))
    await store.close()


async def start(path: Path) -> tuple[str, dict[str, str], dict[str, str]]:
    """What is said at the start, and of all messages the text and the notice by their ids."""
    store = ChatStore(path)
    notice = await store.open()
    texts, notices = {}, {}
    await store.load()
    for summary in await store.summaries():
        saved = await store.load_chat(summary.id)
        assert saved
        turns = await store.load_turns(saved)
        for turn in [*turns.shown, *(turn for versions in turns.asides.values() for turn in versions)]:
            texts[turn.id], notices[turn.id] = turn.text, turn.notice
    await store.close()
    return notice, texts, notices


ALL = {f"t{chat}-{turn}": text_of(chat, turn) for chat in range(NUM_CHATS) for turn in range(NUM_TURNS)}


def overwrite(path: Path, offset: int, size: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xa5" * size)


def flip_bits(path: Path, number: int, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(number):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


async def looks_honest(path: Path, num_chats: int) -> str:
    """What is wrong, mostly nothing: a message that is not as it was, or is gone, without a word."""
    expected = {name: text for name, text in ALL.items() if int(name[1 : name.index("-")]) < num_chats}
    notice, texts, notices = await start(path)
    wrong = [name for name, text in texts.items() if text != expected.get(name) and notices[name] != DAMAGED]
    if wrong:
        return f"not as they were: {wrong}"
    lost = expected.keys() - texts.keys()
    is_told = notice or DAMAGED in notices.values()
    return f"gone: {sorted(lost)}" if lost and not is_told else ""


DELETED_CHAT = 1  # its pages are free
LATER_CHAT = NUM_CHATS
PAGE_BYTES = 4096


async def fill_with_backup(path: Path) -> None:
    """With a list of free pages, and a backup of all that is in it."""
    await fill(path, *range(NUM_CHATS))
    store = ChatStore(path)
    await store.open()
    await store.delete([f"chat{DELETED_CHAT}"])
    await store.close()
    await fill(path)  # the next start removes it
    Backups(path).make(BackupReason.REGULAR)


def overwritten(content: bytes, offset: int, new: bytes) -> bytes:
    return content[:offset] + new + content[offset + len(new) :]


def flipped(content: bytes, offset: int, mask: int) -> bytes:
    return overwritten(content, offset, bytes([content[offset] ^ mask]))


def trunk_offset(content: bytes) -> int:
    """Of the first page in the list of free ones."""
    return (int.from_bytes(content[32:36], "big") - 1) * PAGE_BYTES


def damages(content: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """A name for each, and what is left of the file: every byte of the header, and places everywhere else."""
    tables = range(HEADER_BYTES, 2 * PAGE_BYTES, 61)
    anywhere = [chance.randrange(2 * PAGE_BYTES, len(content)) for _ in range(60)]
    for offset in [*range(HEADER_BYTES), *tables, *anywhere]:
        for mask in (1, 1 << chance.randrange(1, 7), 128):
            yield f"byte {offset} flipped by {mask}", flipped(content, offset, mask)
        for value in (b"\0", b"\xff"):
            yield f"byte {offset} is {value[0]}", overwritten(content, offset, value)
    for page in chance.sample(range(len(content) // PAGE_BYTES), 40):
        yield f"page {page} is zero", overwritten(content, page * PAGE_BYTES, bytes(PAGE_BYTES))
    yield "all is zero", bytes(len(content))
    starts = (0, 1, 50, HEADER_BYTES - 1, HEADER_BYTES, PAGE_BYTES - 1, PAGE_BYTES)
    in_trunk = [trunk_offset(content) + size for size in (0, 1, 3, 7, 8, 9, 10, 11, 13, 100)]
    for size in [*starts, *in_trunk, *(chance.randrange(len(content)) for _ in range(60))]:
        yield f"cut after {size}", content[:size]


async def starts_well(path: Path) -> str:
    """What is wrong, mostly nothing, with the starts after a damage of what `fill_with_backup` has made."""
    try:
        notice, texts, notices = await start(path)
        again = await start(path)
        await fill(path, LATER_CHAT)
        later = await start(path)
    except Exception as error:
        return repr(error)
    lost = {name for name in ALL if not name.startswith(f"t{DELETED_CHAT}-")} - texts.keys()
    wrong = [name for name in texts if texts[name] != ALL[name] and notices[name] != DAMAGED]
    if lost or wrong:
        return f"{notice!r}, but gone: {sorted(lost)}, not as they were: {wrong}"
    if notice and "The chat database was damaged" not in notice:
        return f"misleading: {notice}"
    if again[0] or later[0] or f"t{LATER_CHAT}-0" not in later[1]:
        return f"not mended: {again[0]} {later[0]}"
    return ""
