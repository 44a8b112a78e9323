"""The window's program: makes everything, connects it, and takes it down in order. Alone knows the whole."""

import argparse
import asyncio
import faulthandler
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import qasync
from PySide6.QtCore import QLockFile, QObject, QSettings, Slot
from PySide6.QtWidgets import QApplication, QMessageBox

import app
from app import log, paths
from app.bridge import tasks
from app.bridge.active_engine import ActiveEngine
from app.bridge.bug_reporter import BugReporter
from app.bridge.garbage import GarbageCollector
from app.bridge.local_api import LocalApi
from app.bridge.parameters import load_params
from app.bridge.report_router import ReportRouter
from app.bridge.self_test import SelfTest
from app.bridge.workspace import Workspace
from app.engine.loop import SWITCH_INTERVAL_S
from app.engine.types import ModelInfo, Speed
from app.settings import Settings
from app.storage.chat_store import ChatStore
from app.ui.appearance import apply_look
from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

MAX_SHUTDOWN_S = 10


def run(options: argparse.Namespace) -> int:
    """Returns the exit code once the window is closed and everything is on disk."""
    try:
        data_dir = paths.private_dir(paths.data_dir())
        log_dir = paths.private_dir(paths.log_dir())
    except OSError as error:
        return _refuse(f"the folder {error.filename} cannot be used: {error.strerror}.")
    lock = QLockFile(str(data_dir / "skein.lock"))
    lock.setStaleLockTime(0)  # a lock goes stale by the death of its owner, never by its age
    if not lock.tryLock(0):
        return _refuse(_why_locked(lock, data_dir))
    log.configure(log_dir, debug=options.debug)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with _crash_file(log_dir) as crash_file:
        return _run_window(options, crash_file)


def _refuse(reason: str) -> int:
    sys.stderr.write(f"skein: {reason}\n")
    return 1


def _why_locked(lock: QLockFile, data_dir: Path) -> str:
    if lock.error() != QLockFile.LockError.LockFailedError:
        return f"the folder {data_dir} cannot be written to. Make it writable, then start again."
    pid, _host, _name = lock.getLockInfo()
    return f"Skein is already running with the chats in {data_dir} (process {pid}). Use its window."


@contextmanager
def _crash_file(log_dir: Path) -> Iterator[TextIO]:
    """Where the stacks go if the native library takes the process down."""
    with (log_dir / "crash.log").open("a", encoding="utf-8") as file:
        faulthandler.enable(file)
        try:
            yield file
        finally:
            faulthandler.disable()


def _run_window(options: argparse.Namespace, crash_file: TextIO) -> int:
    application = QApplication(sys.argv[:1])
    application.setApplicationName("skein")
    application.setApplicationDisplayName("Skein")
    application.setApplicationVersion(app.__version__)
    application.setDesktopFileName("skein")
    application.setQuitOnLastWindowClosed(False)  # the end is `Program.run` returning
    settings = Settings.load(paths.settings_file())
    settings.override(**options.overrides)
    apply_look(application, settings)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(application)) as runner:
        return runner.run(_run_program(application, settings, options.model, crash_file))


async def _run_program(
    application: QApplication, settings: Settings, model: Path | None, crash_file: TextIO
) -> int:
    program = Program(application, settings, model, crash_file)
    return await program.run()


def models_to_try(asked_for: Path | None, remembered: Path | None, starter: Path) -> list[Path]:
    """Best first. A file asked for is tried even if it is not there, so that its owner hears why."""
    found = [path for path in (remembered, starter) if path and path.exists()]
    wanted = [asked_for.absolute()] if asked_for else []
    return list(dict.fromkeys([*wanted, *found])) or [starter]


