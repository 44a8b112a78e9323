"""`skein selftest`: the self-test in the terminal, or for another program. Without a window and without Qt.

The other program gets JSON lines on stdout, the report last. It cancels by SIGTERM, or by closing stdin, as
happens when the parent dies. The main thread.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.protocol.errors import EngineError, ModelLoadCancelledError
from app.protocol.load import LoadParams
from app.selftest.report import ReportLine
from app.selftest.run import DEFAULT_N_CTX, DEFAULT_N_SEQ_MAX, self_test
from app.system import paths, worker

BAR_WIDTH = 24


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when nothing failed, 1 when something did, 130 when it was called off."""
    options = _parse(argv)
    params = LoadParams(
        options.model,
        n_ctx=options.ctx,
        n_seq_max=options.slots,
        n_threads=options.threads,
        isolated=options.isolated,
    )
    if options.progress:
        return report_as_json_lines(params)
    try:
        report = self_test(params, _show_progress if sys.stderr.isatty() else _no_progress)
    except EngineError as error:
        print(f"skein selftest: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)  # leave the bar behind
        return CANCELLED
    text = json.dumps(report.as_json(), ensure_ascii=False, indent=2) if options.json else report.as_text()
    print(text)
    return 0 if report.passed else 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein selftest",
        description="Check on this machine that chats that share a context do not affect each other.",
    )
    parser.add_argument(
        "--model",
        type=Path,
        default=paths.starter_model(),
        metavar="PATH",
        help="GGUF file (default: the starter model)",
    )
    parser.add_argument(
        "--slots", type=int, default=DEFAULT_N_SEQ_MAX, metavar="N", help="sequences (default: %(default)s)"
    )
    parser.add_argument(
        "--ctx", type=int, default=DEFAULT_N_CTX, metavar="N", help="KV cells (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="CPU threads")
    parser.add_argument(
        "--isolated", action="store_true", help="give each sequence its own part of the context"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the report as one JSON object")
    form.add_argument(
        "--progress",
        action="store_true",
        help="for other programs: print one JSON object per line while it runs, the report last; closing "
        "stdin or SIGTERM cancels it",
    )
    return parser.parse_args(argv)


def _show_progress(fraction: float, title: str) -> None:
    filled = round(BAR_WIDTH * fraction)
    bar = "#" * filled + "-" * (BAR_WIDTH - filled)
    sys.stderr.write(f"\r[{bar}] {100 * fraction:3.0f}% {title:60.60}" if title else "\r\033[K")
    sys.stderr.flush()


def _no_progress(_fraction: float, _title: str) -> None:
    """Progress is not shown."""


CANCELLED = 130  # exit code, as of a program that Ctrl+C has ended


def report_as_json_lines(params: LoadParams) -> int:
    """Writes `{"progress": 0 … 1, "doing": …}` and `{"line": …}`, then `{"report": …}` or `{"error": …}`.

    Returns the exit code. A line also has its translatable sentences, `packed`.
    """
    with _cancellation() as is_cancelled:
        try:
            report = self_test(params, _Progress().report, is_cancelled, _send_line)
        except ModelLoadCancelledError:
            return CANCELLED
        except EngineError as error:
            _send(error=str(error))
            return 1
    _send(report=report.as_json())
    if report.was_cancelled:
        return CANCELLED
    return 0 if report.passed else 1


@contextmanager
def _cancellation() -> Iterator[Callable[[], bool]]:
    """Whether it was cancelled. Not an Event: a second signal would wait for the lock of the first."""
    calls: list[str] = []
    former = signal.signal(signal.SIGTERM, lambda _number, _frame: calls.append("signal"))
    threading.Thread(target=_hear_parent, args=(calls,), daemon=True, name="parent").start()
    try:
        yield lambda: bool(calls)
    finally:
        signal.signal(signal.SIGTERM, former)


def _hear_parent(calls: list[str]) -> None:
    while os.read(0, 4096):
        pass
    calls.append("parent")


class _Progress:
    """Reports whole percents only: a load calls for every tensor."""

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None

    def report(self, fraction: float, title: str) -> None:
        now = (int(100 * fraction), title)
        if now != self._last:
            self._last = now
            _send(progress=now[0] / 100, doing=title)


def _send_line(line: ReportLine) -> None:
    _send(line=line.as_json(), packed=line.packed())


def _send(**message: object) -> None:
    worker.send(sys.stdout.buffer, message)
