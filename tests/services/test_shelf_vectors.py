"""Vectors of shelves in the background: chosen models, progress, failures."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal

from app.models.model_file import FileKind
from app.services import shelf_vectors as vectors_module
from app.services.preferences import Preferences
from app.services.shelf_vectors import ShelfVectors
from app.services.shelves import ShelfState
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.scan import Changes
from app.shelves.shelf import Shelf
from app.system.files import Stamp
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.shelves.text_engines import MeaningEngine

SHELF = Shelf("Docs", "/docs", id="docs")


class Library(QObject):
    changed = Signal()
    models = ()


class Shelves(QObject):
    changed = Signal()
    states = (ShelfState(SHELF),)


class Driver:
    def __init__(self, settings, folder: Path) -> None:
        self.index = ShelfIndex(folder / "texts.db")
        self.engine = MeaningEngine()
        self.shelves = Shelves()
        self.preferences = Preferences(settings)
        finder = ShelfFinder(self.index, self.engine)
        self.vectors = ShelfVectors(
            self.preferences, Library(), self.shelves, self.index, finder, self.engine
        )
        self.vectors.start()
        self.refusals: list[str] = []
        self.vectors.refused.connect(self.refusals.append)

    async def put(self, *texts: str) -> None:
        await self.index.apply(SHELF, Changes(new={f"/docs/{text}": Stamp(1, 2, 3) for text in texts}))
        for one in await self.index.files(SHELF):
            if one.name in texts:
                await self.index.put(SHELF, one.number, one.name)
        self.shelves.changed.emit()

    async def until(self, is_so) -> None:
        async with asyncio.timeout(20):
            while not is_so():
                await asyncio.sleep(0.01)

    async def close(self) -> None:
        await self.vectors.close()
        await self.index.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(vectors_module, "is_on_mains", lambda: True)
    monkeypatch.setattr(vectors_module, "FIRST_WAIT_S", 0.01)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("bert") / "bert.gguf", "bert", has_weights=False)


async def test_every_passage_gets_a_vector_once_a_model_is_chosen(settings, tmp_path, bert):
    driver = Driver(settings, tmp_path)
    await driver.put("a car", "a boat")
    assert driver.vectors.progress(SHELF.id) is None
    driver.vectors.choose(FileKind.EMBEDDING, bert)
    await driver.until(lambda: driver.vectors.progress(SHELF.id) == (2, 2))
    await driver.put("an apple")
    await driver.until(lambda: driver.vectors.progress(SHELF.id) == (3, 3))
    assert sorted(driver.engine.asked) == ["a boat", "a car", "an apple"]
    driver.vectors.choose(FileKind.EMBEDDING, None)
    await driver.until(lambda: driver.vectors.progress(SHELF.id) is None)
    await driver.put("a tree")
    assert len(driver.engine.asked) == 3
    await driver.close()


async def test_a_model_that_fails_is_tried_again_later(settings, tmp_path, bert):
    driver = Driver(settings, tmp_path)
    await driver.put("a car")
    driver.engine.failure = "It crashed."
    driver.preferences.set("shelf_embedder", bert)
    await driver.until(lambda: driver.engine.num_failed > 2)
    assert "It crashed." in driver.vectors.trouble
    driver.engine.failure = ""
    await driver.until(lambda: driver.vectors.progress(SHELF.id) == (1, 1))
    assert driver.vectors.trouble == ""
    await driver.close()


async def test_a_file_that_is_no_such_model_is_refused_with_a_sentence(settings, tmp_path, bert):
    driver = Driver(settings, tmp_path)
    (tmp_path / "text.gguf").write_text("no model")
    driver.vectors.choose(FileKind.RERANKER, bert)
    driver.vectors.choose(FileKind.EMBEDDING, tmp_path / "text.gguf")
    driver.vectors.choose(FileKind.EMBEDDING, tmp_path / "gone.gguf")
    await driver.until(lambda: len(driver.refusals) == 3)
    told = " ".join(sorted(driver.refusals))
    assert "bert.gguf is not a reranker" in told
    assert "text.gguf cannot be used" in told
    assert "gone.gguf cannot be read" in told
    assert driver.vectors.chosen(FileKind.EMBEDDING) is None
    await driver.close()
