"""With a real database: what goes out and comes in, and that nothing else changes."""

import asyncio
import base64
import json
import sqlite3
import threading
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from app.bridge.engines import Engines
from app.bridge.tasks import finish_all
from app.bridge.workspace import Workspace
from app.chats.chat import Turn, TurnState
from app.chats.exports.files import ExportError, ExportForm
from app.chats.exports.spoken import ExportWords
from app.protocol.request import Role
from app.services.chat_library import ChatLibrary
from app.services.chat_transfer import ChatTransfer, StoppedError
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from tests.attachments.documents import png
from tests.chats.imports import shapes


class Kit:
    """A workspace on a database on disk."""

    def __init__(self, path: Path, engine: Engines) -> None:
        self.path = path
        self.store = ChatStore(path)
        self.workspace = Workspace(engine, self.store, Settings())
        self.library = ChatLibrary(self.store, self.workspace, self.workspace)
        self.transfer = ChatTransfer(self.workspace, self.store, self.library, self.workspace)

    def dump(self) -> str:
        with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True) as connection:
            text = "\n".join(connection.iterdump())
        connection.close()
        return text

    async def titles(self) -> list[str]:
        return sorted(summary.title for summary in await self.store.summaries())


@pytest.fixture
def make_kit(qloop: asyncio.AbstractEventLoop, engine: Engines, tmp_path: Path) -> AsyncIterator[Any]:
    kits: list[Kit] = []

    async def make(name: str = "chats.db") -> Kit:
        kit = Kit(tmp_path / name, engine)
        await kit.store.open()
        kits.append(kit)
        return kit

    yield make
    for kit in kits:
        qloop.run_until_complete(kit.workspace.shut_down())
        qloop.run_until_complete(kit.store.close())
        kit.workspace.deleteLater()


Make = Callable[..., Any]


def write(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps(list(entries)), encoding="utf-8")
    return path


