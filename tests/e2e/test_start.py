"""Somebody who types as soon as there is a window."""

from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

# Skein, which after its first paint waits for a file before it goes on to import what fills the window.
SLOW = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from PySide6.QtWidgets import QApplication
from app import main, window
go, read = Path(sys.argv.pop(1)), window.importlib.import_module
def read_when_told(name):
    while not go.exists():
        QApplication.processEvents()
        time.sleep(0.01)
    return read(name)
window.importlib = SimpleNamespace(import_module=read_when_told)
sys.exit(main.main())
"""


def test_what_is_typed_into_the_first_paint_is_sent_and_answered(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    skein.home.mkdir()
    go = tmp_path / "go"
    skein.process = process = skein.run("-c", SLOW, str(go))
    window = until(lambda: desktop.window_of(process.pid), "the window")
    desktop.activate(window)
    desktop.type("What is 34")
    go.touch()
    desktop.type(" + 21?")
    desktop.keys("Return")
    answered = [("user", "What is 34 + 21?"), ("assistant", "34 + 21 = 55")]
    until(lambda: skein.database_file.exists() and "open again" in skein.log(), "the chats")
    until(lambda: [(role, text) for _, role, _, text in skein.turns()] == answered, "the answer")

    desktop.type("A draft")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    assert skein.drafts() == ["A draft"]


def test_a_window_that_is_closed_at_once_ends_in_order(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    skein.home.mkdir()
    go = tmp_path / "go"
    skein.process = process = skein.run("-c", SLOW, str(go))
    window = until(lambda: desktop.window_of(process.pid), "the window")
    desktop.activate(window)
    desktop.keys("alt+F4")
    go.touch()
    assert skein.wait_for_end()[0] == 0
    assert "Ended in order." in skein.log()
