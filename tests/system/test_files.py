import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.system.files import opener, private_dir, private_file, replacing


def test_the_new_file_takes_the_place_of_the_old_one_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / f"{'long' * 60}.json"
    for text in ("old", "new"):
        with replacing(path) as file:
            file.write(text)
            file.flush()
            assert not path.exists() or path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_what_could_not_be_written_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as file:
        file.write("half, and half of a character: \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    former = os.umask(0)
    yield
    os.umask(former)


def test_a_folder_is_closed_with_all_that_is_made_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "skein" / "log"
    assert private_dir(folder) == folder
    assert {mode_of(each) for each in (folder, folder.parent, folder.parent.parent)} == {0o700}


def test_a_folder_above_that_was_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    private_dir(tmp_path / "shared" / "skein")
    assert mode_of(tmp_path / "shared") == 0o777


def test_a_folder_that_users_share_stays_open(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    assert private_dir(shared) == shared
    assert mode_of(shared) == 0o1777


def test_a_folder_that_was_made_read_only_stays_so(tmp_path: Path) -> None:
    folder = tmp_path / "skein"
    folder.mkdir(mode=0o555)
    assert private_dir(folder) == folder
    assert mode_of(folder) == 0o500


def test_a_file_in_the_way_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "skein"
    path.touch(mode=0o644)
    with pytest.raises(FileExistsError):
        private_dir(path)
    assert mode_of(path) == 0o644


def test_a_new_file_is_closed(tmp_path: Path) -> None:
    private_file(tmp_path / "chats.db")
    with open(tmp_path / "crash.log", "a", opener=opener) as file:
        file.write("a stack")
    assert {mode_of(path) for path in tmp_path.iterdir()} == {0o600}


def test_a_file_that_was_open_to_others_is_closed_and_keeps_what_is_in_it(tmp_path: Path) -> None:
    old, writeable, read_only = tmp_path / "old", tmp_path / "writeable", tmp_path / "read only"
    for path, mode in ((old, 0o644), (writeable, 0o666), (read_only, 0o444)):
        path.write_text("kept")
        path.chmod(mode)
    private_file(old)
    private_file(read_only)
    with open(writeable, "a", opener=opener) as file:
        file.write(" on")
    assert (old.read_text(), writeable.read_text()) == ("kept", "kept on")
    assert [mode_of(path) for path in (old, writeable, read_only)] == [0o600, 0o600, 0o400]


LOCKED_FOR_OTHERS = """
import fcntl, sys
try:
    fcntl.lockf(open(sys.argv[1], "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    print("locked")
"""


def test_a_database_keeps_its_locks(tmp_path: Path) -> None:
    """The system ends all locks of a process on a file when it closes any handle of it."""
    import fcntl

    path = tmp_path / "chats.db"
    path.touch()
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        private_file(path)
        assert subprocess.check_output([sys.executable, "-c", LOCKED_FOR_OTHERS, path]) == b"locked\n"
