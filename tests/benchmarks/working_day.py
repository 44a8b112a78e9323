"""Thousands of random actions in the whole program: once all tabs are closed, its memory is what it was.

Window, database and engine are real, only the screen is missing. Every 1,000 actions all tabs are closed, and
what the process still holds is printed. The other days are controls: as many actions, some kinds left out.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

import app.main
import app.program
from app.bridge import tasks
from app.bridge.garbage import QUIET_PERIODS
from app.engine import hibernation
from app.engine.llama.native_library import native_objects
from app.settings.settings import Settings
from app.system import paths
from app.ui.message.slices import slices
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict
from tests.ui.random_use import RandomUse

WANTED_GROWTH = 1.10
NUM_SETTLED = 2_000  # actions, after which every buffer has its size
PATIENCE_S = 300.0
MAX_ANSWER = 64  # tokens
PAUSES_S = (0.0, 0.0, 0.01, 0.03)  # after an action; the engine goes on meanwhile
NUM_REOPENED = 10  # tabs, after the figures
MIB = 2**20
HEADER = (
    "actions    s chats tabs  MiB open | closed: anonymous  malloc   kept | threads files native    Qt   ours"
)
LINE = "{:7,} {:4.0f} {:5,} {:4}  {:8.1f} | {:17.1f} {:7.1f} {:6.1f} | {:7} {:5} {:6} {:5,} {:6,}"


@dataclass(frozen=True)
class Day:
    about: str
    max_chats: int = 1_000_000  # with as many, none is made
    left_out: tuple[str, ...] = ()  # actions and commands, by the beginnings of their names
    hibernates: bool = True


DAYS = {
    "usual": Day("all actions"),
    "ten-chats": Day("no more than ten chats", max_chats=10),
    "hundreds": Day("no more than three hundred chats", max_chats=300),
    "one-model": Day("the model stays", left_out=("load", "sleep", "model.")),
    "no-hibernation": Day("no cells are saved", hibernates=False),
}
MAKES_CHATS = ("new_chat", "fork", "chat.fork", "chat.new")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--actions", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=1_000, help="actions between two closings of all tabs")
    parser.add_argument("--seed", type=int, default=1)
    days = "; ".join(f"{name}: {day.about}" for name, day in DAYS.items())
    parser.add_argument("--days", nargs="+", choices=DAYS, default=["usual"], metavar="DAY", help=days)


def run(options: argparse.Namespace) -> int:
    """Each day in a process of its own, since memory begins anew there."""
    codes = [_run_alone(name, options) for name in options.days]
    return int(any(codes))


def _run_alone(name: str, options: argparse.Namespace) -> int:
    numbers = map(str, (options.actions, options.every, options.seed))
    with tempfile.TemporaryDirectory(prefix="skein-day-") as folder:
        homes = {f"XDG_{kind}_HOME": str(Path(folder, kind)) for kind in ("DATA", "CONFIG", "CACHE", "STATE")}
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, **homes}
        command = [sys.executable, "-m", "tests.benchmarks.working_day", name, *numbers, folder]
        return subprocess.run(command, env=environment).returncode


# In the process of a day


class RandomDay(RandomUse):
    """Uses the program; its engine answers by itself."""

    def __init__(self, day: Day, seed: int, models: list[Path], program: app.program.Program) -> None:
        super().__init__(random.Random(seed), program._window, program._workspace, program._engine)
        self._garbage = program._garbage
        self._day = day
        self._models = models
        self.chat_ids: set[str] = set()  # of all chats there ever were

    def may(self, name: str) -> bool:
        makes_one_too_many = name in MAKES_CHATS and len(self.library.chats) >= self._day.max_chats
        return not makes_one_too_many and not name.startswith(self._day.left_out)

    def do_load(self) -> None:
        """As the user asks for it; now and then the load is called off."""
        if self.engine.is_loading:
            self.engine.cancel_load()
        else:
            self.window.models.load(self.chance.choice(self._models))

    async def go_on(self, num_actions: int) -> None:
        for _ in range(num_actions):
            self.act()
            await asyncio.sleep(self.chance.choice(PAUSES_S))
            self.check()
            self.chat_ids.update(session.chat.id for session in self.workspace.sessions)
            del self.done[:-12]

    async def close_all(self) -> None:
        """Returns once nothing is left to do, and what was freed is given back. A model is loaded then."""
        self._close_menus()
        for dialog in self._open_dialogs():
            dialog.reject()
        self.workspace.end_split()
        current = self.workspace.current
        for session in sorted(self.workspace.sessions, key=lambda one: one is current):
            self.workspace.close(session)  # the current one last: in its place another one would be drawn
        async with asyncio.timeout(PATIENCE_S):
            await self._until_idle()
            if not self.engine.loaded_params:
                self.window.models.load(self._models[0])
                await self._until_idle()
            self._garbage.note_closed()
            while self._garbage._num_quiet < QUIET_PERIODS:
                await asyncio.sleep(0.05)

    async def _until_idle(self) -> None:
        threads = self.engine._threads
        while threads.load or len(threads) > 1 or tasks._running or slices().num_waiting:
            await asyncio.sleep(0.05)


@dataclass(frozen=True)
class Figures:
    """Of the process."""

    anonymous: int  # bytes
    handed_out: int  # of them, by malloc
    kept: int  # by malloc, for later
    num_threads: int
    num_files: int
    native: dict[str, int]  # llama.cpp's objects by kind
    qt: Counter[str]  # QObjects by class
    num_ours: int  # Python objects of the program's classes

    @property
    def columns(self) -> tuple[float, ...]:
        sizes = (size / MIB for size in (self.anonymous, self.handed_out, self.kept))
        return (
            *sizes,
            self.num_threads,
            self.num_files,
            sum(self.native.values()),
            self.qt.total(),
            self.num_ours,
        )

    @classmethod
    def now(cls) -> Figures:
        process = psutil.Process()
        handed_out, kept = _malloc_bytes()
        return cls(
            workload.anonymous_bytes(),
            handed_out,
            kept,
            process.num_threads(),
            process.num_fds(),
            {kind: number for kind, number in native_objects.items() if number},
            _qt_objects(),
            sum(type(one).__module__.startswith("app.") for one in gc.get_objects()),
        )


class _MallInfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _malloc_bytes() -> tuple[int, int]:
    """What malloc has handed out, and what it keeps."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return 0, 0
    libc.mallinfo2.restype = _MallInfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd, info.fordblks


