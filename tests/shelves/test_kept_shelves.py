"""What a program without a window has of the shelves: as much as the window has read."""

from pathlib import Path

from app.shelves.documents import PASSAGES
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.kept_shelves import KeptShelves
from app.shelves.scan import Changes
from app.shelves.shelf import Shelf, write_shelves
from app.system.files import Stamp
from tests.shelves.text_engines import MeaningEngine

SHELF = Shelf("Docs", "/docs", id="docs")


async def put(index: ShelfIndex, name: str, text: str) -> None:
    await index.apply(SHELF, Changes(new={f"/docs/{name}": Stamp(1, 2, 3)}))
    (*_, newest) = await index.files(SHELF)
    await index.put(SHELF, newest.number, text)


def kept(folder: Path, room: int) -> tuple[KeptShelves, ShelfIndex]:
    async def count(text: str) -> int:
        return len(text) // 4

    index = ShelfIndex(folder / "texts.db", is_read_only=True)
    finder = ShelfFinder(index, MeaningEngine())
    return KeptShelves(folder / "shelves.json", index, finder, 75, count, lambda: room), index


async def test_it_fits_or_is_searched_and_what_the_window_reads_later_is_there_too(tmp_path):
    write_shelves(tmp_path / "shelves.json", [SHELF])
    of_window = ShelfIndex(tmp_path / "texts.db")
    await put(of_window, "car", "A car has wheels.")
    shelves, index = kept(tmp_path, room := 200)
    await shelves.refresh()
    assert shelves.id_of("Docs") == shelves.id_of("docs") == "docs"
    assert shelves.id_of("Books") is None
    await shelves.prepare("docs")
    assert shelves.is_whole("docs", room)
    assert "A car has wheels." in shelves.text_before("docs", room)
    assert await shelves.passages("docs", "wheels", "", 1, room) == ()
    await put(of_window, "sea", "A boat at sea. " * 60)
    await of_window.close()
    await shelves.refresh()
    await shelves.prepare("docs")
    assert not shelves.is_whole("docs", room)
    assert shelves.text_before("docs", room) == PASSAGES
    (found,) = await shelves.passages("docs", "wheels", "", 1, room)
    assert (found.name, found.text) == ("[1] car:1", "A car has wheels.")
    (listed,) = shelves.listed()
    assert (listed.name, listed.num_files) == ("Docs", 2)
    await index.close()


async def test_without_a_window_ever_there_is_nothing(tmp_path):
    shelves, index = kept(tmp_path, 200)
    await shelves.refresh()
    assert shelves.listed() == ()
    write_shelves(tmp_path / "shelves.json", [SHELF])
    await shelves.refresh()
    await shelves.prepare("docs")
    assert shelves.text_before("docs", 200) == ""
    assert await shelves.passages("docs", "wheels", "", 1, 200) == ()
    assert not (tmp_path / "texts.db").exists()
    await index.close()
