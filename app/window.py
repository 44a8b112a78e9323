"""The start of the window: single-instance lock, first paint, then the rest of the program.

GUI thread. Imports little before the first paint, and the rest where it is needed.
"""

import argparse
import errno
import importlib
import logging
import os
import sys
import time
from pathlib import Path

from PySide6.QtCore import QEventLoop, QStorageInfo, Qt, QTimer

import app
from app.look.fonts import add_shipped_fonts, choose_interface_family
from app.look.language import apply_language, prefer_its_fonts
from app.look.theme import dress
from app.look.words import mark
from app.settings.appearance import AppearanceSettings, read_appearance
from app.system import log, paths, refusal
from app.system.folder_lock import FolderLock, Holder
from app.system.said import said
from app.ui.frame import Application, Frame
from app.ui.window_state import WindowState

logger = logging.getLogger(__name__)

# Disks that other machines see, too, by how their kinds begin. Not all of them pass locks on.
SHARED_DISKS = (
    "9p", "afs", "ceph", "cifs", "fuse.", "gluster", "lustre", "nfs", "prl_fs", "smb", "vboxsf", "virtiofs",
)  # fmt: skip
MAX_PAINT_MS = 1_000  # a hidden window is never painted
# The slowest imports, in pieces, so that typed text is shown meanwhile.
PIECES = (
    "logging.handlers",
    "asyncio",
    "qasync",
    "pydantic",
    "app.settings.settings",
    "app.protocol.report",
    "app.bridge.workspace",
    "app.inspector.docks",
    "app.ui.commands.menus",
    "app.ui.chats.navigation",
    "app.ui.main_window",
    "app.program",
)


def run(options: argparse.Namespace) -> int:
    """Returns an exit code if the window cannot be opened, else exits the process."""
    log.hold()
    try:
        data_dir = _data_dir()
    except OSError as error:
        return refuse(_why_unusable(Path(error.filename), error))
    lock = FolderLock(data_dir / "skein.lock")
    if not paths.is_read_only(data_dir):
        exit_code = _take(lock, data_dir, options.model)
        if exit_code is not None:
            return exit_code
    paths.private_dir_if_possible(paths.config_dir())
    appearance = read_appearance(paths.settings_file())
    appearance = appearance._replace(theme=options.overrides.get("theme", appearance.theme))
    application = _new_application(appearance)
    state = WindowState(paths.window_state_file())
    frame = Frame(appearance, state.layout)
    frame.restoreGeometry(state.geometry)
    _show_painted(frame)
    for piece in PIECES:
        importlib.import_module(piece)
        application.processEvents()
    from app import program

    return program.run(application, frame, state, options, lock)


def _new_application(appearance: AppearanceSettings) -> Application:
    prefer_its_fonts(appearance.language)
    application = Application(sys.argv[:1])
    application.setApplicationName("skein")
    application.setApplicationDisplayName("Skein")
    application.setApplicationVersion(app.__version__)
    application.setDesktopFileName("skein")
    application.setQuitOnLastWindowClosed(False)  # the end is `Program.run` returning
    apply_language(application, appearance.language)
    add_shipped_fonts()
    choose_interface_family(appearance.interface_font)
    dress(application, appearance)
    return application


def _show_painted(frame: Frame) -> None:
    """Returns when it is visible. A nested loop is fine here: no coroutine runs yet."""
    painting = QEventLoop()
    frame.first_view.painted.connect(painting.quit, Qt.ConnectionType.QueuedConnection)
    late = QTimer(painting, singleShot=True, interval=MAX_PAINT_MS)
    late.timeout.connect(painting.quit)
    late.start()
    frame.show()
    painting.exec()
    logger.info("The window is painted, after %.3f s of computing.", time.process_time())


def refuse(reason: str) -> int:
    """Shows why there is no window, and returns the exit code."""
    _offer(reason)
    return 1


def _offer(reason: str, offer: str = "") -> bool:
    """Says why there is no window, and what can be done about it. Whether the user wants that."""
    refusal.write(reason)
    if refusal.has_terminal():
        return False
    from app.ui import refusal_dialog

    return refusal_dialog.can_be_shown() and refusal_dialog.show_refusal(reason, offer)


def _data_dir() -> Path:
    """A read-only disk is fine: its chats can still be read. Raises OSError."""
    folder = paths.data_dir()
    try:
        return paths.private_dir(folder)
    except OSError:
        if paths.is_read_only(folder):
            return folder
        raise


def _take(lock: FolderLock, data_dir: Path, model: Path | None) -> int | None:
    """None once the chats are ours, else an exit code: two that write would damage them."""
    try:
        is_ours = lock.try_lock()
    except OSError as error:
        return refuse(_why_unusable(data_dir, error))
    if not is_ours:
        return _hand_over(lock, data_dir, model)
    former = lock.holder
    is_doubtful = former and not former.is_on_this_host and _is_shared(data_dir)
    if former and is_doubtful and not _is_gone(lock, former, data_dir):
        return 1
    lock.sign()
    return None


def _why_unusable(folder: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return said("The disk with {folder} is full. Free some space, then start Skein again.", folder=folder)
    return said("The folder {folder} cannot be used: {reason}.", folder=folder, reason=error.strerror)


def _is_shared(folder: Path) -> bool:
    kind = bytes(QStorageInfo(str(folder)).fileSystemType().data()).decode(errors="replace")
    return kind.lower().startswith(SHARED_DISKS)


def _is_gone(lock: FolderLock, former: Holder, data_dir: Path) -> bool:
    """As the user says, who can look at the other machine: its lock may not have come through to here."""
    reason = said(
        "The chats in {folder} were opened on {host} (process {pid}, {date}) and never closed. If Skein "
        "still runs there, close it: two at once would damage the chats. If not, remove {file} and start "
        "again.",
        folder=data_dir,
        file=lock.path,
        **_named(former),
    )
    return _offer(reason, mark("It is not running there"))


def _hand_over(lock: FolderLock, data_dir: Path, model: Path | None) -> int:
    """Hands over to the running Skein: it comes to the front, and opens the model."""
    from app.services import other_starts

    holder = lock.holder
    if other_starts.hand_over(other_starts.socket_name(data_dir), other_starts.StartMessage(model)):
        if sys.stdout:  # on Windows a program without a console has none
            who = f" (process {holder.pid})" if holder else ""
            running = f"Skein is already running with the chats in {data_dir}{who}"
            sys.stdout.write(f"skein: {running}. Its window has come to the front.\n")
        return 0
    if holder is None:
        return refuse(
            said(
                "Another program is using the chats in {folder} and does not respond. Close it, then "
                "start Skein again.",
                folder=data_dir,
            )
        )
    if not lock.can_be_ended(holder):
        return refuse(
            said(
                "Skein is running with the chats in {folder} on {host} (process {pid}, since {date}). "
                "Close it there first. If that machine is gone for good, remove {file}.",
                folder=data_dir,
                file=lock.path,
                **_named(holder),
            )
        )
    reason = said(
        "Skein is already running with the chats in {folder} (process {pid}, since {date}) but does not "
        "respond. Use its window, or end it.",
        folder=data_dir,
        **_named(holder),
    )
    if _offer(reason, mark("End it and start again")) and lock.end(holder):
        os.execv(sys.executable, sys.orig_argv)
    return 1


def _named(holder: Holder) -> dict[str, object]:
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(holder.since))
    return {"pid": holder.pid, "host": holder.host, "date": date}
