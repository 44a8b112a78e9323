"""600 cuts and more: `python -m tests.benchmarks durability`."""

import random
import shutil
from pathlib import Path

import pytest

from tests.storage.power_cuts import Call, Disk, power_cuts, record
from tests.storage.survival import Found, look

NUM_CUTS = 25

needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


def call(name: str, arguments: str, *strings: bytes, result: int = 0) -> Call:
    return Call(name, arguments, strings, result)


def after_cuts(disk: Disk, to: Path, number: int = 50) -> set[tuple[tuple[str, bytes], ...]]:
    """Everything that may be found."""
    found = set()
    for seed in range(number):
        folder = to / str(seed)
        folder.mkdir()
        disk.after_power_cut(folder, random.Random(seed))
        found.add(tuple(sorted((path.name, path.read_bytes()) for path in folder.iterdir())))
    return found


class TestDisk:
    def test_what_was_synced_is_there_and_what_was_not_may_be(self, tmp_path: Path) -> None:
        disk = Disk(Path("/d"))
        disk.start_with({"a": b"old"})
        disk.apply(call("openat", 'AT_FDCWD, "", O_RDWR', b"/d/a", result=3))
        disk.apply(call("pwrite64", '3, "", 3, 0', b"new", result=3))
        assert after_cuts(disk, tmp_path) == {(("a", b"old"),), (("a", b"new"),)}
        disk.apply(call("fdatasync", "3"))
        (tmp_path / "synced").mkdir()
        assert after_cuts(disk, tmp_path / "synced") == {(("a", b"new"),)}

    def test_a_long_write_may_be_torn(self, tmp_path: Path) -> None:
        disk = Disk(Path("/d"))
        disk.start_with({"a": b"." * 1024})
        disk.apply(call("openat", 'AT_FDCWD, "", O_RDWR', b"/d/a", result=3))
        disk.apply(call("pwrite64", '3, "", 1024, 0', b"#" * 1024, result=1024))
        contents = {content for ((_, content),) in after_cuts(disk, tmp_path)}
        assert b"." * 512 + b"#" * 512 in contents

    def test_a_new_name_is_certain_only_once_its_folder_is_synced(self, tmp_path: Path) -> None:
        disk = Disk(Path("/d"))
        disk.start_with({"a": b"old"})
        disk.apply(call("openat", 'AT_FDCWD, "", O_RDWR|O_CREAT', b"/d/b", result=3))
        disk.apply(call("write", '3, "", 3', b"new", result=3))
        disk.apply(call("fsync", "3"))
        disk.apply(call("rename", '"", ""', b"/d/b", b"/d/a"))
        assert (("a", b"old"),) in after_cuts(disk, tmp_path)
        disk.apply(call("openat", 'AT_FDCWD, "", O_RDONLY|O_DIRECTORY', b"/d", result=4))
        disk.apply(call("fsync", "4"))
        (tmp_path / "synced").mkdir()
        assert after_cuts(disk, tmp_path / "synced") == {(("a", b"new"),)}


@needs_strace
def test_no_power_cut_damages_the_chats_or_takes_back_what_was_called_safe(tmp_path: Path) -> None:
    for found in cuts(tmp_path):
        assert found == Found()


@needs_strace
def test_the_same_cuts_find_a_database_that_does_not_sync(tmp_path: Path) -> None:
    assert any(found != Found() for found in cuts(tmp_path, "0", "OFF"))


def cuts(tmp_path: Path, *options: str) -> list[Found]:
    work = tmp_path / "work"
    work.mkdir()
    calls = record("-m", "tests.storage.recorded", str(work), "16", *options, folder=tmp_path)
    disk, chance = Disk(work), random.Random(1)
    results = []
    for number, _ in enumerate(power_cuts(calls, disk, NUM_CUTS, chance)):
        left = tmp_path / f"cut{number}"
        left.mkdir()
        disk.after_power_cut(left, chance)
        results.append(look(left, disk.acknowledged))
        shutil.rmtree(left)
    return results
