"""The list of all chats, over a real database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from app.bridge import tasks
from app.bridge.engines import Engines
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.chats.chat import Chat, Turn
from app.protocol.output import FinishReason
from app.protocol.request import Role
from app.services.chat_library import ChatLibrary, ChatSearch
from app.settings.settings import Settings
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import Tabs

Opened = tuple[Workspace, ChatLibrary]


@pytest.fixture
def opened(
    qloop: asyncio.AbstractEventLoop, engine: Engines, settings: Settings, tmp_path: Path
) -> Callable[..., object]:
    """A run of the program on the same database."""

    @asynccontextmanager
    async def run(*chats: Chat, open_ids: tuple[str, ...] = ()) -> AsyncIterator[Opened]:
        parent, store = QObject(), ChatStore(tmp_path / "chats.db")
        await store.open()
        await store.save([ChatChange.of(chat) for chat in chats], Tabs(open_ids) if chats else None)
        workspace = Workspace(engine, store, settings, parent)
        library = ChatLibrary(store, workspace, parent)
        library.failed.connect(lambda message: pytest.fail(message))
        await workspace.restore()
        await library.load()
        yield workspace, library
        await workspace.shut_down()
        await tasks.finish_all()
        await store.close()
        parent.deleteLater()

    return run


def chat(chat_id: str, title: str = "", **values: object) -> Chat:
    return Chat(chat_id, title, turns=[Turn(Role.USER, f"text of {chat_id}")], **values)  # type: ignore[arg-type]


def titles(library: ChatLibrary) -> dict[str, str]:
    return {one.id: one.title for one in library.chats}


async def done() -> None:
    """What was started has ended."""
    await tasks.finish_all()


async def test_all_chats_are_listed_whether_open_or_not(qloop, opened) -> None:
    async with opened(chat("a", "A"), chat("b", "B"), open_ids=("a",)) as (workspace, library):
        assert titles(library) == {"a": "A", "b": "B"}
        assert [session.chat.id for session in workspace.sessions] == ["a"]


async def test_nothing_is_told_before_all_is_known(qloop, opened) -> None:
    """The open tabs alone do not say how old their chats are."""
    async with opened(chat("a", "A"), open_ids=("a",)) as (workspace, _):
        library = ChatLibrary(workspace._store, workspace, workspace)
        assert not library._changed_timer.isActive()
        heard = []
        library.changed.connect(lambda: heard.append(titles(library)))
        await library.load()
        while not heard:
            await asyncio.sleep(0.005)
        assert heard == [{"a": "A"}]


async def test_a_new_chat_is_listed_from_its_first_message_on_with_a_title(qloop, opened, load) -> None:
    load()
    async with opened() as (workspace, library):
        session = workspace.current
        assert library.chats == ()
        session.send("Hello! What is a KV cache? Tell me.")
        assert titles(library) == {session.chat.id: "What is a KV cache?"}


async def test_without_automatic_titles_it_has_none(qloop, opened, load, settings) -> None:
    settings.automatic_titles = False
    load()
    async with opened() as (workspace, library):
        workspace.current.send("What is a KV cache?")
        assert list(titles(library).values()) == [""]
        assert workspace.current.chat.display_title == "New chat"


async def test_a_chat_is_as_new_as_its_newest_message(qloop, opened, load) -> None:
    thread = load()
    async with opened(chat("a", "A"), open_ids=("a",)) as (workspace, library):
        before = library.chat("a").updated_at
        library.rename("a", "Renamed")
        assert library.chat("a").updated_at == before
        await workspace.load(workspace.current)
        workspace.current.send("more")
        thread.answer(thread.submitted[0], "yes", FinishReason.STOP)
        assert library.chat("a").updated_at > before


async def test_an_open_chat_is_shown_in_its_tab_and_another_gets_one(qloop, opened) -> None:
    async with opened(chat("a"), chat("b"), open_ids=("a",)) as (workspace, library):
        heard = []
        library.opened.connect(heard.append)
        library.open("b")
        await done()
        assert workspace.current.chat.id == "b"
        assert [turn.text for turn in workspace.current.chat.turns] == ["text of b"]
        library.open("a")
        await done()
        assert [session.chat.id for session in workspace.sessions] == ["a", "b"]
        assert (workspace.current.chat.id, heard) == ("a", ["b", "a"])


async def test_a_chat_that_is_looked_at_makes_way_for_the_next(qloop, opened) -> None:
    async with opened(chat("a"), chat("b"), chat("c"), open_ids=("a",)) as (workspace, library):
        for chat_id in "bc":
            library.look_at(chat_id)
            await done()
        assert [session.chat.id for session in workspace.sessions] == ["a", "c"]
        library.open("c")
        await done()
        library.look_at("b")
        await done()
        assert [session.chat.id for session in workspace.sessions] == ["a", "c", "b"]


async def test_a_chat_is_opened_beside_the_current_one(qloop, opened) -> None:
    async with opened(chat("a"), chat("b"), open_ids=("a",)) as (workspace, library):
        library.open_beside("b")
        await done()
        assert [session.chat.id for session in workspace.shown] == ["a", "b"]


async def test_a_chat_is_forked_from_the_list(qloop, opened) -> None:
    async with opened(chat("a", "A"), chat("b", "B"), open_ids=("a",)) as (workspace, library):
        library.fork("b")
        await done()
        assert [session.chat.display_title for session in workspace.sessions] == ["A", "B", "B (2)"]


@pytest.mark.parametrize("open_ids", [(), ("a",)])
async def test_what_is_renamed_pinned_and_moved_stays_so(qloop, opened, open_ids) -> None:
    """Whether its tab is open or not."""
    async with opened(chat("a", "A"), chat("z"), open_ids=(*open_ids, "z")) as (_, library):
        library.create_folder("Work")
        library.rename("a", "Other")
        library.set_pinned(("a",), True)
        library.move(("a",), "Work")
        now = library.chat("a")
        assert (now.title, now.is_pinned, now.folder) == ("Other", True, "Work")
    async with opened() as (_, library):
        kept = library.chat("a")
        assert (kept.title, kept.is_pinned, kept.folder) == ("Other", True, "Work")
        assert library.folders == ("Work",)


async def test_a_closed_chat_that_is_renamed_keeps_its_new_name_when_it_is_reopened(qloop, opened) -> None:
    async with opened(chat("a", "A"), chat("b"), open_ids=("a", "b")) as (workspace, library):
        workspace.close(workspace.session_of("a"))
        library.rename("a", "Other")
        assert workspace.reopen().chat.title == "Other"


class TestDeleting:
    async def test_a_deleted_chat_is_gone_with_its_tab_and_cannot_be_reopened(self, qloop, opened) -> None:
        async with opened(chat("a"), chat("b"), open_ids=("a", "b")) as (workspace, library):
            assert library.delete(("a", "none")) == ("a",)
            assert titles(library).keys() == {"b"}
            assert [session.chat.id for session in workspace.sessions] == ["b"]
            assert not workspace.can_reopen
        async with opened() as (_, library):
            assert titles(library).keys() == {"b"}

    async def test_it_comes_back_with_its_tab_and_its_text(self, qloop, opened) -> None:
        async with opened(chat("a", "A"), chat("b"), open_ids=("a", "b")) as (workspace, library):
            were_open = library.delete(("a",))
            await done()
            library.undelete(("a",), were_open)
            await done()
            assert titles(library)["a"] == "A"
            assert [turn.text for turn in workspace.session_of("a").chat.turns] == ["text of a"]
        async with opened() as (_, library):
            assert titles(library).keys() == {"a", "b"}

    async def test_its_answer_is_stopped_and_goes_on_when_it_comes_back(
        self, qloop, opened, load, engine
    ) -> None:
        thread = load()
        async with opened(chat("b"), open_ids=("b",)) as (workspace, library):
            ReportRouter(engine, workspace, workspace)
            open_, closed = workspace.new_chat(), workspace.new_chat()
            for session in (open_, closed):
                session.send("Count.")
                thread.answer(thread.submitted[-1], "1 2")
            workspace.close(closed)
            ids = (open_.chat.id, closed.chat.id)
            were_open = library.delete(ids)
            assert were_open == ids[:1]
            assert titles(library).keys() == {"b"}
            await done()
            library.undelete(ids, were_open)
            await done()
            assert {request.chat_id for request in thread.submitted[2:]} == set(ids)
            assert [request.answer_start for request in thread.submitted[2:]] == ["1 2", "1 2"]

    async def test_what_was_not_on_disk_yet_is_not_written_after_all(self, qloop, opened, load) -> None:
        thread = load()
        async with opened(chat("b"), open_ids=("b",)) as (workspace, library):
            session = workspace.new_chat()
            session.send("a secret")
            thread.answer(thread.submitted[0], "half an ans")
            library.delete((session.chat.id,))
        async with opened() as (_, library):
            assert titles(library).keys() == {"b"}

    async def test_an_empty_tab_leaves_no_line(self, qloop, opened) -> None:
        async with opened(chat("b"), open_ids=("b",)) as (workspace, library):
            session = workspace.new_chat()
            session.draft = "half a thou"
            assert session.chat.id in titles(library)
            session.draft = ""
            workspace.close(session)
            assert titles(library).keys() == {"b"}


class TestFolders:
    async def test_no_two_have_the_same_name(self, qloop, opened) -> None:
        async with opened() as (_, library):
            assert [library.create_folder("Work") for _ in range(3)] == ["Work", "Work 2", "Work 3"]
            assert library.rename_folder("Work 3", "work") == "work 4"
            assert library.folders == ("Work", "Work 2", "work 4")

    async def test_a_renamed_folder_keeps_its_place_and_its_chats(self, qloop, opened) -> None:
        async with opened(chat("a"), chat("b"), open_ids=("b",)) as (_, library):
            for name in ("One", "Two"):
                library.create_folder(name)
            library.move(("a", "b"), "One")
            library.rename_folder("One", "First")
        async with opened() as (_, library):
            assert library.folders == ("First", "Two")
            assert set(library.chats_in("First")) == {"a", "b"}

    async def test_deleting_one_keeps_its_chats(self, qloop, opened) -> None:
        async with opened(chat("a"), chat("b"), open_ids=("b",)) as (_, library):
            library.create_folder("One")
            library.move(("a", "b"), "One")
            assert set(library.delete_folder("One")) == {"a", "b"}
        async with opened() as (_, library):
            assert library.folders == ()
            assert {one.folder for one in library.chats} == {""}


async def test_trouble_is_told_and_the_list_stays(qloop, workspace, store) -> None:
    async def fail(*_args: object, **_values: object) -> None:
        raise StorageError("The disk is full.")

    store.summaries = store.folders = store.place = store.save_folders = fail
    library = ChatLibrary(store, workspace, workspace)
    heard = []
    library.failed.connect(heard.append)
    await library.load()
    library.create_folder("Work")
    await done()
    assert heard == ["The disk is full."] * 2
    assert library.folders == ("Work",)


class SlowStore:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: list[asyncio.Future[tuple[str, ...]]] = []

    async def search(self, words: str, _limit: int) -> tuple[str, ...]:
        self.asked.append(words)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]


@pytest.fixture
def slow_store() -> SlowStore:
    return SlowStore()


@pytest.fixture
def search(qapp: QObject, slow_store: SlowStore) -> ChatSearch:
    search = ChatSearch(slow_store, qapp)  # type: ignore[arg-type]
    search._pause.setInterval(0)
    return search


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0)


async def some_turns() -> None:
    """Of the loop: what is due has happened."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_only_the_newest_words_are_searched_and_one_at_a_time(qloop, slow_store, search) -> None:
    heard = []
    search.found.connect(lambda words, hits: heard.append((words, hits)))
    search.look_for("c")
    await until(lambda: slow_store.asked == ["c"])
    search.look_for("ca")
    search.look_for(" cache ")
    await some_turns()
    assert slow_store.asked == ["c"]
    slow_store.answers[0].set_result(("stale",))
    await until(lambda: len(slow_store.asked) == 2)
    slow_store.answers[1].set_result(("fresh",))
    await until(lambda: heard)
    assert slow_store.asked == ["c", "cache"]
    assert heard == [("cache", ("fresh",))]


async def test_nothing_is_looked_for_without_words(qloop, slow_store, search) -> None:
    search.look_for("c")
    search.look_for("  ")
    await some_turns()
    assert slow_store.asked == []


async def test_after_trouble_the_next_words_are_looked_for(qloop, slow_store, search) -> None:
    heard = []
    search.failed.connect(heard.append)
    search.look_for("a")
    await until(lambda: slow_store.answers)
    slow_store.answers[0].set_exception(StorageError("The disk is gone."))
    await until(lambda: heard)
    search.look_for("b")
    await until(lambda: len(slow_store.asked) == 2)
    slow_store.answers[1].set_result(())
