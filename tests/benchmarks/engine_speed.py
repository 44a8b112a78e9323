"""The engine against a bare `llama_decode` loop: same model, same context, same samplers, same prompts.

Both run in turn in one process and one context, so that only the Python between the calls differs. A second
pass with every library call timed tells how much of a step the engine spends outside the library.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import llama_cpp as lib

from app.engine.batching.scheduler import HEADROOM_TOKENS
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.prompt import Prompt
from app.protocol.commands import SetSpeed
from app.protocol.load import Speed
from app.protocol.output import FinishReason
from tests.benchmarks import bare_loop, workload
from tests.benchmarks.bare_loop import Run
from tests.benchmarks.figures import Verdict, show

WANTED_RATIO = 0.97
WANTED_OWN_US = 150.0  # per sequence and step
N_SEQ_MAX = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser, repeats=7)
    parser.add_argument("--sequences", type=int, nargs="+", default=[1, 4, 8, 16], metavar="N")
    parser.add_argument("--prompt-tokens", type=int, default=32)
    # The bare loop computes all prompts before the first answer goes on, too.
    parser.add_argument("--speed", type=Speed, choices=list(Speed), default=Speed.THROUGHPUT)
    parser.add_argument("--tokens", type=int, default=64, help="generated per sequence")


def run(options: argparse.Namespace) -> int:
    """Exit code 1 when the engine is too slow beside the bare loop, or takes too long itself."""
    n_ctx = N_SEQ_MAX * (options.prompt_tokens + options.tokens + HEADROOM_TOKENS)
    verdict = Verdict()
    with workload.opened_backend(options, n_ctx=n_ctx, n_seq_max=N_SEQ_MAX) as backend:
        print(f"{options.prompt_tokens} prompt tokens and {options.tokens} generated per sequence")
        engine = Engine(backend)
        engine.obey(SetSpeed(options.speed))
        for count in options.sequences:
            _compare(engine, backend, count, options, verdict)
        engine.close()
    return verdict.exit_code


def _compare(
    engine: Engine, backend: LlamaBackend, count: int, options: argparse.Namespace, verdict: Verdict
) -> None:
    """All of one number of sequences."""
    prompts = [workload.token_ids(options.prompt_tokens, name) for name in range(count)]

    def run_engine() -> Run:
        return _run_engine(engine, prompts, options.tokens)

    def run_bare() -> Run:
        return bare_loop.answers(backend, prompts, options.tokens)

    run_engine()  # warm: pages of the model, buffers of the library
    run_bare()
    pairs = [
        _in_turn(run_engine, run_bare, engine_first=repeat % 2 == 0) for repeat in range(options.repeats)
    ]
    print(f"\n{count} sequence{'s' if count > 1 else ''}")
    show("engine", [ours.tokens_per_s for ours, _ in pairs], "tokens/s")
    show("  after the prompts", [ours.decode_tokens_per_s for ours, _ in pairs], "tokens/s")
    show("bare loop", [bare.tokens_per_s for _, bare in pairs], "tokens/s")
    show("  after the prompts", [bare.decode_tokens_per_s for _, bare in pairs], "tokens/s")
    ratio = show("engine / bare loop", [ours.tokens_per_s / bare.tokens_per_s for ours, bare in pairs], "", 3)
    with _timed_library() as native_seconds:
        timed = [_run_engine(engine, prompts, options.tokens, native_seconds) for _ in range(options.repeats)]
    own = show("own time per sequence and step", [_own_us(run) for run in timed], "µs")
    show("  longest step's", [max(_own_s(run)) / count * 1e6 for run in timed], "µs")
    verdict.at_least("engine / bare loop", ratio, WANTED_RATIO)
    verdict.at_most("own µs per sequence and step", own, WANTED_OWN_US)


def _in_turn(
    run_engine: Callable[[], Run], run_bare: Callable[[], Run], engine_first: bool
) -> tuple[Run, Run]:
    if engine_first:
        ours = run_engine()
        return ours, run_bare()
    bare = run_bare()
    return run_engine(), bare


def _run_engine(
    engine: Engine,
    prompts: list[list[int]],
    num_tokens: int,
    native_seconds: Callable[[], float] = lambda: 0.0,
) -> Run:
    started = time.perf_counter()
    for index, prompt in enumerate(prompts):
        one = workload.request(f"benchmark-{index}", num_tokens, keep_cells=False)
        engine.add_request(replace(one, sampling=bare_loop.sampling(index)), Prompt(tuple(prompt)))
    step_s, native_s, finishes = [], [], []
    while engine.has_work:
        step_began, native_began = time.perf_counter(), native_seconds()
        report = engine.step()
        if report.num_rows == len(report.spans) == len(prompts):
            step_s.append(time.perf_counter() - step_began)
            native_s.append(native_seconds() - native_began)
        finishes += [output.finish_reason for output in report.outputs if output.finish_reason]
    total_s = time.perf_counter() - started
    # Another end would make the sides unlike.
    assert finishes == [FinishReason.LENGTH] * len(prompts), f"answers ended by {finishes}"
    return Run(len(prompts), len(prompts) * num_tokens, total_s, tuple(step_s), tuple(native_s))


# Time outside the library.


def _own_s(timed: Run) -> list[float]:
    return [step - native for step, native in zip(timed.step_s, timed.native_s, strict=True)]


def _own_us(timed: Run) -> float:
    return statistics.median(_own_s(timed)) / timed.num_sequences * 1e6


class _TimedLibrary:
    """`llama_cpp` with every function timed; what ctypes does around a call counts as the library's."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        value = getattr(lib, name)
        if name.startswith("llama_") and callable(value) and not inspect.isclass(value):
            value = self._timed(value)
        setattr(self, name, value)
        return value

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args)
            finally:
                self.seconds += time.perf_counter() - began

        return call


@contextmanager
def _timed_library() -> Iterator[Callable[[], float]]:
    """While it is open the engine's calls are timed; gives a function that tells the seconds so far."""
    timed = _TimedLibrary()
    with ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name.startswith("app.engine.llama.") and getattr(module, "lib", None) is lib:
                stack.enter_context(mock.patch.object(module, "lib", timed))
        yield lambda: timed.seconds
