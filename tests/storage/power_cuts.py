"""What a disk may hold after the power has failed, from a recorded log of system calls.

A program is recorded with strace. Then, for any moment of it, a folder is made as a disk may have it: what
was synced is there; of what was not, any part may be missing, torn at sectors. Changes of names happen in
their order, as a journal keeps them, but none is certain before the folder was synced.
"""

from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTOR = 512
ACK_FD = 1
_TRACED = (
    "open,openat,creat,write,pwrite64,ftruncate,fdatasync,fsync,unlink,unlinkat,rename,renameat,renameat2,close,"
    "mkdir,lseek,link,linkat"
)
_CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)")
_UNFINISHED = re.compile(r"(\d+) +(\w+\(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)$")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str
    strings: tuple[bytes, ...]
    result: int

    @property
    def fd(self) -> int:
        return int(self.arguments.partition(",")[0])

    @property
    def last_number(self) -> int:
        return int(self.arguments.rpartition(",")[2])


def record(*arguments: str, folder: Path) -> list[Call]:
    """What Python with these arguments did to the disk. What it prints is in there, too."""
    log = folder / "strace.log"
    done = subprocess.run(
        ["strace", "-f", "-xx", "-s", "10000000", "-e", f"trace={_TRACED}", "-o", str(log),
         sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return parse(log.read_text())


def parse(log: str) -> list[Call]:
    """Calls that were made, in the order in which they returned."""
    calls: list[Call] = []
    begun: dict[str, str] = {}
    for line in log.splitlines():
        if found := _UNFINISHED.match(line):
            begun[found[1]] = found[2]
            continue
        if found := _RESUMED.match(line):
            line = f"{found[1]} {begun.pop(found[1])}{found[2]}"
        if (found := _CALL.match(line)) and int(found[4]) >= 0:
            strings = tuple(ast.literal_eval(f'b"{text}"') for text in _STRING.findall(found[3]))
            calls.append(Call(found[2], _STRING.sub('""', found[3]), strings, int(found[4])))
    return calls


@dataclass
class Inode:
    safe: bytearray = field(default_factory=bytearray)
    unsafe: list[tuple[int, bytes | None]] = field(
        default_factory=list
    )  # offset and data, or None: cut there

    def sync(self) -> None:
        self.safe = self.after(self.unsafe)
        self.unsafe = []

    def after(self, changes: Sequence[tuple[int, bytes | None]]) -> bytearray:
        content = bytearray(self.safe)
        for offset, data in changes:
            if data is None:
                content = content[:offset] + bytes(max(0, offset - len(content)))
            else:
                content += bytes(max(0, offset - len(content)))
                content[offset : offset + len(data)] = data
        return content

    @property
    def size(self) -> int:
        return len(self.after(self.unsafe))


@dataclass
class OpenFile:
    path: str
    inode: Inode | None  # None: a folder
    position: int = 0
    appends: bool = False


class Disk:
    """Everything below `folder`, as far as the calls have gone."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._names: dict[str, Inode] = {}  # as running programs see them
        self._safe_names: dict[str, Inode] = {}
        # Each step: names, and what they stand for from then on.
        self._unsafe_names: list[dict[str, Inode | None]] = []
        self._open: dict[int, OpenFile] = {}
        self.acknowledged: list[str] = []

    def start_with(self, files: dict[str, bytes]) -> None:
        """What was safely there before, by its name in the folder."""
        for name, content in files.items():
            inode = Inode(bytearray(content))
            self._names[f"{self._folder}/{name}"] = self._safe_names[f"{self._folder}/{name}"] = inode

    def apply(self, call: Call) -> None:
        handler = getattr(self, f"_{call.name}", None)
        if handler:
            handler(call)

    def after_power_cut(self, to: Path, chance: random.Random) -> None:
        names = dict(self._safe_names)
        for step in self._unsafe_names[: chance.randint(0, len(self._unsafe_names))]:
            _take_step(names, step)
        contents: dict[int, bytes] = {}
        for name, inode in names.items():
            if name.endswith("-shm"):  # shared memory: nothing of it is asked for after a restart
                continue
            if id(inode) not in contents:
                contents[id(inode)] = bytes(inode.after(_survivors(inode, chance)))
            path = to / os.path.relpath(name, self._folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents[id(inode)])

    # Each call that matters.

    def _openat(self, call: Call) -> None:
        path = call.strings[0].decode()
        if not path.startswith(f"{self._folder}/") and path != self._folder:
            self._open.pop(call.result, None)
            return
        if "O_DIRECTORY" in call.arguments:
            self._open[call.result] = OpenFile(path, None)
            return
        inode = self._names.get(path)
        if inode is None:
            if "O_CREAT" not in call.arguments:  # a folder, opened without saying so
                self._open[call.result] = OpenFile(path, None)
                return
            inode = Inode()
            self._step({path: inode})
        elif "O_TRUNC" in call.arguments:
            inode.unsafe.append((0, None))
        self._open[call.result] = OpenFile(path, inode, appends="O_APPEND" in call.arguments)

    def _close(self, call: Call) -> None:
        self._open.pop(call.fd, None)

    def _write(self, call: Call) -> None:
        if call.fd == ACK_FD:
            self.acknowledged += call.strings[0].decode().split()
            return
        file = self._open.get(call.fd)
        if file and file.inode:
            position = file.inode.size if file.appends else file.position
            file.inode.unsafe.append((position, call.strings[0][: call.result]))
            file.position = position + call.result

    def _pwrite64(self, call: Call) -> None:
        file = self._open.get(call.fd)
        if file and file.inode:
            file.inode.unsafe.append((call.last_number, call.strings[0][: call.result]))

    def _lseek(self, call: Call) -> None:
        if file := self._open.get(call.fd):
            file.position = call.result

    def _ftruncate(self, call: Call) -> None:
        file = self._open.get(call.fd)
        if file and file.inode:
            file.inode.unsafe.append((call.last_number, None))

    def _fsync(self, call: Call) -> None:
        file = self._open.get(call.fd)
        if file and file.inode:
            file.inode.sync()
        elif file:
            self._sync_names_in(file.path)

    _fdatasync = _fsync

    def _unlink(self, call: Call) -> None:
        self._step({call.strings[0].decode(): None})

    _unlinkat = _unlink

    def _rename(self, call: Call) -> None:
        old, new = (path.decode() for path in call.strings)
        if inode := self._names.get(old):
            self._step({old: None, new: inode})

    _renameat = _renameat2 = _rename

    def _link(self, call: Call) -> None:
        old, new = (path.decode() for path in call.strings)
        if inode := self._names.get(old):
            self._step({new: inode})

    _linkat = _link

    def _step(self, step: dict[str, Inode | None]) -> None:
        _take_step(self._names, step)
        self._unsafe_names.append(step)

    def _sync_names_in(self, folder: str) -> None:
        """A journal is written from its beginning."""
        in_folder = [
            any(os.path.dirname(path) == folder for path in step)  # noqa: PTH120
            for step in self._unsafe_names
        ]
        num_safe = max((i + 1 for i, is_there in enumerate(in_folder) if is_there), default=0)
        for step in self._unsafe_names[:num_safe]:
            _take_step(self._safe_names, step)
        del self._unsafe_names[:num_safe]


def _take_step(names: dict[str, Inode], step: dict[str, Inode | None]) -> None:
    for name, inode in step.items():
        if inode:
            names[name] = inode
        else:
            names.pop(name, None)


def _survivors(inode: Inode, chance: random.Random) -> list[tuple[int, bytes | None]]:
    """None of what was not synced, all of it, its beginning, or any of it, torn at sectors."""
    kind = chance.choice(("none", "all", "beginning", "any", "any", "torn", "torn"))
    if kind == "none":
        return []
    if kind == "all":
        return inode.unsafe
    if kind == "beginning":
        return inode.unsafe[: chance.randint(0, len(inode.unsafe))]
    left = [change for change in inode.unsafe if chance.random() < 0.5]
    return left if kind == "any" else [torn for change in left for torn in _torn(change, chance)]


def _torn(change: tuple[int, bytes | None], chance: random.Random) -> list[tuple[int, bytes | None]]:
    offset, data = change
    if data is None:
        return [change]
    starts = range(0, len(data), SECTOR)
    return [(offset + start, data[start : start + SECTOR]) for start in starts if chance.random() < 0.5]


def power_cuts(calls: Sequence[Call], disk: Disk, number: int, chance: random.Random) -> Iterator[None]:
    """Plays the calls on `disk`, and pauses at moments spread over those that change something."""
    changing = [i for i, call in enumerate(calls) if call.name not in ("close", "openat", "lseek")]
    moments = Counter(chance.choices(changing, k=number))
    for index, call in enumerate(calls):
        disk.apply(call)
        for _ in range(moments[index]):
            yield
