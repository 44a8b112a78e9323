"""Thousands of random actions in the whole program: once all tabs are closed, its memory is what it was.

Window, database and engine are real, only the screen is missing. Chats are made at an even rate, and most
are closed and deleted again. Every 1,000 actions all tabs are closed, and what the process still holds is
printed: what malloc and Python have handed out, and the rest, which is stacks, data of libraries, and the
unused parts of pages.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import ctypes.util
import gc
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

import app.main
import app.program
from app.bridge import tasks
from app.engine.llama.native_library import native_objects
from app.inspector.recording import Recording
from app.protocol.wire import MAX_STEPS
from app.settings.settings import Settings
from app.storage.database import CACHE_KIB
from app.system import log, paths
from app.ui.base.frame_budget import frame_budget
from app.ui.base.setting_list import PAGES
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict
from tests.malloc import malloc_bytes
from tests.ui.random_use import RandomUse

Found = TypeVar("Found")

WANTED_GROWTH = 1.10
NUM_SETTLED = 2_000  # actions, after which every buffer has its size
PATIENCE_S = 300.0
MAX_ANSWER = 64  # tokens
PAUSE_TO_LOOK_S = 0.2
PAUSES_S = (0.0, 0.0, 0.01, 0.03)  # after an action; the engine goes on meanwhile
NUM_REOPENED = 10  # tabs, after the figures
MIB = 2**20
HEAP_BYTES = 64 * MIB  # of glibc, for threads other than the first; begins at a multiple of that
HEADER = (
    "actions    s chats kept tabs  MiB open | closed: anonymous  malloc Python  rest hibernated "
    "| threads files native    Qt   ours | SQLite  log steps  free in arenas"
)
LINE = (
    "{:7,} {:4.0f} {:5,} {:4,} {:4}  {:8.1f} | {:17.1f} {:7.1f} {:6.1f} {:5.1f} {:10.1f} "
    "| {:7} {:5} {:6} {:5,} {:6,} | {:6.1f} {:4.1f} {:5.1f} {:15.1f}"
)
MOST_TOLD = 12  # kinds of objects of which there are more
COMMAND_EVERY = 3  # actions, until the program has settled
NUM_KEPT = 100  # chats: with more, some are deleted

BOUNDS = {
    "SQLite": f"{CACHE_KIB} KiB of pages, 128 statements",
    "log lines": f"{log.MAX_RECENT_LINES:,} lines",
    "steps": f"{MAX_STEPS:,} steps since the model was loaded",
    "free in Python's arenas": "what the program needed most at one time",
}

# As `app.main` does it, before this file imports the program.
START = """
from app.main import leave_sources_unread
leave_sources_unread()
from tests.benchmarks.working_day import main
raise SystemExit(main())
"""
MAKES_CHATS = ("new_chat", "fork", "chat.fork", "chat.new")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--actions", type=int, default=20_000)
    parser.add_argument("--chats", type=int, default=1_000, help="that are made in all")
    parser.add_argument("--every", type=int, default=1_000, help="actions between two closings of all tabs")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """In a process of its own, whose homes are empty."""
    numbers = map(str, (options.actions, options.chats, options.every, options.seed))
    with tempfile.TemporaryDirectory(prefix="skein-day-") as folder:
        homes = {f"XDG_{kind}_HOME": str(Path(folder, kind)) for kind in ("DATA", "CONFIG", "CACHE", "STATE")}
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, **homes}
        command = [sys.executable, "-c", START, *numbers, folder]
        return subprocess.run(command, env=environment).returncode


# In that process


class RandomDay(RandomUse):
    """Uses the program; its engine answers by itself."""

    def __init__(
        self, seed: int, chats_per_action: float, models: list[Path], program: app.program.Program
    ) -> None:
        super().__init__(random.Random(seed), program._window, program._workspace, program._engine)
        self._garbage = program._garbage
        self._chats_per_action = chats_per_action
        self._models = models
        self._num_actions = 0
        self._used_commands: set[str] = set()
        self.chat_ids: set[str] = set()  # of all chats there ever were

    def act(self) -> None:
        """What a command makes when it is first used is made before the figures of the settled program."""
        if self._num_actions < NUM_SETTLED and self._num_actions % COMMAND_EVERY == 0:
            self.done.append("command")
            self.do_command()
        else:
            super().act()

    def may(self, name: str) -> bool:
        if name.startswith("delete"):
            return len(self.library.chats) > NUM_KEPT
        return name not in MAKES_CHATS or len(self.chat_ids) < self._chats_per_action * self._num_actions

    def chosen_command(self, actions: Sequence[QAction]) -> QAction:
        """Each once before any again: windows are made when first asked for, all of them early in the day."""
        unused = [action for action in actions if action.objectName() not in self._used_commands]
        chosen = super().chosen_command(unused or actions)
        self._used_commands.add(chosen.objectName())
        return chosen

    def do_delete(self) -> None:
        self.library.delete([self.chance.choice(sorted(chat.id for chat in self.library.chats))])

    do_delete_again = do_delete_once_more = do_delete

    def do_load(self) -> None:
        """As the user asks for it; now and then the load is called off."""
        if self.engine.is_loading:
            self.engine.cancel_load()
        else:
            self.window.models.load(self.chance.choice(self._models))

    async def look_round(self) -> None:
        """Opens each page of the settings, some of which import much: no later action is the first."""
        for page in PAGES:
            self.window.show_settings(page.name)
            await asyncio.sleep(PAUSE_TO_LOOK_S)

    async def go_on(self, num_actions: int) -> None:
        for _ in range(num_actions):
            self._num_actions += 1
            self.act()
            await asyncio.sleep(self.chance.choice(PAUSES_S))
            self.check()
            self.chat_ids.update(session.chat.id for session in self.workspace.sessions)
            del self.done[:-12]

    async def close_all(self) -> None:
        """Returns once nothing is left to do, and what was freed is given back. A model is loaded then."""
        self._close_menus()
        self.window.command_palette.close_up()
        self.window.navigation.popup.close_up()
        for dialog in self._open_dialogs():
            dialog.reject()
        self.workspace.end_split()
        current = self.workspace.current
        for session in sorted(self.workspace.sessions, key=lambda one: one is current):
            self.workspace.close(session)  # the current one last: in its place another one would be drawn
        async with asyncio.timeout(PATIENCE_S):
            await self._until_idle()
            if not self.engine.front.loaded_params:
                self.window.models.load(self._models[0])
                await self._until_idle()
            self._garbage.tidy_up()

    async def _until_idle(self) -> None:
        while (
            self.engine.is_loading
            or any(len(one._threads) > 1 for one in self.engine)
            or tasks._running
            or frame_budget().num_waiting
        ):
            await asyncio.sleep(0.05)


@dataclass(frozen=True)
class Figures:
    """Of the process. Sizes in bytes."""

    anonymous: int
    handed_out: int  # of them, by malloc
    python: int  # in the arenas for Python's small objects
    hibernated: int  # in states of chats: part of what malloc has handed out
    mappings: Counter[str]  # anonymous, by kind of mapping
    threads: Counter[str]  # by name
    files: Counter[str]  # by what is open
    native: dict[str, int]  # llama.cpp's objects by kind
    qt: Counter[str]  # QObjects by class, and by that of their parent
    ours: Counter[str]  # Python objects of the program's classes
    packages: frozenset[str]  # that are imported
    holders: dict[str, int]  # what fills up to a bound: see BOUNDS

    @property
    def columns(self) -> tuple[float, ...]:
        rest = self.anonymous - self.handed_out - self.python
        sizes = (self.anonymous, self.handed_out, self.python, rest, self.hibernated)
        counts = (self.threads, self.files, Counter(self.native), self.qt, self.ours)
        filled = (self.holders[name] / MIB for name in BOUNDS)
        return (*(size / MIB for size in sizes), *(count.total() for count in counts), *filled)

    @classmethod
    def now(cls, hibernated: int, recording: Recording) -> Figures:
        python = _python_bytes()
        return cls(
            workload.anonymous_bytes(),
            malloc_bytes(),
            python["arenas"],
            hibernated,
            _mappings(),
            _thread_names(),
            _files(),
            {kind: number for kind, number in native_objects.items() if number},
            *_in_a_copy(_objects),
            frozenset(name.partition(".")[0] for name in sys.modules),
            {
                "SQLite": _sqlite_bytes(),
                "log lines": sum(sys.getsizeof(line.text) for line in log.recent_lines.since(0)),
                "steps": sum(map(sys.getsizeof, recording.steps.packed)),
                "free in Python's arenas": python["free"],
            },
        )


def _python_bytes() -> dict[str, int]:
    """As the interpreter tells it on its standard error. Nothing where it has no arenas."""
    with tempfile.TemporaryFile() as told:
        usual = os.dup(2)
        os.dup2(told.fileno(), 2)
        sys._debugmallocstats()
        os.dup2(usual, 2)
        os.close(usual)
        told.seek(0)
        text = told.read().decode()
    arenas, blocks, pools = (
        int(found[1].replace(",", "")) if (found := re.search(rf"{name} *= *([\d,]+)", text)) else 0
        for name in (r"arenas \* \d+ bytes/arena", "in available blocks", r"unused pools \* \d+ bytes")
    )
    return {"arenas": arenas, "free": blocks + pools}


def _sqlite_bytes() -> int:
    """Pages, statements, and what else the library has allocated."""
    try:
        used = ctypes.CDLL(ctypes.util.find_library("sqlite3")).sqlite3_memory_used
    except (AttributeError, OSError):
        return 0
    used.restype = ctypes.c_int64
    return int(used())


def _mappings() -> Counter[str]:
    """Nothing where /proc does not tell."""
    sizes: Counter[str] = Counter()
    path, kind = Path("/proc/self/smaps"), ""
    for line in path.read_text().splitlines() if path.exists() else ():
        match line.split():
            case ["Anonymous:", size, _]:
                sizes[kind] += int(size) * 1024
            case [span, _, _, _, _, *name] if "-" in span and not span.endswith(":"):
                kind = _mapping_kind(int(span.partition("-")[0], 16), " ".join(name))
    return sizes


def _mapping_kind(begin: int, name: str) -> str:
    if name.startswith("/"):
        return "data of libraries"
    return name or ("heap of threads" if begin % HEAP_BYTES == 0 else "other mappings")


def _thread_names() -> Counter[str]:
    """Of Python's own the names that they have there."""
    ours = {one.native_id: one.name for one in threading.enumerate()}
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        return Counter(ours.values())
    return Counter(ours.get(int(one.name)) or (one / "comm").read_text().strip() for one in tasks.iterdir())


