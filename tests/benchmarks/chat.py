"""The window with scripted answers: is it quick with chats that stream, long answers, long chats, long lines?

`streams` is eight chats that stream at once, one of them in sight. `answer` is one long answer of each kind.
`open` is a long chat that is opened from the disk. `tabs` is a start with a thousand tabs. `line` is ten
megabytes without a break, pasted, sent and received. `select` is a drag through a thousand messages. `cards`
is an answer with twenty calls of tools.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shutil import which
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show
from tests.e2e.desktop import PACKAGES, new_desktop

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent, QPoint

    from app.chats.chat import Chat, Turn
    from app.storage.chat_store import ChatStore
    from app.ui.main_window import MainWindow
    from app.ui.transcript.transcript import Transcript
    from tests.benchmarks.scripted_window import ScriptedProgram

NUM_STREAMS = 8
WANTED_SHARE = {40: 0.10, 200: 0.20}  # of a core, by tokens a second of each chat
WANTED_LATE_MS = {"p99": 16.0, "max": 50.0}  # at 40 tokens a second
ANSWER_CHARS = 32_000
WANTED_TOKEN_MS = {"mean": 1.0, "max": 50.0}
POLL_S = 0.001  # without a pause asking would fill each round of the loop
WANTED_OPEN_MS = {1_000: 100.0, 100_000: 500.0}
NUM_TABS = 1_000
WANTED_START_S = 3.0
LINE_BYTES = 10_000_000
WANTED_GAP_MS = 250.0
NUM_SELECTED = 1_000
NUM_FRAMES = 300
SCROLL_PX = 40
NUM_CARDS = 20
NUM_ROUNDS = 4  # that these cards are in
ARGUMENTS = f'{{"path": "/home/anna/notes/budget.md", "old": "{"one line " * 9}", "new": "{"another " * 9}"}}'
WANTED_FRAME_MS = 16.0
PIECE = 4  # characters of a token

MIX = (
    "## Heading of a part\n\n"
    + "Plain prose with **bold** words, `code` and a [link](https://example.org) in it, some lines long. " * 3
    + "\n\n- a list\n- of three\n- short items\n\n```python\n"
    + "def number(value: int) -> int:\n    return value + 1  # the next one\n\n" * 8
    + "```\n\n| name | value |\n|---|---|\n"
    + "| a cell | another one |\n" * 8
    + "\n1. first\n2. second\n\n"
)
KINDS = {
    "prose mix": MIX,
    "code fence": "```python\n" + "value = compute(1, 'two', three=3)  # a comment\n" * 800,
    "table": "| name | value | more |\n|---|---|---|\n" + "| a cell | another one | 3 |\n" * 1_200,
    "list": "- an item of a list that has **some** words in it\n" * 700,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    parser.add_argument("--seconds", type=float, default=10.0, help="of streaming, at each speed")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with ExitStack() as stack:
        if all(map(which, PACKAGES)):
            os.environ.update(stack.enter_context(new_desktop()).environment)
            print("in a window on Xvfb")
        else:
            os.environ["QT_QPA_PLATFORM"] = "offscreen"
            print(f"offscreen, for want of one of {', '.join(PACKAGES)}: painting costs less there")
        from tests.benchmarks.scripted_window import private_home

        for part in options.parts:
            print(f"\n{part}")
            with private_home() as home:
                _in_loop(PARTS[part](options, verdict, home))
    return verdict.exit_code


def _in_loop(work: Coroutine[Any, Any, None]) -> None:
    os.environ["QT_API"] = "pyside6"
    from PySide6.QtWidgets import QApplication

    from app.bridge.tasks import QtLoop
    from app.look.theme import apply_theme

    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setQuitOnLastWindowClosed(False)
    apply_theme(application, "light")
    with asyncio.Runner(loop_factory=lambda: QtLoop(application)) as runner:
        runner.run(work)


# Eight chats at once.


async def _streams(options: argparse.Namespace, verdict: Verdict, home: Path) -> None:
    from tests.benchmarks.scripted_window import scripted_program

    async with scripted_program(home, MIX) as program:
        program.window.inspector.set_shown(False)
        program.window.frame.show()
        for _ in range(NUM_STREAMS):
            program.workspace.new_chat().send("Tell me everything")
        await asyncio.sleep(1.0)
        for rate, wanted in WANTED_SHARE.items():
            shares, late = [], []
            for _ in range(options.repeats):
                shares.append((await _stream(program, rate, options.seconds, is_watched=False))[0])
                late.append((await _stream(program, rate, options.seconds, is_watched=True))[1])
            name = f"{NUM_STREAMS} x {rate} tokens/s"
            share = show(f"{name}: GUI thread", shares, "CPU s/s", 3)
            tops = {
                "p50": [float(np.percentile(late_ms, 50)) for late_ms in late],
                "p99": [float(np.percentile(late_ms, 99)) for late_ms in late],
                "max": [late_ms[-1] for late_ms in late],
            }
            medians = {top: show(f"{name}: late, {top}", values, "ms") for top, values in tops.items()}
            verdict.at_most(f"{name}: GUI thread", share, wanted)
            if rate == min(WANTED_SHARE):
                for top, wanted_ms in WANTED_LATE_MS.items():
                    verdict.at_most(f"{name}: ms late, {top}", medians[top], wanted_ms)


async def _stream(
    program: ScriptedProgram, rate: float, num_seconds: float, is_watched: bool
) -> tuple[float, list[float]]:
    """The share of a core the GUI's thread took, and how late it was. Not both at once: a look costs, too."""
    program.window.set_watched(is_watched)
    program.script.talk(rate)
    await asyncio.sleep(0.5)
    begin, begin_cpu, begin_step = time.perf_counter(), time.thread_time(), program.script.num_steps
    await asyncio.sleep(num_seconds)
    end, cpu_s = time.perf_counter(), time.thread_time() - begin_cpu
    num_steps = program.script.num_steps - begin_step
    assert num_steps > 0.9 * rate * (end - begin), f"only {num_steps} steps in {end - begin:.1f} s"
    program.script.talk(0)
    return cpu_s / (end - begin), program.window.record.late_ms(begin, end)


