import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QObject

from app.attachments.file_reading import AnyReading, ReadFile
from app.attachments.refusal import Reason
from app.bridge import draft_files
from app.bridge.chat_session import ChatSession
from app.bridge.draft_files import MAX_AT_ONCE, DraftFiles
from app.bridge.engines import Engines
from app.bridge.media_files import MediaFiles
from app.bridge.tasks import finish_all
from app.chats.attachment import Attachment
from app.chats.chat import Chat
from app.settings.settings import Settings
from tests.attachments.documents import pdf
from tests.bridge.conftest import MemoryStore
from tests.fakes import saved


@pytest.fixture
def files(qloop: asyncio.AbstractEventLoop) -> Iterator[DraftFiles]:
    parent = QObject()
    files = DraftFiles(MediaFiles(MemoryStore()), parent)  # type: ignore[arg-type]
    yield files
    files.cancel()


async def test_every_file_is_read_or_refused(files: DraftFiles, tmp_path: Path, qloop: object) -> None:
    read: list[Attachment] = []
    refused: list[tuple[str, Reason]] = []
    files.read.connect(read.append)
    files.refused.connect(lambda name, reason: refused.append((name, reason)))
    paths = [tmp_path / f"{number}.txt" for number in range(MAX_AT_ONCE + 1)]
    for path in paths:
        path.write_text(path.name)
    os.mkfifo(tmp_path / "pipe")
    files.read_files([*paths, tmp_path / "pipe"])
    assert files.names == ("0.txt", "1.txt", "2.txt", "pipe")
    while files.names:
        await finish_all()
    assert [attachment.text for attachment in read] == ["0.txt", "1.txt", "2.txt"]
    assert refused == [("pipe", Reason.NO_FILE)]


async def test_what_is_cancelled_is_neither_read_nor_refused(
    files: DraftFiles, tmp_path: Path, qloop: object
) -> None:
    """Its process ends, too: else the test would wait for seconds of work."""
    files.read.connect(lambda _attachment: pytest.fail("read"))
    files.refused.connect(lambda _name, _reason: pytest.fail("refused"))
    slow = tmp_path / "slow.pdf"
    slow.write_bytes(pdf(content=b"BT /F1 12 Tf " + b"1 0 0 1 9 9 Tm (ab) Tj " * 500_000 + b"ET"))
    files.read_files([slow] * (MAX_AT_ONCE + 1))
    await asyncio.sleep(0)
    files.cancel()
    assert files.names == ()
    await finish_all()


async def test_one_of_several_can_be_cancelled(files: DraftFiles, tmp_path: Path, qloop: object) -> None:
    read: list[str] = []
    files.read.connect(lambda attachment: read.append(attachment.name))
    names = [f"{number}.txt" for number in range(4)]
    for name in names:
        (tmp_path / name).write_text("x")
    files.read_files([tmp_path / name for name in names])
    files.cancel_file(0)  # is running
    files.cancel_file(2)  # waits
    assert files.names == ("1.txt", "2.txt")
    while files.names:
        await finish_all()
    assert read == ["1.txt", "2.txt"]


async def test_a_file_that_was_read_first_waits_for_those_given_before_it(
    files: DraftFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qloop: object
) -> None:
    is_second_read, read = Event(), list[str]()

    class Slow(AnyReading):
        def run(self) -> ReadFile:
            if self.name == "0.txt":
                assert is_second_read.wait(10)
            result = super().run()
            is_second_read.set()
            return result

    monkeypatch.setattr(draft_files, "AnyReading", Slow)
    files.read.connect(lambda attachment: read.append(attachment.name))
    for name in ("0.txt", "1.txt"):
        (tmp_path / name).write_text(name)
    files.read_files([tmp_path / "0.txt", tmp_path / "1.txt"])
    await finish_all()
    assert read == ["0.txt", "1.txt"]


async def test_a_file_that_was_read_goes_with_the_draft_of_its_chat(
    engine: Engines, tmp_path: Path, qloop: object
) -> None:
    media = MediaFiles(MemoryStore(), engine)  # type: ignore[arg-type]
    session = ChatSession(Chat(), engine, Settings(), parent=engine, media=media, save=saved)
    (tmp_path / "notes.txt").write_text("remember")
    session.files.read_files([tmp_path / "notes.txt"])
    await finish_all()
    assert session.draft_attachments == (Attachment("notes.txt", "remember", "text"),)
    session.files.read_files([tmp_path / "notes.txt"])
    session.close()
    await finish_all()
    assert len(session.draft_attachments) == 1
