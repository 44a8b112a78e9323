import errno
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import window
from app.system import paths
from app.system.folder_lock import FolderLock, Holder
from tests.read_only import foreign_folder, read_only

ROOT = Path(window.__file__).parents[1]

# Runs the window in a home of its own, and stops when it is painted, and when it is complete.
UP_TO_THE_WINDOW = """
import os, sys
from app import main, window
show = window._show_painted
def show_and_tell(shown):
    show(shown)
    print(*sys.modules, flush=True)
    from app.program import Program
    complete = Program._complete_window
    def complete_and_tell(program):
        complete(program)
        print(*sys.modules, flush=True)
        os._exit(0)
    Program._complete_window = complete_and_tell
window._show_painted = show_and_tell
main.main([])
"""
# It would take longer to import these than to paint a window.
NOT_LIGHT = {
    "PySide6.QtNetwork",
    "PySide6.QtSvg",
    "asyncio",
    "dataclasses",
    "logging.handlers",
    "psutil",
    "pydantic",
    "qasync",
    "socket",
    "sqlite3",
    "subprocess",
    "app.protocol.report",
    "app.program",
    "app.settings.settings",
    "app.ui.main_window",
}
HEAVY = {
    "aiohttp",
    "charset_normalizer",
    "httpx2",
    "jinja2",
    "mcp",
    "keyring",
    "llama_cpp",
    "markdown_it",
    "mdit_py_plugins",
    "numpy",
    "openpyxl",
    "pygments",
    "pypdf",
    "xxhash",
    "ziamath",
}


def test_the_window_is_painted_before_anything_heavy_is_imported() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", UP_TO_THE_WINDOW],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    painted, complete = shown.stdout.splitlines()
    assert "app.ui.frame" in painted.split()
    assert not set(painted.split()) & NOT_LIGHT
    imported = set(complete.split())
    assert "app.ui.tabs.chat_tabs" in imported
    assert not imported & HEAVY
    assert not imported & {
        "app.api.server",
        "app.chats.imports.read",
        "app.engine.engine",
        "app.engine.prompts.prompt_builder",
        "app.inspector.kv_map",
        "app.inspector.recording_file",
        "app.ui.base.setting_list",
        "app.ui.tabs.chat_view",
    }


def test_the_source_of_our_modules_is_not_read() -> None:
    start = "from app.main import leave_sources_unread; leave_sources_unread(); import app.window, linecache"
    command = [sys.executable, "-c", f"{start}; print(*linecache.cache)"]
    read = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert read.stdout == "\n"


def test_a_lock_that_another_machine_has_left_keeps_no_window_away() -> None:
    """A crash, and then another name for this machine, or another container with the same volume."""
    (paths.private_dir(paths.data_dir()) / "skein.lock").write_text("12\nskein\nanother-machine\n")
    shown = subprocess.run(
        [sys.executable, "-c", UP_TO_THE_WINDOW], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert len(shown.stdout.splitlines()) == 2, shown.stderr


def test_settings_are_closed_to_other_users_also_if_they_were_open() -> None:
    paths.config_dir().mkdir(parents=True)
    paths.config_dir().chmod(0o755)
    command = [sys.executable, "-c", UP_TO_THE_WINDOW]
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=True)
    assert stat.S_IMODE(paths.config_dir().stat().st_mode) == 0o700


@pytest.fixture
def offered(monkeypatch) -> list[str]:
    """The offers that were made, and taken."""
    offers: list[str] = []

    def take(_reason: str, offer: str) -> bool:
        offers.append(offer)
        return bool(offer)

    monkeypatch.setattr("app.system.refusal.has_terminal", lambda: False)
    monkeypatch.setattr("app.ui.refusal_dialog.show_refusal", take)
    return offers


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[FolderLock]:
    lock = FolderLock(tmp_path / "skein.lock")
    yield lock
    lock.unlock()


def test_on_a_disk_that_may_pass_no_locks_on_the_other_machine_is_asked_about(
    monkeypatch, capsys, lock: FolderLock, tmp_path: Path
) -> None:
    monkeypatch.setattr(window, "_is_shared", lambda _folder: True)
    monkeypatch.setattr("app.system.refusal.has_terminal", lambda: True)
    lock.path.write_text("12\nskein\nanother-machine\n")
    assert window._take(lock, tmp_path, None) == 1
    assert f"another-machine (process 12, {time.strftime('%Y-')}" in capsys.readouterr().err
    assert "another-machine" in lock.path.read_text(), "the next start must ask, too"


def test_who_says_that_the_other_machine_has_ended_has_the_chats(
    monkeypatch, offered: list[str], lock: FolderLock, tmp_path: Path
) -> None:
    monkeypatch.setattr(window, "_is_shared", lambda _folder: True)
    lock.path.write_text("12\nskein\nanother-machine\n")
    assert window._take(lock, tmp_path, None) is None
    assert offered == ["It is not running there"]
    assert window._take(FolderLock(tmp_path / "other.lock"), tmp_path, None) is None
    assert len(offered) == 1, "without a trace of another machine there is nothing to ask"


@pytest.mark.parametrize(
    ("holder", "said", "offer"),
    [
        (Holder(os.getpid(), socket.gethostname(), 0), f"process {os.getpid()}, since 1970", True),
        (Holder(12, "another-machine", 0), "on another-machine (process 12, since 1970", False),
        (None, "Another program is using the chats", False),
    ],
    ids=["here", "elsewhere", "unknown"],
)
def test_a_skein_that_does_not_answer_is_named_and_ended_only_if_it_is_surely_that_process(
    monkeypatch,
    capsys,
    offered: list[str],
    lock: FolderLock,
    tmp_path: Path,
    holder: Holder,
    said: str,
    offer: bool,
) -> None:
    done: list[object] = []
    monkeypatch.setattr("app.services.other_starts.hand_over", lambda *_: False)
    monkeypatch.setattr(FolderLock, "holder", holder)
    monkeypatch.setattr(FolderLock, "end", lambda _lock, ended: done.append(ended) or True)
    monkeypatch.setattr(os, "execv", lambda *command: done.append(command))
    assert lock.try_lock()
    assert window._take(FolderLock(lock.path), tmp_path, None) == 1
    assert said in capsys.readouterr().err
    assert offered == ["End it and start again" if offer else ""]
    assert done == ([holder, (sys.executable, sys.orig_argv)] if offer else [])


def test_a_full_disk_is_called_full(
    monkeypatch, capsys, offered: list[str], lock: FolderLock, tmp_path
) -> None:
    def fail(_lock: FolderLock) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device", str(lock.path))

    monkeypatch.setattr(FolderLock, "try_lock", fail)
    assert window._take(lock, tmp_path, None) == 1
    assert "is full. Free some space" in capsys.readouterr().err


def test_a_data_folder_that_nobody_can_write_to_is_used_as_it_is(monkeypatch) -> None:
    with foreign_folder() as home:
        monkeypatch.setenv("XDG_DATA_HOME", str(home))
        folder = window._data_dir()
        assert not paths.is_read_only(folder)
        with read_only(folder):
            assert window._data_dir() == folder
            assert paths.is_read_only(folder)


def test_without_any_place_for_a_data_folder_there_is_none(monkeypatch) -> None:
    with foreign_folder() as home:
        monkeypatch.setenv("XDG_DATA_HOME", str(home))
        with read_only(home), pytest.raises(OSError):
            window._data_dir()
