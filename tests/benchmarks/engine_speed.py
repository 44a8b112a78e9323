"""The engine against a bare `llama_decode` loop: same model, same context, same samplers, same prompts.

Both run in turn in one process and one context, so that only the Python between the calls differs. A second
pass with every library call timed tells how much of a step the engine spends outside the library.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import llama_cpp as lib

from app.engine import llama_backend
from app.engine.engine import Engine
from app.engine.llama_backend import LlamaBackend, LlamaSampler, open_llama_backend
from app.engine.scheduler import HEADROOM_TOKENS
from app.engine.types import FinishReason, LoadParams, Message, Request, Role, SamplingParams
from tests.benchmarks.gguf_0_6b import cached_gguf

WANTED_RATIO = 0.97
N_SEQ_MAX = 8


@dataclass(frozen=True)
class Run:
    """One batch of answers. `step_s` are wall times; the first step is the one that computes the prompts."""

    num_sequences: int
    step_s: tuple[float, ...]
    total_s: float
    native_s: tuple[float, ...] = ()  # of each step, inside the library

    @property
    def tokens_per_s(self) -> float:
        """All tokens over all the time, prompts, samplers and freeing included."""
        return self.num_sequences * len(self.step_s) / self.total_s

    @property
    def decode_tokens_per_s(self) -> float:
        return self.num_sequences * (len(self.step_s) - 1) / sum(self.step_s[1:])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="another GGUF (default: random weights, 0.6B, Q4_K_M)")
    parser.add_argument("--sequences", type=int, nargs="+", default=[1, 4, 8], metavar="N")
    parser.add_argument("--repeats", type=int, default=7, help="of each side, taken in turn")
    parser.add_argument("--prompt-tokens", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64, help="generated per sequence")
    parser.add_argument("--threads", type=int, default=0)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Exit code 1 when the engine is below WANTED_RATIO of the bare loop somewhere."""
    n_ctx = N_SEQ_MAX * (options.prompt_tokens + options.tokens + HEADROOM_TOKENS)
    params = LoadParams(
        options.model or cached_gguf(), n_ctx=n_ctx, n_seq_max=N_SEQ_MAX, n_threads=options.threads
    )
    with open_llama_backend(params) as backend:
        threads = lib.llama_n_threads(backend._context.pointer)
        print(
            f"{backend.model.description}, {backend.model.size_bytes / 1e6:.0f} MB, {threads} threads; "
            f"{options.prompt_tokens} prompt tokens and {options.tokens} generated per sequence, "
            f"median of {options.repeats}"
        )
        engine = Engine(backend)
        ratios = [_compare(engine, backend, count, options) for count in options.sequences]
        engine.close()
    slow = min(ratios) < WANTED_RATIO
    print(f"lowest ratio {min(ratios):.3f}, wanted {WANTED_RATIO}: {'TOO SLOW' if slow else 'ok'}")
    return int(slow)


def _compare(engine: Engine, backend: LlamaBackend, count: int, options: argparse.Namespace) -> float:
    """Prints all of one number of sequences; the median ratio of neighbouring runs."""
    prompts = [
        [1 + (7 * seq + 3 * index) % 250 for index in range(options.prompt_tokens)] for seq in range(count)
    ]

    def run_engine() -> Run:
        return _run_engine(engine, prompts, options.tokens)

    def run_bare() -> Run:
        return _run_bare(backend, prompts, options.tokens)

    run_engine()  # warm: pages of the model, buffers of the library
    run_bare()
    pairs = [
        _in_turn(run_engine, run_bare, engine_first=repeat % 2 == 0) for repeat in range(options.repeats)
    ]
    ratio = statistics.median(ours.tokens_per_s / bare.tokens_per_s for ours, bare in pairs)
    print(f"\n{count} sequence{'s' if count > 1 else ''}")
    _print_runs("engine", [ours for ours, _ in pairs])
    _print_runs("bare loop", [bare for _, bare in pairs])
    print(f"  ratio      {ratio:.3f}")
    with _timed_library() as native_seconds:
        _print_own_time(_run_engine(engine, prompts, options.tokens, native_seconds))
    return ratio


def _in_turn(
    run_engine: Callable[[], Run], run_bare: Callable[[], Run], engine_first: bool
) -> tuple[Run, Run]:
    if engine_first:
        ours = run_engine()
        return ours, run_bare()
    bare = run_bare()
    return run_engine(), bare


