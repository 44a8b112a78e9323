"""From the click to the window, and to the first token, against a bare Qt window of the same kind.

"The same kind": both by the same Python from the sources, or both frozen, if there is a bundle. The two take
turns, each as warm as the other, on a screen of their own. Wanted: Skein is painted at most 1.5 times
as late as the bare one. A question is typed and sent as soon as the window is there. Needs Xvfb, openbox,
xdotool and xprop; for the bundle a Python with PyInstaller: packaging/bundle leaves one.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.benchmarks.figures import Verdict, show, show_ms
from tests.e2e.desktop import Desktop, new_desktop, process, until
from tests.e2e.skein import ROOT, Skein

WANTED_TIMES = 1.5
QUESTION = "2 + 2?"
TIMEOUT_S = 60.0
BUILD = ROOT / "build" / "bundle"
FIRST_TOKEN = "engine: step 1 |"  # the step that computes the last row of the prompt chooses the first token
PAINTED = re.compile(r"^(\S+ \S+) .*The window is painted, after ([\d.]+) s of computing", re.M)
COMPLETE = re.compile(r"^(\S+ \S+) .*The window is complete", re.M)
BARE_SPEC = """
analysis = Analysis([{source!r}])
analysis.scripts = [entry for entry in analysis.scripts if not entry[0].startswith("pyi_rth_")]
program = EXE(PYZ(analysis.pure), analysis.scripts, name="bare", exclude_binaries=True)
COLLECT(program, analysis.binaries, analysis.datas, name="bare")
"""
BARE = """\
import sys, time
from PySide6.QtWidgets import QApplication, QMainWindow
class Window(QMainWindow):
    def paintEvent(self, event):
        super().paintEvent(event)
        print(time.time(), time.process_time(), flush=True)
application = QApplication(sys.argv)
window = Window()
window.resize(1280, 800)
window.show()
sys.exit(application.exec())
"""


@dataclass(frozen=True)
class Start:
    """Seconds from the click; `computed_s` of the processor's time until the window is painted."""

    shown_s: float  # by the window manager
    painted_s: float
    computed_s: float
    complete_s: float = 0.0  # with all its parts
    token_s: float = 0.0  # the first of the answer


@dataclass(frozen=True)
class Kind:
    name: str
    skein: Sequence[str | Path]
    bare: Sequence[str | Path]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bundle", type=Path, default=BUILD / "skein", help="the folder with the program")
    parser.add_argument("--python", type=Path, default=BUILD / "venv" / "bin" / "python")
    parser.add_argument("--starts", type=int, default=10)