async def test_chats_of_another_program_come_in_and_go_again(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    path = write(tmp_path / "a.json", shapes.CHATGPT, shapes.LLAMA_UI)
    plan = await kit.transfer.read([path])
    assert plan.sources == ("ChatGPT", "llama.cpp")
    assert await kit.titles() == [], "reading changes nothing"
    chat_ids = await kit.transfer.import_chats(plan)
    assert await kit.titles() == ["Cats and <b>dogs</b>", "Trees"]
    assert sorted(chat.title for chat in kit.library.chats) == ["Cats and <b>dogs</b>", "Trees"]
    session = await kit.workspace.open_saved(chat_ids[0])
    assert session.chat.versions_of(session.chat.turns[1])[0].text == "A dog."
    kit.transfer.take_back(chat_ids)
    await finish_all()
    assert await kit.titles() == []
    assert kit.workspace.session_of(chat_ids[0]) is None
    assert not kit.workspace.can_reopen


async def test_what_is_here_already_is_told_and_comes_again_only_as_a_copy(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    path = write(tmp_path / "a.json", shapes.CHATGPT)
    twice = await kit.transfer.read([path, path])
    assert (len(twice.new), len(twice.known)) == (1, 1)
    await kit.transfer.import_chats(twice)
    again = await kit.transfer.read([path, write(tmp_path / "b.json", shapes.OPEN_WEBUI)])
    assert [found.source for found in again.new] == ["Open WebUI"]
    assert [found.source for found in again.known] == ["ChatGPT"]
    await kit.transfer.import_chats(again)
    assert await kit.titles() == ["Cats and <b>dogs</b>", "Sums"]
    assert again.num_changed == 0
    session = await kit.workspace.open_saved(again.known[0].chat.id)
    session.insert(Role.USER, "And this?")
    copies = await kit.transfer.read([path])
    assert copies.num_changed == 1
    (copy_id,) = await kit.transfer.import_chats(copies, with_known=True)
    assert await kit.titles() == ["Cats and <b>dogs</b>"] * 2 + ["Sums"]
    kept = await kit.store.load_chat(copy_id)
    turns = await kit.store.load_turns(kept)
    assert [turn.role for turn in turns.shown] == [Role.USER, Role.ASSISTANT]
    assert sum(map(len, turns.asides.values())) == 1


async def test_what_was_taken_back_can_come_again(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    path = write(tmp_path / "a.json", shapes.CHATGPT)
    for _ in range(2):
        chat_ids = await kit.transfer.import_chats(await kit.transfer.read([path]))
        assert await kit.titles() == ["Cats and <b>dogs</b>"]
        kit.transfer.take_back(chat_ids)
        await finish_all()
        assert await kit.titles() == []


async def test_bad_files_change_no_byte(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    await kit.transfer.import_chats(await kit.transfer.read([write(tmp_path / "a.json", shapes.LLAMA_UI)]))
    before = kit.dump()
    bad = {"conv": {"id": "x"}, "messages": [{"id": 1, "role": "<b>", "content": "a", "parent": None}]}
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps([shapes.CHATGPT])[:-9])
    plan = await kit.transfer.read([write(tmp_path / "b.json", bad), cut, tmp_path / "none.json"])
    assert len(plan.problems) == 3
    assert plan.new == ()
    await kit.transfer.import_chats(plan)
    assert kit.dump() == before


async def test_a_notice_from_a_file_stays_plain_text(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    """Were it made into a text, what it asks for would be made, too."""
    notice = json.dumps({"text": "{a}{a}", "values": {"a": {"text": "{b}{b}", "values": {"b": "x"}}}})
    turn = {"id": "1", "role": "assistant", "text": "Hi", "notice": notice}
    path = write(tmp_path / "a.json", {"format": "skein-chat", "version": 1, "id": "a", "turns": [turn]})
    kit = await make_kit()
    (chat_id,) = await kit.transfer.import_chats(await kit.transfer.read([path]))
    kept = await kit.store.load_chat(chat_id)
    (loaded,) = (await kit.store.load_turns(kept)).shown
    assert loaded.notice == notice


async def test_an_import_that_fails_half_way_changes_no_byte(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    plan = await kit.transfer.read([write(tmp_path / "a.json", shapes.LLAMA_UI, shapes.OPEN_WEBUI)])
    # A turn of the second chat has the id of one of the first: no table takes both.
    first, second = plan.new
    second.chat.turns[0].id = first.chat.turns[0].id
    second.chat.turns[0].role = "narrator"  # type: ignore[assignment]
    before = kit.dump()
    with pytest.raises(StorageError):
        await kit.transfer.import_chats(plan)
    assert kit.dump() == before


async def test_a_plan_is_not_made_twice(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    plan = await kit.transfer.read([write(tmp_path / "a.json", shapes.LLAMA_UI)])
    await kit.transfer.import_chats(plan)
    before = kit.dump()
    with pytest.raises(StorageError, match="Import the file again"):
        await kit.transfer.import_chats(plan)
    assert kit.dump() == before


async def test_all_chats_go_out_and_into_another_skein(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit, other = await make_kit(), await make_kit("other.db")
    await kit.transfer.import_chats(
        await kit.transfer.read([write(tmp_path / "a.json", shapes.LLAMA_UI, shapes.OPEN_WEBUI)])
    )
    session = kit.workspace.new_chat()
    session.chat.folder, session.chat.sampling = "Work", {"temperature": 0.2}
    session.insert(Role.USER, "Not on disk yet?")
    kit.workspace.new_chat()
    assert await kit.transfer.export_all(tmp_path / "all.json", ExportForm.JSON, ExportWords()) == 3
    plan = await other.transfer.read([tmp_path / "all.json"])
    assert plan.problems == ()
    await other.transfer.import_chats(plan)
    assert await other.titles() == ["Not on disk yet?", "Sums", "Trees"]
    assert await other.store.folders() == ("Work",)
    kept = await other.store.load_chat(session.chat.id)
    assert (kept.chat.folder, kept.chat.sampling) == ("Work", {"temperature": 0.2})


async def test_an_open_chat_goes_out_as_it_is_now_and_goes_on_meanwhile(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    session = kit.workspace.new_chat()
    session.insert(Role.USER, "Hello")
    session.chat.add(Turn(Role.ASSISTANT, "I am", TurnState.STREAMING))
    path = tmp_path / "a.md"
    await kit.transfer.export_chat(session.chat.id, path, ExportForm.MARKDOWN, ExportWords())
    assert "I am" in path.read_text()
    session.chat.turns.pop()
    with pytest.raises(ExportError, match="No such file"):
        await kit.transfer.export_chat(
            session.chat.id, tmp_path / "no" / "a.md", ExportForm.HTML, ExportWords()
        )


async def test_an_export_that_is_stopped_leaves_nothing(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    await kit.transfer.import_chats(
        await kit.transfer.read([write(tmp_path / "a.json", shapes.LLAMA_UI, shapes.OPEN_WEBUI)])
    )
    told: list[float] = []
    kit.transfer.progressed.connect(told.append)
    kit.transfer.progressed.connect(lambda _fraction: kit.transfer.stop())
    with pytest.raises(StoppedError):
        await kit.transfer.export_all(tmp_path / "out", ExportForm.HTML, ExportWords())
    assert told == [0.5]
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))


async def test_reading_can_be_stopped(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = await make_kit()
    begun = threading.Event()

    def read_for_long(_paths: object, on_progress: Callable[[float], None]) -> None:
        begun.set()
        kit.transfer._stop.wait(5)
        on_progress(0.5)

    path = write(tmp_path / "a.json", shapes.LLAMA_UI)
    with monkeypatch.context() as patch:
        patch.setattr("app.chats.imports.read.read", read_for_long)
        reading = asyncio.ensure_future(kit.transfer.read([path]))
        await asyncio.to_thread(begun.wait, 5)
        kit.transfer.stop()
        with pytest.raises(StoppedError):
            await reading
    assert len((await kit.transfer.read([path])).new) == 1


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


async def test_pictures_go_out_and_into_another_skein(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit, other = await make_kit(), await make_kit("other.db")
    session = kit.workspace.new_chat()
    session.files.read_bytes(png(), "A [cat].png")
    await finish_all()
    session.insert(Role.USER, "Look", session.draft_attachments)
    await kit.workspace.autosave.flush()
    (chat_id, picture) = (session.chat.id, session.chat.turns[0].attachments[0])
    await kit.transfer.export_all(tmp_path / "all.json", ExportForm.JSON, ExportWords())
    await kit.transfer.export_all(tmp_path / "pages", ExportForm.MARKDOWN, ExportWords())
    await kit.transfer.export_chat(chat_id, tmp_path / "page.md", ExportForm.MARKDOWN, ExportWords())
    await kit.transfer.export_chat(chat_id, tmp_path / "page.html", ExportForm.HTML, ExportWords())
    assert session.chat.turns[0].attachments[0].media.file == b"", "the open chat is as it was"

    (file,) = (tmp_path / "pages" / "media").iterdir()
    assert file.read_bytes() == png()
    (page,) = (tmp_path / "pages").glob("*.md")
    assert f"![A \\[cat\\].png](media/{file.name})" in page.read_text()
    assert f"]({data_url(png())})" in (tmp_path / "page.md").read_text()
    assert f'<img src="{data_url(png())}" alt="A [cat].png">' in (tmp_path / "page.html").read_text()

    plan = await other.transfer.read([tmp_path / "all.json"])
    assert plan.num_left_out == 0
    await other.transfer.import_chats(plan)
    copy = await other.workspace.open_saved(chat_id)
    assert copy.chat.turns[0].attachments == (picture,)
    assert await other.store.media(picture.media.sha256) == png()
    assert await other.store.thumbnail(picture.media.sha256)


async def test_what_a_file_has_beyond_a_chat_is_named_for_all_its_chats(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    said = {"role": "user", "content": "Hello", "annotations": ["a", "b"], "name": "me"}
    chats = [{"id": str(number), "messages": [said | {"id": "1"}], "settings": "x"} for number in range(2)]
    path = write(tmp_path / "chats.json", *chats)
    plan = await kit.transfer.read([path])
    assert plan.unread == {"annotations": 2, "settings": 2}
    await kit.transfer.import_chats(plan)
    assert (await kit.transfer.read([path])).unread == plan.unread, "they are here already"


async def test_pictures_of_other_programs_come_in_and_bad_ones_are_counted(
    qloop: asyncio.AbstractEventLoop, make_kit: Make, tmp_path: Path
) -> None:
    kit = await make_kit()
    named = json.loads(json.dumps(shapes.CHATGPT).replace("file-1", "file-AbCdEfGh12345678"))
    with zipfile.ZipFile(tmp_path / "chatgpt.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([named]))
        archive.writestr("file-AbCdEfGh12345678-cat.png", png())
    damaged = png()[:40]
    asked = [
        {"type": "text", "text": "Which?"},
        {"type": "image_url", "image_url": {"url": data_url(png("blue"))}},
        {"type": "image_url", "image_url": {"url": data_url(damaged)}},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
    ]
    listed = {"id": "1", "messages": [{"role": "user", "content": asked}]}
    extra = [{"type": "imageFile", "name": "green.png", "base64Url": data_url(png("green"))}]
    llama = {
        "conv": {"id": "2", "name": "llama"},
        "messages": [{"id": "a", "role": "user", "content": "And?", "extra": extra}],
    }
    file = {"type": "image", "url": data_url(png("white"))}
    webui = {
        "id": "3",
        "chat": {"history": {"messages": {"a": {"role": "user", "content": "", "files": [file]}}}},
    }
    plan = await kit.transfer.read(
        [tmp_path / "chatgpt.zip", write(tmp_path / "others.json", listed, llama, webui)]
    )
    assert plan.problems == ()
    assert plan.num_left_out == 2
    await kit.transfer.import_chats(plan)
    pictures: list[tuple[str, bytes]] = []
    for found in plan.new:
        session = await kit.workspace.open_saved(found.chat.id)
        for turn in session.chat.turns:
            for one in turn.attachments:
                assert (one.kind, one.media.width, one.media.height, one.media.file) == ("png", 40, 20, b"")
                pictures.append((one.name, await kit.store.media(one.media.sha256)))
    assert sorted(pictures) == sorted(
        [
            ("cat.png", png()),
            ("picture", png("blue")),
            ("green.png", png("green")),
            ("picture", png("white")),
        ]
    )
