"""`skein serve` in a process of its own: how it is asked, and when its loop served nobody.

Started as `python -m tests.benchmarks.served RECORD.json [arguments of skein serve…]` it writes the stalls of
its loop to that file at its end. Times are `time.perf_counter()`, on Linux one clock for all processes.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import aiohttp

from app.api.engine_client import EngineClient
from app.cli import serve

KEY = "benchmark"
HUNG_S = 60.0  # a caller who has waited for so long will wait for ever
STOP_S = 10.0
TICK_S = 0.005


class Served:
    def __init__(self, address: str) -> None:
        self.address = address

    async def metrics(self, http: aiohttp.ClientSession) -> dict[str, float]:
        async with http.get(f"{self.address}/metrics") as response:
            found = re.findall(r"^llamacpp:(\w+) (\S+)$", await response.text(), re.MULTILINE)
            return {name: float(value) for name, value in found}

    async def post(self, http: aiohttp.ClientSession, path: str, body: object) -> tuple[int, Any]:
        async with http.post(self.address + path, json=body) as response:
            return response.status, await response.json()


def session() -> aiohttp.ClientSession:
    """Each request has a connection of its own."""
    return aiohttp.ClientSession(
        headers={"X-Api-Key": KEY},
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        timeout=aiohttp.ClientTimeout(total=HUNG_S),
    )


@contextmanager
def serving(*arguments: str) -> Iterator[Served]:
    """Ends in order, or AssertionError."""
    command = [sys.executable, "-m", "app", "serve", "--api-key", KEY, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), "skein serve did not start; what it says is above"
        yield Served(line.split()[-1])
        process.send_signal(signal.SIGTERM)
        code = process.wait(STOP_S)
        assert code == 0, f"skein serve ended with code {code}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# In the process that serves.


@dataclass(frozen=True)
class Stall:
    """The loop served nobody from `began` on, for `seconds`, of which it computed `cpu_s` itself."""

    began: float
    seconds: float
    cpu_s: float


def load_stalls(path: Path) -> list[Stall]:
    return [Stall(**one) for one in json.loads(path.read_text())]


class WatchedClient(EngineClient):
    stalls: list[Stall] = []  # noqa: RUF012  (one server in one process)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ticking = asyncio.ensure_future(_tick(self.stalls))


async def _tick(stalls: list[Stall]) -> None:
    while True:
        began, cpu_began = time.perf_counter(), time.thread_time()
        await asyncio.sleep(TICK_S)
        seconds = time.perf_counter() - began - TICK_S
        if seconds > TICK_S:
            stalls.append(Stall(began, seconds, time.thread_time() - cpu_began))


def main() -> int:
    path = Path(sys.argv[1])
    with mock.patch.object(serve, "EngineClient", WatchedClient):
        code = serve.main(sys.argv[2:])
    path.write_text(json.dumps([asdict(stall) for stall in WatchedClient.stalls]))
    return code


if __name__ == "__main__":
    sys.exit(main())
