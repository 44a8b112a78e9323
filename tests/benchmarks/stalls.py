"""Strangers' input by the thousand: how late the loop of `skein serve` and that of the window are meanwhile.

Broken answers, hostile templates, schemas, grammars and bodies come over HTTP to both. In the window somebody
also pastes and imports what strangers wrote: grammars, schemas, prompts, presets and chats. Before that comes
what is ordinary, for comparison. A window is judged by how long a key or a click would wait, and by the
rounds of Qt's loop, between which it takes them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import numpy as np
from numpy.typing import NDArray

from app.cli import serve
from tests.benchmarks.figures import Verdict
from tests.benchmarks.lateness import Lateness
from tests.benchmarks.served import KEY
from tests.benchmarks.strangers import (
    CHAT,
    KINDS,
    LATENESS,
    ORDINARY,
    hostile_process,
    prepare,
    request,
)
from tests.benchmarks.strangers_window import BEGIN, STACKS
from tests.e2e.desktop import new_desktop
from tests.e2e.skein import Skein
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

WANTED_LATE_MS = 50.0
WANTED_LOOP_MS = 20.0  # of computing at one time
NUM_AT_ONCE = 4
NUM_USES = 60  # files of each kind, used again and again
IDLE_S = 3.0
NUM_LONGEST = 8
SHOWN = (50, 99, 99.9, 100)  # percentiles
STOP_S = 20.0
PATIENCE_S = 120.0
N_VOCAB = 4_000
IDLE = "nothing"
LOOP, LOOP_PERIOD_S = 50_000, 0.2

Rows = NDArray[np.float64]  # when, in seconds of `time.perf_counter()`, and how many seconds


@dataclass(frozen=True)
class Phase:
    """`time.perf_counter()` seconds, on Linux one clock for all processes."""

    kind: str
    begin: float
    end: float
    statuses: Counter[str]
    loops: tuple[float, ...]  # seconds of computing that a fixed loop took meanwhile, in this process


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--number", type=int, default=500, help="requests of each kind (default: 500)")
    parser.add_argument(
        "--ordinary", type=int, default=1000, metavar="N", help="such requests first (default: 1000)"
    )
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first request")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of requests (default: all)")
    stacks = "say what the longest rounds do: the window's thread writes its stack, and takes longer by that"
    parser.add_argument("--stacks", action="store_true", help=stacks)
    parser.add_argument("--loops", nargs="+", choices=LOOPS, default=list(LOOPS), help="default: both")


def run(options: argparse.Namespace, verdict: Verdict) -> None:
    for name in options.loops:
        with tempfile.TemporaryDirectory(prefix="skein-stalls-") as folder:
            lateness, phases = LOOPS[name](Path(folder), options)
        _judge(name, lateness, phases, verdict)


def _judge(name: str, lateness: Lateness, phases: list[Phase], verdict: Verdict) -> None:
    _idle, ordinary, *hostile = phases
    print(f"\n{name}: ms of computing that a fixed loop of Python takes meanwhile")
    for phase in phases:
        shares = np.percentile(phase.loops or (np.nan,), (0, 50, 100)) * 1000  # none in a short one
        print("  {:<10} shortest {:4.1f}  median {:4.1f}  longest {:4.1f}".format(phase.kind, *shares))
    ticks = _rows(lateness.ticks, 3)
    late, computing = ticks[:, :2], ticks[:, ::2]
    _show(f"asyncio's loop of the {name}: ms late, ms of computing at one time", late, computing, phases)
    if lateness.uses:
        inputs = _rows(lateness.inputs, 3)
        late, computing = inputs[:, :2], inputs[:, ::2]
        _show(f"{name}: ms for which input waits, ms of computing in that time", late, computing, phases)
        computing = _rows(lateness.rounds, 2)
        _show(f"{name}: ms of computing in one round of Qt's loop", computing, computing[:0], phases)
        uses = Counter(name.partition(" ")[0] for _began, name in lateness.uses)
        print(f"  meanwhile: {', '.join(f'{count:,} x {kind}' for kind, count in uses.items())}")
        _show_longest_rounds(lateness, hostile[0].begin, hostile[-1].end)
    late_ms, cpu_ms = (_ms(values, hostile[0].begin, hostile[-1].end) for values in (late, computing))
    ratio = cpu_ms.max() / _ms(computing, ordinary.begin, ordinary.end).max()
    print(f"  longest computing beside strangers / beside ordinary ones: {ratio:.2f}")
    wanted_ms = WANTED_LATE_MS if lateness.uses else WANTED_LOOP_MS
    verdict.at_most(f"{name}: ms of computing at one time, longest", cpu_ms.max(), wanted_ms)
    verdict.at_most(f"{name}: ms late, p99", np.percentile(late_ms, 99), WANTED_LATE_MS)
    verdict.at_most(f"{name}: ms late, longest", late_ms.max(), WANTED_LATE_MS)
    failures = sum(
        count
        for phase in phases
        for status, count in phase.statuses.items()
        if status.startswith(("5", "no"))
    )
    verdict.equal(f"{name}: requests that failed through no fault of theirs", failures, 0)


def _show(title: str, late: Rows, computing: Rows, phases: list[Phase]) -> None:
    print(f"\n{title}")
    for phase in phases:
        figures = [
            "p50 {:4.1f}  p99 {:4.1f}  p99.9 {:5.1f}  longest {:5.1f}".format(*np.percentile(ms, SHOWN))
            for ms in (_ms(values, phase.begin, phase.end) for values in (late, computing) if values.size)
        ]
        statuses = ", ".join(f"{count:,} x {status}" for status, count in sorted(phase.statuses.items()))
        print(f"  {phase.kind:<10} {'   '.join(figures)}   {phase.end - phase.begin:.0f} s  {statuses}")


def _rows(numbers: Sequence[float], width: int) -> Rows:
    return np.reshape(np.array(numbers, np.float64), (-1, width))


def _ms(rows: Rows, begin: float, end: float) -> NDArray[np.float64]:
    """Of those that began in that time."""
    seconds: Rows = rows[(rows[:, 0] >= begin) & (rows[:, 0] < end), 1]
    return seconds * 1000


def _show_longest_rounds(lateness: Lateness, begin: float, end: float) -> None:
    rounds = [row for row in _rows(lateness.rounds, 2).tolist() if begin <= row[0] < end]
    for began, seconds in sorted(rounds, key=lambda one: -one[1])[:NUM_LONGEST]:
        before = [f"{name} {began - at:.2f} s before" for at, name in lateness.uses if 0 < began - at < 1.0]
        print(f"  a round of {seconds * 1000:.1f} ms of computing; {', '.join(before[-2:])}")
        if note := lateness.notes.get(str(began)):
            print(note)


# The two processes.


def _of_server(folder: Path, options: argparse.Namespace) -> tuple[Lateness, list[Phase]]:
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.stalls",
        "--model",
        str(_model(folder)),
        "--slots",
        "4",
    ]
    command += ["--threads", "1", "--api-key", KEY, "--ctx", "4096"]
    environment = os.environ | prepare(folder, 0)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), "skein serve did not start; what it says is above"
        phases = asyncio.run(_ask_all(line.split()[-1], options, folder))
        process.send_signal(signal.SIGTERM)
        began = time.perf_counter()
        code = process.wait(STOP_S)
        assert code == 0, f"skein serve ended with code {code}"
        print(f"  SIGTERM ended it in {time.perf_counter() - began:.1f} s")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return Lateness.load(folder / LATENESS), phases


def _of_window(folder: Path, options: argparse.Namespace) -> tuple[Lateness, list[Phase]]:
    with new_desktop() as desktop, _window(folder, Skein(folder / "home", desktop), options) as (skein, port):
        phases = asyncio.run(_ask_all(f"http://127.0.0.1:{port}", options, folder))
        assert skein.process
        skein.process.send_signal(signal.SIGTERM)
        code, _seconds = skein.wait_for_end(STOP_S)
        said = "\n".join([skein.output_file.read_text(), *skein.crashes()])
        assert code == 0, f"the window ended with code {code}:\n{said}"
        uncaught = skein.log().partition("Nobody caught this")[2]
        assert not uncaught, uncaught[:3000]
    return Lateness.load(folder / LATENESS), phases


@contextmanager
def _window(folder: Path, skein: Skein, options: argparse.Namespace) -> Iterator[tuple[Skein, int]]:
    port = _free_port()
    skein.configure(api_enabled=True, api_port=port, api_key=KEY, n_ctx=4096, n_threads=1)
    skein.desktop.environment |= prepare(folder, NUM_USES)
    if options.stacks:
        skein.desktop.environment[STACKS] = "1"
    try:
        program = ("-m", "tests.benchmarks.strangers_window")
        skein.start(str(_model(folder)), observed=False, program=program)
        yield skein, port
    finally:
        skein.clean_up()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _model(folder: Path) -> Path:
    return write_tiny_gguf(folder / "tiny.gguf", "qwen3", shape=Shape(n_vocab=N_VOCAB))


# What is asked.


async def _ask_all(address: str, options: argparse.Namespace, folder: Path) -> list[Phase]:
    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    async with aiohttp.ClientSession(address, headers={"X-Api-Key": KEY}, timeout=timeout) as http:
        await _ask(http, "answers", 0)  # what is imported then
        began = time.perf_counter()
        loops: list[float] = []
        watching = asyncio.create_task(_watch_machine(loops))
        await asyncio.sleep(IDLE_S)
        phases = [Phase(IDLE, began, time.perf_counter(), Counter(), tuple(loops))]
        for kind in (ORDINARY, *options.kinds):
            (folder / "next").write_text(kind)
            (folder / "next").replace(folder / BEGIN)
            num = options.ordinary if kind == ORDINARY else options.number
            loops.clear()
            began = time.perf_counter()
            statuses = await _ask_for(http, kind, range(options.first, options.first + num))
            phases.append(Phase(kind, began, time.perf_counter(), statuses, tuple(loops)))
        watching.cancel()
        (folder / BEGIN).unlink()
    return phases


async def _watch_machine(loops: list[float]) -> None:
    """Others share its processors: what everything takes changes from one second to the next."""
    while True:
        began = time.thread_time()
        for _ in range(LOOP):
            pass
        loops.append(time.thread_time() - began)
        await asyncio.sleep(LOOP_PERIOD_S)


async def _ask_for(http: aiohttp.ClientSession, kind: str, numbers: range) -> Counter[str]:
    """Some at once."""
    left = iter(numbers)
    statuses: Counter[str] = Counter()

    async def ask() -> None:
        for number in left:
            status = await _ask(http, kind, number)
            statuses[status] += 1
            if status.startswith(("5", "no")):
                print(f"  {kind} {number}: {status}", flush=True)

    await asyncio.gather(*(ask() for _ in range(NUM_AT_ONCE)))
    return statuses


async def _ask(http: aiohttp.ClientSession, kind: str, number: int) -> str:
    headers = {"Content-Type": "application/json"}
    try:
        async with http.post(CHAT, data=request(kind, number), headers=headers) as response:
            text = await response.text()
            ends_with_error = response.ok and '"error":' in text.rpartition("\n\ndata: {")[2]
            return f"{response.status}{', then an error' if ends_with_error else ''}"
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"no answer: {error!r}"


LOOPS = {"server": _of_server, "window": _of_window}


def main() -> int:
    """`skein serve` for strangers."""
    lateness = Lateness()
    with hostile_process(lateness) as folder:
        code = serve.main(sys.argv[1:])
    lateness.write(folder / LATENESS)
    return code


if __name__ == "__main__":
    sys.exit(main())