class Program(QObject):
    """Made and run inside the running loop."""

    def __init__(self, parent: QObject, settings: Settings, model: Path | None, crash_file: TextIO) -> None:
        super().__init__(parent)
        self._crash_file = crash_file
        self._settings = settings
        self._models = models_to_try(model, settings.model_path, paths.starter_model())
        self._quit = asyncio.Event()
        self._garbage = GarbageCollector(self)
        self._bugs = BugReporter(self)
        self._store = ChatStore(paths.chats_file())
        self._engine = ActiveEngine(self)
        self._engine.set_speed(Speed(settings.speed))
        self._workspace = Workspace(self._engine, self._store, settings, self)
        self._router = ReportRouter(self._engine, self._workspace, self)
        self._window = MainWindow(self._workspace, self._engine, settings)
        self._api = LocalApi(self._engine, settings, self)
        self._window.show_api(self._api)
        self._self_test = SelfTest(self)
        self._window.show_self_test(self._self_test)
        self._window_state = QSettings(str(paths.window_state_file()), QSettings.Format.IniFormat, self)

    async def run(self) -> int:
        self._install_hooks()
        self._connect()
        self._show_window()
        self._load_next_model()
        self._api.apply()
        if notice := await self._store.open():
            self._workspace.save_failed.emit(notice)
        await self._workspace.restore()
        await self._quit.wait()
        await self._shut_down()
        return 0

    def _install_hooks(self) -> None:
        loop = asyncio.get_running_loop()
        self._bugs.install()
        loop.set_exception_handler(self._bugs.on_loop_exception)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._quit.set)

    def _connect(self) -> None:
        self._bugs.seen.connect(self._on_bug)
        self._window.quit_requested.connect(self._on_quit_requested)
        self._engine.loaded.connect(self._on_loaded)
        self._engine.load_failed.connect(self._on_load_failed)

    def _show_window(self) -> None:
        if geometry := self._window_state.value("geometry"):
            self._window.restoreGeometry(geometry)
        self._restore_inspector()
        self._window.show()
        logger.info("The window is shown.")

    def _load_next_model(self) -> None:
        self._engine.load(load_params(self._settings, self._models.pop(0)))

    async def _shut_down(self) -> None:
        """Each step relies on the ones before it."""
        # A hang must not stay behind unseen, holding the lock.
        faulthandler.dump_traceback_later(MAX_SHUTDOWN_S, exit=True, file=self._crash_file)
        self._save_window_state()
        self._window.preferences.flush()
        self._window.hide()
        await self._self_test.close()
        await self._api.close()
        await self._engine.close()
        await self._workspace.shut_down()
        await tasks.finish_all()
        await self._store.close()
        self._window.deleteLater()
        faulthandler.cancel_dump_traceback_later()
        logger.info("Ended in order.")

    def _save_window_state(self) -> None:
        self._window_state.setValue("geometry", self._window.saveGeometry())
        inspector = self._window.inspector
        arrangement, is_shown = inspector.saved_state()
        self._window_state.setValue("inspector/arrangement", arrangement)
        self._window_state.setValue("inspector/is_shown", is_shown)
        for panel in inspector.panels:
            self._window_state.setValue(f"inspector/panels/{panel.NAME}", panel.save_layout())
        self._window_state.sync()

    def _restore_inspector(self) -> None:
        inspector, kept = self._window.inspector, self._window_state
        if arrangement := kept.value("inspector/arrangement"):
            inspector.restore_state(arrangement, bool(kept.value("inspector/is_shown", True, bool)))
        for panel in inspector.panels:
            if layout := kept.value(f"inspector/panels/{panel.NAME}"):
                panel.restore_layout(layout)

    @Slot()
    def _on_quit_requested(self) -> None:
        self._quit.set()

    @Slot(object)
    def _on_loaded(self, model: ModelInfo) -> None:
        """The next start opens the same model. The starter model is found without being remembered."""
        logger.info("%s is loaded.", model.path)
        self._models.clear()
        stands_in = model.path == paths.starter_model() and _is_away(self._settings.model_path)
        if stands_in:
            return
        self._settings.model_path = None if model.path == paths.starter_model() else model.path
        self._window.preferences.note_changes()

    @Slot(object, str)
    def _on_load_failed(self, _path: Path, _message: str) -> None:
        """At the start, the next best model is better than none. The window tells about the failed one."""
        if self._engine.model is None and self._models:
            self._load_next_model()

    @Slot(str)
    def _on_bug(self, trace: str) -> None:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Skein")
        box.setText("Something went wrong in Skein itself. Your chats are saved; it is best to start again.")
        box.setInformativeText(f"The log in {paths.log_dir()} tells more.")
        box.setDetailedText(trace)
        box.finished.connect(box.deleteLater)
        self._bugs.seen.disconnect(self._on_bug)  # one is enough
        box.open()  # never exec: a nested loop would stop every coroutine for good


def _is_away(path: Path | None) -> bool:
    return path is not None and not path.exists()
