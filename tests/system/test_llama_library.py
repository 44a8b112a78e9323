import json
import os
from pathlib import Path

import pytest

from app.system import llama_library
from app.system.llama_library import BuildState, OwnBuild, missing, own_build
from app.system.said import said

DEAD_PID = 2**22 + 1  # above what Linux gives out


@pytest.fixture
def borrowed(tmp_path: Path, monkeypatch) -> Path:
    """A folder of libraries whose lender is named, beside it the folder where ours is compiled."""
    folder = tmp_path / "borrowed"
    folder.mkdir()
    (folder / "borrowed.txt").write_text("xllamacpp 1.2\n")
    (tmp_path / "build").mkdir()
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(folder))
    for function in (llama_library.library_folder, llama_library.lender, llama_library.llama_patches):
        monkeypatch.setattr(llama_library, function.__name__, function.__wrapped__)
    return folder


def write_status(borrowed: Path, **more: object) -> None:
    status = {"state": "running", "seconds_left": 61, "error": "", "pid": os.getpid()} | more
    (borrowed.parent / "build" / "status.json").write_text(json.dumps(status))


def test_our_own_libraries_have_patches_and_no_lender() -> None:
    assert llama_library.llama_patches()
    assert llama_library.lender() == ""
    assert own_build() is None
    assert missing("tools", said("Otherwise.")) == "Otherwise."


def test_borrowed_ones_have_a_lender_and_no_patches(borrowed) -> None:
    assert llama_library.lender() == "xllamacpp 1.2"
    assert llama_library.llama_patches() == ()


@pytest.mark.parametrize(
    ("status", "build", "told"),
    [
        ({}, OwnBuild(BuildState.COMPILING, 2), "compiled in the background: about 2 min left."),
        ({"seconds_left": 3}, OwnBuild(BuildState.COMPILING, 1), "about 1 min left."),
        ({"seconds_left": None}, OwnBuild(BuildState.COMPILING), "It is being compiled in the background."),
        ({"pid": DEAD_PID}, OwnBuild(BuildState.STOPPED, 2), "goes on when packaging/run starts Skein."),
        ({"state": "done", "seconds_left": 0}, OwnBuild(BuildState.READY, 1), "It is ready: restart Skein."),
        (
            {"state": "failed", "error": "No compiler. Install g++."},
            OwnBuild(BuildState.FAILED, 2, "No compiler. Install g++."),
            "That failed. No compiler. Install g++. More is in ",
        ),
    ],
)
def test_how_far_our_build_is(borrowed, status, build, told) -> None:
    write_status(borrowed, **status)
    found = own_build()
    assert found
    assert (found.state, found.minutes_left, found.error) == (build.state, build.minutes_left, build.error)
    text = missing("tools", said("Otherwise."))
    assert text.startswith("Skein's own build of llama.cpp is needed for tools. ")
    assert told in text


@pytest.mark.parametrize("written", [None, "", "{", "[]", '{"state": "running"}', '{"pid": {}}'])
def test_a_build_that_tells_nothing_yet_is_being_compiled(borrowed, written) -> None:
    if written is not None:
        (borrowed.parent / "build" / "status.json").write_text(written)
    assert own_build() == OwnBuild(BuildState.COMPILING)


def test_a_failure_is_told_until_it_was_told_and_another_one_again(borrowed) -> None:
    assert not llama_library.is_told("No compiler.")
    llama_library.note_told("No compiler.")
    assert llama_library.is_told("No compiler.")
    assert not llama_library.is_told("No memory.")


def test_a_program_keeps_the_libraries_it_began_with(tmp_path, monkeypatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    link = tmp_path / "lib"
    link.symlink_to(first)
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(link))
    llama_library.library_folder.cache_clear()
    try:
        assert llama_library.library_folder() == first
        link.unlink()
        link.symlink_to(second)
        assert llama_library.library_folder() == first
    finally:
        llama_library.library_folder.cache_clear()
