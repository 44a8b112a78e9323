"""Words, vectors and ranks together, on an engine that knows which words mean the same."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.protocol.errors import EngineError
from app.shelves.finder import ShelfFinder, from_lowest, fused, text_model
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

    async def found(self, text: str, before: str = "") -> list[str]:
        return [one.name for one in await self.finder.find(SHELF, text, 5, before)]


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
        assert await driver.found("car boat fruit") == ["car", "sea"]
        driver.finder.choose(None, driver.model)
        assert await driver.found("car boat fruit") == ["tree", "car", "sea"]
        driver.engine.failure = "It crashed."
        assert await driver.found("car boat fruit") == ["car", "sea"]
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


async def test_only_what_stands_out_is_found(tmp_path):
    async with opened(tmp_path) as driver:
        await driver.put(
            **{f"shop{number}": f"When the shop of street {number} opens." for number in range(9)}
        )
        await driver.put(sunday="On a sunday nobody opens a shop.")
        assert await driver.found("When does the shop open on sunday?") == ["sunday"]
        assert len(await driver.found("street")) == 5, "all say it as well as the others"


async def test_a_follow_up_is_searched_for_with_the_question_before(tmp_path):
    async with opened(tmp_path) as driver:
        await driver.put(price="The wheels cost ten.", cost="An apple may cost one.", each="Name each tool.")
        assert set(await driver.found("What do they cost?")) == {"price", "cost"}
        assert await driver.found("What do they cost?", "Who made the wheels?") == ["price"]
        assert await driver.found("Which fruit is of a tree?", "Who made the wheels?") == ["tree"]


async def test_vectors_of_a_follow_up_are_those_of_both_questions(tmp_path):
    async with opened(tmp_path) as driver:
        driver.finder.choose(driver.model, None)
        await driver.embed()
        assert await driver.found("And what more?", "Tell me of an automobile.") == ["car"]


def test_scores_are_parts_of_the_best_one_of_their_search():
    joined = fused([(0.5, {1: 8.0, 2: 4.0}), (0.5, {2: 0.2, 3: 0.1})])
    assert list(joined) == [2, 1, 3]
    assert joined == pytest.approx({2: 0.75, 1: 0.5, 3: 0.25})


def test_a_search_without_weight_comes_behind_the_others():
    assert list(fused([(0, {1: 1.0, 2: 0.5}), (1, {4: 1.0, 2: 0.5})])) == [4, 2, 1]
    assert list(fused([(1, {3: 2.0, 1: 1.0}), (0, {})])) == [3, 1]


@pytest.mark.parametrize("scores", [{}, {1: 0.0}, {1: 0.0, 2: 0.0}, {1: -3.0}])
def test_nothing_is_divided_by_a_best_score_of_zero(scores: dict[int, float]):
    assert set(fused([(1, from_lowest(scores))])) == set(scores)
