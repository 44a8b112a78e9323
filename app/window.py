"""The window's program: makes everything, connects it, and takes it down in order. Alone knows the whole."""

import argparse
import asyncio
import faulthandler
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

import qasync
from PySide6.QtCore import QLockFile, QObject, QSettings, Qt, QTimer, Slot
from PySide6.QtGui import QSessionManager
from PySide6.QtWidgets import QMessageBox

import app
from app import log, paths, refusal
from app.bridge import other_starts, tasks
from app.bridge.active_engine import ActiveEngine
from app.bridge.bug_reporter import BugReporter
from app.bridge.cell_keeping import CellKeeping
from app.bridge.chat_backups import ChatBackups
from app.bridge.chat_search import ChatSearch
from app.bridge.chat_transfer import ChatTransfer
from app.bridge.downloads import Downloads
from app.bridge.garbage import GarbageCollector
from app.bridge.idle_unload import IdleUnload
from app.bridge.library import Library
from app.bridge.local_api import LocalApi
from app.bridge.model_fits import ModelFits
from app.bridge.model_hub import ModelHub
from app.bridge.model_library import ModelLibrary
from app.bridge.other_starts import OtherStarts
from app.bridge.other_starts import Start as OtherStart
from app.bridge.parameters import load_params
from app.bridge.presets import Presets
from app.bridge.report_router import ReportRouter
from app.bridge.self_test import SelfTest
from app.bridge.title_writer import TitleWriter
from app.bridge.token_counter import TokenCounter
from app.bridge.workspace import Workspace
from app.crashes import RunMarker, keep_report
from app.engine.types import ModelInfo, Speed
from app.look.language import apply_language, prefer_its_fonts
from app.look.words import tr, tr_said
from app.said import said
from app.settings import Settings
from app.storage.chat_store import ChatStore
from app.ui import refusal_dialog
from app.ui.application import Application
from app.ui.chats.sidebar import USUAL_WIDTH
from app.ui.commands.help_commands import open_folder
from app.ui.data.unsaved import ask_to_end
from app.ui.main_window import MainWindow
from app.ui.settings.appearance import apply_look
from app.ui.tabs.split_pages import HALF

logger = logging.getLogger(__name__)

MAX_SHUTDOWN_S = 10
_CHOICES = (None, True, False)  # whether the list of chats is shown, as the number that is kept
SETTLED_AFTER_MS = 30_000
RESTART = -1  # instead of an exit code
CRASH_FILE = "crash.log"


def run(options: argparse.Namespace) -> int:
    """Returns the exit code once the window is closed and everything is on disk."""
    try:
        data_dir = _data_dir()
    except OSError as error:
        folder, reason = error.filename, error.strerror
        return refuse(said("The folder {folder} cannot be used: {reason}.", folder=folder, reason=reason))
    lock = QLockFile(str(data_dir / "skein.lock"))
    lock.setStaleLockTime(0)  # a lock goes stale by the death of its owner, never by its age
    if not lock.tryLock(0) and not is_read_only(data_dir):
        return _hand_over(lock, data_dir, options.model)
    log_dir = _log_dir()
    log.configure(log_dir, debug=options.debug)
    marker = RunMarker(paths.run_marker_file())
    marker.begin()
    report = keep_report(log_dir / CRASH_FILE)
    with _crash_file(log_dir) as crash_file:
        start = Start(options.model, crash_file, marker, report, leave=partial(_leave, lock, marker))
        exit_code = _run_window(options, start)
    marker.end()
    if exit_code == RESTART:
        _start_again(lock)
    return exit_code


def _leave(lock: QLockFile, marker: RunMarker, exit_code: int) -> NoReturn:
    """All is saved. A thread is in the native library still, so nothing that it uses may be taken down."""
    marker.end()
    logging.shutdown()
    if exit_code == RESTART:
        _start_again(lock)
    lock.unlock()
    os._exit(exit_code)


def _start_again(lock: QLockFile) -> NoReturn:
    """By the same command, in the same process: so the lock would seem to be held still."""
    lock.unlock()
    os.execv(sys.executable, sys.orig_argv)


def refuse(reason: str) -> int:
    """Says why there is no window, and returns the exit code."""
    refusal.write(reason)
    if not refusal.has_terminal() and refusal_dialog.can_be_shown():
        refusal_dialog.show_refusal(reason)
    return 1


