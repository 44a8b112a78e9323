from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.e2e


def test_a_model_of_another_program_is_found_opened_left_alone_and_chosen_by_keys(
    skein: Skein, desktop: Desktop
) -> None:
    folder = skein.home / ".lmstudio" / "models" / "somebody" / "tiny"
    folder.mkdir(parents=True)
    model = write_tiny_gguf(folder / "tiny.gguf", "qwen3")
    content = model.read_bytes()
    skein.start()
    until(lambda: "2 models are here." in skein.log(), "the list of models")

    desktop.keys("ctrl+shift+m")
    until(lambda: not skein.state()["has_focus"], "the window of the models")
    desktop.type("tiny")
    desktop.keys("Return")

    until(lambda: f"{model} is loaded" in skein.log(), "the other model")
    until(lambda: skein.state()["has_focus"], "the keyboard back in the chats")
    assert model.read_bytes() == content
    assert [path.name for path in folder.iterdir()] == ["tiny.gguf"]

    # By keys above the chat: the starter stands below the model that answers.
    desktop.keys("ctrl+alt+m")
    desktop.keys("Down", "Return")
    until(lambda: skein.state()["model"] == "Skein starter", "the starter model")
    desktop.keys("ctrl+alt+m")
    desktop.keys("Up", "Return")
    until(lambda: skein.state()["model"] not in ("Skein starter", "Skein starter loading"), "the other one")
    desktop.keys("ctrl+q")
    exit_code, _ = skein.wait_for_end()
    assert exit_code == 0


def test_a_model_that_is_missing_is_waited_for_while_the_starter_answers(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    model = tmp_path / "disk" / "tiny.gguf"
    skein.configure(model_path=str(model))
    skein.start(waits_for="is complete")
    until(lambda: any("tiny.gguf is not in" in text for text in skein.state()["notices"]), "the message")
    assert skein.state()["model"] == "tiny not loaded"
    skein.take_offer("Use the starter model")
    until(lambda: skein.state()["model"] == "Skein starter", "the starter model")
    assert skein.state()["notices"] == []
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0

    model.parent.mkdir()
    write_tiny_gguf(model, "qwen3")
    skein.start()
    assert f"{model} is loaded" in skein.log()
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def test_a_notebook_is_continued_undone_and_there_at_the_next_start(skein: Skein, desktop: Desktop) -> None:
    begin = "Count from 7 to 30"
    skein.start()
    desktop.keys("ctrl+shift+n")
    until(lambda: skein.state()["notebook"] == "", "the notebook")
    desktop.type(begin)
    until(lambda: skein.state()["notebook"] == begin, "the text")
    desktop.keys("ctrl+Return")
    until(lambda: skein.state()["notebook"] != begin and not any(skein.state()["busy"]), "a continuation")
    desktop.keys("ctrl+z")
    until(lambda: skein.state()["notebook"] == begin, "the text before")
    desktop.keys("ctrl+Return")
    until(lambda: skein.state()["notebook"] != begin and not any(skein.state()["busy"]), "another one")
    text = skein.state()["notebook"]
    assert text.startswith(begin)
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    skein.start()
    until(lambda: skein.state()["notebook"] == text, "the notebook of the last run")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
