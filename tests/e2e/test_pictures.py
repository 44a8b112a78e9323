"""A picture from the clipboard of another program to the model, and back after a restart."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.attachments.documents import png
from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.native.tiny_projectors import write_tiny_projector

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

NAME = "Picture: Pasted picture"


def test_a_picture_is_pasted_sent_seen_enlarged_and_there_after_a_restart(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    model = write_tiny_gguf(tmp_path / "sees.gguf", "qwen2vl")
    write_tiny_projector(tmp_path / "mmproj-sees.gguf", "qwen2vl_merger")
    copied = tmp_path / "cat.png"
    copied.write_bytes(png())
    skein.configure(max_tokens=8)
    skein.start(str(model))
    other = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.clipboard", str(copied)],
        env=desktop.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdin
    assert other.stdout
    assert other.stdout.readline() == b"copied\n"
    desktop.activate(skein.window)
    desktop.keys("ctrl+v")
    until(lambda: skein.state()["files"] == ["Pasted picture"], "the chip")
    other.stdin.close()
    other.stdout.close()
    assert other.wait(10) == 0

    desktop.type("What is it?")
    desktop.keys("Return")
    until(lambda: skein.state()["pictures"] == [NAME], "the sent picture")
    until(
        lambda: [state for _, role, state, _ in skein.turns() if role == "assistant"] == ["done"],
        "the answer",
    )
    assert skein._query("SELECT data FROM media") == [(png(),)]
    assert "Encoded(" in skein.log()

    skein.click("picture 1")
    until(lambda: (skein.state()["dialog"] or {}).get("kind") == "PictureViewer", "the viewer")
    desktop.keys("Escape")
    until(lambda: skein.state()["dialog"] is None, "the chat")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0

    skein.start(str(model))
    until(lambda: skein.state()["pictures"] == [NAME], "the picture after a restart")
