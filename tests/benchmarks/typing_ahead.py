"""A message is typed into the real window: the first token after Enter, with and without reading ahead.

And how late the window is while it is typed, which is what stands between a key and its letter. Needs the
programs of the window tests, and takes as long as the typing does, twice.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.benchmarks.figures import Verdict, show
from tests.benchmarks.gguf_0_6b import cached_gguf
from tests.benchmarks.watched_window import Record
from tests.e2e.desktop import Desktop, new_desktop
from tests.e2e.skein import Skein

WANTED_SHARE, WANTED_LATE_MS = 0.5, 16.0
WORDS = "the sea and its old ships under a grey sky told us how long the way home was "
ANSWER_S, STOP_S = 20.0, 15.0


@dataclass(frozen=True)
class Typed:
    first_token_s: float  # after Enter
    late_ms: list[float]  # the window, while it was typed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="another GGUF (default: random weights, 0.6B, Q4_K_M)")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--words", type=int, default=400, help="of the message; about a token each")
    parser.add_argument("--rate", type=float, default=8.0, help="characters a second")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    words = WORDS.split() * (options.words // len(WORDS.split()) + 1)
    message = " ".join(words[: options.words])
    print(f"{options.words} words, {len(message)} characters, {options.rate:g} a second")
    without, ahead = (_typed(options, message, reads_ahead) for reads_ahead in (False, True))
    show("first token after Enter, without", [without.first_token_s * 1000], "ms")
    show("first token after Enter, read ahead", [ahead.first_token_s * 1000], "ms")
    verdict.at_most("read ahead / without", ahead.first_token_s / without.first_token_s, WANTED_SHARE)
    _show_late("ms late while typing, without", without.late_ms)
    verdict.at_most("ms late, p99", _show_late("ms late while typing, ahead", ahead.late_ms), WANTED_LATE_MS)
    return verdict.exit_code


def _typed(options: argparse.Namespace, message: str, reads_ahead: bool) -> Typed:
    with tempfile.TemporaryDirectory(prefix="skein-") as folder, new_desktop() as desktop:
        skein = Skein(Path(folder) / "home", desktop)
        file = Path(folder) / "record.json"
        skein.configure(n_threads=options.threads, reads_ahead=reads_ahead, temperature=0.0)
        try:
            program = ("-m", "tests.benchmarks.watched_window", str(file))
            skein.start(str(options.model or cached_gguf()), observed=False, program=program)
            begun = time.perf_counter()
            _type(desktop, message, options.rate)
            entered = time.perf_counter()
            desktop.keys("Return")
            time.sleep(ANSWER_S)
            assert skein.process
            skein.process.send_signal(signal.SIGTERM)
            code, _seconds = skein.wait_for_end(STOP_S)
            assert code == 0, f"the window ended with code {code}:\n{skein.log()[-3000:]}"
        finally:
            skein.clean_up()
        record = Record.load(file)
    ends = [ended_at for ended_at, _ in record.served_at(entered)]
    assert ends, "there was no answer"
    return Typed(ends[0] - entered, record.late_ms(begun, entered))


def _type(desktop: Desktop, message: str, rate: float) -> None:
    delay_ms = str(round(1000 / rate))
    subprocess.run(["xdotool", "type", "--delay", delay_ms, message], env=desktop.environment, check=True)


def _show_late(name: str, late_ms: list[float]) -> float:
    """Returns the 99th percentile."""
    median, p99, longest = np.percentile(late_ms, [50, 99, 100])
    print(f"  {name:<34} p50 {median:.1f}, p99 {p99:.1f}, longest {longest:.1f}; {len(late_ms)} times")
    return float(p99)