def run(options: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="skein-start-"))
    verdict = Verdict()
    try:
        with new_desktop() as desktop, _windows_of(desktop) as windows:
            desktop.environment.pop("PYTHONDONTWRITEBYTECODE", None)
            desktop.environment["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
            for kind in _kinds(options, folder):
                bench = Bench(kind, folder / kind.name, desktop, windows)
                bench.warm_up()
                starts = [(bench.start_bare(), bench.start_skein()) for _ in range(options.starts)]
                _show(kind, starts, verdict)
    finally:
        shutil.rmtree(folder)
    return verdict.exit_code


def _kinds(options: argparse.Namespace, folder: Path) -> list[Kind]:
    source = folder / "bare.py"
    source.write_text(BARE)
    kinds = [Kind("source", (sys.executable, "-m", "app"), (sys.executable, source))]
    program = options.bundle / "skein"
    if program.exists():
        kinds.append(Kind("frozen", (program,), (_freeze_bare_window(options.python, source),)))
    else:
        print(f"There is no bundle in {options.bundle}: only the sources are started.")
    return kinds


def _show(kind: Kind, starts: Sequence[tuple[Start, Start]], verdict: Verdict) -> None:
    bare, skein = [start[0] for start in starts], [start[1] for start in starts]
    print(f"\n{kind.name}: from the click to …")
    bare_ms = show_ms("a bare window, painted", [start.painted_s for start in bare], 0)
    skein_ms = show_ms("Skein's window, painted", [start.painted_s for start in skein], 0)
    show_ms("a bare window, shown", [start.shown_s for start in bare], 0)
    show_ms("Skein's window, shown", [start.shown_s for start in skein], 0)
    show_ms("Skein's window, complete", [start.complete_s for start in skein], 0)
    show_ms("the first token", [start.token_s for start in skein], 0)
    bare_cpu = show_ms("computed for the bare paint", [start.computed_s for start in bare], 0)
    skein_cpu = show_ms("computed for Skein's paint", [start.computed_s for start in skein], 0)
    show("that many times the bare one", [skein_cpu / bare_cpu], "times", 2)
    verdict.at_most(f"{kind.name}: Skein's window, in bare windows", skein_ms / bare_ms, WANTED_TIMES)


def _freeze_bare_window(python: Path, source: Path) -> Path:
    """As packaging/bundle freezes Skein: modules unpacked, without PyInstaller's hooks at the start."""
    folder = source.parent
    spec = folder / "bare.spec"
    spec.write_text(BARE_SPEC.format(source=str(source)))
    places = [f"--{name}={folder / name}" for name in ("distpath", "workpath")]
    quietly = ("--noconfirm", "--log-level=ERROR")
    unpacked = os.environ | {"PYINSTALLER_ZLIB_COMPRESSION_LEVEL": "0"}
    subprocess.run(
        [python, "-m", "PyInstaller", *quietly, *places, spec], check=True, cwd=folder, env=unpacked
    )
    return folder / "distpath" / "bare" / "bare"


class Windows:
    """What the window manager shows, told as it happens: to ask again and again would cost time."""

    def __init__(self, spy: subprocess.Popen[bytes]) -> None:
        assert spy.stdout
        self._lines = spy.stdout.fileno()
        self._unread = b""

    def wait_for(self, num_windows: int) -> list[str]:
        """Returns their ids."""
        while True:
            line = self._next_line()
            found = re.findall(r"0x[0-9a-f]+", line)
            if len(found) == num_windows:
                return found

    def _next_line(self) -> str:
        while b"\n" not in self._unread:
            if not select.select([self._lines], [], [], TIMEOUT_S)[0]:
                raise TimeoutError(f"no window came or went within {TIMEOUT_S:g} s")
            told = os.read(self._lines, 4096)
            if not told:
                raise EOFError("xprop has ended")
            self._unread += told
        line, _newline, self._unread = self._unread.partition(b"\n")
        return line.decode()


@contextmanager
def _windows_of(desktop: Desktop) -> Iterator[Windows]:
    look, name = ("xprop", "-root"), "_NET_CLIENT_LIST"
    # Before the window manager has made the list, xprop does not know what to watch.
    until(
        lambda: b"#" in subprocess.check_output((*look, name), env=desktop.environment), "the list of windows"
    )
    with process(*look, "-spy", name, env=desktop.environment, stdout=subprocess.PIPE) as spy:
        windows = Windows(spy)
        windows.wait_for(0)
        yield windows


class Bench:
    """Starts both programs of a kind, each as it is when it has been started before."""

    def __init__(self, kind: Kind, folder: Path, desktop: Desktop, windows: Windows) -> None:
        self._kind = kind
        self._folder = folder
        self._desktop = desktop
        self._windows = windows
        self._used = folder / "used"  # the home of somebody who has had a look at Skein once
        folder.mkdir()

    def warm_up(self) -> None:
        """All is read from the disk, and compiled."""
        self.start_bare()
        skein = Skein(self._used, self._desktop)
        skein.home.mkdir()
        with self._running(skein):
            self._windows.wait_for(1)
            signs = ("is loaded", "open again")
            until(lambda: all(sign in skein.log() for sign in signs), "all of it", TIMEOUT_S)
        shutil.rmtree(skein.home / "state")  # the log tells of one start only

    def start_bare(self) -> Start:
        clicked, stamp = time.monotonic(), time.time()
        command = [str(part) for part in self._kind.bare]
        with process(*command, env=self._desktop.environment, stdout=subprocess.PIPE) as bare:
            self._windows.wait_for(1)
            shown_s = time.monotonic() - clicked
            assert bare.stdout
            painted, computed_s = map(float, bare.stdout.readline().split())
        self._windows.wait_for(0)
        return Start(shown_s, painted - stamp, computed_s)

    def start_skein(self) -> Start:
        skein = Skein(self._folder / "home", self._desktop)
        shutil.copytree(self._used, skein.home)
        clicked, stamp = time.monotonic(), time.time()
        with self._running(skein):
            (window,) = self._windows.wait_for(1)
            shown_s = time.monotonic() - clicked
            self._desktop.activate(window)
            self._desktop.type(QUESTION)
            self._desktop.keys("Return")
            until(lambda: FIRST_TOKEN in skein.log(), "the first token", TIMEOUT_S)
            token_s = time.monotonic() - clicked
        painted, complete = PAINTED.search(skein.log()), COMPLETE.search(skein.log())
        assert painted, skein.log()
        assert complete, skein.log()
        shutil.rmtree(skein.home)
        return Start(
            shown_s, _time(painted[1]) - stamp, float(painted[2]), _time(complete[1]) - stamp, token_s
        )

    @contextmanager
    def _running(self, skein: Skein) -> Iterator[None]:
        program = subprocess.Popen(
            [*self._kind.skein, "--debug"],
            cwd=ROOT,
            env={**self._desktop.environment, **skein.folders},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
            program.terminate()
            code = program.wait(timeout=TIMEOUT_S)
            assert code == 0, f"it ended with code {code}"
            self._windows.wait_for(0)
        finally:
            program.kill()
            program.wait()


def _time(logged: str) -> float:
    """As `time.time()`, of a line in the log."""
    return datetime.strptime(logged, "%Y-%m-%d %H:%M:%S,%f").timestamp()  # noqa: DTZ007 (local, as logged)
