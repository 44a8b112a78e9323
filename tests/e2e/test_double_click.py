"""A real double click in a file manager, on Skein's entry and on a model whose name has a space."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from app.system import paths
from tests.e2e.desktop import Desktop, new_desktop, process, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

TOOLS = {
    "pcmanfm": "pcmanfm",
    "dbus-run-session": "dbus-daemon",
    "update-desktop-database": "desktop-file-utils",
    "update-mime-database": "shared-mime-info",
}
FIRST_ITEM = (204, 76)  # of a folder, from the corner that xdotool tells of the file manager's window
MODEL = "my model.gguf"


@pytest.fixture
def skein(tmp_path: Path) -> Iterator[Skein]:
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        pytest.fail(f"This test needs these programs: sudo apt-get install {' '.join(missing)}")
    with new_desktop() as desktop:
        skein = Skein(tmp_path / "home", desktop)
        skein.home.mkdir()
        assert skein.run("-m", "app", "--install-desktop").wait(timeout=60) == 0
        yield skein
        for pid in windows(desktop).values():
            os.kill(pid, 9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Things"
    folder.mkdir()
    return folder


def windows(desktop: Desktop) -> dict[str, int]:
    """Skein's windows, each with its process."""
    found = desktop._xdotool("search", "--onlyvisible", "--class", "^skein$").split()
    names = {window: desktop._xdotool("getwindowname", window) for window in found}
    shown = [window for window, name in names.items() if "Skein" in name]
    pids = {window: desktop._xdotool("getwindowpid", window) for window in shown}
    return {window: int(pid) for window, pid in pids.items() if pid}  # one may have closed meanwhile


def end_session(session: subprocess.Popen[bytes]) -> None:
    """By the end of what runs in it: then the session ends its bus, too."""
    for child in psutil.Process(session.pid).children():
        if child.name() == "pcmanfm":
            child.terminate()
    session.wait(timeout=20)


class FileManager:
    """pcmanfm, showing one folder. What it starts lives in `skein`'s home."""

    def __init__(self, skein: Skein, folder: Path, stack: ExitStack) -> None:
        self._desktop = skein.desktop
        settings = skein.home / "config" / "libfm" / "libfm.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            "[config]\nquick_exec=1\nsingle_click=0\n"
        )  # else it asks before it starts an entry
        folders = {
            f"XDG_{name.upper()}_HOME": str(skein.home / name)
            for name in ("data", "config", "state", "cache")
        }
        environment = {
            **skein.desktop.environment,
            **folders,
            "HOME": str(skein.home),
            "XDG_CURRENT_DESKTOP": "LXDE",
        }
        command = ("dbus-run-session", "--", "pcmanfm", "--no-desktop", str(folder))
        session = stack.enter_context(process(*command, env=environment, stdout=subprocess.DEVNULL))
        stack.callback(end_session, session)
        self._window = until(self._find, "the file manager's window")

    def double_click(self) -> None:
        """On the only thing in the folder."""
        self._desktop.activate(self._window)
        where = self._desktop._xdotool("getwindowgeometry", "--shell", self._window)
        corner = dict(line.split("=") for line in where.split())
        x, y = int(corner["X"]) + FIRST_ITEM[0], int(corner["Y"]) + FIRST_ITEM[1]
        self._desktop.click([x, y], times=2)

    def _find(self) -> str:
        return self._desktop._xdotool("search", "--onlyvisible", "--class", "pcmanfm").split("\n")[0]


def test_a_double_click_on_a_model_opens_it_and_a_second_one_goes_to_the_same_window(
    skein: Skein, folder: Path
) -> None:
    shutil.copy(paths.starter_model(), folder / MODEL)
    with ExitStack() as stack:
        files = FileManager(skein, folder, stack)
        files.double_click()
        files.double_click()  # while the first start is still under way
        until(lambda: f"{MODEL} is loaded" in skein.log(), "the model")
        assert len(windows(skein.desktop)) == 1

        files.double_click()
        until(lambda: skein.log().count(f"{MODEL} is loaded") >= 2, "the model, once more")
        (window,) = windows(skein.desktop)
        until(lambda: skein.desktop._xdotool("getactivewindow").strip() == window, "the window, raised")
        skein.desktop.keys("ctrl+q")
        until(lambda: not windows(skein.desktop), "the end")


def test_a_double_click_on_the_entry_opens_a_window_that_answers(skein: Skein, folder: Path) -> None:
    entry = folder / "skein.desktop"
    shutil.copy(skein.home / "data" / "applications" / "skein.desktop", entry)
    entry.chmod(0o755)
    with ExitStack() as stack:
        FileManager(skein, folder, stack).double_click()
        until(lambda: "is loaded" in skein.log() and "open again" in skein.log(), "the model and the tabs")
        (window,) = until(lambda: windows(skein.desktop), "the window")
        skein.desktop.activate(window)
        skein.desktop.type("What is 34 + 21?")
        skein.desktop.keys("Return")
        until(lambda: [turn[3] for turn in skein.turns()][1:] == ["34 + 21 = 55"], "the answer")
        skein.desktop.keys("ctrl+q")
        until(lambda: not windows(skein.desktop), "the end")
