"""What every test may ask for: a private home, tiny GGUFs, a backend, asyncio on Qt's loop."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import sys
import tomllib
from collections.abc import Callable, Generator, Iterator
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from pytestqt.qtbot import QtBot

from tests.effort import EFFORT

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"
# The machine's own keyring may ask for a password, or never answer.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# A shell starts background jobs with Ctrl+C ignored, which children inherit, and bash cannot trap then.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is imported stays: a look for garbage among it would take a third of the collection of tests.
gc.disable()

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile(
    "patient", max_examples=30 * EFFORT, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

TINY_CONTEXT = {"n_ctx": 512, "n_seq_max": 4, "n_batch": 64}
# For what should take no time at all, but other tests may have the processors.
ASYNC_TEST_SECONDS = 60
QT_PATIENCE_MS = 30_000
SLOW_S, SLOW_TESTS = 3.0, Path(__file__).with_name("slow.toml")


def pytest_collection_finish() -> None:
    """Modules and tests stay: to walk over them would take half a second after each file."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def garbage_is_collected_on_this_thread() -> Iterator[None]:
    """Qt objects must die on the GUI's thread, and the collector runs on whichever thread allocates.

    What other modules have left, mostly what they imported, is not looked through again.
    """
    gc.disable()
    gc.collect()
    gc.freeze()
    yield
    gc.collect()


@pytest.fixture(autouse=True, scope="session")
def children_start_at_once() -> Iterator[None]:
    """With more effort each is started as the program does it."""
    if EFFORT > 1 or sys.platform != "linux":
        yield
        return
    from tests.ready_children import ready_children

    with ready_children():
        yield


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the developer's own chats and settings."""
    for name in ("DATA", "CONFIG", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / f"xdg-{name.lower()}"))


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`tiny_gguf("qwen3")` is a random model of that architecture, 200 KB, written once a session."""
    return tiny_ggufs(tmp_path_factory.mktemp("ggufs"))


def tiny_ggufs(folder: Path, **options: Any) -> Callable[[str], Path]:
    def path_of(architecture: str) -> Path:
        from tests.native.tiny_ggufs import write_tiny_gguf

        path = folder / f"tiny-{architecture}.gguf"
        if not path.exists():
            write_tiny_gguf(path, architecture, **options)
        return path

    return path_of


@pytest.fixture(params=["fake", pytest.param("llama", marks=pytest.mark.native)])
def backend(request: pytest.FixtureRequest, tiny_gguf: Callable[[str], Path]) -> Iterator[object]:
    """The same 512 cells, 4 sequences and 64 rows a batch, once as a fake and once in llama.cpp."""
    if request.param == "fake":
        from tests.fakes import CountingBackend

        yield CountingBackend(**TINY_CONTEXT)
        return
    from app.engine.llama.loading import open_llama_backend
    from app.protocol.load import LoadParams

    # One thread: llama.cpp's workers spin, and with a second busy process each tiny step would take 20 ms.
    with open_llama_backend(LoadParams(tiny_gguf("qwen3"), n_threads=1, **TINY_CONTEXT)) as llama:
        yield llama


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    """What pytest-qt's `qapp` is."""
    from app.ui.frame import Application

    return Application


class PatientBot(QtBot):
    """Does not give up after 5 seconds."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=QT_PATIENCE_MS)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=QT_PATIENCE_MS)
    waitSignals = partialmethod(QtBot.waitSignals, timeout=QT_PATIENCE_MS)
    waitExposed = partialmethod(QtBot.waitExposed, timeout=QT_PATIENCE_MS)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientBot:
    return PatientBot(request)


@pytest.fixture
def qloop(qapp: QObject) -> Iterator[QEventLoop]:
    """asyncio on Qt's loop, as the window runs it. `async def` tests that ask for it run in it."""
    import PySide6.QtCore  # noqa: F401  (qasync takes the Qt it finds imported)

    from app.bridge.tasks import QtLoop

    loop = QtLoop(qapp)
    yield loop
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    if pending:
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """What a worker tells of a test may hold half a surrogate pair, which cannot be sent as it is."""
    return _sendable((yield))


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _sendable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_sendable, value))
    return value


def _cpu_s() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    began = _cpu_s()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu_s", _cpu_s() - began))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names slow tests for which nobody has given a reason. It fails none: the machine may be slow."""
    known = tomllib.loads(SLOW_TESTS.read_text())
    costs = {
        one.nodeid: dict(one.user_properties).get("cpu_s", 0.0)
        for one in terminalreporter.getreports("passed")
    }
    slow = {
        name: cpu_s for name, cpu_s in costs.items() if cpu_s > SLOW_S and name.partition("[")[0] not in known
    }
    if slow and EFFORT == 1:
        terminalreporter.section(
            f"slower than {SLOW_S:g} s of a processor and not in tests/{SLOW_TESTS.name}"
        )
        for name, cpu_s in slow.items():
            terminalreporter.line(f"{cpu_s:5.1f} s  {name}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs `async def` tests: in `qloop` if they ask for it, else in a loop of their own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    test = asyncio.wait_for(pyfuncitem.obj(**arguments), ASYNC_TEST_SECONDS)
    if loop := pyfuncitem.funcargs.get("qloop"):
        loop.run_until_complete(test)
    else:
        with asyncio.Runner() as runner:
            runner.run(test)
    return True
