"""The hour of somebody who tries Skein for the first time, with answers that real models gave.

Qwen2.5-Coder 0.5B and 1.5B said what the script has, but for the long answer. Each part was a fault once.
"""

import json
import os
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

CALL = '{"name": "calculate", "arguments": {"expression": "3417 * 2813"}}'
NEURON = (
    "A neuron computes\n\\[\n\\left( \\sum_i w_i x_i + b \\right)\n\\]\n"
    "where \\(w_i\\) are the weights and \\(b\\) is the bias."
)
STORY = "Once upon a time there was a lighthouse. " * 40
SCRIPT = [
    ("9612021", "3417 multiplied by 2813 is 9612021."),
    ("3417", CALL),
    ("neuron", NEURON),
    ("password", "The vault `zoom-creds` is shared to give someone the Zoom password."),
    ("story", STORY),
]
OLD = 1_000_000_000
MAX_HEIGHT = 400  # pixels, of an answer with one formula and two lines


@pytest.fixture(autouse=True)
def scripted(skein: Skein, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    monkeypatch.setitem(skein.desktop.environment, "SKEIN_SCRIPT", str(script))
    skein.configure(hub_endpoint="http://127.0.0.1:9")


def start(skein: Skein) -> None:
    skein.start(observer="tests.e2e.scripted")


def restart(skein: Skein) -> None:
    skein.desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    start(skein)


def say(skein: Skein, text: str) -> None:
    """Wherever the keyboard is in the chat."""
    skein.desktop.type(text)
    until(lambda: text in skein.state()["composers"], "the text in the composer")
    skein.desktop.keys("Return")


def shown(skein: Skein) -> str:
    state = skein.state()
    text: str = state["transcripts"][state["current"]]
    return text


def test_a_call_written_as_text_is_run_and_a_formula_is_as_high_as_what_it_holds(
    skein: Skein, desktop: Desktop
) -> None:
    start(skein)
    desktop.keys("ctrl+shift+p")
    desktop.type("Tools: Built in")
    desktop.keys("Return")
    say(skein, "What is 3417*2813? Use the tool.")
    skein.click("card 1 Run it")
    until(lambda: "is 9612021" in shown(skein), "the answer")

    say(skein, "What does a neuron compute?")
    until(lambda: "is the bias" in shown(skein) and not any(skein.state()["busy"]), "the answer")
    assert max(skein.state()["heights"]) < MAX_HEIGHT

    # What is typed after the menu of models was left is a message.
    desktop.keys("ctrl+alt+m")
    until(lambda: skein.state()["menu"], "the menu of models")
    desktop.keys("Escape")
    until(lambda: not skein.state()["menu"], "the menu to go")
    desktop.type("hi everyone")
    until(lambda: "hi everyone" in skein.state()["composers"], "the words in the composer")


def test_what_is_held_queued_or_being_edited_is_as_it_was_at_the_next_start(
    skein: Skein, desktop: Desktop
) -> None:
    start(skein)
    say(skein, "Tell me a story")
    until(lambda: "lighthouse" in shown(skein), "the beginning of the answer")
    say(skein, "And then?")
    until(lambda: skein.state()["queue"] == ["And then?"], "the queue")
    desktop.keys("Escape")
    until(lambda: not any(skein.state()["busy"]), "the answer to stop")

    desktop.keys("Up")
    until(lambda: skein.state()["editing"], "the last message to be edited")
    desktop.type(" of a whale")
    until(lambda: "whale" in "".join(skein.state()["editing"]), "the edit")
    restart(skein)
    until(lambda: "whale" in "".join(skein.state()["editing"]), "the edit, still open")
    assert skein.state()["queue"] == ["And then?"]
    assert [text for _, role, _, text in skein.turns() if role == "user"] == ["Tell me a story"]


def test_a_closed_tab_is_answered_to_the_end_and_a_quit_is_told_of(skein: Skein, desktop: Desktop) -> None:
    start(skein)
    say(skein, "Tell me a story")
    until(lambda: "lighthouse" in shown(skein), "the beginning of the answer")
    desktop.keys("ctrl+w")
    until(lambda: skein.state()["tabs"] == ["New chat"], "the tab to close")
    until(lambda: [text for *_, text in skein.turns()][-1:] == [STORY], "all of the answer")

    say(skein, "Another story, please")
    until(lambda: "lighthouse" in shown(skein), "the beginning of the answer")
    restart(skein)
    until(lambda: "offer Continue all" in skein.state()["places"], "what was cut off, with a way to go on")


def test_an_answer_from_a_large_shelf_cites_its_passage(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.md").write_text(f"Meeting {number} of the group took place as planned. " * 25)
    (folder / "streaming.md").write_text("Share the `zoom-creds` vault to share the Zoom password.\n")
    for file in folder.iterdir():
        os.utime(file, (OLD, OLD))
    shelves = skein.home / "config" / "skein" / "shelves.json"
    shelves.write_text(json.dumps([{"id": "docs", "name": "Docs", "folder": str(folder), "files": []}]))
    start(skein)
    desktop.keys("ctrl+shift+p")
    desktop.type("tools.shelves")
    desktop.keys("Return")
    files = len(list(folder.iterdir()))
    until(lambda: sum("Read" in one for one in skein.state()["shelf files"]) == files, "all to be read")
    desktop.keys("Escape")
    until(lambda: skein.state()["has_focus"], "the keyboard back in the chat")
    skein.click("shelf")
    until(lambda: "Docs" in skein.state()["menu"], "the menu of shelves")
    desktop.keys("Down", "Down", "Return")
    until(lambda: skein.state()["shelf"] == "Docs", "the shelf at the composer")
    say(skein, "Which vault is shared for the Zoom password?")
    until(lambda: "password. [1]" in shown(skein), "the answer and the number of its passage")
    skein.click("source 1")
    read = until(lambda: skein.state()["read"], "the reader")
    assert read["title"] == "streaming.md"
