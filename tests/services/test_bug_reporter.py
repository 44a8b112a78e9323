import asyncio
import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QTimer, qInstallMessageHandler, qWarning

from app.services.diagnostics import BugReporter


@pytest.fixture
def reporter(qapp: QObject, monkeypatch: pytest.MonkeyPatch) -> Iterator[BugReporter]:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    former = qInstallMessageHandler(None)
    reporter = BugReporter()
    reporter.install()
    yield reporter
    qInstallMessageHandler(former)
    reporter.deleteLater()


@pytest.fixture
def seen(reporter: BugReporter) -> list[str]:
    traces: list[str] = []
    reporter.seen.connect(traces.append)
    return traces


def broken(kind: type[Exception] = ValueError) -> None:
    raise kind("oops")


def test_an_error_in_a_slot_is_logged_and_told(reporter, seen, qtbot, caplog) -> None:
    def call() -> None:
        try:
            broken()
        except ValueError:
            sys.excepthook(*sys.exc_info())

    QTimer.singleShot(0, call)
    qtbot.waitUntil(lambda: bool(seen))
    assert "ValueError: oops" in seen[0]
    assert caplog.records[-1].levelno == logging.CRITICAL


def test_an_error_in_a_thread_is_told_on_the_gui_thread(reporter, seen, qtbot) -> None:
    threads: list[threading.Thread] = []
    reporter.seen.connect(lambda _: threads.append(threading.current_thread()))
    thread = threading.Thread(target=broken)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(seen))
    assert "oops" in seen[0]
    assert threads == [threading.main_thread()]


async def test_an_error_in_a_task_is_told(qloop, reporter, seen) -> None:
    qloop.set_exception_handler(reporter.on_loop_exception)
    qloop.call_soon(broken)
    while not seen:
        await asyncio.sleep(0)
    assert "oops" in seen[0]


def test_the_same_place_is_told_once(reporter, seen) -> None:
    for _ in range(100):
        with pytest.raises(ValueError) as caught:
            broken()
        reporter.report(caught.type, caught.value, caught.tb)
    with pytest.raises(KeyError) as other:
        broken(KeyError)
    reporter.report(other.type, other.value, other.tb)
    assert len(seen) == 2


def test_ctrl_c_is_no_bug(reporter, seen) -> None:
    reporter.report(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert seen == []


def test_what_qt_complains_about_is_logged(reporter, caplog) -> None:
    qWarning("something odd")
    assert "something odd" in caplog.text
    assert caplog.records[-1].levelno == logging.WARNING
