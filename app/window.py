"""The window from the click on: whether it may open, its first paint, and then what fills it.

GUI thread. Imports little before the window is painted, and the rest where it is needed.
"""

import argparse
import importlib
import logging
import sys
import time
from pathlib import Path

from PySide6.QtCore import QEventLoop, QLockFile, Qt, QTimer

import app
from app import log, paths, refusal
from app.look.dressing import dress
from app.look.language import apply_language, prefer_its_fonts
from app.looks import Looks, read_looks
from app.said import said
from app.ui.application import Application
from app.ui.main_window import MainWindow
from app.ui.window_state import WindowState

logger = logging.getLogger(__name__)

MAX_PAINT_MS = 1_000  # a window that nobody sees is not painted
# What fills the window takes longest to import. In pieces, so that what is typed meanwhile is seen.
PIECES = (
    "logging.handlers",
    "asyncio",
    "qasync",
    "pydantic",
    "app.settings",
    "app.engine.types",
    "app.bridge.workspace",
    "app.inspector.docks",
    "app.inspector.arrangement",
    "app.ui.commands.menus",
    "app.ui.chats.navigation",
    "app.program",
)


def run(options: argparse.Namespace) -> int:
    """Returns an exit code where there can be no window, else ends the process with it."""
    log.hold()
    try:
        data_dir = _data_dir()
    except OSError as error:
        folder, reason = error.filename, error.strerror
        return refuse(said("The folder {folder} cannot be used: {reason}.", folder=folder, reason=reason))
    lock = QLockFile(str(data_dir / "skein.lock"))
    lock.setStaleLockTime(0)  # a lock goes stale by the death of its owner, never by its age
    if not lock.tryLock(0) and not paths.is_read_only(data_dir):
        return _hand_over(lock, data_dir, options.model)
    looks = read_looks(paths.settings_file())
    looks = looks._replace(theme=options.overrides.get("theme", looks.theme))
    application = _new_application(looks)
    state = WindowState(paths.window_state_file())
    window = MainWindow(looks, state.layout)
    window.restoreGeometry(state.geometry)
    _show_painted(window)
    for piece in PIECES:
        importlib.import_module(piece)
        application.processEvents()
    from app import program

    return program.run(application, window, state, options, lock)


def _new_application(looks: Looks) -> Application:
    prefer_its_fonts(looks.language)
    application = Application(sys.argv[:1])
    application.setApplicationName("skein")
    application.setApplicationDisplayName("Skein")
    application.setApplicationVersion(app.__version__)
    application.setDesktopFileName("skein")
    application.setQuitOnLastWindowClosed(False)  # the end is `Program.run` returning
    apply_language(application, looks.language)
    dress(application, looks)
    return application


def _show_painted(window: MainWindow) -> None:
    """Returns when it can be seen. No coroutine runs yet that a nested loop could stop."""
    painting = QEventLoop()
    window.first_view.painted.connect(painting.quit, Qt.ConnectionType.QueuedConnection)
    late = QTimer(painting, singleShot=True, interval=MAX_PAINT_MS)
    late.timeout.connect(painting.quit)
    late.start()
    window.show()
    painting.exec()
    logger.info("The window is painted, after %.3f s of computing.", time.process_time())


def refuse(reason: str) -> int:
    """Says why there is no window, and returns the exit code."""
    refusal.write(reason)
    if not refusal.has_terminal():
        from app.ui import refusal_dialog

        if refusal_dialog.can_be_shown():
            refusal_dialog.show_refusal(reason)
    return 1


def _data_dir() -> Path:
    """Chats on a disk that nobody can write to can still be read. Raises OSError."""
    folder = paths.data_dir()
    try:
        return paths.private_dir(folder)
    except OSError:
        if paths.is_read_only(folder):
            return folder
        raise


def _hand_over(lock: QLockFile, data_dir: Path, model: Path | None) -> int:
    """To the Skein that has the lock: it comes to the front, and opens the model."""
    from app.bridge import other_starts

    if lock.error() != QLockFile.LockError.LockFailedError:
        return refuse(
            said(
                "The folder {folder} cannot be written to. Make it writable, then start again.",
                folder=data_dir,
            )
        )
    pid, _host, _name = lock.getLockInfo()
    if not other_starts.hand_over(other_starts.socket_name(data_dir), other_starts.Start(model)):
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
