"""How many threads, and how long they should spin: speed and longest step beside a busy program.

llama.cpp's threads meet after every operation and spin until all are there, so one core that is busy with
something else can stall all of them. How long they spin is libgomp's to decide, once, from the environment.
Therefore each environment is measured in a process of its own. Prints a table to choose from, no verdict.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from app.engine.engine import Engine
from app.system.cores import num_physical_cores
from tests.benchmarks import workload
from tests.benchmarks.workload import TimedEngine

ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"GOMP_SPINCOUNT": "300000"},  # what libgomp does by itself
    {"GOMP_SPINCOUNT": "10000"},
    {"GOMP_SPINCOUNT": "100"},
    {"OMP_WAIT_POLICY": "passive"},
]
LOADS = ["nothing", "thread", "process"]  # what is busy beside the engine
FRAME_S = 1 / 60
N_CTX = 4096


@dataclass(frozen=True)
class Measured:
    """One run: `late_ms` is the longest that a thread that wants to draw a frame had to wait for its turn."""

    load: str
    prompt_tokens_per_s: float
    tokens_per_s: float
    step_ms: float
    longest_step_ms: float
    late_ms: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--sequences", type=int, default=4)
    parser.add_argument("--prompt-tokens", type=int, default=64, help="of each sequence")
    parser.add_argument("--tokens", type=int, default=48, help="generated per sequence")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)  # in this very process


def run(options: argparse.Namespace) -> int:
    if options.measure:
        _measure(options)
        return 0
    num_cores = num_physical_cores()
    thread_counts = [options.threads] if options.threads else range(1, num_cores + 1)
    print(
        f"{num_cores} cores; {options.sequences} sequences of {options.prompt_tokens} prompt tokens and "
        f"{options.tokens} generated; medians of {options.repeats}, the longest of all\n"
    )
    columns = ["prompt t/s", "tokens/s", "step ms", "longest", "frame late"]
    print(
        f"{'environment':<26}{'threads':<9}{'busy':<9}"
        + "".join(f"{name:>12}" for name in columns)
        + "  raw tokens/s"
    )
    for environment in ENVIRONMENTS:
        for num_threads in thread_counts:
            runs = _measured_elsewhere(options, environment, num_threads)
            for load in LOADS:
                _print_row(environment, num_threads, [one for one in runs if one.load == load])
    return 0


def _print_row(environment: dict[str, str], num_threads: int, runs: list[Measured]) -> None:
    name = " ".join(f"{key}={value}" for key, value in environment.items()) or "as it is"
    raw = " ".join(f"{one.tokens_per_s:.1f}" for one in runs)
    numbers = [
        f"{statistics.median(one.prompt_tokens_per_s for one in runs):12.1f}",
        f"{statistics.median(one.tokens_per_s for one in runs):12.1f}",
        f"{statistics.median(one.step_ms for one in runs):12.1f}",
        f"{max(one.longest_step_ms for one in runs):12.1f}",
        f"{max(one.late_ms for one in runs):12.1f}",
    ]
    print(f"{name:<26}{num_threads:<9}{runs[0].load:<9}" + "".join(numbers) + f"  {raw}", flush=True)


def _measured_elsewhere(
    options: argparse.Namespace, environment: dict[str, str], num_threads: int
) -> list[Measured]:
    """This benchmark in a new process, with another environment."""
    command = [sys.executable, "-m", "tests.benchmarks", "threads", "--measure"]
    command += ["--threads", str(num_threads), "--repeats", str(options.repeats)]
    command += ["--sequences", str(options.sequences)]
    command += ["--prompt-tokens", str(options.prompt_tokens), "--tokens", str(options.tokens)]
    if options.model:
        command += ["--model", str(options.model)]
    inherited = {key: value for key, value in os.environ.items() if key not in _VARIABLES}
    done = subprocess.run(command, env=inherited | environment, stdout=subprocess.PIPE, text=True, check=True)
    return [Measured(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]


_VARIABLES = {key for environment in ENVIRONMENTS for key in environment}


# In the process that measures.


def _measure(options: argparse.Namespace) -> None:
    with workload.opened_engine(options, n_ctx=N_CTX) as (engine, _backend):
        _run(engine, "warm-up", options)
        for repeat in range(options.repeats):
            for load in LOADS:
                with _busy(load):
                    print(json.dumps(asdict(_run(engine, load, options, repeat))), flush=True)


def _run(engine: Engine, load: str, options: argparse.Namespace, repeat: int = 0) -> Measured:
    timed = TimedEngine(engine)
    chat_ids = [f"chat-{index}" for index in range(options.sequences)]
    with _frames() as late_s:
        began = time.perf_counter()
        for chat_id in chat_ids:
            prompt = workload.token_ids(options.prompt_tokens, f"{repeat} {chat_id}")
            timed.ask(chat_id, prompt, max_tokens=options.tokens, keep_cells=False)
        timed.step_until_all_talk(chat_ids)
        prompts_s = time.perf_counter() - began
        num_prompt_steps = len(timed.reports)
        began = time.perf_counter()
        timed.finish()
        answers_s = time.perf_counter() - began
    steps = timed.reports[num_prompt_steps:]
    step_ms = [report.schedule_ms + report.decode_ms + report.update_ms for report in steps]
    return Measured(
        load,
        options.sequences * options.prompt_tokens / prompts_s,
        sum(report.num_rows for report in steps) / answers_s,
        statistics.median(step_ms),
        max(step_ms),
        max(late_s) * 1000,
    )


@contextmanager
def _frames() -> Iterator[list[float]]:
    """A thread that wants its turn 60 times a second; how late each was, in seconds."""
    late_s = [0.0]
    done = threading.Event()

    def draw() -> None:
        due = time.perf_counter()
        while not done.is_set():
            due = max(due, time.perf_counter()) + FRAME_S
            time.sleep(max(due - time.perf_counter(), 0.0))
            late_s.append(time.perf_counter() - due)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        yield late_s
    finally:
        done.set()
        thread.join()


@contextmanager
def _busy(load: str) -> Iterator[None]:
    """Beside a Python thread, or another process, that computes all the time."""
    if load == "thread":
        with _busy_thread():
            yield
    elif load == "process":
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
            try:
                yield
            finally:
                process.kill()
    else:
        yield


@contextmanager
def _busy_thread() -> Iterator[None]:
    done = threading.Event()

    def spin() -> None:
        while not done.is_set():
            sum(range(1000))

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
