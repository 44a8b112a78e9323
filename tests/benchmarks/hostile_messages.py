"""Hostile texts in a chat: the longest frame of each, whole and as a model writes them, and the memory.

A frame is what the GUI's thread does, in its own CPU time, before the loop can look at the mouse again.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest import mock

from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict
from tests.ui.hostile_texts import KINDS

if TYPE_CHECKING:
    from app.chats.chat import Chat, Turn, TurnState
    from app.ui.transcript.transcript import Transcript

WANTED_MS = 50.0
WARM_UP = "```py\nx\n```\n> ```py\n> x\n> ```\n\n|a|\n|-|\n|b|\n\n$x$"  # what is imported then is
PIECES_PER_S = {1: 200, 300: 40}


@dataclass
class Frames:
    longest_ms: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    begin_mb: float = field(default_factory=lambda: workload.anonymous_bytes() / 1e6)
    shown: float = 1.0  # of the text, until the time was up

    def take(self, frame: Callable[[], object]) -> None:
        begin = time.thread_time()
        frame()
        took_s = time.thread_time() - begin
        self.cpu_s += took_s
        self.longest_ms = max(self.longest_ms, took_s * 1000)
        if took_s > 0.01:
            self.note_memory()

    def note_memory(self) -> None:
        self.peak_mb = max(self.peak_mb, workload.anonymous_bytes() / 1e6 - self.begin_mb)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=int,
        default=[95_000, 8_000, 60_000],
        help="characters: whole, in pieces of 1, of 300",
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU time after which a text is given up")


def run(options: argparse.Namespace) -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from app.bridge.garbage import GarbageCollector
    from app.look.theme import apply_theme

    application = QApplication(sys.argv[:1])
    apply_theme(application, "light")
    GarbageCollector(application)  # as the window has it
    verdict = Verdict()
    print(f"{'':<26}{'whole':>9}{'resize':>9}{'by 1':>9}{'by 300':>9} ms   {'peak':>7}{'left':>7} MB  CPU s")
    worst: dict[str, float] = {}
    _text_frames(WARM_UP, 300, options.seconds)
    for kind in options.kinds:
        gc.collect()
        begin_mb = workload.anonymous_bytes() / 1e6
        whole, resized = _whole_frames(KINDS[kind](options.sizes[0]), options.seconds)
        grown = [
            _text_frames(KINDS[kind](size), piece, options.seconds)
            for piece, size in zip(PIECES_PER_S, options.sizes[1:], strict=True)
        ]
        every = [whole, resized, *grown]
        peak = max(frames.peak_mb for frames in every)
        left = _memory_left_mb() - begin_mb
        figures = "".join(f"{frames.longest_ms:8.1f}{' ' if frames.shown == 1 else '*'}" for frames in every)
        cpu = " ".join(f"{frames.cpu_s:.1f}" for frames in every)
        print(f"{kind:<26}{figures}      {peak:7.1f}{left:7.1f}     {cpu}", flush=True)
        worst[kind] = max(frames.longest_ms for frames in every)
    print("* given up before its end")
    num_long = sum(longest > WANTED_MS for longest in worst.values())
    verdict.equal(f"kinds with a frame over {WANTED_MS:.0f} ms, of {len(worst)}", num_long, 0)
    return verdict.exit_code


def _memory_left_mb() -> float:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return workload.anonymous_bytes() / 1e6


def _whole_frames(text: str, seconds: float) -> tuple[Frames, Frames]:
    """Opened, and then made narrower and wider."""

    from app.chats.chat import TurnState
    from app.ui.transcript.transcript import Transcript

    opened = Frames()
    _answer, chat = _chat(text, TurnState.DONE)
    transcript = Transcript(chat)
    transcript.resize(900, 700)
    opened.take(transcript.show)
    _settle(opened, seconds)
    resized = Frames()
    for width in (700, 1_000):
        resized.take(partial(transcript.resize, width, 700))
        _settle(resized, seconds)
    _close(transcript, opened, seconds)
    return opened, resized


def _settle(frames: Frames, seconds: float) -> None:
    """Until nothing is drawn any more, and nothing deleted."""
    from app.ui.base.frame_budget import frame_budget

    idle_since = time.perf_counter()
    while time.perf_counter() - idle_since < 0.15 and frames.cpu_s < seconds:
        before = frames.cpu_s
        frames.take(_turn)
        if frames.cpu_s - before > 0.001 or frame_budget().num_waiting:
            idle_since = time.perf_counter()
        else:
            time.sleep(0.002)
    if frames.cpu_s >= seconds:
        frames.shown = 0.0
    frames.note_memory()


def _turn() -> None:
    """Of the loop, which sees to what is to be deleted only while it runs by itself."""
    from PySide6.QtCore import QEvent
    from PySide6.QtWidgets import QApplication

    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _text_frames(text: str, piece: int, seconds: float) -> Frames:
    """As a model writes it; each piece comes when it is due by a clock that does not run."""
    from PySide6.QtWidgets import QApplication

    from app.chats.chat import TurnState
    from app.ui.transcript import transcript as transcripts
    from app.ui.transcript.turn_view import AnswerProgress

    frames = Frames()
    answer, chat = _chat("", TurnState.STREAMING)
    clock = SimpleNamespace(now=0.0)
    clocks = SimpleNamespace(monotonic=lambda: clock.now, thread_time=time.thread_time)
    with mock.patch.object(transcripts, "time", clocks):
        transcript = transcripts.Transcript(chat)
        transcript.set_progress(AnswerProgress(is_busy=True))
        transcript.resize(900, 700)
        transcript.show()
        QApplication.processEvents()
        for end in _ends(text, piece):
            answer.text = text[:end]
            clock.now += 1 / PIECES_PER_S[piece]
            if clock.now >= transcript._next_frame_at:
                transcript._is_dirty = True
                frames.take(transcript._draw)
                frames.take(QApplication.processEvents)
            if frames.cpu_s > seconds:
                frames.shown = end / len(text)
                break
        answer.state = TurnState.DONE
        transcript._is_all_dirty = True
        frames.take(transcript._draw)
        _settle(frames, 2 * seconds)
        _close(transcript, frames, seconds)
    return frames


def _close(transcript: Transcript, frames: Frames, seconds: float) -> None:
    from app.ui.message.markdown_column import discard

    frames.take(partial(discard, transcript))
    _settle(frames, 2 * seconds)


def _ends(text: str, piece: int) -> Iterator[int]:
    yield from range(piece, len(text), piece)
    yield len(text)


def _chat(text: str, state: TurnState) -> tuple[Turn, Chat]:
    from app.chats.chat import Chat, Turn
    from app.protocol.request import Role

    answer = Turn(Role.ASSISTANT, text, state)
    chat = Chat()
    chat.add(Turn(Role.USER, "Tell me"), answer)
    return answer, chat
