"""Shows a file in the system's file manager, selected if that is supported.

GUI thread; the answer is not waited for.
"""

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QUrl

from app.ui.base.help_commands import open_folder

SERVICE = "org.freedesktop.FileManager1"
OBJECT = "/org/freedesktop/FileManager1"


def reveal(path: Path, parent: QObject) -> None:
    """Where the file manager cannot select a file, its folder is opened."""
    command = command_for(path)
    if not command:
        open_folder(path.parent)
        return
    process = QProcess(parent)

    def on_end(code: int) -> None:
        process.deleteLater()
        if code:
            open_folder(path.parent)

    process.finished.connect(lambda code, _status: on_end(code))
    process.errorOccurred.connect(
        lambda error: on_end(1) if error == QProcess.ProcessError.FailedToStart else None
    )
    process.start(command[0], command[1:])


def command_for(path: Path, platform: str = sys.platform) -> list[str]:
    """Empty if no command reports whether it worked."""
    if platform == "darwin":
        return ["open", "-R", str(path)]
    if platform == "win32":
        return []
    # A comma would begin the next element of the array.
    address = bytes(QUrl.fromLocalFile(str(path)).toEncoded().data()).decode().replace(",", "%2C")
    call = f"{SERVICE}.ShowItems"
    options = ["--session", "--print-reply", f"--dest={SERVICE}", OBJECT, call]
    return ["dbus-send", *options, f"array:string:{address}", "string:"]
