"""Words, vectors and ranks together, on an engine that knows which words mean the same."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.protocol.errors import EngineError
from app.shelves.finder import ShelfFinder, fused, text_model
from app.shelves.index import ShelfIndex
from app.shelves.scan import Changes
from app.shelves.shelf import Shelf
from app.system.files import Stamp
from tests.shelves.text_engines import MeaningEngine

SHELF = Shelf("Docs", "/docs", id="docs")
TEXTS = {"car": "A car has wheels.", "tree": "An apple is a fruit of a tree.", "sea": "A boat at sea."}


class Driver:
    def __init__(self, folder: Path) -> None:
        self.model = folder / "nomic-embed-text.gguf"
        self.model.write_bytes(b"GGUF")
        self.index = ShelfIndex(folder / "texts.db")
        self.engine = MeaningEngine()
        self.finder = ShelfFinder(self.index, self.engine)

    async def put(self, **texts: str) -> None:
        known = {one.name: one.number for one in await self.index.files(SHELF)}
        new = {f"/docs/{name}": Stamp(1, 2, 3) for name in texts if name not in known}
        await self.index.apply(SHELF, Changes(new=new))
        for one in await self.index.files(SHELF):
            if one.name in texts:
                await self.index.put(SHELF, one.number, texts[one.name])

    async def embed(self) -> None:
        while await self.finder.embedded(SHELF, 2):
            pass

    async def found(self, text: str) -> list[str]:
        return [one.name for one in await self.finder.find(SHELF, text, 5)]


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Driver]:
    driver = Driver(folder)
    await driver.put(**TEXTS)
    yield driver
    await driver.index.close()


async def test_without_a_model_it_searches_by_words(tmp_path):
    async with opened(tmp_path) as driver:
        assert await driver.found("automobile wheels") == ["car"]
        assert await driver.found("automobile") == []
        assert driver.engine.asked == []


async def test_vectors_find_it_in_other_words_and_words_still_count(tmp_path):
    async with opened(tmp_path) as driver:
        driver.finder.choose(driver.model, None)
        await driver.embed()
        assert (await driver.found("automobile"))[0] == "car"
        assert (await driver.found("wheels"))[0] == "car"
        assert driver.engine.asked[0].startswith("search_document: ")
        assert driver.engine.asked[-1] == "search_query: wheels"


async def test_a_passage_with_all_words_comes_first_though_others_mean_more_of_it(tmp_path):
    async with opened(tmp_path) as driver:
        await driver.put(**{f"ship{number}": "A ship." for number in range(3)})
        await driver.put(serial="A7: a boat with an apple.")
        driver.finder.choose(driver.model, None)
        await driver.embed()
        assert (await driver.found("boat a7"))[0] == "serial"
        assert (await driver.found("boat"))[0] == "sea"
        assert (await driver.found("boat vehicle"))[0] != "serial"


async def test_only_what_changed_is_computed_again(tmp_path):
    async with opened(tmp_path) as driver:
        driver.finder.choose(driver.model, None)
        await driver.embed()
        before = len(driver.engine.asked)
        (car, *_) = await driver.index.files(SHELF)
        await driver.index.apply(SHELF, Changes(moved={car.number: "/docs/vehicle"}))
        await driver.embed()
        assert len(driver.engine.asked) == before, "a file that was renamed says the same"
        await driver.put(sea="A ship at sea.")
        await driver.embed()
        assert driver.engine.asked[before:] == ["search_document: A ship at sea."]
        key = text_model(driver.model).key
        await driver.index.forget_vectors_but(key)
        assert await driver.index.num_vectors(SHELF, key) == (3, 3)
        await driver.index.forget_vectors_but("another model")
        assert await driver.index.num_vectors(SHELF, key) == (0, 3)


async def test_a_model_that_fails_costs_the_vectors_alone(tmp_path):
    async with opened(tmp_path) as driver:
        driver.finder.choose(driver.model, None)
        await driver.embed()
        driver.engine.failure = "It crashed."
        assert await driver.found("automobile wheels") == ["car"]
        assert driver.finder.trouble == (
            "Shelves are searched by words alone: nomic-embed-text.gguf computes no vectors. It crashed."
        )
        await driver.found("wheels")
        assert driver.engine.num_failed == 1, "it is not asked again at once"
        await driver.put(new="Something new.")
        with pytest.raises(EngineError):
            await driver.embed()
        driver.engine.failure = ""
        await driver.embed()
        assert driver.finder.trouble == ""
        driver.model.unlink()
        driver.finder.choose(None, None)
        driver.finder.choose(driver.model, None)
        assert await driver.found("wheels") == ["car"]
        assert "cannot be read" in driver.finder.trouble


async def test_a_reranker_sorts_what_was_found(tmp_path):
    async with opened(tmp_path) as driver:
        assert await driver.found("car boat fruit") == ["car", "sea", "tree"]
        driver.finder.choose(None, driver.model)
        assert await driver.found("car boat fruit") == ["tree", "car", "sea"]
        driver.engine.failure = "It crashed."
        assert await driver.found("car boat fruit") == ["car", "sea", "tree"]
        assert driver.finder.trouble.startswith("Passages are not sorted")


async def test_a_search_that_is_under_way_when_the_index_closes_ends_as_one_that_failed(tmp_path):
    driver = Driver(tmp_path)
    await driver.put(**TEXTS)
    driver.finder.choose(driver.model, None)
    await driver.embed()
    driver.engine.may_embed.clear()
    search = asyncio.ensure_future(driver.finder.find(SHELF, "automobile", 5))
    while not driver.engine.is_waiting:
        await asyncio.sleep(0.001)
    await driver.index.close()
    driver.engine.may_embed.set()
    with pytest.raises(sqlite3.Error):  # which all who search take for a shelf that cannot be searched
        await search


def test_what_both_name_comes_first_and_nothing_is_lost():
    assert fused([(1, [1, 2, 3]), (1, [4, 2, 5])]) == (2, 1, 4, 3, 5)


def test_an_order_without_weight_comes_behind_the_others():
    assert fused([(0, [1, 2, 3]), (1, [4, 2, 5])]) == (4, 2, 5, 1, 3)
    assert fused([(1, [3, 1, 2]), (0, [])]) == (3, 1, 2)
