"""What the benchmarks have in common: a model, prompts made of token ids, and an engine driven by hand."""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import llama_cpp as lib
import psutil

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.engine.prompt import Prompt
from app.protocol.load import LoadParams
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from tests.benchmarks.gguf_0_6b import cached_gguf

MAX_STEPS = 100_000  # an engine that makes no progress is found out


def add_arguments(parser: argparse.ArgumentParser, repeats: int = 5) -> None:
    parser.add_argument("--model", type=Path, help="another GGUF (default: random weights, 0.6B, Q4_K_M)")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--repeats", type=int, default=repeats, help=f"default: {repeats}")


@contextmanager
def opened_backend(
    options: argparse.Namespace,
    *,
    n_ctx: int,
    n_seq_max: int = 8,
    model: Path | None = None,
    num_drafted: int = 0,
    draft_model: Path | None = None,
    swa_full: bool = False,
) -> Iterator[LlamaBackend]:
    """The model of `options`, else `model`, else the random one. Only `max_tokens` ends an answer."""
    path = options.model or model or cached_gguf()
    params = LoadParams(
        path,
        n_ctx=n_ctx,
        n_seq_max=n_seq_max,
        n_threads=options.threads,
        num_drafted_tokens=num_drafted,
        draft_model=draft_model,
        swa_full=swa_full,
    )
    with (
        open_llama_backend(params) as backend,
        mock.patch.object(backend, "is_end_of_generation", _never),
    ):
        info, num_threads = backend.model, lib.llama_n_threads(backend._context.pointer)
        print(
            f"{info.description}, {info.size_bytes / 1e6:.0f} MB, {num_threads} threads, "
            f"{info.n_ctx:,} cells, {info.n_seq_max} sequences, batches of {info.n_batch}"
        )
        yield backend


def _never(_token_id: int) -> bool:
    return False


def token_ids(num_tokens: int, name: object) -> list[int]:
    """Tokens that any model has: always the same for one name, others for another."""
    return random.Random(str(name)).choices(range(1, 250), k=num_tokens)


def anonymous_bytes(pid: int | None = None) -> int:
    """Memory of a process that is no file's; elsewhere than on Linux all memory that is its alone."""
    rollup = Path(f"/proc/{pid or 'self'}/smaps_rollup")
    if not rollup.exists():
        return int(psutil.Process(pid).memory_full_info().uss)
    [line] = [line for line in rollup.read_text().splitlines() if line.startswith("Anonymous:")]
    return int(line.split()[1]) * 1024


def request(chat_id: str, max_tokens: int, *, keep_cells: bool = True) -> Request:
    """For a prompt that is given as tokens."""
    return Request(
        request_id=chat_id,
        chat_id=chat_id,
        messages=(Message(Role.USER, "given as tokens"),),
        sampling=SamplingParams(seed=0),
        max_tokens=max_tokens,
        keep_cells=keep_cells,
    )


class TimedEngine:
    """Steps an engine and notes when each chat was asked and when it got its tokens."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.reports: list[StepReport] = []
        self.asked_at: dict[str, float] = {}
        self.tokens_at: dict[str, list[float]] = defaultdict(list)

    def ask(
        self, chat_id: str, prompt: list[int] | Prompt, max_tokens: int, *, keep_cells: bool = True
    ) -> None:
        self.tokens_at[chat_id].clear()
        self.asked_at[chat_id] = time.perf_counter()
        one = request(chat_id, max_tokens, keep_cells=keep_cells)
        self.engine.add_request(one, prompt if isinstance(prompt, Prompt) else Prompt(tuple(prompt)))

    def step(self) -> StepReport:
        report = self.engine.step()
        now = time.perf_counter()
        for span in report.spans:
            if span.wants_logits:
                self.tokens_at[span.chat_id].append(now)
        self.reports.append(report)
        return report

    def step_until(self, is_done: Callable[[], bool]) -> None:
        for _ in range(MAX_STEPS):
            if is_done():
                return
            assert self.engine.has_work, "the engine has nothing left to do"
            self.step()
        raise AssertionError("the engine makes no progress")

    def finish(self) -> None:
        """Step until nothing is left to do."""
        self.step_until(lambda: not self.engine.has_work)

    def step_until_all_talk(self, chat_ids: list[str]) -> None:
        self.step_until(lambda: all(self.tokens_at[chat_id] for chat_id in chat_ids))

    def first_token_s(self, chat_id: str) -> float:
        """From the question to the end of the step that sampled the first token."""
        return self.tokens_at[chat_id][0] - self.asked_at[chat_id]

    def close_all(self) -> None:
        """Abort and forget every chat: all cells are free after it."""
        for chat_id in self.asked_at:
            self.engine.forget(chat_id)
        if self.engine.has_work:
            self.engine.report()  # the last words of the aborted
        assert self.engine.slots.cells.num_used == 0, "cells are left after all chats were closed"
