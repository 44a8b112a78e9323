"""packaging/apply_patch.py, which runs where there is neither `patch` nor git, and what it applies."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

import pytest
import series
from apply_patch import FILE, HUNK, SERIES, DoesNotFitError, apply

PATCHES = sorted(SERIES.glob("*.patch"))
BEFORE = "one\ntwo\n\nthree\nfour\nfive\nsix\n"
AFTER = "one\n2\n2b\n\nthree\nfour\nsix\n"
NEW = "--- /dev/null\n+++ b/new.h\n@@ -0,0 +1,2 @@\n+one\n+two\n"
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
    folder = tmp_path / "llama.cpp"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file.txt").write_text(BEFORE)
    (folder / "other.txt").write_text("one\n")
    (tmp_path / "a.patch").write_text(PATCH)
    return folder


def test_a_patch_is_applied_once(folder) -> None:
    for _ in range(2):
        apply(folder.parent / "a.patch", folder)
        assert (folder / "deep" / "file.txt").read_text() == AFTER
        assert (folder / "other.txt").read_text() == "1\n"


def test_a_patch_may_bring_a_file(folder) -> None:
    (folder.parent / "a.patch").write_text(f"Why.\n\n{NEW}")
    for _ in range(2):
        apply(folder.parent / "a.patch", folder)
        assert (folder / "new.h").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("text", ["two\n", "one\none\n"])
def test_a_patch_that_does_not_fit_one_file_changes_none(folder, text) -> None:
    (folder / "other.txt").write_text(text)
    with pytest.raises(DoesNotFitError, match=r"other\.txt lacks, or repeats"):
        apply(folder.parent / "a.patch", folder)
    assert (folder / "deep" / "file.txt").read_text() == BEFORE
    assert (folder / "other.txt").read_text() == text


def test_what_does_not_fit_is_left_out_and_the_build_goes_on(folder) -> None:
    script = folder.parent / "apply_patch.py"
    shutil.copy(Path(apply.__code__.co_filename), script)
    (folder.parent / "llama_cpp").mkdir()
    for name, text in {"01-new": PATCH.replace("-five", "-fife"), "02-a": PATCH}.items():
        (folder.parent / "llama_cpp" / f"{name}.patch").write_text(text)
    names = folder.parent / "patches.txt"
    done = subprocess.run([sys.executable, script, folder, names], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0
    assert "without 01-new.patch" in done.stderr
    assert names.read_text() == "02-a\n"
    assert (folder / "deep" / "file.txt").read_text() == AFTER


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    """Files made of what the patches of the series expect."""
    texts: dict[str, str] = defaultdict(str)
    for patch in PATCHES:
        for name, hunks in FILE.findall(patch.read_text()):
            if old := "".join(old for old, _ in sides(hunks)):  # else it is a new file
                texts[name] += f"{old}// after {patch.stem}\n"
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def sides(hunks: str) -> list[tuple[str, str]]:
    """Before and after, of each hunk."""
    lines = [hunk.splitlines(keepends=True) for hunk in HUNK.findall(hunks)]
    return [
        tuple("".join(line[1:] for line in hunk if line[0] != left_out) for left_out in "+-")
        for hunk in lines
    ]


@pytest.mark.parametrize("left_out", [None, *PATCHES], ids=lambda patch: patch.stem if patch else "none")
def test_each_of_the_series_can_be_left_out(llama, left_out) -> None:
    for patch in PATCHES:
        if patch != left_out:
            apply(patch, llama)
    for patch in PATCHES:
        files = FILE.findall(patch.read_text())
        assert files
        for name, hunks in files:
            text = (llama / name).read_text() if (llama / name).exists() else ""
            assert hunks.count("\n@@ ") + 1 == len(sides(hunks))  # all were read
            for before, after in sides(hunks):
                assert (before if patch == left_out else after) in text


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_says_what_it_is_for(patch) -> None:
    head = patch.read_text().partition("\n--- ")[0]
    for heading in ("Processors:", "Measured:", "Upstream:", "Goes when:"):
        assert re.search(rf"^{heading} \S", head, re.MULTILINE)


@pytest.fixture(autouse=True)
def unconfigured_git(tmp_path, monkeypatch) -> None:
    """A new machine's, which knows no author."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in os.environ.keys() & {
        f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
    }:
        monkeypatch.delenv(name)


def test_sources_of_a_submodule_become_a_repository(tmp_path, monkeypatch) -> None:
    """Its .git is a file that leads to nowhere."""
    archive = tmp_path / "sources.tar.gz"
    with tarfile.open(archive, "w:gz") as sources:
        for name in (".git", "one.c"):
            (tmp_path / name).write_text("gitdir: ../../.git/modules/vendor/llama.cpp\n")
            sources.add(tmp_path / name, f"llama-1/vendor/llama.cpp/{name}")
    monkeypatch.setattr(series, "downloaded", lambda _folder: archive)
    monkeypatch.setattr(series, "SERIES", tmp_path / "none")
    series.open_(tmp_path / "opened")
    assert series.git(tmp_path / "opened", "ls-files").splitlines() == ["one.c"]


def test_commits_become_patches_whose_heads_are_kept(folder, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(series, "SERIES", tmp_path / "series")
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "07-other.patch").write_text(
        "Ones count.\n\nMeasured: much.\n\n--- a/gone\n+++ b/gone\n"
    )
    series.git(folder, "init", "--quiet")
    series.commit(folder, "llama.cpp")
    series.git(folder, "tag", "pinned")
    (folder / "new.h").write_text("one\ntwo\n")
    series.commit(folder, "new: A file comes along")
    (folder / "other.txt").write_text("1\n")
    series.commit(folder, "other: is not told again")
    series.write(folder)
    changed = "--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-one\n+1\n"
    assert {path.name: path.read_text() for path in (tmp_path / "series").iterdir()} == {
        "01-new.patch": f"A file comes along\n\n{NEW}",
        "02-other.patch": f"Ones count.\n\nMeasured: much.\n\n{changed}",
    }


def test_a_patch_that_a_build_would_leave_out_is_told(folder, tmp_path, monkeypatch) -> None:
    """git finds the second of two equal places by its line, the build does not."""
    monkeypatch.setattr(series, "SERIES", tmp_path / "series")
    (tmp_path / "series").mkdir()
    lines = BEFORE + "seven\n"
    (folder / "other.txt").write_text(lines * 3)
    series.git(folder, "init", "--quiet")
    series.commit(folder, "llama.cpp")
    series.git(folder, "tag", "pinned")
    (folder / "other.txt").write_text(lines + lines.replace("four", "4") + lines)
    series.commit(folder, "other: Fours count")
    with pytest.raises(DoesNotFitError, match=r"other\.txt lacks, or repeats"):
        series.write(folder)
    assert series.git(folder, "worktree", "list").count("\n") == 1
