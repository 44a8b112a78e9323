"""A whole working day in small: what somebody does in a day with all parts of the chat, one after the other.

Set SKEIN_PHOTOGRAPHS to a folder to have a picture of each step in it, to be looked at.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desktop import new_desktop, until
from tests.e2e.skein import Skein
from tests.effort import EFFORT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

NOTES = "The meeting is on Tuesday at ten."
SAMPLE = "What is 34 + 21?"
UNTITLED = {"en": "New chat", "zh_CN": "新对话"}
YOU = {"en": "You", "zh_CN": "您"}


@dataclass
class Day:
    skein: Skein
    theme: str
    language: str
    folder: Path
    pictures: Path | None
    num_pictures: int = field(default=0)

    def state(self, name: str) -> Any:
        return self.skein.state()[name]

    def keys(self, *keys: str) -> None:
        self.skein.desktop.keys(*keys)

    def type(self, text: str) -> None:
        self.skein.desktop.type(text)

    def until(self, name: str, wanted: object) -> None:
        """One part of what is seen is this."""
        until(lambda: self.state(name) == wanted, f"{name} to be {wanted!r}, not {self.state(name)!r},")

    def click(self, name: str) -> None:
        self.skein.click(name)

    def said(self) -> str:
        """In the current tab."""
        return str(self.state("transcripts")[self.state("current")])

    def until_said(self, *texts: str) -> None:
        until(lambda: all(text in self.said() for text in texts), f"{texts} in {self.said()!r}")

    def until_idle(self) -> None:
        until(lambda: not any(self.state("busy")), "the end of all answers")

    def ask(self, question: str, answer: str) -> None:
        self.type(question)
        until(lambda: question in self.state("composers"), "the question in the message field")
        self.keys("Return")
        self.until_said(question, answer)
        self.until_idle()

    def show_tab(self, number: int) -> None:
        self.keys(f"alt+{number}")
        until(lambda: self.state("current") == number - 1 and self.state("has_focus"), f"tab {number}")

    def choose(self, menu: str, submenu: str, entry: str) -> None:
        """By the keys of the menus, and the arrows. A menu that is not there yet would not get them."""
        self.keys(menu)
        until(lambda: self.state("menu"), "the menu")
        self.keys(submenu)
        until(lambda: entry in self.state("menu"), f"a menu with {entry}")
        while self.state("menu_entry") != entry:
            before = self.state("menu_entry")
            self.keys("Down")
            until(lambda: self.state("menu_entry") != before, "the next entry")  # noqa: B023
        self.keys("Return")
        until(lambda: not self.state("menu"), "the menu to close")

    def picture(self, name: str) -> None:
        if self.pictures:
            self.num_pictures += 1
            self.skein.desktop.photograph(self.pictures / f"{self.num_pictures:02}-{name}.png")

    def query(self, sql: str) -> list[Any]:
        connection = sqlite3.connect(f"file:{self.skein.database_file}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


# The other tests of this folder see the program as it is at first.
LOOKS = {"dark-zh-200": ("dark", "zh_CN", 2), "light-en-100": ("light", "en", 1)}
SHOWN = list(LOOKS) if EFFORT > 1 else ["dark-zh-200"]


@pytest.fixture(params=map(LOOKS.get, SHOWN), ids=SHOWN)
def day(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Day]:
    theme, language, scale = request.param
    name = f"{theme}-{language}-{100 * scale}"
    pictures = os.environ.get("SKEIN_PHOTOGRAPHS")
    with new_desktop(scale) as desktop:
        skein = Skein(tmp_path / "home", desktop)
        skein.configure(theme=theme, language=language, temperature=0.0)
        day = Day(skein, theme, language, tmp_path, Path(pictures, name) if pictures else None)
        if day.pictures:
            day.pictures.mkdir(parents=True, exist_ok=True)
        yield day
        day.picture("end")
        skein.clean_up()


def test_a_working_day(day: Day) -> None:
    day.skein.start()
    begin(day)
    talk_on(day)
    say_it_otherwise(day)
    put_in_order(day)
    find_again(day)
    look_at_two(day)
    take_out_and_in(day)
    change_looks(day)
    end_and_begin_again(day)


def begin(day: Day) -> None:
    """The first start: an empty chat, nothing but the chat and the list, and a question to try."""
    day.until("tabs", [UNTITLED[day.language]])
    assert day.state("inspector") is None
    assert day.state("theme") == day.theme
    day.until("loading", False)
    day.picture("first-start")
    day.click("sample 1")
    day.until("tabs", [SAMPLE])
    day.until_said("34 + 21 = 55")
    day.until_idle()
    day.ask("What is 60 + 38?", "60 + 38 = 98")
    day.picture("first-answer")


def talk_on(day: Day) -> None:
    """A second chat; a message that waits for the answer before it; a file."""
    day.keys("ctrl+t")
    until(lambda: len(day.state("tabs")) == 2 and day.state("has_focus"), "a second tab")
    day.keys("F8")
    until(lambda: day.state("paused"), "the pause")
    day.type("Count from 1 to 30")
    day.keys("Return")
    day.until("busy", [False, True])
    day.type("What is 8 + 9?")
    day.keys("Return")
    day.until("queue", ["What is 8 + 9?"])
    day.picture("queued")
    day.keys("F5")
    day.until_said("28, 29, 30", "What is 8 + 9?", "17")
    day.until_idle()
    assert day.state("queue") == []

    file = day.folder / "notes.md"
    file.write_text(NOTES)
    day.keys("ctrl+shift+a")
    give_file_name(day, file)
    day.until("files", ["notes.md"])
    day.picture("attached")
    day.type("What is 5 + 6?")
    day.keys("Return")
    day.until_said("What is 5 + 6?")
    day.until_idle()
    assert day.state("files") == []
    [kept] = day.query("SELECT attachments FROM turns WHERE text = 'What is 5 + 6?'")
    assert [file["text"] for file in json.loads(kept[0])] == [NOTES]
    day.picture("answered")


def say_it_otherwise(day: Day) -> None:
    """An edited message and another answer are versions; a fork is a chat of its own."""
    day.show_tab(1)
    day.keys("Up")
    day.until("editing", ["What is 60 + 38?"])
    day.picture("editing")
    day.keys("ctrl+a")
    day.type("What is 17 + 5?")
    day.keys("ctrl+Return")
    day.until_said("What is 17 + 5?", "22")
    day.until_idle()
    day.until("versions", ["", "", "2/2", ""])
    day.picture("second-version")

    day.click("turn 3 previous")
    day.until_said("What is 60 + 38?", "98")
    day.until("versions", ["", "", "1/2", ""])
    day.click("turn 3 next")
    day.until_said("What is 17 + 5?", "22")

    day.click("turn 4 regenerate")
    day.until("versions", ["", "", "2/2", "2/2"])
    day.until_idle()
    day.until_said("22")
    day.picture("regenerated")
    texts = [text for (text,) in day.query("SELECT text FROM turns ORDER BY number")]
    assert {"What is 60 + 38?", "What is 17 + 5?"} < set(texts)

    day.click("turn 2 fork")
    until(lambda: len(day.state("tabs")) == 3, "the fork")
    until(lambda: day.state("current") == 1 and day.state("has_focus"), "the fork to be shown")
    assert "17 + 5" not in day.said()
    day.ask("What is 2 + 5?", "2 + 5 = 7")
    day.picture("forked")


def put_in_order(day: Day) -> None:
    """The fork gets a title of its own, and a folder."""
    day.keys("ctrl+shift+b", "Down", "F2", "ctrl+a")
    day.type("Sums")
    day.picture("renaming")
    day.keys("Return")
    until(lambda: "Sums" in day.state("tabs"), "the title in the tab")
    until(lambda: day.query("SELECT title FROM chats WHERE title = 'Sums'"), "the title in the database")
    num_rows = len(day.state("list"))
    day.keys("alt+f", "o")
    until(lambda: len(day.state("list")) == num_rows + 2, "a heading and a folder")
    day.type("Work")
    day.keys("Return")
    until(lambda: "Work" in day.state("list"), "the folder's name")
    day.picture("folder")
    day.keys("ctrl+shift+b", "Down")
    day.choose("Menu", "m", "Work")
    until(lambda: day.query("SELECT folder FROM chats WHERE title = 'Sums'") == [("Work",)], "the move")
    until(lambda: day.state("list")[1:3] == ["Work", "Sums"], "the chat in its folder")
    assert day.state("list")[4:] == [SAMPLE, "Count from 1 to 30"]
    day.picture("in-folder")


def find_again(day: Day) -> None:
    """In one chat, and in all."""
    day.show_tab(3)
    day.keys("ctrl+f")
    until(lambda: not day.state("has_focus"), "the field to find with")
    day.type("17")
    until(lambda: "1" in day.state("matches"), "a match")
    day.picture("find")
    day.keys("Escape")
    until(lambda: day.state("has_focus"), "the message field")

    day.keys("ctrl+k")
    until(lambda: day.state("found") is not None, "the search")
    day.picture("search-empty")
    day.type("17 + 5")
    until(lambda: set((day.state("found") or [])[1:]) == {SAMPLE}, "the messages, under a heading")
    day.picture("search")
    day.keys("Return")
    until(lambda: day.state("current") == 0 and day.state("find") == "17 + 5", "the chat with the message")
    day.until_said("What is 17 + 5?")
    day.picture("found")
    day.keys("Escape")
    until(lambda: day.state("has_focus"), "the message field")


def look_at_two(day: Day) -> None:
    day.keys("ctrl+backslash")
    until(lambda: len(day.state("shown")) == 2, "two chats side by side")
    assert set(day.state("shown")) <= set(day.state("tabs"))
    day.picture("split")


def take_out_and_in(day: Day) -> None:
    """Exported, deleted, had back; deleted for good and imported."""
    day.show_tab(2)
    text_file, whole_file = day.folder / "sums.md", day.folder / "sums.json"
    for file in (text_file, whole_file):
        day.keys("ctrl+shift+s")
        give_file_name(day, file)
        until(file.exists, f"{file.name}")
        until(lambda: day.state("has_focus"), "the keyboard")
    written = text_file.read_text()
    assert "# Sums" in written
    assert all(part in written for part in (YOU[day.language], "What is 2 + 5?", "2 + 5 = 7"))
    until(lambda: json.loads(whole_file.read_text()), "the whole file")
    assert "What is 2 + 5?" in whole_file.read_text()

    before = day.state("tabs")
    said = day.said()
    day.keys("ctrl+shift+BackSpace")
    until(lambda: "Sums" not in day.state("tabs") and "Sums" in day.state("undo"), "the chat to go")
    day.picture("deleted")
    day.click("undo")
    until(lambda: sorted(day.state("tabs")) == sorted(before), "the chat to come back")
    until(lambda: day.said() == said, "what was said in it")

    day.keys("ctrl+shift+BackSpace")
    until(lambda: "Sums" not in day.state("tabs"), "the chat to go again")
    day.keys("alt+f", "i")
    give_file_name(day, whole_file)
    until(lambda: (day.state("dialog") or {}).get("lines"), "what an import would bring")
    assert len(day.state("dialog")["lines"]) == 1
    day.picture("import")
    day.keys("Return")
    until(lambda: "Sums" in day.state("list"), "the chat in the list")
    day.click("listed Sums")
    until(lambda: "Sums" in day.state("tabs") and day.said() == said, "the imported chat")
    day.picture("imported")


def change_looks(day: Day) -> None:
    other_theme = "light" if day.theme == "dark" else "dark"
    day.choose("alt+v", "t", f"theme.{other_theme}")
    day.until("theme", other_theme)
    day.picture("other-theme")
    until(lambda: day.state("has_focus"), "the keyboard")
    day.type("half a thought")
    until(lambda: "half a thought" in day.state("composers"), "the draft")

    before = settled(day)
    other_language = "en" if day.language == "zh_CN" else "zh_CN"
    day.choose("alt+v", "g", f"language.{other_language}")
    until(lambda: day.state("notices"), "the offer to start again")
    day.picture("language")
    day.keys("alt+r")
    until(lambda: f"The language is {other_language}." in day.skein.log(), "the language")
    until(lambda: day.skein.log().count("open again") == 2 and day.state("list"), "the tabs")
    day.picture("other-language")
    day.until("title", f"{titles(day)[day.state('current')]} — Skein")
    assert without_words(settled(day)) == without_words(before)


def end_and_begin_again(day: Day) -> None:
    skein = day.skein
    assert skein.process
    skein.desktop.activate(skein.desktop.window_of(skein.process.pid))
    until(lambda: day.state("has_focus"), "the keyboard")
    day.show_tab(1)
    said = "What is 34 + 21?\n34 + 21 = 55\nWhat is 17 + 5?\n17 + 5 = 22"
    until(lambda: day.said() == said, "what was said")
    day.keys("ctrl+backslash")
    until(lambda: len(day.state("shown")) == 2, "two chats side by side")
    before = settled(day)
    day.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    assert day.query("PRAGMA integrity_check") == [("ok",)]
    turns = day.query("SELECT id, parent_id, text, state FROM turns ORDER BY number")
    assert {state for *_, state in turns} == {"done"}
    skein.start()
    until(lambda: settled(day) == before, f"all as before: {before}")
    until(lambda: day.state("transcripts")[0] == said, "what was said")
    day.picture("next-morning")
    day.show_tab(1)
    until(lambda: [text for text in day.state("versions") if text] == ["2/2", "2/2"], "the versions")
    assert day.query("SELECT id, parent_id, text, state FROM turns ORDER BY number") == turns
    day.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def give_file_name(day: Day, file: Path) -> None:
    """To Qt's own dialog, whose field for it has the keyboard."""
    until(lambda: (day.state("dialog") or {}).get("kind") == "QFileDialog", "the file dialog")
    day.picture("file-dialog")
    day.keys("ctrl+a")
    day.type(str(file))
    day.keys("Return")


def titles(day: Day) -> list[str]:
    return list(day.state("tabs"))


def settled(day: Day) -> dict[str, Any]:
    """What comes back, however often the program is started."""
    names = ("tabs", "current", "shown", "composers", "list", "theme")
    state = day.skein.state()
    return {name: state[name] for name in names}


def without_words(state: dict[str, Any]) -> dict[str, Any]:
    """Headings of the list are in the user's language."""
    return {**state, "list": len(state["list"])}
