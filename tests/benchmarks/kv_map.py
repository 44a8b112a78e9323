"""The KV map while eight tabs stream into 65,536 cells: CPU time of the GUI thread a frame.

A frame is a new map of all cells: what differs from the one before is found, drawn and put on the screen,
with all words and figures around it. Draws into an offscreen window. Needs no model.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.engine.cells import CellLedger
from app.protocol.report import CellCheck, SlotSnapshot, SlotState, StepReport
from tests.benchmarks.figures import Verdict, show
from tests.driver import rows
from tests.fakes import CountingBackend, model_info

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.inspector.kv_map import KvMapPanel

WANTED_MS = 5.0
N_CTX, NUM_SEQS = 65_536, 8
PROMPT_TOKENS = 4_000
STEPS_A_FRAME = 10  # 100 tokens a second in each tab
NUM_FRAMES = 60
LETTERS = range(97, 123)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="device pixels to a pixel (default: 1)")
    parser.add_argument("--width", type=int, default=600)
    parser.add_argument("--height", type=int, default=640)
    for name in ("--model", "--threads", "--repeats"):
        parser.add_argument(name, help="not used: nothing is computed")


def run(options: argparse.Namespace) -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    from PySide6.QtWidgets import QApplication

    from app.look.theme import apply_theme

    application = QApplication([])
    apply_theme(application, "light")
    frames = _Frames(application, options.width, options.height)
    print(
        f"{N_CTX:,} cells, {NUM_SEQS} sequences, {options.width} x {options.height} at {options.scale:g}, "
        f"squares of {frames.panel.grid.picture.layout.side} device pixels"
    )
    verdict = Verdict()
    for name, times in (
        ("nothing changes", frames.timed(lambda _number: None)),
        (f"{NUM_SEQS} tabs stream", frames.timed(frames.stream)),
        ("a chat of 4,000 cells goes or comes", frames.timed(frames.take_turns)),
        ("another sequence is chosen", frames.timed_choices()),
    ):
        verdict.at_most(f"ms a frame, {name}", show(name, sorted(times), "ms", 3), WANTED_MS)
    frames.panel.close()
    return verdict.exit_code


class _Frames:
    """A panel, and books that go on as in an engine."""

    def __init__(self, application: QApplication, width: int, height: int) -> None:
        from app.inspector.kv_map import KvMapPanel
        from app.inspector.recording import Recording

        self._application = application
        self._model = model_info(n_ctx=N_CTX, n_seq_max=NUM_SEQS, n_batch=512)
        self._backend = CountingBackend(n_ctx=N_CTX, n_seq_max=NUM_SEQS, n_batch=512)
        self._ledger = CellLedger(self._model)
        self._random = random.Random(1)
        self._check = CellCheck(1, 1)  # made when the engine was idle
        for seq_id in range(NUM_SEQS):
            if seq_id % 3 == 2:
                self._ledger.share(seq_id - 1, seq_id, PROMPT_TOKENS // 2)
            self._fill(seq_id, PROMPT_TOKENS)
        recording = Recording()
        recording.start(self._model)
        self.panel: KvMapPanel = KvMapPanel(recording)
        self.panel.titles = {f"chat {seq_id}": f"Chat number {seq_id}" for seq_id in range(NUM_SEQS)}
        self.panel.resize(width, height)
        self.panel.show()
        self.timed(lambda _number: None)

    def timed(self, change: Callable[[int], None]) -> list[float]:
        frame_ms = []
        for number in range(NUM_FRAMES):
            change(number)
            self.panel.recording.append([self._report()])
            begun = time.thread_time()
            self.panel.draw()
            self._application.processEvents()
            frame_ms.append((time.thread_time() - begun) * 1000)
        return frame_ms

    def timed_choices(self) -> list[float]:
        choice_ms = []
        for number in range(NUM_FRAMES):
            begun = time.thread_time()
            self.panel.select_sequence(number % NUM_SEQS)
            self._application.processEvents()
            choice_ms.append((time.thread_time() - begun) * 1000)
        return choice_ms

    def stream(self, _number: int) -> None:
        for _ in range(STEPS_A_FRAME):
            one_each = [(seq_id, self._ledger.num_cells(seq_id), [97]) for seq_id in range(NUM_SEQS)]
            self._ledger.append(rows(self._backend, *one_each))

    def take_turns(self, number: int) -> None:
        if number % 2:
            self._fill(0, PROMPT_TOKENS)
        else:
            self._ledger.truncate(0, 0)

    def _fill(self, seq_id: int, num_cells: int) -> None:
        while (held := self._ledger.num_cells(seq_id)) < num_cells:
            tokens = self._random.choices(LETTERS, k=min(512, num_cells - held))
            self._ledger.append(rows(self._backend, (seq_id, held, tokens)))

    def _report(self) -> StepReport:
        ledger = self._ledger
        slots = tuple(
            SlotSnapshot(
                seq_id,
                SlotState.DECODE,
                f"chat {seq_id}",
                num_cells=ledger.num_cells(seq_id),
                num_shared_cells=ledger.num_shared_cells(seq_id),
            )
            for seq_id in range(NUM_SEQS)
        )
        return StepReport(1, (), (), slots, ledger.usage, last_check=self._check, cell_map=ledger.map())