# One long answer.


async def _answer(options: argparse.Namespace, verdict: Verdict, _home: Path) -> None:
    """Each token comes when it is due by a clock that does not run; what drawing costs is real."""
    for rate in WANTED_SHARE:
        for kind, text in KINDS.items():
            gc.collect()
            gc.freeze()  # as the window does it, in which no drawing waits for a collection of all there is
            costs = [_stream_answer(text, rate) for _ in range(max(1, options.repeats // 2))]
            name = f"{kind}, {rate} tokens/s"
            num_tokens = ANSWER_CHARS // PIECE
            mean = show(f"{name}: mean", [sum(each) * 1000 / num_tokens for each in costs], "ms", 3)
            longest = show(f"{name}: max", [max(each) * 1000 for each in costs], "ms")
            verdict.at_most(f"{name}: mean ms a token", mean, WANTED_TOKEN_MS["mean"])
            verdict.at_most(f"{name}: longest ms", longest, WANTED_TOKEN_MS["max"])


def _stream_answer(text: str, rate: float) -> list[float]:
    """Seconds of each drawing."""
    text = (text * (ANSWER_CHARS // len(text) + 1))[:ANSWER_CHARS]

    def write(answer: Turn) -> Iterator[None]:
        for end in range(PIECE, len(text) + 1, PIECE):
            answer.text = text[:end]
            yield

    return _stream_turn(write, rate)


def _stream_turn(write: Callable[[Turn], Iterator[None]], rate: float) -> list[float]:
    """Seconds of each drawing. `write` adds a token to the answer each time."""
    from PySide6.QtWidgets import QApplication

    from app.chats.chat import Chat, Turn, TurnState
    from app.protocol.request import Role
    from app.ui.transcript import transcript as transcripts
    from app.ui.transcript.turn_view import AnswerProgress

    answer = Turn(Role.ASSISTANT, "", TurnState.STREAMING)
    chat = Chat()
    chat.add(Turn(Role.USER, "Tell me"), answer)
    clock = SimpleNamespace(now=0.0)
    clocks = SimpleNamespace(monotonic=lambda: clock.now, thread_time=time.thread_time)
    with mock.patch.object(transcripts, "time", clocks):
        transcript = transcripts.Transcript(chat)
        transcript.set_progress(AnswerProgress(is_busy=True))
        transcript.resize(900, 700)
        transcript.show()
        QApplication.processEvents()
        costs = []
        for _ in write(answer):
            clock.now += 1 / rate
            if clock.now >= transcript._next_frame_at:
                transcript._is_dirty = True
                costs.append(_cost(transcript._draw))
        answer.state = TurnState.DONE
        transcript._is_all_dirty = True
        costs.append(_cost(transcript._draw))
        transcript.hide()
        transcript.deleteLater()
    return costs


def _cost(draw: Callable[[], object]) -> float:
    """CPU seconds, the painting included."""
    from PySide6.QtWidgets import QApplication

    begin = time.thread_time()
    draw()
    QApplication.processEvents()
    return time.thread_time() - begin


# A long chat.


async def _open(options: argparse.Namespace, verdict: Verdict, home: Path) -> None:
    from tests.benchmarks.scripted_window import scripted_program

    for num_turns, wanted in WANTED_OPEN_MS.items():
        async with scripted_program(home / str(num_turns)) as program:
            chat = _long_chat(num_turns)
            await _save(program.store, [chat])
            await program.workspace.restore()
            program.window.frame.show()
            await asyncio.sleep(1.0)
            took, whole, blocked = [], [], []
            for _ in range(options.repeats + 1):
                begin = time.perf_counter()
                opening = asyncio.ensure_future(program.workspace.open_saved(chat.id))
                while not _shows_the_end(program.window, chat):
                    await asyncio.sleep(POLL_S)
                took.append((time.perf_counter() - begin) * 1000)
                session = await opening
                assert session
                end = time.perf_counter()
                whole.append((end - begin) * 1000)
                await asyncio.sleep(0.3)
                assert len(session.chat.turns) == num_turns
                blocked.append(max(program.window.record.late_ms(begin, end + 0.2)))
                program.workspace.close(session)
                await asyncio.sleep(0.3)
        name = f"{num_turns:,} turns"
        show(f"{name}: longest GUI gap", blocked[1:], "ms")
        show(f"{name}: until all of it is there", whole[1:], "ms")
        verdict.at_most(f"{name}: ms to open", show(f"{name}: open", took[1:], "ms"), wanted)


def _shows_the_end(window: MainWindow, chat: Chat) -> bool:
    """The last message is drawn."""
    view = window.tabs.current
    if view is None or view.session.chat.id != chat.id:
        return False
    if not any(live.turn.id == chat.turns[-1].id for live in view.transcript.live_views):
        return False
    view.transcript.repaint()
    return True


def _long_chat(num_turns: int) -> Chat:
    """Every tenth answer is a long one."""
    from app.chats.chat import Chat, Turn
    from app.protocol.request import Role

    chat = Chat(title=f"{num_turns} turns")
    for number in range(num_turns // 2):
        text = MIX if number % 10 == 0 else f"The answer to question {number} is **{number}**. " * 4
        chat.add(Turn(Role.USER, f"Question {number}?"), Turn(Role.ASSISTANT, text))
    return chat


async def _save(store: ChatStore, chats: list[Chat], open_tabs: bool = False) -> None:
    from app.storage.chat_rows import ChatChange
    from app.storage.list_rows import Tabs

    ids = tuple(chat.id for chat in chats)
    tabs = Tabs(open=ids, current=ids[-1], shown=ids[-1:]) if open_tabs else None
    await store.save([ChatChange.of(chat) for chat in chats], tabs)


# A thousand tabs.


async def _tabs(options: argparse.Namespace, verdict: Verdict, home: Path) -> None:
    from tests.benchmarks.scripted_window import scripted_program

    async with scripted_program(home) as program:
        await _save(program.store, [_long_chat(10) for _ in range(NUM_TABS)], open_tabs=True)
    took = []
    for _ in range(options.repeats):
        begin = time.perf_counter()
        async with scripted_program(home) as program:
            await program.workspace.restore()
            program.window.frame.show()
            while not (program.window.tabs.current and program.window.tabs.current.transcript.live_views):
                await asyncio.sleep(POLL_S)
            program.window.frame.repaint()
            took.append(time.perf_counter() - begin)
            assert len(program.workspace.sessions) == NUM_TABS
    verdict.at_most("s to start", show(f"{NUM_TABS:,} tabs: start", took, "s", 2), WANTED_START_S)


# A long line.


async def _line(options: argparse.Namespace, verdict: Verdict, home: Path) -> None:
    from PySide6.QtCore import QMimeData

    from app.protocol.output import Output
    from tests.benchmarks.scripted_window import scripted_program

    line = "x" * LINE_BYTES
    async with scripted_program(home) as program:
        program.window.frame.show()
        gaps: dict[str, list[float]] = {"pasted": [], "sent": [], "received": []}
        for _ in range(max(1, options.repeats // 2)):
            session = program.workspace.new_chat()
            await asyncio.sleep(0.5)
            view = program.window.tabs.current
            assert view
            pasted = QMimeData()
            pasted.setText(line)
            gap = partial(_longest_gap, program)
            gaps["pasted"].append(await gap(partial(view.composer.editor.insertFromMimeData, pasted)))
            session.draft_attachments = ()  # what it has become
            await asyncio.sleep(0.5)
            gaps["sent"].append(await gap(partial(session.send, line)))
            assert session.request_id
            output = Output(session.request_id, session.chat.id, line)
            gaps["received"].append(await gap(partial(session.answers.apply, output)))
            session.stop()
            await asyncio.sleep(0.5)
            program.workspace.close(session)
            await asyncio.sleep(0.5)
    for what, values in gaps.items():
        verdict.at_most(
            f"ms, 10 MB {what}", show(f"10 MB {what}: longest GUI gap", values, "ms"), WANTED_GAP_MS
        )


async def _longest_gap(program: ScriptedProgram, act: Callable[[], object], settle_s: float = 3.0) -> float:
    begin = time.perf_counter()
    asyncio.get_running_loop().call_soon(act)
    await asyncio.sleep(settle_s)
    return max(program.window.record.late_ms(begin, time.perf_counter()))


# Selecting.


async def _select(options: argparse.Namespace, verdict: Verdict, _home: Path) -> None:
    """A drag through a long chat, in the window and beyond its edge, beside scrolling alone."""
    from app.bridge.tasks import finish_all
    from app.ui.transcript.transcript import Transcript

    page = Transcript(_long_chat(NUM_SELECTED))
    page.resize(900, 700)
    page.show()
    frames: dict[str, list[float]] = {}
    for _ in range(options.repeats):
        for name, costs in (
            ("scrolling alone", _scroll(page)),
            ("a drag beyond the edge", _drag(page, is_beyond=True)),
            ("a drag in the window", _drag(page, is_beyond=False)),
        ):
            frames.setdefault(name, []).extend(cost * 1000 for cost in costs)
    for name, costs_ms in frames.items():
        show(f"{name}: a frame, p50 and max", [np.percentile(costs_ms, 50), max(costs_ms)], "CPU ms")
        verdict.at_most(f"{name}: CPU ms a frame, p99", float(np.percentile(costs_ms, 99)), WANTED_FRAME_MS)
    page.selection.select_all()
    begin = time.perf_counter()
    page.selection.copy()
    await finish_all()
    show(f"copying {NUM_SELECTED:,} messages", [time.perf_counter() - begin], "s", 2)
    page.hide()
    page.deleteLater()


def _scroll(page: Transcript) -> list[float]:
    bar = page.verticalScrollBar()
    page.jump_to_end()
    return [_cost(lambda: bar.setValue(bar.value() - SCROLL_PX)) for _ in range(NUM_FRAMES)]


def _drag(page: Transcript, *, is_beyond: bool) -> list[float]:
    """It does not end: its text is copied by a task, and here events are handled in the midst of one."""
    from PySide6.QtCore import QEvent, QPoint

    page.jump_to_end()
    _move(page, QEvent.Type.MouseButtonPress, QPoint(450, 600))
    places = [
        QPoint(100 + 37 * n % 700, -SCROLL_PX if is_beyond else 53 * n % 700) for n in range(NUM_FRAMES)
    ]

    def move_on(place: QPoint) -> None:
        _move(page, QEvent.Type.MouseMove, place)
        if is_beyond:
            page._selecting._scroll_on()

    costs = [_cost(partial(move_on, place)) for place in places]
    assert page.selection
    return costs


def _move(page: Transcript, kind: QEvent.Type, place: QPoint) -> None:
    from PySide6.QtCore import QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    on_screen = QPointF(page.viewport().mapToGlobal(place))
    QApplication.sendEvent(
        page.viewport(), QMouseEvent(kind, QPointF(place), on_screen, button, button, none)
    )


# Calls of tools.


async def _cards(options: argparse.Namespace, verdict: Verdict, _home: Path) -> None:
    """Twenty calls are written and run, then the answer below them; and such answers are scrolled."""
    from app.chats.chat import Chat, Turn
    from app.protocol.request import Role
    from app.ui.transcript.transcript import Transcript

    frames: dict[str, list[float]] = {}
    chat = Chat()
    for _ in range(NUM_CARDS):
        answer = Turn(Role.ASSISTANT, "")
        for _ in _write_calls(answer):
            pass
        answer.text = MIX[:400]
        chat.add(Turn(Role.USER, "Tell me"), answer)
    page = Transcript(chat)
    page.resize(900, 700)
    page.show()
    show("calls at first sight: a frame, max", [1000 * max(_scroll(page))], "CPU ms")
    for _ in range(options.repeats):
        for name, costs in (
            ("calls that are written, and an answer", _stream_turn(_write_with_calls, max(WANTED_SHARE))),
            ("scrolling through calls", _scroll(page)),
        ):
            frames.setdefault(name, []).extend(cost * 1000 for cost in costs)
    for name, costs_ms in frames.items():
        show(f"{name}: a frame, p50 and max", [np.percentile(costs_ms, 50), max(costs_ms)], "CPU ms")
        verdict.at_most(f"{name}: CPU ms a frame, p99", float(np.percentile(costs_ms, 99)), WANTED_FRAME_MS)
    page.hide()
    page.deleteLater()


def _write_calls(answer: Turn) -> Iterator[None]:
    from app.chats.tool_use import ToolRound, ToolState, ToolUse

    for _ in range(NUM_ROUNDS):
        uses: list[ToolUse] = []
        answer.rounds.append(ToolRound(content="I look into the files.", uses=uses))
        for number in range(NUM_CARDS // NUM_ROUNDS):
            uses.append(ToolUse(f"{number}", "edit_file"))
            for end in range(PIECE, len(ARGUMENTS) + PIECE, PIECE):
                uses[-1].arguments = ARGUMENTS[:end]
                yield
        for state in (ToolState.RUNNING, ToolState.DONE):
            for use in uses:
                use.state, use.result, use.seconds = state, MIX, 0.2
                yield


def _write_with_calls(answer: Turn) -> Iterator[None]:
    yield from _write_calls(answer)
    text = MIX * 10
    for end in range(PIECE, len(text), PIECE):
        answer.text = text[:end]
        yield


PARTS = {
    "streams": _streams,
    "answer": _answer,
    "open": _open,
    "tabs": _tabs,
    "line": _line,
    "select": _select,
    "cards": _cards,
}
