"""The language of the real window: chosen in the menu, spoken after a restart that brings everything back."""

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_another_language_takes_a_restart_that_brings_the_tabs_and_the_draft_back(
    skein: Skein, desktop: Desktop
) -> None:
    skein.start()
    skein.show_inspector()
    desktop.type("What is 34 + 21?")
    desktop.keys("Return")
    until(lambda: "55" in skein.state()["transcripts"][0] and not any(skein.state()["busy"]), "the answer")
    desktop.keys("ctrl+t")
    until(lambda: len(skein.state()["tabs"]) == 2 and skein.state()["has_focus"], "a second tab")
    desktop.type("half a thought")
    until(lambda: skein.state()["composers"][1] == "half a thought", "the draft")

    for key in ("alt+v", "g", "Down", "Down", "Return"):  # View > Language: the system's, English, Chinese
        desktop.keys(key)
    until(lambda: any("简体中文" in notice for notice in skein.state()["notices"]), "the offer to restart")
    desktop.keys("alt+r")
    until(lambda: "The language is zh_CN." in skein.log(), "the language")
    until(lambda: "今天" in (skein.state()["list"] or []), "the list of chats with a Chinese heading")
    assert skein.process
    assert skein.process.poll() is None, "it is the same process"
    assert skein.state()["tabs"][0] == "What is 34 + 21?"
    assert skein.state()["composers"][1] == "half a thought"

    desktop.activate(desktop.window_of(skein.process.pid))
    desktop.keys("ctrl+q")
    assert skein.wait_for_end(timeout_s=15)[0] == 0