def _data_dir() -> Path:
    """Chats on a disk that nobody can write to can still be read. Raises OSError."""
    folder = paths.data_dir()
    try:
        return paths.private_dir(folder)
    except OSError:
        if is_read_only(folder):
            return folder
        raise


def is_read_only(folder: Path) -> bool:
    return _may(folder, os.R_OK | os.X_OK) and not _may(folder, os.W_OK)


def _may(folder: Path, mode: int) -> bool:
    """Ask before trying: SQLite, the lock and the log would each fail in a way of its own."""
    return os.access(folder, mode, effective_ids=os.access in os.supports_effective_ids)


def _log_dir() -> Path:
    """A place for this run, if there is none to stay."""
    try:
        folder = paths.private_dir(paths.log_dir())
    except OSError:
        folder = paths.log_dir()
    return folder if _may(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="skein-"))


def _hand_over(lock: QLockFile, data_dir: Path, model: Path | None) -> int:
    """To the Skein that has the lock: it comes to the front, and opens the model."""
    if lock.error() != QLockFile.LockError.LockFailedError:
        return refuse(
            said(
                "The folder {folder} cannot be written to. Make it writable, then start again.",
                folder=data_dir,
            )
        )
    pid, _host, _name = lock.getLockInfo()
    if not other_starts.hand_over(other_starts.socket_name(data_dir), OtherStart(model)):
        return refuse(
            said(
                "Skein is already running with the chats in {folder} (process {pid}), but does not answer. "
                "Use its window, or end it.",
                folder=data_dir,
                pid=pid,
            )
        )
    if sys.stdout:  # on Windows a program without a console has none
        running = f"Skein is already running with the chats in {data_dir} (process {pid})"
        sys.stdout.write(f"skein: {running}. Its window has come to the front.\n")
    return 0


@contextmanager
def _crash_file(log_dir: Path) -> Iterator[TextIO]:
    """Where the stacks go if the native library takes the process down."""
    with (log_dir / CRASH_FILE).open("a", encoding="utf-8") as file:
        faulthandler.enable(file)
        try:
            yield file
        finally:
            faulthandler.disable()


@dataclass(frozen=True, slots=True)
class Start:
    """What a run begins with."""

    model: Path | None
    crash_file: TextIO
    marker: RunMarker
    report: Path | None  # of a crash of the last run
    leave: Callable[[int], object] = sys.exit  # at once, with an exit code


def _run_window(options: argparse.Namespace, start: Start) -> int:
    settings = Settings.load(paths.settings_file())
    settings.override(**options.overrides)
    prefer_its_fonts(settings.language)
    application = Application(sys.argv[:1])
    application.setApplicationName("skein")
    application.setApplicationDisplayName("Skein")
    application.setApplicationVersion(app.__version__)
    application.setDesktopFileName("skein")
    application.setQuitOnLastWindowClosed(False)  # the end is `Program.run` returning
    apply_language(application, settings.language)
    apply_look(application, settings)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(application)) as runner:
        return runner.run(_run_program(application, settings, start))


async def _run_program(application: Application, settings: Settings, start: Start) -> int:
    program = Program(application, settings, start)
    return await program.run()


def models_to_try(asked_for: Path | None, remembered: Path | None, starter: Path) -> list[Path]:
    """Best first. A file asked for is tried even if it is not there, so that its owner hears why."""
    found = [path for path in (remembered, starter) if path and path.exists()]
    wanted = [asked_for.absolute()] if asked_for else []
    return list(dict.fromkeys([*wanted, *found])) or [starter]