def _qt_objects() -> Counter[str]:
    application = QApplication.instance()
    assert application
    roots = [application, *(one for one in QApplication.topLevelWidgets() if not one.parent())]
    return Counter(one.metaObject().className() for root in roots for one in root.findChildren(QObject))


class DayProgram(app.program.Program):
    """Skein, and somebody who uses it from its start to its end."""

    day: Day
    num_actions: int
    every: int
    seed: int
    models: list[Path]

    async def run(self) -> int:
        self._living = asyncio.create_task(self._live())
        return await super().run()

    async def _live(self) -> None:
        bugs: list[str] = []
        self._bugs.seen.connect(bugs.append)
        self._bugs.seen.disconnect(self._on_bug)
        try:
            verdict = await self._use()
            verdict.equal("exceptions that nobody caught", len(bugs), 0)
            self._end(verdict.exit_code)
        except Exception:
            traceback.print_exc()
            self._end(1)
        for bug in bugs:
            print(bug)

    async def _use(self) -> Verdict:
        async with asyncio.timeout(PATIENCE_S):
            while not (self._engine.model and self._workspace.current):
                await asyncio.sleep(0.05)
        use = RandomDay(self.day, self.seed, self.models, self)
        figures: list[Figures] = []
        began = time.monotonic()
        print(HEADER, flush=True)
        for num_actions in range(self.every, self.num_actions + 1, self.every):
            await use.go_on(self.every)
            num_open, opened = len(use.workspace.sessions), workload.anonymous_bytes()
            await use.close_all()
            figures.append(Figures.now())
            told = (num_actions, time.monotonic() - began, len(use.chat_ids), num_open, opened / MIB)
            print(LINE.format(*told, *figures[-1].columns), flush=True)
            for _ in range(NUM_REOPENED):
                use.workspace.reopen()
        return _judged(figures[min(NUM_SETTLED // self.every, len(figures)) - 1], figures[-1])


def _judged(settled: Figures, last: Figures) -> Verdict:
    verdict = Verdict()
    growth = last.anonymous / settled.anonymous
    verdict.at_most(f"anonymous memory at the end / after {NUM_SETTLED:,} actions", growth, WANTED_GROWTH)
    verdict.at_most("more threads", last.num_threads - settled.num_threads, 0)
    verdict.at_most("more files", last.num_files - settled.num_files, 0)
    verdict.equal("native objects", last.native, settled.native)
    for name, number in (last.qt - settled.qt).most_common(20):
        print(f"     {number:+,} {name}")
    return verdict


def main() -> int:
    name, *numbers, folder = sys.argv[1:]
    day = DayProgram.day = DAYS[name]
    DayProgram.num_actions, DayProgram.every, DayProgram.seed = map(int, numbers)
    DayProgram.models = [paths.starter_model(), Path(shutil.copy(paths.starter_model(), folder))]
    print(f"===== {name}: {day.about}", flush=True)
    settings = Settings.load(paths.settings_file())
    settings.max_tokens = MAX_ANSWER
    settings.save()
    app.program.Program = DayProgram  # type: ignore[misc]
    if not day.hibernates:
        hibernation.MAX_RAM_BYTES = hibernation.MAX_DISK_BYTES = 0
    return app.main.main([])


if __name__ == "__main__":
    sys.exit(main())
