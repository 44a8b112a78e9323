"""Tools on files: what they find, change and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.tools.file_tools import FileTools, matches
from app.tools.tool import Surroundings, ToolError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "build").mkdir()
    (root / "top.txt").write_text("one\ntwo\nthree\n")
    (root / "src" / "main.c").write_text("int main() {}\n")
    (root / "src" / "deep" / "deep.txt").write_text("needle here\n")
    (root / "build" / "made.txt").write_text("needle\n")
    (tmp_path / "secret.txt").write_text("secret")
    return root


async def call(folder: Path, name: str, cwd: str = "", **arguments: Any) -> dict[str, Any]:
    tool = next(tool for tool in FileTools([folder]).tools() if tool.name == name)
    return await tool.call({"path": str(folder)} | arguments, Surroundings(cwd))


async def text_of(folder: Path, name: str, **arguments: Any) -> str:
    return str((await call(folder, name, **arguments))["plain_text_response"])


async def test_a_file_is_read_whole_or_in_part(folder):
    path = str(folder / "top.txt")
    assert await text_of(folder, "read_file", path=path) == "one\ntwo\nthree\n"
    assert (
        await text_of(folder, "read_file", path=path, start_line=2, end_line=2, append_loc=True) == "2→two\n"
    )
    assert await text_of(folder, "read_file", path="top.txt", cwd=str(folder)) == "one\ntwo\nthree\n"


async def test_a_long_file_is_cut_off_where_it_says_so(folder):
    (folder / "long.txt").write_text("x" * 99 + "\n" + "y" * 100 + "\n" * 1000 + "z" * 70_000)
    text = await text_of(folder, "read_file", path=str(folder / "long.txt"))
    assert (
        text.endswith("[cut off at line 1001 of 1002: ask for a range of lines]") or "cut off at line" in text
    )
    assert len(text) < 70_000


async def test_files_are_found_by_pattern_depth_and_kind(folder):
    assert (
        await text_of(folder, "file_glob_search")
        == "src/deep/deep.txt\nsrc/main.c\ntop.txt\n\n---\nTotal matches: 3\n"
    )
    assert "src/main.c" in await text_of(folder, "file_glob_search", include="src/*")
    assert "Total matches: 1" in await text_of(folder, "file_glob_search", max_depth=1)
    found = await call(folder, "file_glob_search", type="dir")
    assert [entry["path"] for entry in found["entries"]] == ["build", "src", "src/deep"]
    few = await call(folder, "file_glob_search", limit=1)
    assert len(few["entries"]) == 1
    assert "Total matches: 3" in few["plain_text_response"]


async def test_lines_are_found(folder):
    assert (
        await text_of(folder, "grep_search", pattern="n.edle")
        == "src/deep/deep.txt:needle here\n\n---\nTotal matches: 1\n"
    )
    assert "deep.txt:1:needle" in await text_of(
        folder, "grep_search", pattern="NEEDLE", ignore_case=True, return_line_numbers=True
    )
    assert "Total matches: 0" in await text_of(folder, "grep_search", pattern="n.edle", literal=True)
    assert "Total matches: 1" in await text_of(
        folder, "grep_search", path=str(folder / "top.txt"), pattern="two"
    )


async def test_a_file_is_written_and_edited(folder):
    path = str(folder / "new" / "a.txt")
    await call(folder, "write_file", path=path, content="a\nb\nc\n")
    edits = [{"old_text": "b", "new_text": "B"}, {"old_text": "c\n", "new_text": "c\nd\n"}]
    assert (await call(folder, "edit_file", path=path, edits=edits))["edits_applied"] == 2
    assert Path(path).read_text() == "a\nB\nc\nd\n"


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([{"old_text": "o", "new_text": ""}], "not unique"),
        ([{"old_text": "four", "new_text": ""}], "not in the file"),
        ([{"old_text": "one\ntwo", "new_text": ""}, {"old_text": "two", "new_text": ""}], "overlap"),
        ([{"old_text": "", "new_text": ""}], "old_text"),
        (["x"], "old_text"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing(folder, edits, reason):
    with pytest.raises(ToolError, match=reason):
        await call(folder, "edit_file", path=str(folder / "top.txt"), edits=edits)
    assert (folder / "top.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "link", "src/../../secret.txt", "a\0b"])
@pytest.mark.parametrize("name", ["read_file", "write_file", "file_glob_search"])
async def test_nothing_outside_of_the_folders_is_touched(folder, path, name):
    (folder / "link").symlink_to(folder.parent / "secret.txt")
    with pytest.raises(ToolError, match=r"outside of the folders|invalid path"):
        await call(folder, name, path=path, cwd=str(folder), content="x")
    assert (folder.parent / "secret.txt").read_text() == "secret"


async def test_links_are_not_searched(folder):
    (folder / "up").symlink_to(folder.parent)
    assert "Total matches: 3" in await text_of(folder, "file_glob_search")
    assert "Total matches: 0" in await text_of(folder, "grep_search", pattern="secret")


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("read_file", {"path": 5}, "type string"),
        ("read_file", {"path": "nowhere.txt"}, "not a file"),
        ("read_file", {"path": "src"}, "not a file"),
        ("file_glob_search", {"type": "bogus"}, "invalid type"),
        ("file_glob_search", {"limit": 0}, "invalid limit"),
        ("file_glob_search", {"include": "/" * 100}, "too long"),
        ("grep_search", {"pattern": "("}, "grep"),
        ("grep_search", {}, "pattern is missing"),
        ("write_file", {"path": "top.txt/x", "content": ""}, "top.txt"),
    ],
)
async def test_what_cannot_be_is_said(folder, name, arguments, reason):
    with pytest.raises(ToolError, match=reason):
        await call(folder, name, **({"cwd": str(folder)} | arguments))


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("**", "a/b.c", True),
        ("*.c", "a/b.c", True),
        ("a/*.c", "x/a/b.c", True),
        ("/a/*.c", "x/a/b.c", False),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("a/*/c", "a/x/y/c", False),
        ("**/*.c", "b.c", True),
        ("a/**", "a/x/y", True),
    ],
)
def test_patterns(pattern, path, is_match):
    assert matches(pattern, path) is is_match


def test_only_tools_that_were_named_are_there(tmp_path):
    assert [tool.name for tool in FileTools([tmp_path]).tools(["read_file"])] == ["read_file"]
    with pytest.raises(ValueError, match="exec_shell_command"):
        FileTools([tmp_path]).tools(["exec_shell_command"])
