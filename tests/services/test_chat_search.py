import asyncio

import pytest
from PySide6.QtCore import QObject

from app.services.chat_library import ChatSearch
from app.storage.errors import StorageError


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
def store() -> SlowStore:
    return SlowStore()


@pytest.fixture
def search(qapp: QObject, store: SlowStore) -> ChatSearch:
    search = ChatSearch(store, qapp)  # type: ignore[arg-type]
    search._pause.setInterval(0)
    return search


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0)


async def some_turns() -> None:
    """Of the loop: what is due has happened."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_only_the_newest_words_are_told_and_one_search_runs_at_a_time(qloop, store, search) -> None:
    heard = []
    search.found.connect(lambda words, hits: heard.append((words, hits)))
    search.look_for("c")
    await until(lambda: store.asked == ["c"])
    search.look_for("ca")
    search.look_for(" cache ")
    await some_turns()
    assert store.asked == ["c"]
    store.answers[0].set_result(("stale",))
    await until(lambda: len(store.asked) == 2)
    store.answers[1].set_result(("fresh",))
    await until(lambda: heard)
    assert store.asked == ["c", "cache"]
    assert heard == [("cache", ("fresh",))]


async def test_nothing_is_looked_for_without_words(qloop, store, search) -> None:
    search.look_for("c")
    search.look_for("  ")
    await some_turns()
    assert store.asked == []


async def test_after_trouble_the_next_words_are_looked_for(qloop, store, search) -> None:
    heard = []
    search.failed.connect(heard.append)
    search.look_for("a")
    await until(lambda: store.answers)
    store.answers[0].set_exception(StorageError("The disk is gone."))
    await until(lambda: heard)
    search.look_for("b")
    await until(lambda: len(store.asked) == 2)
    store.answers[1].set_result(())
