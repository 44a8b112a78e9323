"""What was read is found again, and nothing that is gone."""

import asyncio
import sqlite3
from collections.abc import Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.shelves.index import ShelfIndex
from app.shelves.scan import Changes
from app.shelves.shelf import FileState, Shelf
from app.system.files import Stamp
from tests.read_only import foreign_folder, read_only

SHELF = Shelf("Docs", "/docs", id="docs")
STAMP = Stamp(1, 2, 3)
LONG = "\n\n".join(f"Paragraph {number} is about the number {number}." * 8 for number in range(40))


class Driver:
    """Runs each call to its end."""

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        self.path = path
        self.runner = asyncio.Runner()
        self.index = ShelfIndex(path, is_read_only=is_read_only)

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.run(getattr(self.index, name)(*given))

    def run(self, coro: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(coro)

    def add(self, **texts: str) -> None:
        self.apply(SHELF, Changes(new={f"/docs/{name}": STAMP for name in texts}))
        number_of = {one.name: one.number for one in self.files(SHELF)}
        for name, text in texts.items():
            self.put(SHELF, number_of[name], text)

    def found(self, text: str, *given: Any) -> list[str]:
        return [one.name for one in self.search(SHELF, text, 5, *given)]


@pytest.fixture
def driver(tmp_path):
    driver = Driver(tmp_path / "texts.db")
    yield driver
    driver.close()
    driver.runner.close()


def test_files_wait_are_read_or_refused_and_keep_their_numbers(driver):
    driver.apply(SHELF, Changes(new={"/docs/a": STAMP, "/docs/b": STAMP}))
    driver.put(SHELF, 1, "text")
    driver.refuse(SHELF, 2, "image")
    assert [(one.number, one.state, one.reason, one.num_chars) for one in driver.files(SHELF)] == [
        (1, FileState.READ, "", 4),
        (2, FileState.UNREADABLE, "image", 0),
    ]
    driver.apply(SHELF, Changes(gone=(2,)))
    driver.add(c="new")
    assert [(one.number, one.name) for one in driver.files(SHELF)] == [(1, "a"), (3, "c")]
    assert driver.texts(SHELF) == [(1, "a", "text"), (3, "c", "new")]


def test_a_changed_file_keeps_its_text_until_it_is_read(driver):
    driver.add(a="the old words")
    driver.apply(SHELF, Changes(stamped={1: Stamp(9, 9, 9)}))
    assert driver.files(SHELF)[0].state is FileState.WAITING
    assert driver.found("old") == ["a"]
    driver.put(SHELF, 1, "the new words")
    assert driver.found("old") == []
    assert driver.found("new") == ["a"]


def test_a_renamed_file_is_found_by_its_new_name_and_once(driver):
    driver.add(apples="about fruit")
    driver.apply(SHELF, Changes(moved={1: "/docs/pears"}))
    assert driver.found("apples") == []
    assert driver.found("pears") == driver.found("fruit") == ["pears"]


def test_what_is_gone_is_not_found(driver):
    driver.add(a="one word", b="another word")
    driver.apply(SHELF, Changes(gone=(1,)))
    assert driver.found("one word") == ["b"]
    driver.forget_all_but([])
    assert driver.found("another") == []
    assert driver.files(SHELF) == ()


def test_a_passage_says_where_it_is(driver):
    driver.add(a=LONG)
    (best, *_) = driver.search(SHELF, "the paragraph about number 33", 5)
    assert "number 33." in best.text
    assert LONG[best.start : best.end].strip() == best.text
    assert LONG.split("\n")[best.line - 1].startswith(best.text[:20])


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Eine Übersicht der Größen", "ubersicht"),
        ("模型的上下文长度是四千个词元。", "上下文有多长？"),
        ("コンテキストの長さは四千トークンです。", "コンテキストの長さ"),
        ("use --cache-type-k q8_0", 'what is "cache-type-k"?'),
    ],
)
def test_words_are_found_in_other_forms_and_scripts(driver, text, question):
    driver.add(a=text, b="Something else entirely.")
    assert driver.found(question) == ["a"]


@pytest.mark.parametrize("question", ["", "???", '"', "NEAR(", "a AND", "*", "\0"])
def test_any_question_is_allowed(driver, question):
    driver.add(a="text")
    driver.found(question)


def test_a_search_is_sure_if_one_passage_has_all_words_and_less_so_without_the_rare_ones(driver):
    driver.add(a="the red zebra", b="the red car", c="the blue car", d="the sea")

    def certainty(text: str) -> float:
        return driver.certainty(text, driver.by_words(SHELF, text, 5))

    assert certainty("red ZEBRA") == pytest.approx(1)
    assert certainty("zebra ferry") < certainty("zebra the ferry") < certainty("zebra sea") < 1
    assert certainty("the ferry") < 0.01
    assert certainty("ferry") == certainty("") == certainty("?") == 0


def test_one_file_alone_can_be_searched(driver):
    driver.add(a="the same words", b="the same words")
    assert driver.found("words", 2) == ["b"]


def test_shelves_do_not_see_each_other(driver):
    driver.add(a="words")
    assert driver.search(Shelf("Other"), "words", 5) == ()


def test_a_damaged_database_is_made_anew(tmp_path):
    path = tmp_path / "texts.db"
    path.write_bytes(b"no database at all" * 1000)
    driver = Driver(path)
    assert driver.files(SHELF) == ()
    driver.add(a="words")
    assert driver.found("words") == ["a"]
    driver.close()
    driver.runner.close()


def test_a_database_of_the_former_version_keeps_its_texts_and_gets_vectors(driver, tmp_path):
    driver.add(a="some words", b=LONG)
    hashes = dict(driver.without_vector(SHELF, "model", 100))
    driver.close()
    with closing(sqlite3.connect(tmp_path / "texts.db")) as connection, connection:
        connection.execute("DROP TABLE vectors")
        connection.execute("ALTER TABLE passages DROP COLUMN hash")
        connection.execute("PRAGMA user_version = 1")
    driver.index = ShelfIndex(tmp_path / "texts.db")
    assert driver.found("some words")[0] == "a"
    assert dict(driver.without_vector(SHELF, "model", 100)) == hashes


def test_a_reader_changes_nothing(driver, tmp_path):
    driver.add(a="some words")
    reader = Driver(tmp_path / "texts.db", is_read_only=True)
    assert reader.found("some words") == ["a"]
    with pytest.raises(sqlite3.OperationalError):
        reader.add(b="more")
    reader.close()
    reader.runner.close()


def test_a_folder_that_cannot_be_written_to_is_trouble_with_the_database():
    with foreign_folder() as folder, read_only(folder):
        driver = Driver(folder / "texts.db")
        with pytest.raises(sqlite3.Error):
            driver.forget_all_but([])
        driver.close()
        driver.runner.close()
