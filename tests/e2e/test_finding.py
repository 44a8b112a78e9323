"""Chats are found, put beside each other, put away and had back, in a real window and by the keyboard."""

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SUM, CACHE = "What is 34 + 21?", "What is a KV cache?"


def test_a_chat_is_found_by_what_was_said_shown_beside_and_still_there_after_a_restart(
    skein: Skein, desktop: Desktop
) -> None:
    skein.start()
    ask(skein, SUM)
    desktop.keys("ctrl+t")
    until(lambda: len(skein.state()["tabs"]) == 2 and skein.state()["has_focus"], "a second tab")
    ask(skein, CACHE)
    assert skein.state()["list"] == ["Today", CACHE, SUM]

    # 1. Closed, it is still in the list; the search finds it by its answer.
    desktop.keys("alt+1", "ctrl+w")
    until(lambda: skein.state()["tabs"] == [CACHE], "the first tab to close")
    assert SUM in skein.state()["list"]
    desktop.keys("ctrl+k")
    until(lambda: skein.state()["found"] is not None, "the search")
    desktop.type("55")
    until(lambda: skein.state()["found"] == ["Messages", SUM], "the answer to be found")
    desktop.keys("Return")
    until(lambda: skein.state()["tabs"] == [CACHE, SUM] and skein.state()["find"] == "55", "the chat to open")
    until(lambda: "55" in skein.state()["transcripts"][1], "its answer")
    desktop.keys("Escape")
    until(lambda: skein.state()["has_focus"], "the message field")

    # 2. Two chats side by side, and the keyboard in either.
    desktop.keys("ctrl+backslash")
    until(lambda: skein.state()["shown"] == [SUM, CACHE] and skein.state()["current"] == 0, "both chats")
    desktop.keys("ctrl+alt+backslash")
    until(lambda: skein.state()["current"] == 1 and skein.state()["has_focus"], "the other side")

    # 3. It is all there after a restart, and only what is shown is drawn.
    desktop.keys("ctrl+t")
    until(lambda: len(skein.state()["tabs"]) == 3, "a third tab")
    ask(skein, "What is 8 + 9?")
    desktop.keys("alt+2")
    until(lambda: skein.state()["shown"] == [SUM, CACHE], "the two chats again")
    shown = skein.state()
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    skein.start()
    until(lambda: skein.state()["shown"] == [SUM, CACHE], "the two chats after the restart")
    state = skein.state()
    assert [state[name] for name in ("tabs", "current")] == [shown[name] for name in ("tabs", "current")]
    assert state["drawn"] == [True, True, False]
    until(lambda: skein.state()["list"] == shown["list"], "the list after the restart")

    # 4. Deleted from the list, and had back.
    desktop.keys("ctrl+shift+b")
    desktop.type("8 + 9")
    until(lambda: skein.state()["list"] == ["Today", "What is 8 + 9?"], "the filtered list")
    desktop.keys("Down", "Delete")
    until(lambda: skein.state()["list"] == [] and len(skein.state()["tabs"]) == 2, "the chat to go")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    skein.start()
    until(lambda: skein.state()["list"] == ["Today", CACHE, SUM], "the list without it")


def ask(skein: Skein, question: str) -> None:
    skein.desktop.type(question)
    skein.desktop.keys("Return")
    until(lambda: question in skein.state()["tabs"], "the question in its tab")
    until(lambda: not any(skein.state()["busy"]), "the answer")
