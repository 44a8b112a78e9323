"""Two models at once: whether each answers as alone, and how fast both are against one after the other.

Eight chats, four of each model, greedy; beside them forks, edits, stops and closed chats. Both engines
compare their books with the library after every step while texts are compared.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import psutil

from app.api.engine_client import EngineClient
from app.api.threaded_engine import ThreadedEngine
from app.engine.opening import open_engine
from app.engine.turns import StepTurns
from app.models.memory_fit import fitted
from app.protocol.commands import CheckCells, Forget, Fork
from app.protocol.load import LoadParams
from app.protocol.report import CellCheck, StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from tests.benchmarks.draft_pair import TOPICS
from tests.benchmarks.figures import Verdict, show

NUM_CHATS = 4  # of each model
MAX_TOKENS = 64
NOT_SLOWER = 0.9
GREEDY = SamplingParams(temperature=0.0)


@dataclass
class Served:
    """One model and its engine."""

    engine: ThreadedEngine
    client: EngineClient
    newest: StepReport | None = None
    num_wrong: int = 0  # comparisons with the library that found a difference
    check: CellCheck | None = None

    def on_reports(self, reports: list[StepReport]) -> None:
        self.client.on_reports(reports)
        for report in reports:
            if report.last_check and not report.last_check.agrees:
                self.num_wrong += 1
            for answer in report.answers:
                if isinstance(answer, CellCheck):
                    self.check = answer

    async def text(self, request: Request, stop_after: int = 0) -> str:
        """All of it; or its beginning, if it is stopped after so many outputs."""
        pieces: list[str] = []
        with self.client.answer(request) as outputs:
            async for new in outputs:
                pieces += [output.text for _, output in new]
                if stop_after and len(pieces) >= stop_after:
                    break
        return "".join(pieces)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", type=Path, nargs=2, required=True, metavar="FILE.gguf")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace) -> int:
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    verdict, process = Verdict(), psutil.Process()
    every = [LoadParams(path, n_ctx=8192, n_threads=options.threads) for path in options.models]
    turns, used = StepTurns(), [_anonymous(process)]
    alone: list[list[str]] = []
    async with _served([replace(one, verify=True) for one in every], turns) as both:
        for number, one in enumerate(both):
            alone.append([await one.text(_request(number, chat)) for chat in range(NUM_CHATS)])
        together, noises = await asyncio.gather(_all(both), asyncio.gather(*map(_noise, both)))
        pairs = zip(chain(*alone), chain(*together), strict=True)
        different = sum(as_alone != at_once for as_alone, at_once in pairs)
        for one in both:
            one.engine.post(CheckCells())
        await asyncio.sleep(1)
        print(f"{2 * NUM_CHATS} texts of up to {MAX_TOKENS} tokens; beside them {sum(noises)} others")
        verdict.equal("texts that differ", different, 0)
        verdict.equal("differences of our books", sum(one.num_wrong for one in both), 0)
        agrees = [bool(one.check and one.check.agrees) for one in both]
        verdict.equal("books at the end", agrees, [True, True])
    async with _served(every, turns) as both:
        used.append(_anonymous(process))
        ratios = []
        for repeat in range(options.repeats):
            after = [await _timed([one], repeat, number) for number, one in enumerate(both)]
            at_once = await _timed(both, repeat)
            ratios.append(sum(after) / at_once)
            print(f"one after the other {after[0]:.2f} + {after[1]:.2f} s, at once {at_once:.2f} s")
    median = show("at once against one after the other", ratios, "x", 3)
    verdict.at_least("at once against one after the other", median, NOT_SLOWER)
    print(f"anonymous memory: {used[0] >> 20} MiB before, {used[1] >> 20} MiB with both models")
    return verdict.exit_code


@asynccontextmanager
async def _served(every: list[LoadParams], turns: StepTurns) -> AsyncIterator[list[Served]]:
    served = []
    for params in every:
        turn = partial(turns.turn, params.address)

        def opener(on_progress, on_ready, params=params, turn=turn):  # type: ignore[no-untyped-def]
            return open_engine(params, on_progress, on_ready, fitted, turn=turn)

        engine = ThreadedEngine(opener)
        one = Served(engine, EngineClient(engine))
        await engine.start(one.on_reports)  # type: ignore[arg-type]
        served.append(one)
    try:
        yield served
    finally:
        for one in served:
            await one.engine.stop()


async def _all(both: list[Served], salt: int = 0, first: int = 0) -> list[list[str]]:
    async def of(number: int, one: Served) -> list[str]:
        requests = [_request(number, chat, salt) for chat in range(NUM_CHATS)]
        return list(await asyncio.gather(*map(one.text, requests)))

    return list(await asyncio.gather(*(of(first + number, one) for number, one in enumerate(both))))


async def _timed(both: list[Served], repeat: int, first: int = 0) -> float:
    """Other texts each time: no prompt is in the cells already."""
    salt = 1 + 2 * repeat + (len(both) > 1)
    start = time.perf_counter()
    await _all(both, salt, first)
    return time.perf_counter() - start


async def _noise(one: Served) -> int:
    """Chats that are forked, edited, stopped and closed meanwhile."""
    chance = random.Random(7)
    for number in range(12):
        chat = f"noise {number}"
        asked = Message(Role.USER, f"Tell me {number} facts about {chance.choice(TOPICS)}.")
        await one.text(_of(chat, (asked,)), stop_after=chance.randint(1, 6))
        one.engine.post(Fork(chat, f"fork {number}"))
        edited = replace(asked, content=f"{asked.content} Be brief.")
        await one.text(_of(f"fork {number}", (edited,)), stop_after=chance.randint(1, 4))
        one.engine.post(Forget(chance.choice((chat, f"fork {number}"))))
    return 24


def _request(model: int, chat: int, salt: int = 0) -> Request:
    asked = f"({salt}) Explain {TOPICS[NUM_CHATS * model + chat]} to a curious adult, in flowing text."
    return _of(f"chat {model} {chat} {salt}", (Message(Role.USER, asked),))


def _of(chat: str, messages: tuple[Message, ...]) -> Request:
    name = f"{chat} {time.perf_counter_ns()}"
    return Request(name, chat, messages, sampling=GREEDY, max_tokens=MAX_TOKENS)


def _anonymous(process: psutil.Process) -> int:
    info = process.memory_info()
    return int(info.rss - info.shared)
