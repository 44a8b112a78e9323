"""A chat is put to sleep and woken, against computing it again.

What waking costs is seen from outside: how much later the next turn's first token comes than in the same turn
of a chat whose cells are warm. Saving, restoring and every check of the saved state are in it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show, show_ms
from tests.benchmarks.workload import TimedEngine

WANTED_RATIO = 0.10
N_CTX = 4096
CHAT = "chat"
NEXT_TOKENS = 16  # of the turn that wakes the chat


@dataclass(frozen=True)
class Sleep:
    compute_s: float
    hibernate_s: float
    save_s: float  # of it, inside the library
    woken_s: float  # to the first token of the next turn
    admit_s: float  # of it, the part of the step that decides and restores
    restore_s: float  # of that, inside the library
    warm_s: float  # to the first token of the same turn with warm cells
    size_bytes: int
    num_restored_tokens: int
    num_cells_asleep: int

    @property
    def cost_s(self) -> float:
        return self.hibernate_s + self.woken_s - self.warm_s


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--chat-tokens", type=int, default=1000)


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with workload.opened_engine(options, n_ctx=N_CTX) as (engine, backend):
        print(f"a chat of {options.chat_tokens} tokens")
        _sleep(engine, backend, "warm-up", options)
        sleeps = [_sleep(engine, backend, f"chat {n}", options) for n in range(options.repeats)]
    show_ms("compute it", [one.compute_s for one in sleeps])
    show_ms("hibernate", [one.hibernate_s for one in sleeps])
    show_ms("  of it llama_state_seq_get_data", [one.save_s for one in sleeps])
    show_ms("first token of a woken chat", [one.woken_s for one in sleeps])
    show_ms("  of it admitting", [one.admit_s for one in sleeps])
    show_ms("  of it llama_state_seq_set_data", [one.restore_s for one in sleeps])
    show_ms("first token of a warm chat", [one.warm_s for one in sleeps])
    show_ms(
        "checks and books (the rest)",
        [one.hibernate_s - one.save_s + one.admit_s - one.restore_s for one in sleeps],
    )
    show("saved state", [one.size_bytes / 2**20 for one in sleeps], "MiB")
    ratio = show("sleep and wake / compute", [one.cost_s / one.compute_s for one in sleeps], "", 4)
    verdict.at_most("hibernate and restore / compute", ratio, WANTED_RATIO)
    verdict.equal("cells while asleep", [one.num_cells_asleep for one in sleeps], [0] * len(sleeps))
    verdict.equal(
        "tokens restored",
        [one.num_restored_tokens for one in sleeps],
        [options.chat_tokens] * len(sleeps),
    )
    return verdict.exit_code


def _sleep(engine: Engine, backend: LlamaBackend, name: str, options: argparse.Namespace) -> Sleep:
    timed = TimedEngine(engine)
    held = workload.token_ids(options.chat_tokens, name)
    compute_s = _ask(timed, held)
    with _timed_states(backend) as native_s:
        began = time.perf_counter()
        was_saved = engine.hibernate(CHAT)
        hibernate_s = time.perf_counter() - began
        assert was_saved, "the chat was not hibernated"
        asleep = engine.report()
        num_steps = len(timed.reports)
        woken_s = _ask(timed, [*held, 1, *workload.token_ids(NEXT_TOKENS - 1, "woken")])
    [first_report] = [report for report in timed.reports[num_steps:] if report.leases]
    warm_s = _ask(timed, [*held, 2, *workload.token_ids(NEXT_TOKENS - 1, "warm")])
    timed.close_all()
    return Sleep(
        compute_s,
        hibernate_s,
        native_s["save_state"],
        woken_s,
        first_report.schedule_ms / 1000,
        native_s["restore_state"],
        warm_s,
        sum(chat.size_bytes for chat in asleep.hibernated if chat.chat_id == CHAT),
        first_report.leases[0].num_restored_tokens,
        asleep.cells.num_used,
    )


def _ask(timed: TimedEngine, prompt: list[int]) -> float:
    """One turn of one token, which is sampled and never computed: the chat holds just its prompt then."""
    timed.ask(CHAT, prompt, max_tokens=1)
    timed.finish()
    return timed.first_token_s(CHAT)


@contextmanager
def _timed_states(backend: LlamaBackend) -> Iterator[dict[str, float]]:
    """Seconds in the library while it is open, by method."""
    seconds: dict[str, float] = {"save_state": 0.0, "restore_state": 0.0}

    def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*args)
            finally:
                seconds[name] += time.perf_counter() - began

        return call

    with (
        mock.patch.object(backend, "save_state", timed("save_state", backend.save_state)),
        mock.patch.object(backend, "restore_state", timed("restore_state", backend.restore_state)),
    ):
        yield seconds
