"""Without a mouse: the palette, chosen shortcuts and the settings, with real keys in a real window."""

import json

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def test_palette_shortcuts_and_settings_by_the_keyboard_alone(skein: Skein, desktop: Desktop) -> None:
    skein.configure(shortcuts={"chat.new": ["Ctrl+Alt+N"], "no.such-command": ["F7"]}, theme="light")
    skein.start()

    # 1. A key that was chosen works, the one it replaces does not, and what is unknown is only logged.
    desktop.keys("ctrl+t", "ctrl+alt+n")
    until(lambda: len(skein.state()["tabs"]) == 2, "a second tab")
    assert "no.such-command" in skein.log()

    # 2. The palette runs what is typed, and Escape gives the keyboard back to where it was.
    desktop.keys("ctrl+shift+p")
    until(lambda: not skein.state()["has_focus"], "the palette")
    desktop.type("close chat")
    desktop.keys("Return")
    until(lambda: len(skein.state()["tabs"]) == 1, "one tab")
    until(lambda: skein.state()["has_focus"], "the focus in the chat")
    desktop.keys("ctrl+shift+p")
    until(lambda: not skein.state()["has_focus"], "the palette again")
    desktop.keys("Escape")
    until(lambda: skein.state()["has_focus"], "the focus in the chat again")
    desktop.type("hello")
    until(lambda: skein.state()["composers"] == ["hello"], "what is typed to be in the chat")

    # 3. A setting is found by its name, and the space bar changes it.
    desktop.keys("ctrl+shift+p")
    until(lambda: not skein.state()["has_focus"], "the palette once more")
    desktop.type("enter sends")
    desktop.keys("Return")
    until(lambda: skein.state()["setting"] == "enter_sends", "the setting with the focus")
    desktop.keys("space", "Escape")
    file = skein.home / "config" / "skein" / "settings.json"
    until(lambda: json.loads(file.read_text()).get("enter_sends") is False, "the setting on the disk")
    until(lambda: skein.state()["has_focus"], "the focus back in the chat")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
