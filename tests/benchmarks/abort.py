"""How soon the cells of an aborted answer are free, and how soon a running decode ends when all stop."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.loop import EngineLoop
from app.protocol import commands
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show_ms
from tests.benchmarks.workload import TimedEngine

WANTED_STEPS = 1
N_CTX = 8192
CHATS = [f"chat-{index}" for index in range(8)]
VICTIM = CHATS[3]
ALL_STOPPED = "stopped"
LONG = N_CTX // 4  # tokens of a prompt that takes many steps
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Abort:
    """`num_steps` until no cell is the victim's; the counts are before and after."""

    abort_s: float
    num_steps: int
    num_held: int
    num_freed: int
    num_going_on: int  # others that got a token in the next step


@dataclass(frozen=True)
class AbortAll:
    abort_s: float  # from the call to the answer's last output
    step_s: float  # of the decode before, which was not interrupted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--prompt-tokens", type=int, default=64, help="of each of the eight")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with workload.opened_engine(options, n_ctx=N_CTX) as (engine, _backend):
        length = options.prompt_tokens
        in_answer = [_abort(engine, f"{n}", length, length + 4, options) for n in range(options.repeats)]
        in_prompt = [_abort(engine, f"{n}", LONG, LONG // 8, options) for n in range(options.repeats)]
    with _opened_loop(options) as loop:
        stops = [loop.abort_all() for _ in range(options.repeats)]
    _judge(verdict, "one of eight answers", in_answer)
    _judge(verdict, "one prompt beside seven answers", in_prompt)
    print("\nall, in the middle of a decode")
    show_ms("abort_all to the last output", [one.abort_s for one in stops], digits=2)
    show_ms("a decode that nobody stops", [one.step_s for one in stops], digits=2)
    return verdict.exit_code


def _judge(verdict: Verdict, name: str, aborts: list[Abort]) -> None:
    print(f"\n{name}")
    show_ms("engine.abort", [one.abort_s for one in aborts], digits=3)
    verdict.at_most("steps until its cells are free", max(one.num_steps for one in aborts), WANTED_STEPS)
    held = [one.num_held for one in aborts]
    verdict.equal("cells freed", [one.num_freed for one in aborts], held)
    verdict.equal(
        "others that go on in the next step",
        [one.num_going_on for one in aborts],
        [len(CHATS) - 1] * len(aborts),
    )


def _abort(
    engine: Engine, name: str, num_victim_tokens: int, num_cells: int, options: argparse.Namespace
) -> Abort:
    """Seven are talking; the eighth is aborted once it holds `num_cells`."""
    timed = TimedEngine(engine)
    others = [chat_id for chat_id in CHATS if chat_id != VICTIM]
    for chat_id in others:
        prompt = workload.token_ids(options.prompt_tokens, f"{name} {chat_id}")
        timed.ask(chat_id, prompt, max_tokens=N_CTX, keep_cells=False)
    timed.step_until_all_talk(others)
    victims_prompt = workload.token_ids(num_victim_tokens, f"{name} {VICTIM}")
    timed.ask(VICTIM, victims_prompt, max_tokens=N_CTX, keep_cells=False)
    timed.step_until(lambda: _num_cells(timed.reports[-1], VICTIM) >= num_cells)
    before = timed.reports[-1]
    began = time.perf_counter()
    engine.abort(VICTIM)
    abort_s = time.perf_counter() - began
    after, num_steps = engine.report(), 0
    num_freed = before.cells.num_used - after.cells.num_used
    while _num_cells(after, VICTIM):
        after, num_steps = timed.step(), num_steps + 1
    report = timed.step()
    timed.close_all()
    num_going_on = sum(span.wants_logits for span in report.spans)
    return Abort(abort_s, num_steps, _num_cells(before, VICTIM), num_freed, num_going_on)


def _num_cells(report: StepReport, chat_id: str) -> int:
    return sum(slot.num_cells for slot in report.slots if slot.chat_id == chat_id)


# All at once, from another thread as the window does it.


class _Loop:
    """An engine on its own thread, and the reports it sends to this one."""

    def __init__(self, backend: LlamaBackend) -> None:
        self._news = threading.Event()
        self._loop = EngineLoop(Engine(backend), self._news.set)
        self._thread = threading.Thread(target=self._loop.run, name="benchmark-engine")
        self._prompt = _long_text(backend)
        self._thread.start()

    def abort_all(self) -> AbortAll:
        """Interrupt the second decode of a long prompt. The first tells how long one takes."""
        self._loop.post(
            commands.Submit(
                Request(ALL_STOPPED, ALL_STOPPED, (Message(Role.USER, self._prompt),), keep_cells=False)
            )
        )
        computed = next(report for report in self._reports() if report.num_rows)
        time.sleep(computed.decode_ms / 1000 / 4)
        began = time.perf_counter()
        self._loop.post(commands.AbortAll())
        next(report for report in self._reports() if any(out.finish_reason for out in report.outputs))
        return AbortAll(time.perf_counter() - began, computed.decode_ms / 1000)

    def stop(self) -> None:
        self._loop.stop()
        self._thread.join()

    def _reports(self) -> Iterator[StepReport]:
        while True:
            assert self._news.wait(TIMEOUT_S), "the engine tells nothing"
            self._news.clear()
            yield from self._loop.take_reports()


@contextmanager
def _opened_loop(options: argparse.Namespace) -> Iterator[_Loop]:
    with workload.opened_backend(options, n_ctx=N_CTX) as backend:
        loop = _Loop(backend)
        try:
            yield loop
        finally:
            loop.stop()


def _long_text(backend: LlamaBackend) -> str:
    """Half a context of words."""
    words = "all of these words are one long prompt " * 100
    num_tokens = len(backend.tokenize(words, parse_special=False))
    return words * max(backend.model.max_sequence_tokens // 2 // num_tokens, 1)
