import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QLockFile

from app.system import folder_lock
from app.system.folder_lock import FolderLock

HERE = socket.gethostname()
HOLDS_IT = """
import sys, time
from pathlib import Path
from app.system.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
assert lock.try_lock()
lock.sign()
print("has it", flush=True)
time.sleep(600)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "skein.lock"


@pytest.fixture
def other(path: Path):
    """Another process, which has the lock."""
    with subprocess.Popen([sys.executable, "-c", HOLDS_IT, str(path)], stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        yield child
        child.kill()


@pytest.mark.parametrize(
    "left",
    [
        b"",
        bytes(100),
        b"12\n",
        b"\xff\xfe" * 2000,
        b"12\nskein\nanother-machine\n",
        f"{os.getpid()}\n{Path(sys.executable).name}\n{HERE}\n".encode(),
    ],
    ids=["empty", "zeros", "one line", "no text", "another machine", "a live process"],
)
def test_whatever_a_crash_has_left_the_next_one_has_the_lock(path: Path, left: bytes) -> None:
    path.write_bytes(left)
    lock = FolderLock(path)
    assert lock.try_lock()
    lock.sign()
    assert lock.holder
    assert (lock.holder.pid, lock.holder.host) == (os.getpid(), HERE)
    lock.unlock()
    assert not path.exists()


def test_one_process_has_it_until_it_dies(path: Path, other) -> None:
    lock = FolderLock(path)
    assert not lock.try_lock()
    assert lock.holder
    assert (lock.holder.pid, lock.holder.is_on_this_host) == (other.pid, True)
    other.kill()
    other.wait()
    assert lock.try_lock()
    lock.unlock()


@pytest.mark.parametrize("number", [signal.SIGCONT, signal.SIGSTOP])
def test_one_that_does_not_answer_can_be_ended(path: Path, other, monkeypatch, number: int) -> None:
    monkeypatch.setattr(folder_lock, "TERMINATE_S", 0.1)
    other.send_signal(number)
    lock = FolderLock(path)
    holder = lock.holder
    assert holder
    assert lock.can_be_ended(holder)
    assert lock.end(holder)
    assert other.wait() in (-signal.SIGTERM, -signal.SIGKILL)
    assert lock.try_lock()
    lock.unlock()


def test_what_only_has_that_number_is_not_ended(path: Path, other) -> None:
    """A container counts its own processes, and may be called as this machine is."""
    lock = FolderLock(path)
    assert lock.holder
    assert not lock.can_be_ended(lock.holder._replace(host="another-machine"))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        assert not lock.can_be_ended(lock.holder._replace(pid=stranger.pid))


def test_older_skeins_heed_it_and_are_heeded(path: Path) -> None:
    old, lock = QLockFile(str(path)), FolderLock(path)
    old.setStaleLockTime(0)
    assert old.tryLock(0)
    assert not lock.try_lock()
    assert lock.holder
    assert lock.holder.pid == os.getpid()
    old.unlock()

    assert lock.try_lock()
    lock.sign()
    assert not old.tryLock(0)
    assert old.getLockInfo()[:2] == (os.getpid(), HERE)
    lock.unlock()
    assert old.tryLock(0)
    old.unlock()


def test_a_file_that_is_removed_while_it_is_being_locked_is_not_the_lock(path: Path, monkeypatch) -> None:
    lock_file: Callable[[int], bool] = folder_lock._lock
    first = FolderLock(path)
    assert first.try_lock()

    def unlock_before(handle: int) -> bool:
        first.unlock()
        return lock_file(handle)

    monkeypatch.setattr(folder_lock, "_lock", unlock_before)
    second = FolderLock(path)
    assert second.try_lock()
    monkeypatch.undo()
    assert not FolderLock(path).try_lock()
    second.unlock()


def test_on_a_disk_without_locks_sqlite_is_left_to_refuse(path: Path, monkeypatch) -> None:
    def flock(_file: int, _operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    lock = FolderLock(path)
    assert lock.try_lock()
    lock.unlock()


def test_a_full_disk_breaks_no_lock(path: Path, monkeypatch) -> None:
    lock = FolderLock(path)
    assert lock.try_lock()

    def write(_handle: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_lock, "os", SimpleNamespace(**{**vars(os), "write": write}))
    lock.sign()
    monkeypatch.undo()
    assert lock.holder is None
    assert not FolderLock(path).try_lock()
    lock.unlock()
