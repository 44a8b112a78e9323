"""A screen with a window manager, a keyboard and a camera, all of its own."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

PACKAGES = {"Xvfb": "xvfb", "openbox": "openbox", "xdotool": "xdotool", "import": "imagemagick"}


def until(condition: Callable[[], T], what: str, timeout_s: float = 90) -> T:
    """The condition's first true value. Polls: what is waited for happens in another process.

    It sleeps as long as each check took, so that the program under test gets most of the processor.
    """
    deadline = time.monotonic() + timeout_s
    while not (value := _timed(condition))[0]:
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not happen within {timeout_s} s")
        time.sleep(max(0.02, value[1]))
    return value[0]


def _timed(condition: Callable[[], T]) -> tuple[T, float]:
    """Its value and the seconds that took."""
    began = time.monotonic()
    return condition(), time.monotonic() - began


def require_tools() -> None:
    missing = [package for tool, package in PACKAGES.items() if not shutil.which(tool)]
    if missing:
        pytest.fail(f"The window tests need these programs: sudo apt-get install {' '.join(missing)}")


@contextmanager
def process(*command: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    try:
        yield child
    finally:
        child.terminate()
        child.wait(timeout=10)
        if child.stdout:
            child.stdout.close()


class Desktop:
    def __init__(self, display: str, scale: int = 1) -> None:
        screen = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "QT_SCALE_FACTOR": str(scale)}
        self.environment = os.environ | screen

    def keys(self, *combinations: str) -> None:
        """One after the other, as fast as they can be pressed."""
        self._xdotool("key", "--clearmodifiers", "--delay", "0", *combinations)

    def type(self, text: str) -> None:
        self._xdotool("type", "--delay", "4", text)

    def point_at(self, place: list[int]) -> None:
        self._xdotool("mousemove", *map(str, place))

    def click(self, place: list[int], times: int = 1) -> None:
        self._xdotool("mousemove", *map(str, place), "click", "--repeat", str(times), "--delay", "20", "1")

    def window_of(self, pid: int) -> str:
        """The visible window of a process, or an empty text."""
        found = self._xdotool("search", "--onlyvisible", "--pid", str(pid), "--name", "Skein")
        return found.split("\n")[0].strip()

    def activate(self, window: str) -> None:
        self._xdotool("windowactivate", "--sync", window)

    def photograph(self, path: Path) -> Path:
        subprocess.run(["import", "-window", "root", str(path)], env=self.environment, check=True, timeout=20)
        return path

    def _xdotool(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout


@contextmanager
def new_desktop(scale: int = 1, size: tuple[int, int] = (1400, 900)) -> Iterator[Desktop]:
    """Xvfb chooses a free display number by itself. On a screen of twice the pixels all is twice as large."""
    require_tools()
    with ExitStack() as stack:
        pixels = f"{size[0] * scale}x{size[1] * scale}x24"
        screen = ("-screen", "0", pixels, "-nolisten", "tcp", "-noreset", "-displayfd", "1")
        server = stack.enter_context(process("Xvfb", *screen, stdout=subprocess.PIPE))
        assert server.stdout
        number = server.stdout.readline().decode().strip()
        assert number, "Xvfb did not start"
        desktop = Desktop(f":{number}", scale)
        # It says who it is before it takes care of windows: one that came in between would never be shown.
        ready = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "ready"
        manage = ("openbox", "--sm-disable", "--startup", f"touch {ready}")
        manager = stack.enter_context(process(*manage, env=desktop.environment))
        until(lambda: manager.poll() is not None or ready.exists(), "a window manager")
        assert manager.poll() is None, "openbox did not start"
        yield desktop
