"""llama.cpp's CPU code, plain and patched, built for several kinds of processors.

    python packaging/series.py open LLAMA
    python packaging/kernel_libraries.py FOLDER LLAMA
    python -m tests.benchmarks kernels FOLDER

All else, the sampler included, is the same. Both take turns, each time in a new process. With one thread, the
processor's time counts, which says something on a busy machine, too. What cannot run on this one is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import llama_cpp as lib

from tests.benchmarks import bare_loop, workload
from tests.benchmarks.figures import Verdict, show

WANTED_RATIO = 0.98
CHATS = (1, 2, 4, 8, 16)
PROMPT_TOKENS = 512
ANSWERED_TOKENS = 16  # the prompt of each chat
PLAIN, PATCHED = "plain", "patched"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.set_defaults(threads=1)
    parser.add_argument("folder", type=Path, help="with <kind>-plain and <kind>-patched")
    parser.add_argument("--steps", type=int, default=16, help="of each number of chats")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)  # in this very process


def run(options: argparse.Namespace) -> int:
    if options.measure:
        print(json.dumps(_measure(options)))
        return 0
    verdict = Verdict()
    table = []
    for plain in sorted(options.folder.absolute().glob(f"*-{PLAIN}")):
        kind = plain.name.removesuffix(f"-{PLAIN}")
        print(f"\n===== {kind}, {options.threads} threads, tokens a second", flush=True)
        libraries = [plain, plain.with_name(f"{kind}-{PATCHED}")]
        try:
            pairs = [[_measured_with(one, options) for one in libraries] for _ in range(options.repeats)]
        except subprocess.CalledProcessError as error:
            if error.returncode != -signal.SIGILL:
                raise
            print("This processor lacks what it is built for.")
        else:
            table += [_row(kind, cell, pairs, verdict) for cell in pairs[0][0]]
    print(f"\n{'':<10}{'':<12}{PLAIN:>10}{PATCHED:>10}{'ratio':>8}", *table, sep="\n")
    return verdict.exit_code


def _row(kind: str, cell: str, pairs: list[list[dict[str, float]]], verdict: Verdict) -> str:
    print(cell)
    plain = show(PLAIN, [before[cell] for before, _after in pairs], "tokens/s")
    patched = show(PATCHED, [after[cell] for _before, after in pairs], "tokens/s")
    ratio = statistics.median(after[cell] / before[cell] for before, after in pairs)
    verdict.at_least("patched / plain", ratio, WANTED_RATIO)
    return f"{kind:<10}{cell:<12}{plain:>10.1f}{patched:>10.1f}{ratio:>8.2f}"


def _measured_with(library: Path, options: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks", "kernels", str(library), "--measure"]
    command += ["--threads", str(options.threads), "--steps", str(options.steps)]
    if options.model:
        command += ["--model", str(options.model)]
    environment = os.environ | {"PYTHONPATH": str(library)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(measured, dict)
    return measured


# In the process that measures.


def _measure(options: argparse.Namespace) -> dict[str, float]:
    """Tokens a second by the name of what was computed."""
    assert Path(lib.__file__).is_relative_to(options.folder), "another llama_cpp was found"
    n_ctx = max(PROMPT_TOKENS, max(CHATS) * (ANSWERED_TOKENS + options.steps))
    measured = {}
    with workload.opened_backend(options, n_ctx=n_ctx, n_seq_max=max(CHATS)) as backend:
        bare_loop.decoded_s(backend, [[workload.token_ids(PROMPT_TOKENS, "warm-up")]])
        for count in CHATS:
            prompts = [workload.token_ids(ANSWERED_TOKENS, chat) for chat in range(count)]
            steps = [[[token] for _ in prompts] for token in workload.token_ids(options.steps, count)]
            seconds = bare_loop.decoded_s(backend, [prompts, *steps], _clock(options))[1:]
            measured[f"{count} chat{'s' if count > 1 else ''}"] = count / statistics.median(seconds)
        prompt = workload.token_ids(PROMPT_TOKENS, "prompt")
        [took_s] = bare_loop.decoded_s(backend, [[prompt]], _clock(options))
        measured["prompt"] = PROMPT_TOKENS / took_s
    return measured


def _clock(options: argparse.Namespace) -> Callable[[], float]:
    return time.process_time if options.threads == 1 else time.perf_counter
