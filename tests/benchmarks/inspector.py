"""Eight tabs stream from the starter model into the real window: what does the inspector cost?

In turn it is closed, in its usual docks, and torn off with every panel in sight. A window manager on a
virtual screen of its own shows it all; without Xvfb it is drawn offscreen, which is less than the real thing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show
from tests.e2e.desktop import PACKAGES, new_desktop

if TYPE_CHECKING:
    from app.bridge.chat_session import ChatSession
    from app.chats.chat import Chat
    from app.inspector.docks import InspectorDocks
    from app.program import Program
    from app.protocol.model import ModelInfo
    from app.protocol.sampling import SamplingParams
    from app.settings.settings import Settings
    from tests.benchmarks.watched_window import WatchedWindow

WANTED_SPEED = 0.95  # of that with the inspector closed
WANTED_LATE_MS = 16.0
CLOSED, DOCKED, ALL_PANELS = "closed", "usual docks", "all panels"
ARRANGEMENTS = (CLOSED, DOCKED, ALL_PANELS)
NUM_TABS = 8
MAX_TOKENS = 600  # of an answer
SETTINGS = {
    "n_ctx": 8192,
    "n_seq_max": NUM_TABS,
    "max_chat_tokens": 1000,
    "overflow": "rolling_window",
}
SCREEN = (2560, 1600)  # has room for the window and every panel beside it
WINDOW_WIDTH, PANEL_SIZE = 1290, (620, 380)
NUM_PANEL_ROWS = 4
SETTLE_S = 0.7
WARM_UP_S = 15.0  # until every chat has been as long as it may get, and began to leave turns out


@dataclass(frozen=True)
class Measured:
    tokens_per_s: float
    late_ms: tuple[float, float, float]  # p50, p99, max
    gui_cpu_s: float  # a second


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each arrangement, each time")


def run(options: argparse.Namespace) -> int:
    with _screen(), _private_home() as home:
        measured = _run_program(options, home)
    verdict = Verdict()
    for arrangement in ARRANGEMENTS:
        _show(arrangement, measured[arrangement])
    for arrangement in (DOCKED, ALL_PANELS):
        pairs = zip(measured[arrangement], measured[CLOSED], strict=True)
        speeds = [beside.tokens_per_s / closed.tokens_per_s for beside, closed in pairs]
        verdict.at_least(
            f"speed of closed, {arrangement}", show(f"{arrangement}, of closed", speeds, "", 3), WANTED_SPEED
        )
    for arrangement in ARRANGEMENTS:
        late_ms = float(np.median([one.late_ms[1] for one in measured[arrangement]]))
        verdict.at_most(f"ms the GUI is late, p99, {arrangement}", late_ms, WANTED_LATE_MS)
    return verdict.exit_code


def _show(arrangement: str, measured: list[Measured]) -> None:
    show(f"{arrangement}: engine", [one.tokens_per_s for one in measured], "tokens/s")
    for number, name in enumerate(("p50", "p99", "max")):
        show(f"{arrangement}: GUI late, {name}", [one.late_ms[number] for one in measured], "ms")
    show(f"{arrangement}: GUI thread", [one.gui_cpu_s for one in measured], "CPU s/s", 3)


# The program.


@contextmanager
def _screen() -> Iterator[None]:
    """Before Qt is loaded: it looks once."""
    with ExitStack() as stack:
        if all(map(shutil.which, PACKAGES)):
            os.environ.update(stack.enter_context(new_desktop(size=SCREEN)).environment)
            print(f"in a window on Xvfb, {SCREEN[0]} x {SCREEN[1]}")
        else:
            os.environ["QT_QPA_PLATFORM"] = "offscreen"
            print(f"offscreen, for want of one of {', '.join(PACKAGES)}: painting costs less there")
        yield


@contextmanager
def _private_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        for kind in ("DATA", "CONFIG", "CACHE", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(name) / kind.lower())
        yield Path(name)


def _run_program(options: argparse.Namespace, home: Path) -> dict[str, list[Measured]]:
    os.environ["QT_API"] = "pyside6"
    from app.bridge.qt_loop import QtLoop
    from app.engine.loop import SWITCH_INTERVAL_S
    from app.look.theme import apply_theme
    from app.program import Program, Start
    from app.settings.settings import Settings
    from app.system import paths
    from app.system.crashes import RunMarker
    from app.ui.application import Application
    from app.ui.frame import Frame
    from app.ui.window_state import WindowState
    from tests.benchmarks.watched_window import WatchedWindow

    for folder in (paths.data_dir(), paths.log_dir()):
        paths.private_dir(folder)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    settings = Settings.model_validate({**SETTINGS, "n_threads": options.threads})
    application = Application(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    apply_theme(application, "light")

    async def main() -> dict[str, list[Measured]]:
        start = Start(options.model, crash_file, RunMarker(home / "running.json"), None)
        frame = Frame()
        frame.show()
        state = WindowState(paths.window_state_file())
        program = Program(application, frame, state, settings, start)
        running = asyncio.ensure_future(program.run())
        try:
            return await _measure_all(program, options)
        finally:
            program._quit.set()
            await running

    with (
        (home / "crash.log").open("a") as crash_file,
        mock.patch("app.bridge.chat_session.sampling_params", _endless),
        mock.patch("app.program.MainWindow", WatchedWindow),
        asyncio.Runner(loop_factory=lambda: QtLoop(application)) as runner,
    ):
        return runner.run(main())


def _endless(_settings: Settings, _chat: Chat, model: ModelInfo | None) -> SamplingParams | None:
    """Only `max_tokens` ends an answer."""
    return replace(model.sampling, ignore_eos=True) if model else None


async def _measure_all(program: Program, options: argparse.Namespace) -> dict[str, list[Measured]]:
    watched: WatchedWindow = program._window  # type: ignore[assignment]
    while not (program._engine.model and program._workspace.current):
        await asyncio.sleep(0.05)
    print(f"{program._engine.model.description}, {NUM_TABS} tabs, {program._engine.model.n_ctx:,} cells")
    watched.frame.move(0, 0)
    for _ in range(NUM_TABS - len(program._workspace.sessions)):
        program._workspace.new_chat()
    for number, session in enumerate(program._workspace.sessions, start=1):
        # Answers of other lengths at first: chats that all grow and begin anew together would make waves.
        program._settings.max_tokens = MAX_TOKENS * number // NUM_TABS
        _keep_asking(session, f"Count from {number} to 100")
    await asyncio.sleep(WARM_UP_S)
    measured: dict[str, list[Measured]] = {arrangement: [] for arrangement in ARRANGEMENTS}
    for number in range(options.repeats):
        turn = number % len(ARRANGEMENTS)
        for arrangement in ARRANGEMENTS[turn:] + ARRANGEMENTS[:turn]:
            _arrange(watched.inspector, arrangement)
            await asyncio.sleep(SETTLE_S)
            _check_shown(watched.inspector, arrangement)
            measured[arrangement].append(await _measure(watched, options.seconds))
    return measured


def _keep_asking(session: ChatSession, question: str) -> None:
    """As soon as an answer has ended, and everybody has heard of it."""
    loop = asyncio.get_running_loop()
    session.finished.connect(lambda _turn: loop.call_soon(session.send, question))
    session.send(question)


def _arrange(docks: InspectorDocks, arrangement: str) -> None:
    docks.reset_layout()
    if arrangement == CLOSED:
        docks.set_shown(False)
    elif arrangement == ALL_PANELS:
        for number, name in enumerate(docks.names):
            column, row = divmod(number, NUM_PANEL_ROWS)
            dock = docks.dock(name)
            dock.setFloating(True)
            dock.resize(*PANEL_SIZE)
            dock.move(WINDOW_WIDTH + column * (PANEL_SIZE[0] + 8), row * (PANEL_SIZE[1] + 10))
            dock.show()


def _check_shown(docks: InspectorDocks, arrangement: str) -> None:
    num_shown = sum(panel.isVisible() for panel in docks.panels)
    wanted = {CLOSED: 0, DOCKED: len(docks._rows), ALL_PANELS: len(docks.names)}[arrangement]
    assert num_shown == wanted, f"{arrangement}: {num_shown} panels are shown instead of {wanted}"


async def _measure(watched: WatchedWindow, num_seconds: float) -> Measured:
    begin, begin_cpu = time.perf_counter(), time.thread_time()
    await asyncio.sleep(num_seconds)
    end, gui_cpu_s = time.perf_counter(), time.thread_time() - begin_cpu
    await asyncio.sleep(0)  # reports of the last steps may be on their way
    late_ms = watched.record.late_ms(begin, end)
    p50, p99 = np.percentile(late_ms, [50, 99])
    num_tokens = sum(map(len, watched.record.served(begin, end)))
    seconds = end - begin
    return Measured(num_tokens / seconds, (float(p50), float(p99), late_ms[-1]), gui_cpu_s / seconds)
