"""Quits a real window at random moments: how long it takes, and whether anything is left behind.

Wanted: exit code 0 within 2 s, no process and no temporary file left, the chats intact. Needs Xvfb, openbox
and xdotool.
"""

import argparse
import random
import shutil
import signal
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.e2e.desktop import Desktop, new_desktop, until
from tests.e2e.skein import Skein

WANTED_S = 2.0
QUESTION = "Count from 1 to 100"
LOADING = "loaded meta data"  # as llama.cpp says it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    rng = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="skein-quits-"))
    seconds, problems = [], []
    try:
        with new_desktop() as desktop:
            for number in range(options.quits):
                stage, way = rng.choice(STAGES), rng.choice(WAYS)
                took, found = _quit(folder, desktop, stage, way, rng.uniform(0, 1.5))
                seconds.append(took)
                problems += found
                told = "; ".join(found) or "clean"
                print(
                    f"{number + 1:3} {stage.__name__:12} {way.__name__:14} {took:5.2f} s  {told}", flush=True
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s (wanted {WANTED_S:g})")
    return int(bool(problems) or max(seconds) > WANTED_S)


Stage = Callable[[Skein, float], None]


def starting(skein: Skein, wait_s: float) -> None:
    """Some moment of the start: before the window, or while the model is loaded."""
    skein.process = skein.run("-m", "app")
    time.sleep(0.4 + wait_s)


def idle(skein: Skein, _wait_s: float) -> None:
    skein.start(observed=False)


def streaming(skein: Skein, wait_s: float) -> None:
    """Three answers are being written."""
    idle(skein, wait_s)
    for _ in range(3):
        skein.desktop.keys("ctrl+t")
        skein.desktop.type(QUESTION)
        skein.desktop.keys("Return")
    time.sleep(wait_s / 3)


def reloading(skein: Skein, wait_s: float) -> None:
    """The model is being loaded once more, beside the one that answers."""
    idle(skein, wait_s)
    skein.desktop.keys("alt+m", "l")
    until(lambda: skein.log().count(LOADING) == 2, "the second load")
    time.sleep(wait_s / 10)


def serving(skein: Skein, wait_s: float) -> None:
    skein.configure(api_enabled=True, api_port=18_808)
    streaming(skein, wait_s)


STAGES: tuple[Stage, ...] = (starting, idle, streaming, reloading, serving)


def by_key(skein: Skein) -> None:
    skein.desktop.keys("ctrl+q")


def by_sigterm(skein: Skein) -> None:
    assert skein.process
    skein.process.send_signal(signal.SIGTERM)


def by_closing(skein: Skein) -> None:
    skein.desktop.keys("alt+F4")


WAYS = (by_key, by_sigterm, by_closing)


def _quit(
    folder: Path, desktop: Desktop, stage: Stage, way: Callable[[Skein], None], wait_s: float
) -> tuple[float, list[str]]:
    """The seconds from the wish to the end, and all that was wrong then."""
    home = folder / "home"
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    desktop.environment["TMPDIR"] = str(temporary)
    skein = Skein(home, desktop)
    stage(skein, wait_s)
    assert skein.process
    if stage is starting:
        way = by_sigterm  # there may be no window yet to press a key in
    children = psutil.Process(skein.process.pid).children(recursive=True)
    began = time.monotonic()
    way(skein)
    try:
        code = skein.process.wait(timeout=15)
    except Exception as error:
        skein.clean_up()
        return time.monotonic() - began, [f"did not end: {error}"]
    took = time.monotonic() - began
    return took, list(_left_behind(skein, code, children, temporary))


def _left_behind(skein: Skein, code: int, children: list[psutil.Process], temporary: Path) -> list[str]:
    problems = [] if code in (0, -signal.SIGTERM) else [f"exit code {code}"]
    orphans = [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    problems += [f"process {child.pid} is left" for child in orphans]
    problems += [f"{path.name} is left in the temporary folder" for path in temporary.iterdir()]
    if skein.database_file.exists():
        connection = sqlite3.connect(f"file:{skein.database_file}?mode=ro", uri=True)
        (check,) = connection.execute("PRAGMA integrity_check").fetchone()
        (streaming_turns,) = connection.execute(
            "SELECT count(*) FROM turns WHERE state = 'streaming'"
        ).fetchone()
        connection.close()
        problems += [] if check == "ok" else [f"the database: {check}"]
        problems += [f"{streaming_turns} answers not ended"] if streaming_turns else []
    return problems
