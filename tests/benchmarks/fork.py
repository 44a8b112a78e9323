"""A fork of a long chat: how long it takes, and that it costs no cells until the two differ."""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass

from app.engine.engine import Engine
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show_ms
from tests.benchmarks.workload import TimedEngine

WANTED_MS = 5.0
N_CTX = 4096
CHAT, FORKED = "chat", "forked"
NEXT_TOKENS, ANSWER_TOKENS = 32, 16  # of each of the two, when they go on


@dataclass(frozen=True)
class Forks:
    """`fork_s` of many forks of one chat; cells used before, after the last one, and when both went on."""

    fork_s: tuple[float, ...]
    num_cells: int
    num_cells_forked: int
    num_shared_cells: int
    num_cells_later: int
    num_rows_later: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--chat-tokens", type=int, default=1000)
    parser.add_argument("--forks", type=int, default=50, help="of one chat, each repeat")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with workload.opened_engine(options, n_ctx=N_CTX) as (engine, _backend):
        print(f"a chat of {options.chat_tokens} tokens is forked {options.forks} times a repeat")
        repeats = [_fork(engine, f"chat {number}", options) for number in range(options.repeats)]
    num_repeats, num_tokens = len(repeats), options.chat_tokens
    median_ms = show_ms("engine.fork, medians", [statistics.median(one.fork_s) for one in repeats], digits=3)
    show_ms("engine.fork, longest", [max(one.fork_s) for one in repeats], digits=3)
    verdict.at_most("ms a fork", median_ms, WANTED_MS)
    # The last token of an answer is sampled and never computed.
    growth = 2 * (NEXT_TOKENS + ANSWER_TOKENS - 1)
    verdict.equal("cells of the chat", [one.num_cells for one in repeats], [num_tokens] * num_repeats)
    verdict.equal(
        "cells with its fork", [one.num_cells_forked for one in repeats], [num_tokens] * num_repeats
    )
    verdict.equal("shared by the two", [one.num_shared_cells for one in repeats], [num_tokens] * num_repeats)
    verdict.equal(
        "cells when both went on",
        [one.num_cells_later for one in repeats],
        [num_tokens + growth] * num_repeats,
    )
    verdict.equal("tokens computed for that", [one.num_rows_later for one in repeats], [growth] * num_repeats)
    return verdict.exit_code


def _fork(engine: Engine, name: str, options: argparse.Namespace) -> Forks:
    timed = TimedEngine(engine)
    held = workload.token_ids(options.chat_tokens, name)
    timed.ask(CHAT, held, max_tokens=1)
    timed.finish()
    num_cells = engine.report().cells.num_used
    fork_s = []
    for _ in range(options.forks):
        engine.forget(FORKED)
        began = time.perf_counter()
        was_forked = engine.fork(CHAT, FORKED)
        fork_s.append(time.perf_counter() - began)
        assert was_forked, "no slot for the fork"
    forked = engine.report().cells
    num_steps = len(timed.reports)
    for index, chat_id in enumerate([CHAT, FORKED]):
        own = [1 + index, *workload.token_ids(NEXT_TOKENS - 1, f"{name} {chat_id}")]
        timed.ask(chat_id, held + own, max_tokens=ANSWER_TOKENS)
    timed.finish()
    num_cells_later = engine.report().cells.num_used
    timed.close_all()
    return Forks(
        tuple(fork_s),
        num_cells,
        forked.num_used,
        forked.num_shared,
        num_cells_later,
        sum(report.num_rows for report in timed.reports[num_steps:]),
    )
