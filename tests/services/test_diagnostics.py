import asyncio
import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QTimer, qInstallMessageHandler, qWarning

from app.protocol.model import Device, DeviceKind, LibraryInfo, MemoryNeed
from app.services import diagnostics
from app.services.diagnostics import BugReporter
from app.settings.settings import Settings
from tests.fakes import model_info

LIBRARY = LibraryInfo(
    "0.25.3 (0c1e570)", ("AVX2", "OPENMP"), (Device("CUDA0", "Some GPU", DeviceKind.GPU, 8 << 30, 6 << 30),)
)
TAKEN = MemoryNeed(300 << 20, 64 << 20, 65 << 19, 7 << 19)


def test_it_names_what_runs_here_and_what_the_user_has_changed(qapp) -> None:
    info = model_info(library=LIBRARY, memory=TAKEN, num_drafted_tokens=8, draft_model="small")
    report = diagnostics.report(Settings(n_ctx=4096), info)
    for told in (
        "Skein ",
        "llama-cpp-python 0.3.36",
        "PySide6_Essentials 6.",
        "AVX2",
        "CUDA0, Some GPU, 6,144 of 8,192 MiB free",
        "taken by the model: 400.0 MiB (weights 300.0, KV 64.0, compute 32.5, output 3.5)",
        "guesses: 8 a step, from the chat's text and a draft model",
        "n_ctx=4096",
    ):
        assert told in report
    assert "n_seq_max" not in report.split("settings:")[1].splitlines()[0]


def test_it_says_when_the_model_drafts_for_itself(qapp) -> None:
    report = diagnostics.report(Settings(), model_info(num_drafted_tokens=8, has_heads=True))
    assert "guesses: 8 a step, from the chat's text and the model's own heads" in report


def test_nothing_private_is_in_it(qapp) -> None:
    settings = Settings(api_key="sesame", system_prompt="My name is Ann.", model_path="/home/ann/secret.gguf")
    report = diagnostics.report(settings, None)
    assert "no model is loaded" in report
    assert not any(word in report for word in ("sesame", "Ann", "ann/secret"))


def test_licences_are_told_of_all_that_it_is_made_with(qapp) -> None:
    listed = diagnostics.licences()
    for name, _number in diagnostics.versions():
        line = next(line for line in listed.splitlines() if line.startswith(name))
        assert line.rpartition(": ")[2].strip(), f"{name} says nothing"


def test_both_texts_say_how_llama_cpp_was_changed(qapp, monkeypatch) -> None:
    for patches, told in {
        (): "without Skein's patches",
        ("q4-k", "attention"): "with Skein's patches (q4-k, attention)",
    }.items():
        monkeypatch.setattr(diagnostics, "llama_patches", lambda found=patches: found)
        assert f"llama.cpp: {told}" in diagnostics.report(Settings(), None).splitlines()
        assert f"llama.cpp and ggml, in llama-cpp-python, {told}: MIT" in diagnostics.licences().splitlines()


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