def _files() -> Counter[str]:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        return Counter(file=psutil.Process().num_fds())
    names = Counter[str]()
    for one in tuple(folder.iterdir()):
        with suppress(OSError):  # that of the folder itself is closed by now
            names[re.sub(r"\d{4,}", "…", str(one.readlink()))] += 1
    return names


def _in_a_copy(look: Callable[[], Found]) -> Found:
    """What is seen in a copy of the process, where there are any.

    PySide makes an object for each of Qt's that Python looks at, and keeps it: tens of thousands of small
    blocks, between which the heap would no longer shrink.
    """
    if not hasattr(os, "fork"):
        return look()
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            with os.fdopen(write, "wb") as told:
                pickle.dump(look(), told)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as told:
        found: Found = pickle.load(told)
    os.waitpid(pid, 0)
    return found


def _class_name(one: object) -> str:
    return f"{type(one).__module__}.{type(one).__qualname__}"


def _objects() -> tuple[Counter[str], Counter[str]]:
    """Qt's, and ours."""
    ours = Counter(name for one in gc.get_objects() if (name := _class_name(one)).startswith("app."))
    return _qt_objects(), ours


def _qt_objects() -> Counter[str]:
    application = QApplication.instance()
    assert application
    roots = [application, *(one for one in QApplication.topLevelWidgets() if not one.parent())]
    found = [one for root in roots for one in root.findChildren(QObject)]
    return Counter(f"{one.metaObject().className()} of {_parent_name(one)}" for one in found)


