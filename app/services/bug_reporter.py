"""Catches unhandled exceptions: logs them, and signals each to the GUI once. Our bugs end here.

Its hooks may be called on any thread; the signal reaches the GUI thread queued.
"""

import asyncio
import logging
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

log = logging.getLogger(__name__)

_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class BugReporter(QObject):
    seen = Signal(str)  # the traceback; only the first time for each place in the program

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: set[tuple[str, str, int]] = set()

    def install(self) -> None:
        """Installs the hooks for the rest of the process."""
        sys.excepthook = self.report
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(log_qt_message)

    def report(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        place = _place_of(kind, trace)
        if place in self._known:  # a broken paint method fails sixty times a second
            return
        self._known.add(place)
        log.critical("Nobody caught this:", exc_info=(kind, error, trace))
        self.seen.emit("".join(traceback.format_exception(kind, error, trace)))

    def on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """For `loop.set_exception_handler`."""
        error = context.get("exception")
        if error is None:
            log.error("asyncio: %s", context.get("message"))
        else:
            self.report(type(error), error, error.__traceback__)

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value:
            self.report(args.exc_type, args.exc_value, args.exc_traceback)


def _place_of(kind: type[BaseException], trace: TracebackType | None) -> tuple[str, str, int]:
    frames = traceback.extract_tb(trace)
    last = frames[-1] if frames else None
    return (kind.__qualname__, last.filename if last else "", (last.lineno or 0) if last else 0)


def log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    category = context.category or "default"
    logging.getLogger("qt").log(_QT_LEVELS[kind], "%s: %s", category, message)
