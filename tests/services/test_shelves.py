"""Shelves on real files: what is read, what waits, and what a chat gets of it."""

import asyncio
import os
import sqlite3
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from app.attachments.file_reading import FileReading
from app.chats.attachment import PASSAGE, Attachment
from app.media.reading import ReadingCancelledError
from app.protocol.request import SHELF, Role
from app.services import shelves as service_module
from app.services.beginning_reader import Reading, beginning
from app.services.shelves import ShelfService, ShelfState
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.shelf import FileState
from tests.shelves.text_engines import MeaningEngine

OLD = time.time() - 1000


class QuickReading(FileReading):
    """Without a child process, which takes a while to start."""

    def run(self) -> Attachment:
        return Attachment(self.name, self.path.read_text())


class StuckReading(QuickReading):
    """Reads `slow.txt` until it is cancelled, and `long.txt` once it is whole."""

    is_long_whole = threading.Event()

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.is_cancelled = threading.Event()

    def run(self) -> Attachment:
        if self.path.name == "slow.txt":
            self.is_cancelled.wait()
            raise ReadingCancelledError
        if self.path.name == "long.txt":
            self.is_long_whole.wait(20)
        return super().run()

    def cancel(self) -> None:
        self.is_cancelled.set()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(service_module, "FileReading", QuickReading)
    monkeypatch.setattr(service_module, "SCAN_S", 0.02)
    monkeypatch.setattr(service_module, "CONFIRM_S", 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("apples.txt", "pears.md"):
        write(folder / name, f"All about {name}.")
    return folder


def write(path: Path, text: str, *, is_settled: bool = True) -> None:
    path.write_text(text)
    if is_settled:
        os.utime(path, (OLD, OLD))


class Driver:
    def __init__(self, engine, settings, workspace, tmp_path: Path) -> None:
        self.index = ShelfIndex(tmp_path / "texts.db")
        finder = ShelfFinder(self.index, MeaningEngine())
        self.shelves = ShelfService(engine, settings, tmp_path / "shelves.json", self.index, finder)
        workspace.shelves.source = self.shelves
        self.settings = settings

    async def until(self, is_so) -> ShelfState:
        async with asyncio.timeout(20):
            while not (self.shelves.states and is_so(self.shelves.states[0])):
                await asyncio.sleep(0.01)
        return self.shelves.states[0]

    async def read(self, num_files: int) -> ShelfState:
        return await self.until(
            lambda state: sum(one.state is FileState.READ for one in state.files) == num_files
        )


@pytest.fixture
def driver(engine, settings, workspace, tmp_path):
    return Driver(engine, settings, workspace, tmp_path)


class FourToAToken:
    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        return [0] * (len(text) // 4)


@pytest.fixture
def model(load, monkeypatch):
    """Opens one with so many tokens of context."""

    def open_model(n_ctx: int, **options: str):
        thread = load(n_ctx=n_ctx, n_seq_max=1, **options)

        def use_prompts(work):
            future: Future[int] = Future()
            future.set_result(work(FourToAToken()))
            return future

        monkeypatch.setattr(thread, "use_prompts", use_prompts)
        return thread

    return open_model


async def test_what_is_in_a_folder_is_read_and_followed(driver, folder):
    shelves = driver.shelves
    shelf = shelves.add("Docs", folder=str(folder))
    state = await driver.read(2)
    assert [one.name for one in state.files] == ["apples.txt", "pears.md"]
    (folder / "apples.txt").rename(folder / "cherries.txt")
    await driver.until(lambda state: {one.name for one in state.files} == {"cherries.txt", "pears.md"})
    (folder / "pears.md").unlink()
    state = await driver.until(lambda state: len(state.files) == 1)
    assert state.files[0].number == 1, "it was renamed, and not read again"
    write(folder / "cherries.txt", "Now about cherries.")
    await driver.until(lambda state: state.files[0].num_chars == len("Now about cherries."))
    assert await shelves.text_of(shelf.id, 1) == ("cherries.txt", "Now about cherries.")
    await shelves.close()


async def test_a_file_is_read_once_nobody_writes_to_it(driver, folder, monkeypatch):
    write(folder / "half.txt", "half of", is_settled=False)
    monkeypatch.setattr(service_module, "SCAN_S", 3600)
    driver.shelves.add("Docs", folder=str(folder))
    state = await driver.read(2)
    assert [one.name for one in state.files if one.state is FileState.WAITING] == ["half.txt"]
    monkeypatch.setattr(service_module, "SCAN_S", 0.02)
    driver.shelves.look_now(state.shelf.id)
    await driver.read(3)
    await driver.shelves.close()


async def test_what_cannot_be_read_says_why_and_the_others_are_read(driver, folder, monkeypatch):
    monkeypatch.setattr(service_module, "FileReading", FileReading)
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n" * 10)
    (folder / "loop").symlink_to(folder)
    os.utime(folder / "picture.png", (OLD, OLD))
    driver.shelves.add("Docs", folder=str(folder))
    state = await driver.until(lambda state: state.files and not state.num_waiting)
    assert {one.name: str(one.reason) for one in state.files} == {
        "apples.txt": "",
        "pears.md": "",
        "picture.png": "no text",
    }
    await driver.shelves.close()


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
async def test_a_name_that_is_no_text_is_shown_in_part_and_its_file_read_and_known_again(driver, folder):
    name = "caf\udce9.txt"  # as Latin-1 wrote it
    write(folder / name, "All about coffee.")
    shelf = driver.shelves.add("Docs", folder=str(folder))
    state = await driver.read(3)
    assert sorted(one.name for one in state.files) == ["apples.txt", "caf?.txt", "pears.md"]
    (found,) = await driver.shelves.passages(shelf.id, "coffee", "", 1, 100)
    assert found.text == "All about coffee."
    driver.shelves.look_now(shelf.id)
    assert (await driver.read(3)).files == state.files
    (folder / name).unlink()
    await driver.read(2)
    await driver.shelves.close()


async def test_a_message_waits_for_a_shelf_only_while_it_may_fit_and_skein_is_open(
    driver, folder, model, monkeypatch
):
    monkeypatch.setattr(service_module, "FileReading", StuckReading)
    StuckReading.is_long_whole.clear()
    write(folder / "long.txt", "The anchor is heavy. " * 200)
    write(folder / "slow.txt", "It takes a while.")
    large = driver.shelves.add("Large", folder=str(folder))
    await driver.read(2)
    model(n_ctx=200)
    small = driver.shelves.add("Small", files=[str(folder / "slow.txt")])
    waiting = asyncio.create_task(driver.shelves.prepare(small.id))
    await driver.until(lambda state: state.num_tokens is not None)
    assert not driver.shelves.is_ready(large.id)
    StuckReading.is_long_whole.set()
    async with asyncio.timeout(20):
        await driver.shelves.prepare(large.id)
    assert driver.shelves.is_ready(large.id)
    assert await driver.shelves.passages(large.id, "anchor", "", 1, 200)
    assert not waiting.done()
    await driver.shelves.close()
    await waiting


async def test_a_shelf_does_not_go_to_another_host_to_be_counted(driver, folder, model, monkeypatch):
    driver.shelves.add("Docs", folder=str(folder))
    await driver.read(2)
    thread = model(n_ctx=200, server="http://gpu-box:8712")
    asked: list[object] = []
    monkeypatch.setattr(thread, "use_prompts", asked.append)
    await driver.until(lambda state: state.num_tokens is not None)
    assert driver.shelves.is_whole(driver.shelves.states[0].shelf.id, 200)
    assert asked == []
    await driver.shelves.close()


async def test_a_full_disk_ends_the_look_and_not_the_looking(driver, folder, monkeypatch):
    put, failures = driver.index.put, iter((True, True))

    async def put_or_fail(*given):
        if next(failures, False):
            raise sqlite3.OperationalError("database or disk is full")
        await put(*given)

    monkeypatch.setattr(driver.index, "put", put_or_fail)
    driver.shelves.add("Docs", folder=str(folder))
    await driver.read(2)
    await driver.shelves.close()


async def test_a_folder_that_is_gone_loses_nothing_and_comes_back(driver, folder):
    driver.shelves.add("Docs", folder=str(folder))
    await driver.read(2)
    folder.rename(folder.with_name("away"))
    state = await driver.until(lambda state: not state.is_there)
    assert len(state.files) == 2
    folder.with_name("away").rename(folder)
    state = await driver.until(lambda state: state.is_there)
    assert [one.number for one in state.files] == [1, 2]
    await driver.shelves.close()


async def test_the_next_start_has_them_without_reading_again(driver, folder, engine, settings, tmp_path):
    shelf = driver.shelves.add("Docs", folder=str(folder))
    await driver.read(2)
    await driver.shelves.close()
    index = ShelfIndex(tmp_path / "texts.db")
    finder = ShelfFinder(index, MeaningEngine())
    again = ShelfService(engine, settings, tmp_path / "shelves.json", index, finder)
    await again.start()
    await again.prepare(shelf.id)
    assert [one.state for one in again.states[0].files] == [FileState.READ] * 2
    assert again.id_of("Docs") == shelf.id
    again.remove(shelf)
    assert again.states == ()
    await again.close()


async def test_a_shelf_that_fits_stands_before_every_chat_with_it(driver, folder, workspace, model):
    thread = model(4096)
    shelf = driver.shelves.add("Docs", folder=str(folder))
    await driver.read(2)
    await driver.shelves.prepare(shelf.id)
    session = workspace.new_chat()
    session.chat.system_prompt = "Be brief."
    session.set_shelf(shelf.id)
    session.send("What about apples?")
    (request,) = thread.submitted
    system = request.messages[0]
    assert system.role is Role.SYSTEM
    assert "[1] apples.txt" in system.content
    assert "All about pears.md." in system.content
    assert system.content.endswith("\n\nBe brief.")
    assert request.begins_as == f"{SHELF}{shelf.id}"
    text = beginning(shelf.chat_id, driver.shelves.text_before(shelf.id, 4096)).messages[0].content
    assert system.content.startswith(text)
    session.stop()
    thread.answer(request, "", reason="abort")
    session.set_shelf("")
    session.send("And without?")
    assert thread.submitted[-1].messages[0].content == "Be brief."
    await driver.shelves.close()


async def test_a_larger_one_is_searched_for_each_message(driver, folder, workspace, model, settings):
    thread = model(1024)
    for number in range(60):
        write(folder / f"{number}.txt", f"Number {number} is a number. " * 20)
    shelf = driver.shelves.add("Docs", folder=str(folder))
    await driver.read(62)
    await driver.shelves.prepare(shelf.id)
    session = workspace.new_chat()
    session.set_shelf(shelf.id)
    assert session.shelf.is_searched
    session.draft = "pears"
    await session.find_passages()
    (passage,) = session.draft_attachments
    assert "pears.md:1" in passage.name
    session.choose_attachments(())
    await session.find_passages()
    assert session.draft_attachments == (), "what was taken out stays out"
    session.choose_attachments((passage,))
    await session.find_passages()
    assert session.draft_attachments == (passage,), "it was put back"
    session.choose_attachments(())
    session.draft = ""
    session.draft = "pears"
    await session.find_passages()
    assert session.draft_attachments == (passage,), "another message may have it"
    session.send("What about apples?")
    async with asyncio.timeout(10):
        while not thread.submitted:
            await asyncio.sleep(0.01)
    (request,) = thread.submitted
    question = session.chat.turns[0]
    found = [one for one in question.attachments if one.kind == PASSAGE]
    assert found[0].name == "[1] apples.txt:1"
    assert "All about apples.txt." in request.messages[-1].content
    assert request.begins_as == ""
    assert session.shelf.first_number == len(found) + 1
    session.draft = "Name the apples."
    await session.find_passages()
    assert session.draft_attachments == (), "the model was given them"
    session.draft = "pears"
    await session.find_passages()
    assert [one.name for one in session.draft_attachments] == ["[2] pears.md:1"]
    await driver.shelves.close()


def test_a_reading_is_whole_but_for_its_last_token():
    assert Reading(100, 99).is_whole
    assert not Reading(100, 98).is_whole
    assert not Reading().is_whole
