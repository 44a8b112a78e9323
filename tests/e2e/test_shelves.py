"""A shelf in the real window, by keys and mouse; the model says what a script has."""

import json
import os
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PLACE = "The anchor of the boat weighs nine kilos."
SCRIPT = [("anchor", "It weighs nine kilos [1]."), ("Which", "I do not know.")]
OLD = 1_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "boats"
    folder.mkdir()
    (folder / "anchor.txt").write_text("A boat has an anchor.\n\n" * 30 + PLACE + "\n")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n" * 10)
    for file in folder.iterdir():
        os.utime(file, (OLD, OLD))
    return folder


def test_a_shelf_is_made_chosen_read_and_cited(
    skein: Skein, desktop: Desktop, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    monkeypatch.setitem(desktop.environment, "SKEIN_SCRIPT", str(script))
    skein.configure(hub_endpoint="http://127.0.0.1:9")
    shelves = skein.home / "config" / "skein" / "shelves.json"
    shelves.write_text(json.dumps([{"id": "boats", "name": "Boats", "folder": str(folder), "files": []}]))
    skein.start(observer="tests.e2e.scripted")

    # 1. Its page, by keys: what is read, and what cannot be and why.
    desktop.keys("ctrl+shift+p")
    desktop.type("tools.shelves")
    desktop.keys("Return")
    until(lambda: "anchor.txt Read" in skein.state()["shelf files"], "the file to be read")
    until(
        lambda: any("broken.png" in file and "image" in file for file in skein.state()["shelf files"]), "why"
    )
    desktop.keys("Escape")
    until(lambda: skein.state()["has_focus"], "the keyboard back in the chat")

    # 2. The chat takes it, by mouse; the model reads it before the chat.
    skein.click("shelf")
    until(lambda: "Boats" in skein.state()["menu"], "the menu of shelves")
    desktop.keys("Down", "Down", "Return")
    until(lambda: skein.state()["shelf"] == "Boats", "the shelf at the composer")
    desktop.type("What does the anchor weigh?")
    desktop.keys("Return")
    until(lambda: "nine kilos [1]" in skein.state()["panes"], "the answer")

    # 3. The number opens the file at that place, and Escape closes it.
    skein.click("source 1")
    read = until(lambda: skein.state()["read"], "the reader")
    assert read["title"] == "anchor.txt"
    assert read["marked"] == PLACE
    desktop.keys("Escape")
    until(lambda: skein.state()["read"] is None, "the reader to be closed")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
