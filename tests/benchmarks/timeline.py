"""The batch timeline of 10,000 steps while it is scrolled and zoomed, and what it costs to record a step.

Draws into an image of the size of a panel on a large screen, without a window. Needs no model.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from app.inspector.recording import MAX_STEPS, Recording
from tests.benchmarks.figures import Verdict, show
from tests.inspector.steps import busy_step

WANTED_FRAME_MS = 16.0
WANTED_MEGABYTES = 60.0
WANTED_APPEND_US = 200.0  # a step itself takes some thousands
NUM_SEQS = 8
WIDTH, HEIGHT = 1600, 400
NUM_FRAMES = 200
LOT = 1_000  # steps whose appending is timed together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=2.0, help="device pixels to a pixel (default: 2)")
    for name in ("--model", "--threads", "--repeats"):
        parser.add_argument(name, help="not used: nothing is computed")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    print(f"{MAX_STEPS} steps of {NUM_SEQS} sequences")
    megabytes = _kept_bytes() / 1e6
    show("kept, bytes a step", [megabytes * 1e6 / MAX_STEPS], "bytes", 0)
    verdict.at_most("megabytes kept", megabytes, WANTED_MEGABYTES)
    recording, append_us = _filled()
    verdict.at_most("us to append a step", show("to append a step", append_us, "us"), WANTED_APPEND_US)
    frames = _frames(recording, options.scale)
    for name, frame_ms in frames.items():
        show(f"a frame while {name}", sorted(frame_ms), "ms", 2)
        verdict.at_most(f"ms a frame while {name}, p99", float(np.percentile(frame_ms, 99)), WANTED_FRAME_MS)
    return verdict.exit_code


def _kept_bytes() -> int:
    """Of a recording that is full: reports, packs and columns."""
    tracemalloc.start()
    recording = Recording()
    for number in range(MAX_STEPS + LOT):
        recording.append((busy_step(number, NUM_SEQS),))
    gc.collect()
    num_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return num_bytes


def _filled() -> tuple[Recording, list[float]]:
    """More steps than are kept, so that the oldest go as they do in a long run; and what each lot took."""
    recording, append_us = Recording(), []
    for begin in range(0, MAX_STEPS + LOT, LOT):
        reports = [busy_step(number, NUM_SEQS) for number in range(begin, begin + LOT)]
        before = time.perf_counter()
        for report in reports:
            recording.append((report,))
        append_us.append((time.perf_counter() - before) / LOT * 1e6)
    return recording, append_us


def _frames(recording: Recording, scale: float) -> dict[str, list[float]]:
    """What each frame took, in milliseconds: the excerpt, the image, the marks and the words."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["QT_SCALE_FACTOR"] = str(scale)
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QApplication, QWidget

    from app.inspector.step_chart import StepChart
    from app.inspector.step_columns import ZOOMS
    from app.look.theme import apply_theme

    application = QApplication([])
    apply_theme(application, "light")
    frame = QWidget()
    chart = StepChart(recording, frame)
    chart.resize(WIDTH, HEIGHT)
    page = QImage(int(WIDTH * scale), int(HEIGHT * scale), QImage.Format.Format_ARGB32_Premultiplied)
    page.setDevicePixelRatio(scale)

    def timed(move: Callable[[int], object]) -> list[float]:
        frame_ms = []
        for number in range(NUM_FRAMES):
            before = time.perf_counter()
            move(number)
            chart.viewport().render(page, QPoint())
            frame_ms.append((time.perf_counter() - before) * 1000)
        return frame_ms

    found = {}
    for zoom in (0, ZOOMS.index((1, 1)), ZOOMS.index((1, 4)), len(ZOOMS) - 1):
        steps, width = ZOOMS[zoom]
        chart.zoom(-len(ZOOMS))
        chart.zoom(zoom)
        chart.pan(-MAX_STEPS)
        found[f"scrolling, {steps} steps in {width} px"] = timed(lambda _number: chart.pan(20))
    found["zooming"] = timed(lambda number: chart.zoom(1 if number // 14 % 2 else -1, WIDTH / 2))
    return found
