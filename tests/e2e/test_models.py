import pytest

from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.e2e


def test_a_model_of_another_program_is_found_opened_and_left_alone(skein: Skein, desktop: Desktop) -> None:
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
    desktop.keys("ctrl+q")
    exit_code, _ = skein.wait_for_end()
    assert exit_code == 0
