"""Click to window and click to first token of a bundle, against a bare Qt window frozen the same way.

The two take turns in one run, on a screen of their own. Wanted: Skein's window at most 1.5 times as late as
the bare one. Needs Xvfb, openbox, xdotool and xprop, and a Python with PyInstaller: packaging/bundle leaves
one.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.figures import Verdict, show_ms
from tests.e2e.desktop import Desktop, new_desktop, process, until
from tests.e2e.skein import ROOT, Skein

WANTED_TIMES = 1.5
QUESTION = "2 + 2?"
TIMEOUT_S = 60.0
BUILD = ROOT / "build" / "bundle"
FIRST_TOKEN = "engine: step 1 |"  # the step that computes the last row of the prompt chooses the first token
BARE = """\
import sys
from PySide6.QtWidgets import QApplication, QMainWindow
application = QApplication(sys.argv)
window = QMainWindow()
window.resize(1280, 800)
window.show()
sys.exit(application.exec())
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bundle", type=Path, default=BUILD / "skein", help="the folder with the program")
    parser.add_argument("--python", type=Path, default=BUILD / "venv" / "bin" / "python")
    parser.add_argument("--starts", type=int, default=10)


def run(options: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="skein-start-"))
    try:
        bare = _freeze_bare_window(options.python, folder)
        with new_desktop() as desktop, _windows_of(desktop) as windows:
            home = _used_home(options.bundle, folder, desktop, windows)
            starts, bare_s = [], []
            _start_bare(bare, desktop, windows)  # so that it has been read from the disk, as Skein has
            for _ in range(options.starts):
                bare_s.append(_start_bare(bare, desktop, windows))
                starts.append(_start_skein(options.bundle, home, folder, desktop, windows))
    finally:
        shutil.rmtree(folder)
    print("\nfrom the click to …")
    bare_ms = show_ms("a bare window", bare_s, 0)
    window_ms = show_ms("Skein's window", [window_s for window_s, _token_s in starts], 0)
    show_ms("the first token", [token_s for _window_s, token_s in starts], 0)
    verdict = Verdict()
    verdict.at_most("Skein's window, in bare windows", window_ms / bare_ms, WANTED_TIMES)
    return verdict.exit_code


def _freeze_bare_window(python: Path, folder: Path) -> Path:
    source = folder / "bare.py"
    source.write_text(BARE)
    places = [f"--{name}={folder / name}" for name in ("distpath", "workpath", "specpath")]
    quietly = ("--noconfirm", "--log-level=ERROR")
    subprocess.run([python, "-m", "PyInstaller", *quietly, *places, source], check=True, cwd=folder)
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


def _start_bare(program: Path, desktop: Desktop, windows: Windows) -> float:
    clicked = time.monotonic()
    with process(str(program), env=desktop.environment):
        windows.wait_for(1)
        took = time.monotonic() - clicked
    windows.wait_for(0)
    return took


def _start_skein(
    bundle: Path, home: Path, folder: Path, desktop: Desktop, windows: Windows
) -> tuple[float, float]:
    """Seconds to the window, and to the first token of an answer that is asked for as soon as it can be."""
    skein = Skein(folder / "home", desktop)
    shutil.copytree(home, skein.home)
    clicked = time.monotonic()
    with _running(bundle, skein, windows):
        (window,) = windows.wait_for(1)
        window_s = time.monotonic() - clicked
        until(lambda: "open again" in skein.log(), "the tabs", TIMEOUT_S)
        desktop.activate(window)
        desktop.type(QUESTION)
        desktop.keys("Return")
        until(lambda: FIRST_TOKEN in skein.log(), "the first token", TIMEOUT_S)
        token_s = time.monotonic() - clicked
    shutil.rmtree(skein.home)
    return window_s, token_s


@contextmanager
def _running(bundle: Path, skein: Skein, windows: Windows) -> Iterator[None]:
    program = subprocess.Popen(
        [bundle / "skein", "--debug"],
        env={**skein.desktop.environment, **skein.folders},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
        program.terminate()
        code = program.wait(timeout=TIMEOUT_S)
        assert code == 0, f"it ended with code {code}"
        windows.wait_for(0)
    finally:
        program.kill()
        program.wait()


def _used_home(bundle: Path, folder: Path, desktop: Desktop, windows: Windows) -> Path:
    """Of somebody who has had a look at Skein once."""
    skein = Skein(folder / "used", desktop)
    skein.home.mkdir()
    with _running(bundle, skein, windows):
        windows.wait_for(1)
        until(lambda: all(sign in skein.log() for sign in ("is loaded", "open again")), "all", TIMEOUT_S)
    shutil.rmtree(skein.home / "state")  # the log tells of one start only
    return skein.home
