"""Calls off loads at random moments, and changes the model fifty times, while chats are answered.

Wanted: a load is called off in under 200 ms, its memory comes back, and the former model's answer is what it
would have been. After 50 changes at most 1% more memory than after 5, and every chat goes on right.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from app.protocol.commands import Forget, Submit
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.benchmarks.figures import Verdict, show_ms
from tests.benchmarks.gguf_0_6b import cached_gguf
from tests.native.tiny_ggufs import write_tiny_gguf

if TYPE_CHECKING:
    from app.bridge.active_engine import ActiveEngine

WANTED_CANCEL_MS = 200
WANTED_GROWTH = 1.01
WANTED_LEFT_MIB = 8  # of a model whose weights and context take some 500
NUM_SETTLED = 5  # changes, after which every buffer has its size
PATIENCE_S = 120.0
EARLIEST_END = 0.6  # of the time that one load took: a quicker one must not have ended when it is called off
N_CTX = 4096
GREEDY = SamplingParams(temperature=0.0)
LONG, SHORT = "Count from 1 to 100", "What is 34 + 21?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--changes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    from PySide6.QtWidgets import QApplication

    from app.bridge.qt_loop import QtLoop

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    verdict = Verdict()
    large = cached_gguf()
    with tempfile.TemporaryDirectory(prefix="skein-loads-") as folder:
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):  # no file is known to be good
            os.environ[f"XDG_{name}_HOME"] = folder
        application = QApplication(sys.argv[:1])
        with asyncio.Runner(loop_factory=lambda: QtLoop(application)) as runner:
            runner.run(_run(options, large, Path(folder), verdict))
    return verdict.exit_code


async def _run(options: argparse.Namespace, large: Path, folder: Path, verdict: Verdict) -> None:
    from app.bridge.active_engine import ActiveEngine

    engine = ActiveEngine()
    try:
        if options.cancels:
            await _cancel_loads(engine, options, large, verdict)
        await _change_models(engine, options, folder, verdict)
    finally:
        verdict.equal("all threads ended", await engine.close(), True)


# A load is called off


@dataclass(frozen=True)
class Cancelled:
    after_s: float  # from the begin of the load
    at: float  # how much was loaded, as the strip showed it
    seen_s: float  # until the window is as before, and answers its user
    freed_s: float  # until the thread has ended
    left_mib: float  # beside what there was before


async def _cancel_loads(
    engine: ActiveEngine, options: argparse.Namespace, large: Path, verdict: Verdict
) -> None:
    rng = random.Random(options.seed)
    chats = Chats(engine)
    await _load(engine, LoadParams(paths.starter_model(), n_ctx=N_CTX))
    alone = await chats.ask("alone", LONG)
    whole_s = await _time_load(engine, large)
    print(f"loads called off: {large.name} takes {whole_s:.2f} s, with its test in another process")
    cancels, wrong = [], 0
    for number in range(options.cancels):
        _forget_good_files()
        asked = asyncio.ensure_future(chats.ask(f"old {number}", LONG))
        cancels.append(await _cancel(engine, large, rng.uniform(0, EARLIEST_END * whole_s)))
        wrong += await asked != alone
        one = cancels[-1]
        print(
            f"  {number + 1:3} after {one.after_s:5.2f} s at {one.at:4.0%}: seen in "
            f"{one.seen_s * 1000:5.1f} ms, thread ended in {one.freed_s * 1000:7.1f} ms, "
            f"memory {one.left_mib:+6.1f} MiB",
            flush=True,
        )
    show_ms("until all is as before", [one.seen_s for one in cancels])
    verdict.at_most("longest ms until cancelled", max(one.seen_s for one in cancels) * 1000, WANTED_CANCEL_MS)
    verdict.at_most("MiB left after the last", cancels[-1].left_mib, WANTED_LEFT_MIB)
    verdict.equal("answers of the former model that were other than alone", wrong, 0)


async def _cancel(engine: ActiveEngine, large: Path, after_s: float) -> Cancelled:
    before = _anonymous_mib()
    reached = [0.0]

    def note(fraction: float) -> None:
        reached[0] = fraction

    engine.load_progressed.connect(note)
    engine.load(LoadParams(large, n_ctx=N_CTX))
    await asyncio.sleep(after_s)
    began = time.perf_counter()
    engine.cancel_load()
    await asyncio.sleep(0)  # whatever was posted to the window has been done
    seen_s = time.perf_counter() - began
    engine.load_progressed.disconnect(note)
    await _until(lambda: len(engine._threads) == 1)
    freed_s = time.perf_counter() - began
    return Cancelled(after_s, reached[0], seen_s, freed_s, _anonymous_mib() - before)


async def _time_load(engine: ActiveEngine, large: Path) -> float:
    """Of a load that is not called off: the second one, whose file is in memory already, as all later ones'.

    The starter model is back afterwards.
    """
    took = 0.0
    for _ in range(2):
        _forget_good_files()
        began = time.perf_counter()
        await _load(engine, LoadParams(large, n_ctx=N_CTX))
        took = time.perf_counter() - began
        await _load(engine, LoadParams(paths.starter_model(), n_ctx=N_CTX))
    return took


def _forget_good_files() -> None:
    paths.probed_models_file().unlink(missing_ok=True)


# The model is changed


async def _change_models(
    engine: ActiveEngine, options: argparse.Namespace, folder: Path, verdict: Verdict
) -> None:
    """To another one, and to the same one with another context while answers are being written."""
    tiny = write_tiny_gguf(folder / "tiny.gguf", "qwen3")
    starter = paths.starter_model()
    chats = Chats(engine)
    await _load(engine, LoadParams(starter, n_ctx=N_CTX))
    alone = {question: await chats.ask("alone", question) for question in (LONG, SHORT)}
    mib, wrong = [], 0
    print(f"{options.changes} changes of the model, with three chats")
    for number in range(options.changes):
        if number % 2 == 0:  # the second was not begun: the next model answers it
            await _load(engine, LoadParams(tiny, n_ctx=N_CTX))
            await chats.ask("tiny", SHORT, max_tokens=16)
            await _load(engine, LoadParams(starter, n_ctx=N_CTX))
            wrong += await chats.ask("short", SHORT) != alone[SHORT]
        else:
            asked = asyncio.ensure_future(chats.ask("long", LONG))
            await _until(lambda: chats.num_tokens("long") > 20)
            await _load(engine, LoadParams(starter, n_ctx=N_CTX))
            wrong += await asked != alone[LONG]
        mib.append(_anonymous_mib())
    shown = " ".join(f"{value:.1f}" for value in mib)
    print(f"  MiB after each: {shown}")
    early, late = mib[NUM_SETTLED - 1 : 2 * NUM_SETTLED - 1], mib[-NUM_SETTLED:]
    growth = statistics.median(late) / statistics.median(early)
    verdict.at_most(f"memory after {len(mib)} / after {NUM_SETTLED}", growth, WANTED_GROWTH)
    verdict.equal("answers that were other than alone", wrong, 0)


# Chats and loads


class Chats:
    """Questions with one answer each; what is told of it comes by the engine's signals, as in the window."""

    def __init__(self, engine: ActiveEngine) -> None:
        self._engine = engine
        self._texts: dict[str, str] = {}
        self._num_tokens: dict[str, int] = {}
        self._done: dict[str, asyncio.Future[str]] = {}
        self._number = 0
        engine.reported.connect(self._on_reported)
        engine.ended.connect(self._on_output)

    def num_tokens(self, chat_id: str) -> int:
        return self._num_tokens.get(chat_id, 0)

    async def ask(self, chat_id: str, question: str, max_tokens: int | None = None) -> str:
        self._number += 1
        self._texts[chat_id], self._num_tokens[chat_id] = "", 0
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._done[chat_id] = done
        messages = (Message(Role.USER, question),)
        self._engine.post(Submit(Request(f"{self._number}", chat_id, messages, GREEDY, max_tokens)))
        await _until(done.done)
        self._engine.post(Forget(chat_id))
        return done.result()

    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        for report in reports:
            for output in report.outputs:
                self._on_output(output)

    def _on_output(self, output: Output) -> None:
        chat_id = output.chat_id
        self._texts[chat_id] += output.text
        self._num_tokens[chat_id] += len(output.token_ids)
        if output.finish_reason:
            told = f"{self._texts[chat_id]}\n{output.notice}" if _is_bad(output) else self._texts[chat_id]
            self._done[chat_id].set_result(told)


def _is_bad(output: Output) -> bool:
    return output.finish_reason in (FinishReason.ABORT, FinishReason.ERROR)


async def _load(engine: ActiveEngine, params: LoadParams) -> None:
    """Returns when it answers and the one before has given its memory back."""
    failures: list[str] = []

    def note(_path: Path, message: str) -> None:
        failures.append(message)

    engine.load_failed.connect(note)
    engine.load(params)
    await _until(lambda: not engine.is_loading and len(engine._threads) == 1)
    engine.load_failed.disconnect(note)
    assert not failures, failures


async def _until(is_so: Callable[[], bool]) -> None:
    """Without a timeout of asyncio's: until that is over qasync keeps it, and would be found to grow."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def _anonymous_mib() -> float:
    """What the process has for itself alone: not the files it has mapped. Garbage is collected before."""
    from PySide6.QtCore import QCoreApplication, QEvent

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return _rss_anon_bytes() / 2**20


def _rss_anon_bytes() -> int:
    """Page by page: the sum in /proc/self/status is off by as much as each thread has not yet told."""
    try:
        pages = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    except OSError:  # not on Linux
        return int(psutil.Process().memory_info().rss)
    return int(pages.partition("Anonymous:")[2].split()[0]) * 1024
