"""The first five minutes, key by key: every screen on the way says what it is and what can be done now."""

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

NO_NETWORK = "http://127.0.0.1:9"  # the port of "discard": nothing listens there


def test_on_a_new_machine_without_a_network(skein: Skein, desktop: Desktop) -> None:
    skein.configure(hub_endpoint=NO_NETWORK)
    skein.start()

    # 1. Who answers, what it can and cannot do, what to try, what to do for more.
    shows(skein, "Skein starter", "it cannot write", "What is 34 + 21?", "Open a GGUF file…")
    shows(skein, "Get a real model", "which fits this machine")
    assert skein.state()["model"] == "Skein starter"

    # 2. The first click is an answer.
    skein.click("sample 1")
    until(lambda: "55" in skein.state()["transcripts"][0], "the first answer")

    # 3. What it cannot do it says, and where to go.
    until(lambda: not any(skein.state()["busy"]), "the end of the answer")
    desktop.type("Write a poem about rain")
    desktop.keys("Return")
    until(lambda: "Get more models" in skein.state()["transcripts"][0], "the way to a larger model")

    # 4. The machine under it, and back.
    skein.show_inspector()
    until(lambda: skein.state()["inspector"], "a row for the chat")
    desktop.keys("F12")
    until(lambda: skein.state()["inspector"] is None, "the inspector to hide")

    # 5. The one filled button of a new chat leads to models that fit; without a network it says so.
    desktop.keys("ctrl+t")
    shows(skein, "Skein starter", "Get a real model")
    skein.click("primary")
    shows(skein, "Recommended models", "Get more")
    desktop.keys("Tab", "Tab", "Down")
    shows(skein, "Try again", "cannot be reached")
    desktop.keys("Escape")
    until(lambda: skein.state()["has_focus"], "the keyboard back in the chat")

    # 6. It is all on disk for the next start.
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    assert "What is 34 + 21?" in {text for *_, text in skein.turns()}


def test_without_the_model_of_the_last_time(skein: Skein, desktop: Desktop) -> None:
    skein.configure(model_path=str(skein.home / "gone.gguf"), hub_endpoint=NO_NETWORK)
    skein.start(waits_for="is complete")

    shows(skein, "No model", "is answered once a model is loaded.", "Get a model", "Open a GGUF file…")
    until(lambda: any("gone.gguf is not in" in text for text in skein.state()["notices"]), "what is missing")
    offers = {"offer Locate…", "offer Try again", "offer Use the starter model"}
    assert offers <= skein.state()["places"].keys()

    # What is sent now waits for whichever model comes.
    desktop.type("What is 17 + 5?")
    desktop.keys("Return")
    until(lambda: skein.state()["queue"] or any(skein.state()["busy"]), "the question to wait")
    skein.take_offer("Use the starter model")
    until(lambda: "22" in skein.state()["transcripts"][0], "its answer")
    assert skein.state()["notices"] == []
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def test_with_a_model_that_only_continues_text(skein: Skein, desktop: Desktop) -> None:
    skein.home.mkdir()
    model = write_tiny_gguf(skein.home / "tiny base.gguf", "qwen3", chat_template=None)
    skein.start(str(model))

    shows(skein, "base model without a chat template", "Open a notebook")
    skein.click("primary")
    until(lambda: skein.state()["notebook"] == "", "an empty notebook with the keyboard in it")
    desktop.type("Once")
    desktop.keys("ctrl+Return")
    until(lambda: len(skein.state()["notebook"]) > len("Once"), "a continuation")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def shows(skein: Skein, *words: str) -> None:
    """On one screen, all at once."""

    def seen() -> bool:
        said = "\n".join(skein.state()["says"])
        return all(each in said for each in words)

    until(seen, f"a screen with {words}", 25)
