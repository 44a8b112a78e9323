"""The programs that are killed: each fetches one model, and gets a SIGKILL at a point it is told before.

With an order and a folder as arguments it fetches that. Without, it reads from stdin which ones, and forks
for each, as nothing else is quick enough for so many; how each ended is written to stdout.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from app.models import download, hub_session  # noqa: F401  (so that no child needs the time for it)
from app.models.hub_address import DownloadError, HubError
from app.models.order import Order
from app.models.part_file import PartFile

ROOT = Path(__file__).parents[2]
BATCH_BYTES = 16 * 1024
# Where: with the first bytes written, in the middle of a write, and with all bytes there and none looked at.
POINTS = ("first bytes", "half a write", "last byte")
_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"}


class Fetching:
    """Starts them, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def run(self, order: Order, folder: Path, killed_at: str | int = "") -> int:
        """The exit code: -9 after a kill, 0 when all is there, 1 when it was refused.

        A number kills it before it changes the folder for the so many-th time. One that would be refused
        before it gets to its point is killed then.
        """
        job = {"order": order.model_dump(mode="json"), "folder": str(folder), "killed_at": killed_at}
        return int(await asyncio.to_thread(self._ask, json.dumps(job)))

    def _ask(self, line: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


@contextmanager
def fetching() -> Iterator[Fetching]:
    command = [sys.executable, "-m", "tests.models.fetching"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield Fetching(process)


# In the processes themselves


def _fetch(order: Order, folder: Path) -> None:
    download.BATCH_BYTES = BATCH_BYTES
    download.MARGIN_BYTES = 0
    download.RETRY_DELAYS_S = (0.0, 0.0)
    asyncio.run(download.Fetch(order, folder).run())


def _fork_for_each_line() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _be_the_child(json.loads(line))
        _child, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _be_the_child(job: dict[str, Any]) -> NoReturn:
    order, killed_at = Order.model_validate(job["order"]), job["killed_at"]
    if isinstance(killed_at, int):
        _die_before_change(killed_at, job["folder"])
    elif killed_at:
        _die_at(killed_at, order.files[-1].size_bytes)
    code = 70
    try:
        _fetch(order, Path(job["folder"]))
        code = 0
    except (HubError, DownloadError):
        if killed_at in POINTS:
            _die()
        code = 1
    finally:
        os._exit(code)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_at(point: str, size_bytes: int) -> None:
    append = PartFile.append

    def append_and_die(part: PartFile, data: bytes) -> None:
        half = size_bytes // 2 - part.num_bytes
        if point == "half a write" and len(data) > half:
            part._file.write(data[:half])
            part._file.flush()
            _die()
        append(part, data)
        if point == "first bytes" or (point == "last byte" and part.num_bytes == size_bytes):
            part._file.flush()
            _die()

    PartFile.append = append_and_die  # type: ignore[method-assign]


def _die_before_change(number: int, folder: str) -> None:
    """Of a name in `folder`, or of a file that is opened to be written."""
    left = iter(range(number))

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        is_change = event in _CHANGES
        if event == "open":
            is_change = isinstance(arguments[2], int) and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if is_change and str(arguments[0]).startswith(folder) and next(left, None) is None:
            _die()

    sys.addaudithook(watch)


if __name__ == "__main__":
    if sys.argv[1:]:
        _fetch(Order.model_validate_json(sys.argv[1]), Path(sys.argv[2]))
    else:
        _fork_for_each_line()
