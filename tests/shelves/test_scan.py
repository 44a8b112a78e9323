"""Whatever happens to a shelf's files, it is noticed, and nothing else is taken for it."""

import os
from pathlib import Path

import pytest

from app.shelves import scan as scanning
from app.shelves.scan import Changes, changes, name_of, scan
from app.shelves.shelf import Shelf, ShelfFile, read_shelves, write_shelves


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "deep").mkdir()
    for name in ("a.txt", "b.txt", "deep/c.txt", ".hidden"):
        (tmp_path / name).write_text(f"about {name}")
    return Shelf("Docs", str(tmp_path))


def known_after(shelf: Shelf) -> dict[str, ShelfFile]:
    stamps = scan(shelf).stamps
    return {
        path: ShelfFile(number, path, name_of(shelf, path), stamp)
        for number, (path, stamp) in enumerate(stamps.items(), 1)
    }


def names(shelf: Shelf) -> list[str]:
    return [name_of(shelf, path) for path in scan(shelf).stamps]


def test_files_are_found_in_order_and_hidden_ones_are_not(shelf):
    assert names(shelf) == ["a.txt", "b.txt", "deep/c.txt"]
    assert not changes(known_after(shelf), scan(shelf))


def test_links_back_are_followed_once(shelf):
    top = Path(shelf.folder)
    (top / "deep" / "back").symlink_to(top)
    (top / "itself").symlink_to("itself")
    os.mkfifo(top / "pipe")
    assert names(shelf) == ["a.txt", "b.txt", "deep/c.txt"]


def test_renamed_changed_new_and_deleted_files_are_told_apart(shelf):
    known, top = known_after(shelf), Path(shelf.folder)
    (top / "a.txt").rename(top / "z.txt")
    (top / "b.txt").write_text("another text")
    (top / "deep" / "c.txt").unlink()
    (top / "new.txt").write_text("new")
    found = changes(known, scan(shelf))
    assert found.moved == {1: str(top / "z.txt")}
    assert list(found.stamped) == [2]
    assert found.gone == (3,)
    assert list(found.new) == [str(top / "new.txt")]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_cannot_be_looked_into_is_not_gone(shelf):
    known, deep = known_after(shelf), Path(shelf.folder) / "deep"
    deep.chmod(0)
    try:
        assert changes(known, scan(shelf)) == Changes()
    finally:
        deep.chmod(0o700)


def test_a_folder_that_is_not_there_loses_no_file(shelf):
    known, top = known_after(shelf), Path(shelf.folder)
    top.rename(top.with_name("elsewhere"))
    assert changes(known, scan(shelf)) == Changes()


def test_of_very_many_files_the_first_are_taken(shelf, monkeypatch):
    monkeypatch.setattr(scanning, "MAX_FILES", 2)
    found = scan(shelf)
    assert found.is_cut
    assert len(found.stamps) == 2


def test_a_file_that_was_just_written_waits(shelf):
    path = Path(shelf.folder) / "a.txt"
    found = scan(shelf)
    assert not found.is_settled(found.stamps[str(path)])
    os.utime(path, (1000, 1000))
    found = scan(shelf)
    assert found.is_settled(found.stamps[str(path)])


def test_named_files_are_found_where_they_are(shelf, tmp_path):
    one = Shelf("Two", files=(str(tmp_path / "b.txt"), str(tmp_path / "deep" / "c.txt"), "/nowhere"))
    assert names(one) == ["b.txt", "c.txt"]


def test_the_list_comes_back_and_a_broken_one_is_kept(tmp_path):
    path, one = tmp_path / "private" / "shelves.json", Shelf("Docs", "/docs", ("/a",))
    write_shelves(path, [one])
    assert read_shelves(path) == [one]
    path.write_text("[{")
    assert read_shelves(path) == []
    assert path.with_suffix(".unreadable.json").read_text() == "[{"