# The two sides.


def _sampling(index: int) -> SamplingParams:
    return SamplingParams(seed=index)


def _run_engine(
    engine: Engine,
    prompts: list[list[int]],
    num_tokens: int,
    native_seconds: Callable[[], float] = lambda: 0.0,
) -> Run:
    started = time.perf_counter()
    for index, prompt in enumerate(prompts):
        engine.add_request(_request(index, num_tokens), prompt)
    step_s, native_s, finishes = [], [], []
    while engine.has_work:
        step_began, native_began = time.perf_counter(), native_seconds()
        report = engine.step()
        step_s.append(time.perf_counter() - step_began)
        native_s.append(native_seconds() - native_began)
        finishes += [output.finish_reason for output in report.outputs if output.finish_reason]
    total_s = time.perf_counter() - started
    # An answer that ended by itself would make the sides unlike.
    assert finishes == [FinishReason.LENGTH] * len(prompts), f"answers ended by {finishes}"
    assert len(step_s) == num_tokens, f"{len(step_s)} steps"
    return Run(len(prompts), tuple(step_s), total_s, tuple(native_s))


def _request(index: int, num_tokens: int) -> Request:
    return Request(
        request_id=f"benchmark-{index}",
        chat_id=f"benchmark-{index}",
        messages=(Message(Role.USER, "given as tokens"),),
        sampling=_sampling(index),
        max_tokens=num_tokens,
        keep_cells=False,
    )


def _run_bare(backend: LlamaBackend, prompts: list[list[int]], num_tokens: int) -> Run:
    """What one would write with the C API and nothing else."""
    context = backend._context.pointer
    batch = lib.llama_batch_init(sum(map(len, prompts)), 0, 1)
    started = time.perf_counter()
    samplers = [LlamaSampler(backend, _sampling(seq), prompt) for seq, prompt in enumerate(prompts)]
    chains = [sampler._chain.pointer for sampler in samplers]
    pending, pos, step_s = prompts, 0, []
    for _ in range(num_tokens):
        step_began = time.perf_counter()
        rows = _fill(batch, pending, pos)
        code = lib.llama_decode(context, batch)
        assert code == 0, f"llama_decode returned {code}"
        pos += len(pending[0])
        pending = [
            [lib.llama_sampler_sample(chain, context, row)] for chain, row in zip(chains, rows, strict=True)
        ]
        step_s.append(time.perf_counter() - step_began)
    for sampler in samplers:
        sampler.close()
    lib.llama_memory_clear(lib.llama_get_memory(context), False)
    total_s = time.perf_counter() - started
    lib.llama_batch_free(batch)
    return Run(len(prompts), tuple(step_s), total_s)


def _fill(batch: Any, tokens: list[list[int]], first_pos: int) -> list[int]:
    """One row a token; returns each sequence's last row, the one with logits."""
    row, last_rows = 0, []
    for seq_id, sequence_tokens in enumerate(tokens):
        for pos, token in enumerate(sequence_tokens, first_pos):
            batch.token[row] = token
            batch.pos[row] = pos
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = seq_id
            batch.logits[row] = 0
            row += 1
        batch.logits[row - 1] = 1
        last_rows.append(row - 1)
    batch.n_tokens = row
    return last_rows


# Time outside the library.


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
    with mock.patch.object(llama_backend, "lib", timed):
        yield lambda: timed.seconds


# What is printed.


def _print_runs(name: str, runs: list[Run]) -> None:
    decode = statistics.median(run.decode_tokens_per_s for run in runs)
    total = statistics.median(run.tokens_per_s for run in runs)
    raw = " ".join(f"{run.tokens_per_s:.1f}" for run in runs)
    print(f"  {name:<10} {total:7.1f} tokens/s ({decode:.1f} after the prompts)   raw: {raw}")


def _print_own_time(timed: Run) -> None:
    own_ms = [(step - native) * 1000 for step, native in zip(timed.step_s, timed.native_s, strict=True)][1:]
    wall_ms = [step * 1000 for step in timed.step_s][1:]
    print(
        f"  own time   {statistics.median(own_ms):.3f} ms a step outside the library "
        f"(mean {statistics.mean(own_ms):.3f}, longest {max(own_ms):.3f}) "
        f"of {statistics.median(wall_ms):.1f} ms"
    )
