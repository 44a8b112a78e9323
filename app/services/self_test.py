"""Runs the self-test in a process of its own. GUI thread.

So a native crash is a result and not the end of the window, and all native objects counted are the test's.
Knows no widget.
"""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import spawn
from app.protocol.model import ModelInfo
from app.selftest.report import TITLES, Outcome, Report, ReportLine
from app.system.files import replacing
from app.system.said import said
from app.system.worker import Child

PATIENCE_S = 3.0  # a step of a large model takes a while
BASE_MEMORY_BYTES = 256 << 20  # Python, the library, what it computes in

Message = dict[str, Any]


class SelfTest(QObject):
    """One run at a time. Each that was started ends by `ended` or by `failed`."""

    progressed = Signal(float, str)  # 0..1, and what is being tested
    checked = Signal(object)  # Line
    ended = Signal(object)  # Report
    failed = Signal(object)  # nothing could be tested: a sentence for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._task: asyncio.Task[None] | None = None
        self._child: Child | None = None
        self._lines: list[ReportLine] = []
        self._is_cancelled = False

    @property
    def is_running(self) -> bool:
        return self._task is not None

    def start(self, model: ModelInfo, n_threads: int) -> None:
        """Test `model` in a context like the one it has."""
        assert not self.is_running
        self._lines.clear()
        self._is_cancelled = False
        self._task = spawn(self._run(model, n_threads))

    def cancel(self) -> None:
        """It ends after the current step, or in three seconds."""
        self._is_cancelled = True
        if self._child:
            self._child.hang_up()
            spawn(asyncio.to_thread(self._child.await_end, PATIENCE_S))

    async def close(self) -> None:
        """Returns when the process is gone, without waiting for its results."""
        self._is_cancelled = True
        if self._child:
            self._child.kill()
        if self._task:
            await asyncio.wait([self._task])

    async def _run(self, model: ModelInfo, n_threads: int) -> None:
        try:
            last = await self._last_message(model, n_threads)
        except OSError as error:
            reason = said(
                "The self-test could not be started: {reason}. Close other programs.", reason=error.strerror
            )
            last = {"error": reason}
        finally:
            self._task = None
        if "report" in last:
            report = Report.of(last["report"])
            self.ended.emit(replace(report, lines=tuple(self._lines)))  # as received: they can be translated
        elif self._is_cancelled:
            self.ended.emit(self._report(model))
        elif "error" in last:
            self.failed.emit(last["error"])
        elif self._lines:
            self._note_crash(last["crash"])
            self.ended.emit(self._report(model))
        else:
            self.failed.emit(last["crash"])

    async def _last_message(self, model: ModelInfo, n_threads: int) -> Message:
        """The report or the error or, for a child that crashed, how."""
        self._child = child = await asyncio.to_thread(_start, model, n_threads)
        if self._is_cancelled:  # while it was started
            child.kill()
        try:
            while message := await asyncio.to_thread(_receive, child):
                if "report" in message or "error" in message:
                    return message
                self._handle(message)
            await asyncio.to_thread(child.await_end, PATIENCE_S)
        finally:
            self._child = None
            await asyncio.to_thread(child.reap)
        return {"crash": _crash_message(child)}

    def _handle(self, message: Message) -> None:
        if "line" in message:
            self._add(ReportLine.of(message["line"] | message.get("packed", {})))
        else:
            self.progressed.emit(message["progress"], message["doing"])

    def _add(self, line: ReportLine) -> None:
        self._lines.append(line)
        self.checked.emit(line)

    def _note_crash(self, how: str) -> None:
        """The current check has failed. If all are done, the last one has, which is about leftovers."""
        del self._lines[len(TITLES) - 1 :]
        name = list(TITLES)[len(self._lines)]
        self._add(ReportLine(name, TITLES[name], "", how, Outcome.FAILED, 0.0))

    def _report(self, model: ModelInfo) -> Report:
        """The report of a test that did not finish."""
        from app.engine.llama.loading import LIBRARY_VERSION  # the library is loaded already, with the model

        return Report(
            model.name,
            model.architecture,
            model.n_ctx,
            model.n_seq_max,
            LIBRARY_VERSION,
            tuple(self._lines),
            self._is_cancelled,
        )


def needed_memory(model: ModelInfo) -> int:
    """An upper bound, since the file's pages are shared with the loaded model."""
    return model.size_bytes + model.cell_bytes * model.n_ctx + BASE_MEMORY_BYTES


def free_memory() -> int:
    return psutil.virtual_memory().available


def save(report: Report, path: Path) -> None:
    """The report is text if the name ends so, else JSON. The old file stays until the new one is complete.

    Raises OSError. Any thread.
    """
    is_text = path.suffix == ".txt"
    text = report.as_text() if is_text else json.dumps(report.as_json(), ensure_ascii=False, indent=2)
    with replacing(path) as file:
        file.write(f"{text}\n")


def _start(model: ModelInfo, n_threads: int) -> Child:
    arguments = [
        *("selftest", "--progress", "--model", str(model.path)),
        *("--ctx", str(model.n_ctx), "--slots", str(model.n_seq_max), "--threads", str(n_threads)),
        *([] if model.is_unified else ["--isolated"]),
    ]
    return Child("app", arguments, keeps_log=True)


def _receive(child: Child) -> Message | None:
    """None when there is no more to come."""
    try:
        return child.receive()[0]
    except (EOFError, ValueError):  # it died, perhaps in the middle of a line
        return None


def _crash_message(child: Child) -> str:
    how = child.signal_name or said("exit code {code}", code=child.exit_code)
    if how == "SIGKILL":
        return said(
            "The system killed the self-test, most likely because it ran out of memory. Close other "
            "programs, or choose a smaller context."
        )
    return said(
        "The self-test crashed ({how}: {last_words}). Run it again; if it keeps crashing, report it with "
        "this message.",
        how=how,
        last_words=child.last_lines[-1] if child.last_lines else said("no output"),
    )
