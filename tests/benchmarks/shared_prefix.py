"""Four new chats with the prefix of a resident one, and five that come together with a new one.

The prefix must be computed once: by the first chat, or by the first of those that are under way.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from app.engine.engine import Engine
from app.protocol.report import StepReport
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show, show_ms
from tests.benchmarks.workload import TimedEngine

WANTED_RATIO = 0.15
N_CTX = 8192
FIRST = "first"
NEW = ["ann", "bob", "cat", "dan"]


@dataclass(frozen=True)
class Arrivals:
    """Seconds to the first tokens, and what was computed for all five: rows of the prefix, and others."""

    first_s: float
    new_s: tuple[float, ...]
    num_prefix_rows: int
    num_other_rows: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--prefix-tokens", type=int, default=512)
    parser.add_argument("--own-tokens", type=int, default=16, help="of each chat, after the prefix")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with workload.opened_engine(options, n_ctx=N_CTX) as (engine, _backend):
        print(f"a prefix of {options.prefix_tokens} tokens and {options.own_tokens} of each chat's own")
        _arrive_one_by_one(engine, "warm-up", options)
        later = [_arrive_one_by_one(engine, f"later {n}", options) for n in range(options.repeats)]
        together = [_arrive_together(engine, f"together {n}", options) for n in range(options.repeats)]
    print("\nfour come to a resident chat: time to the first token")
    show_ms("the first chat", [one.first_s for one in later])
    for index, chat_id in enumerate(NEW):
        show_ms(f"new chat {chat_id}", [one.new_s[index] for one in later])
    ratio = show("slowest new chat / first chat", [max(one.new_s) / one.first_s for one in later], "", 3)
    verdict.at_most("slowest new chat / first chat", ratio, WANTED_RATIO)
    _judge_rows(verdict, later, options)
    print("\nfive come together: time to the first token")
    show_ms("the quickest", [min(one.first_s, *one.new_s) for one in together])
    show_ms("the slowest", [max(one.first_s, *one.new_s) for one in together])
    _judge_rows(verdict, together, options)
    return verdict.exit_code


def _judge_rows(verdict: Verdict, arrivals: list[Arrivals], options: argparse.Namespace) -> None:
    verdict.equal(
        "prefix tokens computed",
        [one.num_prefix_rows for one in arrivals],
        [options.prefix_tokens] * len(arrivals),
    )
    verdict.equal(
        "other prompt tokens computed",
        [one.num_other_rows for one in arrivals],
        [options.own_tokens * (1 + len(NEW))] * len(arrivals),
    )


def _arrive_one_by_one(engine: Engine, name: str, options: argparse.Namespace) -> Arrivals:
    timed = TimedEngine(engine)
    prompts = _prompts(name, options)
    timed.ask(FIRST, prompts[FIRST], max_tokens=1)
    timed.finish()
    for chat_id in NEW:
        timed.ask(chat_id, prompts[chat_id], max_tokens=1)
    timed.finish()
    return _arrivals(timed, options.prefix_tokens)


def _arrive_together(engine: Engine, name: str, options: argparse.Namespace) -> Arrivals:
    timed = TimedEngine(engine)
    for chat_id, prompt in _prompts(name, options).items():
        timed.ask(chat_id, prompt, max_tokens=1)
    timed.finish()
    return _arrivals(timed, options.prefix_tokens)


def _prompts(name: str, options: argparse.Namespace) -> dict[str, list[int]]:
    """One prefix, and own tokens that differ from the first one on."""
    prefix = workload.token_ids(options.prefix_tokens, name)
    return {
        chat_id: [*prefix, 1 + index, *workload.token_ids(options.own_tokens - 1, f"{name} {chat_id}")]
        for index, chat_id in enumerate([FIRST, *NEW])
    }


def _arrivals(timed: TimedEngine, prefix_tokens: int) -> Arrivals:
    num_prefix_rows = sum(_rows_below(report, prefix_tokens) for report in timed.reports)
    num_rows = sum(report.num_rows for report in timed.reports)
    timed.close_all()
    return Arrivals(
        timed.first_token_s(FIRST),
        tuple(timed.first_token_s(chat_id) for chat_id in NEW),
        num_prefix_rows,
        num_rows - num_prefix_rows,
    )


def _rows_below(report: StepReport, position: int) -> int:
    return sum(min(max(position - span.first_pos, 0), span.num_rows) for span in report.spans)
