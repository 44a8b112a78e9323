"""packaging/apply_patch.py, which runs where there is neither `patch` nor git."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "apply_patch.py"
BEFORE = "one\ntwo\n\nthree\nfour\nfive\nsix\n"
AFTER = "one\n2\n2b\n\nthree\nfour\nsix\n"
PATCH = """Why it is there.

--- a/deep/file.txt
+++ b/deep/file.txt
@@ -1,4 +1,5 @@ somewhere
 one
-two
+2
+2b
\x20
 three
@@ -5,3 +6,2 @@
 four
-five
 six
--- a/other.txt
+++ b/other.txt
@@ -1 +1 @@
-one
+1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file.txt").write_text(BEFORE)
    (tmp_path / "other.txt").write_text("one\n")
    (tmp_path / "a.patch").write_text(PATCH)
    return tmp_path


def apply(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder / "a.patch"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=20)


def test_it_is_applied_once(folder) -> None:
    for _ in range(2):
        apply(folder).check_returncode()
        assert (folder / "deep" / "file.txt").read_text() == AFTER
        assert (folder / "other.txt").read_text() == "1\n"


@pytest.mark.parametrize("text", [BEFORE.replace("two", "zwei"), BEFORE + BEFORE])
def test_nothing_is_changed_in_a_file_it_was_not_made_for(folder, text) -> None:
    (folder / "deep" / "file.txt").write_text(text)
    result = apply(folder)
    assert result.returncode == 1
    assert "is not what the patch was made for" in result.stderr
    assert (folder / "deep" / "file.txt").read_text() == text


def test_every_hunk_of_our_own_patch_is_read(folder) -> None:
    """llama_cpp.patch, on files made of what it expects."""
    patch = SCRIPT.with_name("llama_cpp.patch").read_text()
    after = {}
    for part in patch.split("+++ b/")[1:]:
        name, *lines = part.split("\n--- ")[0].splitlines()
        lines = [f"{line}\n" for line in lines if not line.startswith("@@ ")]
        after[folder / name] = "".join(line[1:] for line in lines if line[0] != "-")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(line[1:] for line in lines if line[0] != "+"))
    assert len(after) == patch.count("+++ b/") > 1
    (folder / "a.patch").write_text(patch)
    apply(folder).check_returncode()
    assert {path: path.read_text() for path in after} == after
