"""Creates all parts of the program, connects them, and shuts them down in order. Only this module knows the
whole.

GUI thread, inside the running loop.
"""

import argparse
import asyncio
import faulthandler
import gc
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, TextIO

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QSessionManager
from PySide6.QtWidgets import QMessageBox

from app.bridge import tasks
from app.bridge.ahead_reader import AheadReader
from app.bridge.engines import Engines
from app.bridge.garbage import GarbageCollector
from app.bridge.hang_watch import HangWatch
from app.bridge.report_router import ReportRouter
from app.bridge.tasks import QtLoop
from app.bridge.workspace import Workspace
from app.look.words import tr, tr_said
from app.protocol.commands import SetSpeed
from app.protocol.load import LoadParams, Speed, is_elsewhere
from app.protocol.model import ModelInfo
from app.services import other_starts
from app.services.diagnostics import BugReporter
from app.services.fact_writer import FactWriter
from app.services.model_state import IdleUnload
from app.services.other_starts import OtherStarts, StartMessage
from app.services.preferences import Preferences
from app.services.services import Services
from app.services.title_writer import TitleWriter
from app.settings.load import load_params
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.system import log, paths
from app.system.crashes import RunMarker, keep_report, was_bus_error
from app.system.files import opener
from app.system.folder_lock import FolderLock
from app.system.freed_memory import keep_little
from app.ui.base.help_commands import open_folder
from app.ui.frame import Application, Frame
from app.ui.main_window import MainWindow
from app.ui.refusal_dialog import ask_to_end
from app.ui.tabs.plain_chats import PlainChats
from app.ui.window_state import WindowState

logger = logging.getLogger(__name__)

