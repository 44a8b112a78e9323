"""Databases with something to lose, and what the store makes of them once they are damaged."""

from __future__ import annotations

import random
from pathlib import Path

from app.chats.chat import Chat, Turn
from app.engine.types import Role
from app.storage.chat_rows import DAMAGED, ChatChange
from app.storage.chat_store import ChatStore
from app.storage.tab_rows import Tabs

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
    for summary in await store.summaries():
        saved = await store.load_chat(summary.id)
        if saved is None:  # its name is no text any more, and its messages are in a recovered chat
            continue
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
