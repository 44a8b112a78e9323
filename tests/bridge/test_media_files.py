"""A picture from its file to the request, with the child process that reads it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.bridge.media_files import MediaFiles
from app.bridge.tasks import finish_all
from app.bridge.workspace import Workspace
from app.chats.attachment import Attachment
from app.protocol.media import Media, MediaKind, Senses
from app.protocol.request import Message, Request, Role
from app.storage.errors import StorageError
from app.storage.media_rows import NO_THUMBNAIL, hash_of
from tests.attachments.documents import png
from tests.bridge.conftest import MemoryStore


def picture(file: bytes) -> Media:
    return Media(MediaKind.PICTURE, hash_of(file), b"", 40, 20)


@pytest.fixture
def asks_at_once() -> None:
    """It does not here: the files are read first."""


@pytest.fixture
def files(qloop: object, store: MemoryStore) -> MediaFiles:
    return MediaFiles(store)  # type: ignore[arg-type]


async def test_what_is_attached_is_on_disk_before_the_draft_has_it_and_is_sent_with_its_file(
    qloop: asyncio.AbstractEventLoop, workspace: Workspace, store: MemoryStore, load, tmp_path: Path
) -> None:
    thread = load("starter.gguf")
    model = workspace._engine.model
    assert model
    workspace._engine.front.model = replace(model, senses=Senses(sees=True))
    session = workspace.new_chat()
    (tmp_path / "cat.png").write_bytes(png())
    session.files.read_files([tmp_path / "cat.png"])
    session.files.read_bytes(png("blue"), "Pasted picture")
    await finish_all()
    pasted, cat = sorted(session.draft_attachments, key=lambda one: one.name)
    assert pasted == Attachment("Pasted picture", "", "png", picture(png("blue")))
    assert cat == Attachment("cat.png", "", "png", picture(png()))
    assert cat.media
    assert (cat.media.file, cat.media.width, cat.media.height) == (b"", 40, 20)
    _, thumbnail = store.media_kept[cat.media.sha256]
    assert thumbnail.rgb[:3] == b"\xff\0\0"

    session.send("What is it?", [cat])
    await finish_all()
    (message,) = thread.submitted[0].messages
    assert message == Message(Role.USER, "What is it?", media=(picture(png()),))
    assert message.media[0].file == png()
    assert session.chat.turns[0].attachments == (cat,)


async def test_a_model_that_does_not_see_is_told_that_there_is_a_picture(
    qloop: asyncio.AbstractEventLoop, workspace: Workspace, load
) -> None:
    thread = load("starter.gguf")
    session = workspace.new_chat()
    session.send("What is it?", [Attachment("cat.png", "", "png", picture(png()))])
    await finish_all()
    (message,) = thread.submitted[0].messages
    assert message == Message(Role.USER, "[A picture, which you cannot see.]\n\nWhat is it?")


async def test_a_file_that_is_lost_is_said_in_words(files: MediaFiles, store: MemoryStore) -> None:
    await store.keep_media(png())
    media = (picture(png()), replace(picture(png("blue")), at=4))
    request = await files.filled(Request("r", "c", (Message(Role.USER, "One, two", media=media),)))
    (message,) = request.messages
    assert message.content == "One,[A picture, which you cannot see.]\n\n two"
    assert [one.file for one in message.media] == [png()]


async def test_a_picture_without_a_thumbnail_gets_one_when_it_is_shown(
    files: MediaFiles, store: MemoryStore
) -> None:
    """As an imported one."""
    await store.keep_media(png())
    loaded: list[str] = []
    files.thumbnail_loaded.connect(loaded.append)
    assert files.thumbnail(picture(png())) is None
    await finish_all()
    assert loaded == [hash_of(png())]
    found = files.thumbnail(picture(png()))
    assert found
    assert (found.width, found.height) == (40, 20)
    assert store.media_kept[hash_of(png())][1] is not NO_THUMBNAIL


async def test_what_is_no_picture_or_cannot_be_kept_is_refused_in_words(
    qloop: asyncio.AbstractEventLoop, workspace: Workspace, store: MemoryStore
) -> None:
    session = workspace.new_chat()
    refused: list[str] = []
    session.files.refused.connect(lambda _name, why: refused.append(why))
    session.files.read_bytes(b"nothing of the kind", "Pasted picture")
    await finish_all()
    store.error = StorageError("The disk is full.")
    session.files.read_bytes(png(), "Pasted picture")
    await finish_all()
    assert "neither a picture nor a sound" in refused[0]
    assert refused[1] == "The disk is full."
    assert session.draft_attachments == ()