CRASH_FILE = "crash.log"
MAX_SHUTDOWN_S = 10
SETTLED_AFTER_MS = 30_000
SAVE_LAYOUT_EVERY_MS = 5_000  # a crash loses no more of it
RESTART = -1  # instead of an exit code


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters of a run."""

    model: Path | None
    crash_file: TextIO
    marker: RunMarker
    report: Path | None  # of a crash of the last run
    leave: Callable[[int], object] = sys.exit  # exits at once, with an exit code


def model_to_load(asked_for: Path | None, remembered: Path | None, starter: Path) -> Path:
    """It may be missing: the window says so then, and nothing answers in its place unasked."""
    return asked_for.absolute() if asked_for else remembered or starter


def run(
    application: Application,
    frame: Frame,
    state: WindowState,
    options: argparse.Namespace,
    lock: FolderLock,
) -> NoReturn:
    """Ends the process once the window is closed and everything is on disk."""
    gc.freeze()  # imported modules stay: never garbage
    keep_little()
    log_dir = _log_dir()
    log.configure(log_dir, debug=options.debug)
    marker = RunMarker(paths.run_marker_file())
    marker.begin()
    report = keep_report(log_dir / CRASH_FILE)
    settings = Settings.load(paths.settings_file())
    settings.override(**options.overrides)
    with _crash_file(log_dir) as crash_file:
        start = Start(options.model, crash_file, marker, report, leave=partial(_leave, lock, marker))
        with asyncio.Runner(loop_factory=lambda: QtLoop(application)) as runner:
            exit_code = runner.run(_run_program(application, frame, state, settings, start))
    _leave(lock, marker, exit_code)


def cache_notice() -> str:
    """Where the cache is, if that is not where it belongs. Nothing where no place is left to tell of."""
    folder = paths.cache_dir()
    if folder == paths.usual_cache_dir() or paths.is_read_only(paths.data_dir()):
        return ""
    return tr(
        "The cache folder {folder} is not writable, so Skein uses {other}. Make it writable, then start "
        "Skein again.",
        folder=paths.usual_cache_dir(),
        other=folder,
    )


async def _run_program(
    application: Application, frame: Frame, state: WindowState, settings: Settings, start: Start
) -> int:
    program = Program(application, frame, state, settings, start)
    return await program.run()


def _log_dir() -> Path:
    """A temporary one if the usual one cannot be used."""
    try:
        paths.private_dir(paths.state_dir())
        folder = paths.private_dir(paths.log_dir())
    except OSError:
        folder = paths.log_dir()
    return folder if paths.may(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="skein-"))


@contextmanager
def _crash_file(log_dir: Path) -> Iterator[TextIO]:
    """The file for stack traces if the native library crashes the process."""
    with open(log_dir / CRASH_FILE, "a", encoding="utf-8", opener=opener) as file:
        faulthandler.enable(file)
        try:
            yield file
        finally:
            faulthandler.disable()


def _leave(lock: FolderLock, marker: RunMarker, exit_code: int) -> NoReturn:
    """Exits at once: all is saved, and tearing down Qt and the modules would take longer than the shutdown so
    far.

    A teardown would also be unsafe while a thread is still in the native library.
    """
    marker.end()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream:  # on Windows a program without a console has none
            stream.flush()
    if exit_code == RESTART:
        _start_again(lock)
    lock.unlock()
    os._exit(exit_code)


def _start_again(lock: FolderLock) -> NoReturn:
    """By the same command, in the same process."""
    lock.unlock()
    os.execv(sys.executable, sys.orig_argv)


class Program(QObject):
    """Made and run inside the running loop."""

    def __init__(
        self,
        application: Application,
        frame: Frame,
        state: WindowState,
        settings: Settings,
        start: Start,
    ) -> None:
        super().__init__(application)
        self._application = application
        self._start = start
        self._settings = settings
        self._model_path = model_to_load(start.model, settings.model_path, paths.starter_model())
        self._quit = asyncio.Event()
        self._exit_code = 0
        self._garbage = GarbageCollector(self)
        self._bugs = BugReporter(self)
        self._store = ChatStore(paths.chats_file())
        self._engine = Engines(self)
        self._engine.pinned = lambda: settings.pinned_models
        self._engine.post(SetSpeed(Speed(settings.speed)))
        self._workspace = Workspace(self._engine, self._store, settings, self)
        self._workspace.closed.connect(self._garbage.note_closed)
        self._router = ReportRouter(self._engine, self._workspace, self)
        # It hears of a chat that is shown before the window does.
        self._hangs = HangWatch(self._workspace, paths.data_dir(), self)
        self._preferences = Preferences(settings, self)
        self._services = Services(self._engine, self._workspace, self._store, self._preferences, self)
        self._engine.params_of = self._params_of
        self._workspace.options_for_new = self._services.presets.options_for_new
        self._workspace.tools.kit = self._services.tools
        self._workspace.shelves.source = self._services.shelves
        self._workspace.shelves.project_of = self._services.projects.of
        self._other_starts = OtherStarts(other_starts.socket_name(paths.data_dir()), self)
        self._idle_unload = IdleUnload(self._engine, self._preferences, self)
        self._ahead_reader = AheadReader(self._engine, self._workspace, settings, self)
        self._titles = TitleWriter(self._engine, self._workspace, settings, self)
        self._facts = FactWriter(self._engine, self._workspace, self._services.projects, self)
        self._frame = frame
        with frame.held_still():
            self._window = MainWindow(frame, self._services)
        self._plain_chats = PlainChats(self._window.tabs, self._hangs, self)
        self._window_state = state

    async def run(self) -> int:
        self._install_hooks()
        self._hangs.start()
        self._connect()
        self._complete_window()
        if not paths.is_read_only(paths.data_dir()):
            self._other_starts.listen()
        if not self._start.marker.is_safe_mode:
            self._load_what_answers()
        self._on_asked_to_open()  # files that the system asked to open before this was connected
        if notice := await self._store.open():
            self._window.notices.show_error(tr_said(notice))
        if notice := cache_notice():
            self._window.notices.show_error(notice)
        await self._services.presets.reload()
        await self._services.projects.load()
        await self._services.shelves.start()
        self._services.shelf_vectors.start()
        if self._start.marker.is_safe_mode:
            self._workspace.start_without_tabs()
        else:
            await self._workspace.restore()
            await self._load_for_front()
        self._report_crash()
        await self._services.chat_library.load()
        self._services.backups.start()
        self._services.model_library.refresh()
        await self._services.downloads.restore()
        self._window.cut_off.tell(self._store.cut_off)
        self._services.cells.start()
        QTimer.singleShot(SETTLED_AFTER_MS, self, self._start.marker.settle)
        saving = QTimer(self, interval=SAVE_LAYOUT_EVERY_MS)
        saving.timeout.connect(partial(self._window_state.save, self._window))
        saving.start()
        await self._quit.wait()
        saving.stop()
        await self._shut_down()
        return self._exit_code

    def _params_of(self, address: str) -> LoadParams | None:
        if is_elsewhere(address):
            return self._services.servers.params_of(address)
        return load_params(self._settings, Path(address))

    def _install_hooks(self) -> None:
        loop = asyncio.get_running_loop()
        self._bugs.install()
        loop.set_exception_handler(self._bugs.on_loop_exception)
        with suppress(AttributeError, NotImplementedError):  # Windows has `commitDataRequest` only
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup skein`
                    loop.add_signal_handler(number, self._quit.set)

    def _connect(self) -> None:
        self._bugs.seen.connect(self._on_bug)
        self._frame.quit_requested.connect(self._on_quit_requested)
        self._window.languages.restart_requested.connect(self._on_restart_requested)
        self._window.build_notice.restart_requested.connect(self._on_restart_requested)
        self._services.backups.restored.connect(self._on_restored)
        self._other_starts.asked.connect(self._on_other_start)
        self._application.asked_to_open.connect(self._on_asked_to_open)
        self._application.commitDataRequest.connect(self._on_session_ending)
        self._engine.opened.connect(self._on_opened)
        self._engine.loaded.connect(self._on_loaded)

    def _complete_window(self) -> None:
        with self._frame.held_still():
            self._window_state.restore(self._window)
        gc.freeze()  # nor does what the window is made of, which no collection looks through from here on
        logger.info("The window is complete.")
        if self._frame.was_closed:
            self._end(0)

    def _report_crash(self) -> None:
        notices, report = self._window.notices, self._start.report
        if self._start.marker.is_safe_mode:
            told = tr(
                "Skein crashed at its last {number} starts, so it has not opened a model or your tabs. "
                "Your chats are safe.",
                number=self._start.marker.num_crashes,
            )
            notices.show_offer(told, tr("Open them now"), self._leave_safe_mode)
        elif report:
            told = tr("Skein ended unexpectedly last time. A report says what it was doing.")
            if self._start.marker.last_model and was_bus_error(report):
                told = tr(
                    "Skein crashed last time because an open file was truncated or its disk failed, most "
                    "likely the model {path}.",
                    path=self._start.marker.last_model,
                )
            notices.show_offer(told, tr("Show report"), partial(open_folder, report))

    @Slot()
    def _leave_safe_mode(self) -> None:
        self._load_what_answers()
        tasks.spawn(self._workspace.restore())

    async def _load_for_front(self) -> None:
        """What was asked for, for the chat in front; else that chat's own model, if it is here."""
        front = self._engine.front_address
        if self._start.model and front != str(self._model_path):
            self._window.models.load(self._model_path)
        elif not is_elsewhere(front) and await asyncio.to_thread(Path(front).is_file):
            self._engine.want(front)
        for pinned in self._settings.pinned_models:
            if not is_elsewhere(pinned) and await asyncio.to_thread(Path(pinned).is_file):
                self._engine.want(pinned)

    def _load_what_answers(self) -> None:
        self._window.models.load(self._model_path)
        self._services.api.apply()

    async def _shut_down(self) -> None:
        """Each step relies on the ones before it."""
        self._hangs.close()
        self._workspace.break_off()
        # A hang must not stay behind unseen, holding the lock.
        faulthandler.dump_traceback_later(MAX_SHUTDOWN_S, exit=True, file=self._start.crash_file)
        self._window_state.save(self._window)
        self._preferences.flush()
        self._frame.hide()
        self._other_starts.close()
        await self._services.close()
        has_ended = await self._engine.close()
        await self._services.cells.close()
        await self._workspace.shut_down()
        await tasks.finish_all()
        await self._workspace.stop_saving()  # including what those tasks have changed
        await self._store.close()
        self._frame.deleteLater()
        faulthandler.cancel_dump_traceback_later()
        logger.info("Ended in order.")
        if not has_ended:
            logger.warning("The native library is still at work; it is left alone.")
            self._start.leave(self._exit_code)

    @Slot()
    def _on_quit_requested(self) -> None:
        tasks.spawn(self._end_if_saved(0))

    @Slot()
    def _on_restart_requested(self) -> None:
        tasks.spawn(self._end_if_saved(RESTART))

    @Slot()
    def _on_restored(self) -> None:
        """Restart without saving: memory does not match the restored database."""
        self._end(RESTART)

    async def _end_if_saved(self, exit_code: int) -> None:
        await self._workspace.autosave.flush()
        if why := self._workspace.autosave.why_not:
            ask_to_end(why, partial(self._end, exit_code), self._frame)
        else:
            self._end(exit_code)

    @Slot(object)
    def _on_session_ending(self, manager: QSessionManager | None) -> None:
        """As on SIGTERM. Opts out of session restore, whose command line Skein does not understand."""
        if manager:
            manager.setRestartHint(QSessionManager.RestartHint.RestartNever)
        self._workspace.autosave.save_and_wait()  # some systems kill the process right after this signal
        self._quit.set()

    def _end(self, exit_code: int) -> None:
        self._exit_code = exit_code
        self._quit.set()

    @Slot()
    def _on_asked_to_open(self) -> None:
        for file in self._application.take_asked_files():
            self._on_other_start(StartMessage(file))

    @Slot(object)
    def _on_other_start(self, start: StartMessage) -> None:
        """Another start of Skein asks this one to come up, perhaps with a model."""
        self._frame.setWindowState(self._frame.windowState() & ~Qt.WindowState.WindowMinimized)
        self._frame.raise_()
        self._frame.activateWindow()
        if start.model:
            self._window.models.load(start.model)

    @Slot(object)
    def _on_opened(self, model: ModelInfo) -> None:
        logger.info("%s is loaded.", model.path)
        self._start.marker.note_model(model.path)
        self._workspace.tools.readers.start()

    @Slot(object)
    def _on_loaded(self, model: ModelInfo) -> None:
        """The next start opens the model in front. The starter model is found without being remembered."""
        if self._window.models.stands_in or model.server:
            return
        self._settings.model_path = None if model.path == paths.starter_model() else model.path
        self._preferences.note_changes()

    @Slot(str)
    def _on_bug(self, trace: str) -> None:
        box = QMessageBox(self._frame)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Skein")
        box.setText(
            tr("Skein ran into an internal error. Your chats are saved; restarting Skein is recommended.")
        )
        box.setInformativeText(tr("See the log in {folder} for details.", folder=paths.log_dir()))
        box.setDetailedText(trace)
        box.finished.connect(box.deleteLater)
        self._bugs.seen.disconnect(self._on_bug)  # one is enough
        box.open()  # never exec: a nested loop would stop every coroutine for good
