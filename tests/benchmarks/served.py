"""`skein serve` in a process of its own: how it is asked, and how late its loop was.

Started as `python -m tests.benchmarks.served RECORD.json [arguments of skein serve…]` it writes the lateness
of its loop to that file at its end. Times are `time.perf_counter()`, on Linux one clock for all processes.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import aiohttp

from app.api import model_router
from app.cli import serve
from tests.benchmarks.lateness import Lateness

KEY = "benchmark"
HUNG_S = 60.0  # a caller who has waited for so long will wait for ever
STOP_S = 10.0


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


def main() -> int:
    path, lateness = Path(sys.argv[1]), Lateness()
    with mock.patch.object(model_router, "EngineClient", lateness.client()):
        code = serve.main(sys.argv[2:])
    lateness.write(path)
    return code


if __name__ == "__main__":
    sys.exit(main())
