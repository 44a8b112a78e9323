"""Pictures and sounds are kept once, as long as something refers to them."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from app.chats.attachment import Attachment
from app.chats.chat import Chat, QueuedMessage, Turn
from app.media.reading import Pixels
from app.protocol.media import Media, MediaKind
from app.protocol.request import Role
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.list_rows import Tabs
from app.storage.media_rows import hash_of

CAT, DOG, LOST = b"a cat" * 2000, b"a dog", b"never sent"
SMALL = Pixels(2, 1, b"\1\2\3\4\5\6")


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[ChatStore]:
    store = ChatStore(path)
    try:
        yield store
    finally:
        await store.close()


def picture(data: bytes, name: str = "cat.png") -> Attachment:
    media = Media(MediaKind.PICTURE, hash_of(data), data, 640, 480)
    return Attachment(name, "", "png", media)


def a_chat(chat_id: str, *attachments: Attachment) -> Chat:
    return Chat(chat_id, turns=[Turn(Role.USER, "What is it?", attachments=attachments)])


async def kept(store: ChatStore, *files: bytes) -> list[bool]:
    return [await store.media(hash_of(data)) == data for data in files]


async def test_messages_drafts_and_the_queue_keep_what_they_refer_to(path) -> None:
    chat = a_chat("sent", picture(CAT))
    chat.queue = [QueuedMessage("and this?", (picture(DOG, "dog.png"),))]
    async with opened(path) as store:
        await store.open()
        await store.keep_media(CAT, SMALL)
        await store.keep_media(DOG)
        await store.keep_media(LOST)
        await store.save([ChatChange.of(chat)], Tabs(("sent",), "sent"))
    async with opened(path) as store:
        await store.open()
        saved = (await store.load()).chats["sent"]
        assert (await store.load_turns(saved)).shown[0].attachments == (picture(CAT),)
        assert saved.chat.queue == chat.queue
        assert await store.thumbnail(hash_of(CAT)) == SMALL
        assert await store.thumbnail(hash_of(DOG)) is None
        assert await kept(store, CAT, DOG, LOST) == [True, True, False]


async def test_a_picture_goes_with_the_last_chat_that_refers_to_it(path) -> None:
    async with opened(path) as store:
        await store.open()
        for data in (CAT, DOG):
            await store.keep_media(data)
        fork = Chat("fork")
        draft = ChatChange.of(fork, "look", (picture(CAT),))
        await store.save([ChatChange.of(a_chat("one", picture(CAT), picture(DOG))), draft])
        await store.delete(["one"])
        assert await kept(store, CAT, DOG) == [True, True], "the trash keeps what it holds"
        await store.purge(["one"])
        assert await kept(store, CAT, DOG) == [True, False]
        await store.delete(["fork"])
        await store.purge(["fork"])
        assert await kept(store, CAT) == [False]


async def test_one_that_was_changed_on_disk_is_not_shown(path) -> None:
    async with opened(path) as store:
        await store.open()
        await store.keep_media(CAT)
        await store.save([ChatChange.of(a_chat("one", picture(CAT)))])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE media SET data = ?", (DOG,))
    async with opened(path) as store:
        await store.open()
        assert await store.media(hash_of(CAT)) is None


@pytest.mark.parametrize("size", [100, 4096])
async def test_a_repair_brings_the_intact_ones_back(path, size: int) -> None:
    async with opened(path) as store:
        await store.open()
        await store.keep_media(CAT, SMALL)
        await store.save([ChatChange.of(a_chat("one", picture(CAT)))])
    with path.open("r+b") as file:
        file.write(b"\xa5" * size)
    async with opened(path) as store:
        assert "1 messages in 1 chats" in await store.open()
        assert await kept(store, CAT) == [True]
        assert await store.thumbnail(hash_of(CAT)) == SMALL
