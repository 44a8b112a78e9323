"""`skein serve` in a process of its own: how it is asked, what it holds, and what its engine did.

Started as `python -m tests.benchmarks.served RECORD.json [arguments of skein serve…]` it tells at its end
in that file what its engine did. Times are `time.perf_counter()`, on Linux one clock for all processes.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import aiohttp

from app.api.engine_client import EngineClient
from app.cli import serve
from app.protocol.output import FinishReason
from app.protocol.report import StepReport
from tests.benchmarks.workload import anonymous_bytes

KEY = "benchmark"
HUNG_S = 60.0  # a caller who has waited for so long will wait for ever
STOP_S = 10.0
SETTLE_S = 5.0
POLL_S = 0.05
TICK_S = 0.005


@dataclass(frozen=True)
class Holdings:
    """What an idle server holds. None of it may grow."""

    num_sockets: int
    num_files: int  # descriptors, sockets included
    num_threads: int
    num_running: int  # slots
    num_waiting: int  # requests
    num_cells: int


class Served:
    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address
        self.port = int(address.rpartition(":")[2])
        self._num_files_at_rest = len(self._files())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def anonymous_bytes(self) -> int:
        return anonymous_bytes(self.pid)

    async def settled(self, request: dict[str, Any]) -> Holdings:
        """After one more request, when every connection has had time to end."""
        async with session() as http:
            with suppress(TimeoutError):  # what is in its way is told by what is held
                await self.post(http, "/generate", request)
        deadline = time.perf_counter() + SETTLE_S
        while not _is_at_rest(held := await self.holdings(), self._num_files_at_rest):
            if time.perf_counter() > deadline:
                break
            await asyncio.sleep(POLL_S)
        return held

    async def holdings(self) -> Holdings:
        async with session() as http:
            slots = await self.slots(http)
            metrics = await self.metrics(http)
        await asyncio.sleep(POLL_S)  # for the end of these two connections
        files = self._files()
        return Holdings(
            sum(name.startswith("socket:") for name in files),
            len(files),
            len(list(Path(f"/proc/{self._process.pid}/task").iterdir())),
            sum(slot["is_processing"] for slot in slots),
            int(metrics["requests_deferred"]),
            int(metrics["kv_cache_tokens"]),
        )

    async def num_steps(self) -> int:
        async with session() as http:
            return int((await self.metrics(http))["n_decode_total"])

    async def slots(self, http: aiohttp.ClientSession) -> list[dict[str, Any]]:
        async with http.get(f"{self.address}/slots") as response:
            slots: list[dict[str, Any]] = await response.json()
            return slots

    async def metrics(self, http: aiohttp.ClientSession) -> dict[str, float]:
        async with http.get(f"{self.address}/metrics") as response:
            found = re.findall(r"^llamacpp:(\w+) (\S+)$", await response.text(), re.MULTILINE)
            return {name: float(value) for name, value in found}

    async def post(self, http: aiohttp.ClientSession, path: str, body: object) -> tuple[int, Any]:
        async with http.post(self.address + path, json=body) as response:
            return response.status, await response.json()

    def request(self, body: dict[str, Any]) -> bytes:
        """The bytes of a `POST /generate`, for those who do not send or read all of them."""
        data = json.dumps(body).encode()
        head = f"POST /generate HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nX-Api-Key: {KEY}\r\n"
        return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data

    async def connect(self, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        return reader, writer

    def _files(self) -> list[str]:
        return [_target(file) for file in Path(f"/proc/{self._process.pid}/fd").iterdir()]


def session() -> aiohttp.ClientSession:
    """Each request has a connection of its own."""
    return aiohttp.ClientSession(
        headers={"X-Api-Key": KEY},
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        timeout=aiohttp.ClientTimeout(total=HUNG_S),
    )


@contextmanager
def serving(*arguments: str, record: Path | None = None) -> Iterator[Served]:
    """Ends in order, or AssertionError. With `record` it writes down what its engine did."""
    program = ["tests.benchmarks.served", str(record)] if record else ["app", "serve"]
    command = [sys.executable, "-m", *program, "--api-key", KEY, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), "skein serve did not start; what it says is above"
        yield Served(process, line.split()[-1])
        process.send_signal(signal.SIGTERM)
        code = process.wait(STOP_S)
        assert code == 0, f"skein serve ended with code {code}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _is_at_rest(held: Holdings, num_files: int) -> bool:
    return held.num_files <= num_files and not held.num_running and not held.num_waiting


def _target(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:  # closed in this moment
        return ""


# In the process that serves.


@dataclass(frozen=True)
class Reported:
    """One report. The lists are of chat ids; each `present` one holds cells or waits."""

    began: float
    ended: float
    prefilled: list[str]
    decoded: list[str]
    aborted: list[str]
    present: list[str]

    @property
    def computed(self) -> list[str]:
        return self.prefilled + self.decoded


@dataclass(frozen=True)
class Stall:
    """The loop served nobody from `began` on, for `seconds`, of which it computed `cpu_s` itself."""

    began: float
    seconds: float
    cpu_s: float


def load_record(path: Path) -> list[Reported]:
    return [Reported(**one) for one in json.loads(path.read_text())["reports"]]


def load_stalls(path: Path) -> list[Stall]:
    return [Stall(**one) for one in json.loads(path.read_text())["stalls"]]


class WatchedClient(EngineClient):
    record: list[Reported] = []  # noqa: RUF012  (one server in one process)
    stalls: list[Stall] = []  # noqa: RUF012

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ticking = asyncio.ensure_future(_tick(self.stalls))

    def on_reports(self, reports: Sequence[StepReport]) -> None:
        self.record += map(_reported, reports)
        super().on_reports(reports)


def _reported(report: StepReport) -> Reported:
    took_ms = report.schedule_ms + report.decode_ms + report.update_ms
    return Reported(
        report.started_at,
        report.started_at + took_ms / 1000,
        [span.chat_id for span in report.spans if span.is_prefill],
        [span.chat_id for span in report.spans if not span.is_prefill],
        [out.chat_id for out in report.outputs if out.finish_reason is FinishReason.ABORT],
        [slot.chat_id for slot in report.slots if slot.chat_id and slot.num_cells]
        + [one.chat_id for one in report.waiting],
    )


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
    reports, stalls = map(asdict, WatchedClient.record), map(asdict, WatchedClient.stalls)
    path.write_text(json.dumps({"reports": list(reports), "stalls": list(stalls)}))
    return code


if __name__ == "__main__":
    sys.exit(main())