class Program(QObject):
    """Made and run inside the running loop."""

    def __init__(self, application: Application, settings: Settings, start: Start) -> None:
        super().__init__(application)
        self._application = application
        self._start = start
        self._settings = settings
        self._models = models_to_try(start.model, settings.model_path, paths.starter_model())
        self._quit = asyncio.Event()
        self._exit_code = 0
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
        self._backups = ChatBackups(self._store, self._workspace, self)
        self._window.show_backups(self._backups)
        self._other_starts = OtherStarts(other_starts.socket_name(paths.data_dir()), self)
        self._self_test = SelfTest(self)
        self._window.show_self_test(self._self_test)
        self._library = Library(self._store, self._workspace, self)
        self._idle_unload = IdleUnload(self._engine, self._window.preferences, self)
        self._titles = TitleWriter(self._engine, self._workspace, settings, self)
        self._window.show_library(self._library, ChatSearch(self._store, self))
        self._window.show_chat_files(ChatTransfer(self._workspace, self._store, self._library, self))
        self._presets = Presets(paths.presets_dir(), self._window.preferences, self)
        self._workspace.options_for_new = self._presets.options_for_new
        self._window.show_presets(self._presets, TokenCounter(self._engine, self))
        self._cells = CellKeeping(
            self._engine, self._workspace, self._window.preferences, paths.kept_cells_dir(), self
        )
        self._window.show_cell_keeping(self._cells)
        self._models_here = ModelLibrary(self._window.preferences, self._engine, self)
        self._model_fits = ModelFits(self._window.preferences, self)
        self._window.show_model_library(self._models_here, self._model_fits)
        self._hub = ModelHub(self._window.preferences, self)
        self._downloads = Downloads(self._window.preferences, self._hub.token, self)
        self._downloads.finished.connect(self._models_here.refresh)
        self._window.show_model_hub(self._hub, self._downloads)
        self._window_state = QSettings(str(paths.window_state_file()), QSettings.Format.IniFormat, self)

    async def run(self) -> int:
        self._install_hooks()
        self._connect()
        self._show_window()
        if not is_read_only(paths.data_dir()):
            self._other_starts.listen()
        if not self._start.marker.is_safe_mode:
            self._load_what_answers()
        if notice := await self._store.open():
            self._window.notices.show_error(tr_said(notice))
        await self._presets.reload()
        if self._start.marker.is_safe_mode:
            self._workspace.start_without_tabs()
        else:
            await self._workspace.restore()
        self._tell_of_crash()
        await self._library.load()
        self._backups.start()
        self._models_here.refresh()
        await self._downloads.restore()
        self._cells.start()
        QTimer.singleShot(SETTLED_AFTER_MS, self, self._start.marker.settle)
        await self._quit.wait()
        await self._shut_down()
        return self._exit_code

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
        self._window.quit_requested.connect(self._on_quit_requested)
        self._window.languages.restart_requested.connect(self._on_restart_requested)
        self._backups.restored.connect(self._on_restored)
        self._other_starts.asked.connect(self._on_other_start)
        self._application.asked_to_open.connect(self._on_asked_to_open)
        self._application.commitDataRequest.connect(self._on_session_ending)
        self._engine.loaded.connect(self._on_loaded)
        self._engine.load_failed.connect(self._on_load_failed)

    def _show_window(self) -> None:
        if geometry := self._window_state.value("geometry"):
            self._window.restoreGeometry(geometry)
        self._restore_inspector()
        self._restore_navigation()
        self._window.command_palette.recent = str(self._window_state.value("palette/recent", "")).splitlines()
        self._window.show()
        logger.info("The window is shown.")

    def _tell_of_crash(self) -> None:
        notices, report = self._window.notices, self._start.report
        if self._start.marker.is_safe_mode:
            told = tr(
                "Skein ended unexpectedly at its last {number} starts, so it has opened neither a model nor "
                "your tabs. Your chats are safe.",
                number=self._start.marker.num_crashes,
            )
            notices.show_offer(told, tr("Open them now"), self._leave_safe_mode)
        elif report:
            told = tr("Skein ended unexpectedly the last time. What it was doing then is in a report.")
            notices.show_offer(told, tr("Show report"), partial(open_folder, report))

    @Slot()
    def _leave_safe_mode(self) -> None:
        self._load_what_answers()
        tasks.spawn(self._workspace.restore())

    def _load_what_answers(self) -> None:
        self._load_next_model()
        self._api.apply()

    def _load_next_model(self) -> None:
        self._engine.load(load_params(self._settings, self._models.pop(0)))

    async def _shut_down(self) -> None:
        """Each step relies on the ones before it."""
        # A hang must not stay behind unseen, holding the lock.
        faulthandler.dump_traceback_later(MAX_SHUTDOWN_S, exit=True, file=self._start.crash_file)
        self._save_window_state()
        self._window.preferences.flush()
        self._window.hide()
        self._other_starts.close()
        self._models_here.close()
        self._model_fits.close()
        self._hub.close()
        await self._downloads.close()
        await self._self_test.close()
        await self._api.close()
        has_ended = await self._engine.close()
        await self._cells.close()
        await self._workspace.shut_down()
        await tasks.finish_all()
        await self._workspace.stop_saving()  # with what those tasks have changed
        await self._store.close()
        self._window.deleteLater()
        faulthandler.cancel_dump_traceback_later()
        logger.info("Ended in order.")
        if not has_ended:
            logger.warning("The native library is still at work; it is left alone.")
            self._start.leave(self._exit_code)

    def _save_window_state(self) -> None:
        self._window_state.setValue("geometry", self._window.saveGeometry())
        self._window_state.setValue("palette/recent", "\n".join(self._window.command_palette.recent))
        self._window_state.setValue("split/share", self._window.tabs.pages.share)
        if navigation := self._window.navigation:
            self._window_state.setValue("chats/width", navigation.width)
            self._window_state.setValue("chats/choice", _CHOICES.index(navigation.choice))
            closed = "\n".join(navigation.sidebar.model.closed_folders)
            self._window_state.setValue("chats/closed_folders", closed)
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
        else:
            inspector.set_shown(False)  # whoever comes for the first time comes to talk
        for name in inspector.names:
            if layout := kept.value(f"inspector/panels/{name}"):
                inspector.restore_layout(name, layout)

    def _restore_navigation(self) -> None:
        kept = self._window_state
        self._window.tabs.pages.share = min(max(float(str(kept.value("split/share", HALF))), 0.1), 0.9)
        if self._window.navigation:
            width = int(str(kept.value("chats/width", USUAL_WIDTH, int)))
            choice = _CHOICES[int(str(kept.value("chats/choice", 0, int))) % len(_CHOICES)]
            closed = str(kept.value("chats/closed_folders", "")).splitlines()
            self._window.navigation.restore(width, choice, closed)

    @Slot()
    def _on_quit_requested(self) -> None:
        tasks.spawn(self._end_if_saved(0))

    @Slot()
    def _on_restart_requested(self) -> None:
        tasks.spawn(self._end_if_saved(RESTART))

    @Slot()
    def _on_restored(self) -> None:
        """What is in memory is not what is to be saved."""
        self._end(RESTART)

    async def _end_if_saved(self, exit_code: int) -> None:
        await self._workspace.flush()
        if why := self._workspace.why_not_saved:
            ask_to_end(why, partial(self._end, exit_code), self._window)
        else:
            self._end(exit_code)

    @Slot(object)
    def _on_session_ending(self, manager: QSessionManager | None) -> None:
        """As on SIGTERM. The session would start it again by a command that it does not understand."""
        if manager:
            manager.setRestartHint(QSessionManager.RestartHint.RestartNever)
        self._workspace.save_and_wait()  # some systems end whoever has heard of it
        self._quit.set()

    def _end(self, exit_code: int) -> None:
        self._exit_code = exit_code
        self._quit.set()

    @Slot()
    def _on_asked_to_open(self) -> None:
        for file in self._application.take_asked_files():
            self._on_other_start(OtherStart(file))

    @Slot(object)
    def _on_other_start(self, start: OtherStart) -> None:
        """Somebody wanted to see Skein, perhaps with a model."""
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.raise_()
        self._window.activateWindow()
        if start.model:
            self._engine.load(load_params(self._settings, start.model))

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

    @Slot(object, object)
    def _on_load_failed(self, _path: Path, _message: str) -> None:
        """At the start, the next best model is better than none. The window tells about the failed one."""
        if self._engine.model is None and self._models:
            self._load_next_model()

    @Slot(str)
    def _on_bug(self, trace: str) -> None:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Skein")
        box.setText(
            tr("Something went wrong in Skein itself. Your chats are saved; it is best to start again.")
        )
        box.setInformativeText(tr("The log in {folder} tells more.", folder=paths.log_dir()))
        box.setDetailedText(trace)
        box.finished.connect(box.deleteLater)
        self._bugs.seen.disconnect(self._on_bug)  # one is enough
        box.open()  # never exec: a nested loop would stop every coroutine for good


def _is_away(path: Path | None) -> bool:
    return path is not None and not path.exists()