def _parent_name(one: QObject) -> str:
    parent = one.parent()
    return parent.metaObject().className() if parent else "none"


class DayProgram(app.program.Program):
    """Skein, and somebody who uses it from its start to its end."""

    num_actions: int
    num_chats: int
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
        chats_per_action = self.num_chats / self.num_actions
        use = RandomDay(self.seed, chats_per_action, self.models, self)
        figures: list[Figures] = []
        began = time.monotonic()
        await use.look_round()
        # SQLite keeps the descriptor of a backup's connection for as long as the file has another one.
        await self._store.back_up()
        print(HEADER, flush=True)
        for num_actions in range(self.every, self.num_actions + 1, self.every):
            await use.go_on(self.every)
            num_open, opened = len(use.workspace.sessions), workload.anonymous_bytes()
            await use.close_all()
            figures.append(Figures.now(self._hibernated_bytes(), self._window.inspector.recording))
            num_chats = (len(use.chat_ids), len(use.library.chats))
            told = (num_actions, time.monotonic() - began, *num_chats, num_open, opened / MIB)
            print(LINE.format(*told, *figures[-1].columns), flush=True)
            for _ in range(NUM_REOPENED):
                use.workspace.reopen()
        return _judged(figures[min(NUM_SETTLED // self.every, len(figures)) - 1], figures[-1])

    def _hibernated_bytes(self) -> int:
        report = self._window.inspector.recording.newest
        return sum(chat.size_bytes for chat in report.hibernated if not chat.is_on_disk) if report else 0


def _judged(settled: Figures, last: Figures) -> Verdict:
    verdict = Verdict()
    growth = last.anonymous / settled.anonymous
    verdict.at_most(f"anonymous memory at the end / after {NUM_SETTLED:,} actions", growth, WANTED_GROWTH)
    for kind, size in (last.mappings - settled.mappings).most_common():
        print(f"     {size / MIB:+.1f} MiB {kind}")
    print("  MiB of what fills up to a bound, settled and at the end:")
    for name, bound in BOUNDS.items():
        print(f"     {settled.holders[name] / MIB:6.1f} {last.holders[name] / MIB:6.1f} {name}: {bound}")
    verdict.at_most("more threads", last.threads.total() - settled.threads.total(), 0)
    _tell_more(settled.threads, last.threads)
    verdict.at_most("more files", last.files.total() - settled.files.total(), 0)
    _tell_more(settled.files, last.files)
    verdict.equal("native objects", last.native, settled.native)
    print("  more objects:")
    _tell_more(settled.qt, last.qt)
    _tell_more(settled.ours, last.ours)
    print("  imported later:", *sorted(last.packages - settled.packages))
    return verdict


def _tell_more(settled: Counter[str], last: Counter[str]) -> None:
    for name, number in (last - settled).most_common(MOST_TOLD):
        print(f"     {number:+,} {name}")


def main() -> int:
    *numbers, folder = sys.argv[1:]
    DayProgram.num_actions, DayProgram.num_chats, DayProgram.every, DayProgram.seed = map(int, numbers)
    DayProgram.models = [paths.starter_model(), Path(shutil.copy(paths.starter_model(), folder))]
    settings = Settings.load(paths.settings_file())
    settings.max_tokens = MAX_ANSWER
    settings.save()
    app.program.Program = DayProgram  # type: ignore[misc]
    return app.main.main([])
