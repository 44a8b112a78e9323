"""Tells why Skein cannot start: on the terminal, and in a dialog of the desktop's where there is no terminal.

For what happens before there is a window, or where there can be none. Knows no Qt. Any thread.
"""

import shutil
import sys
from typing import TextIO

# Programs that show a text and a button, by what they are asked with. The text comes last.
DIALOGS = (
    ("zenity", "--error", "--no-markup", "--title=Skein", "--text"),
    ("kdialog", "--title", "Skein", "--error"),
    ("xmessage", "-center"),
)
_ERROR_ICON = 0x10  # Windows' MB_ICONERROR


def has_terminal() -> bool:
    """Whether somebody may read what is written. Without a console, Windows gives no streams at all."""
    return any(_is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr))


def write(reason: str) -> None:
    """To the terminal, or to the file or the log that takes its place."""
    if sys.stderr:
        sys.stderr.write(f"skein: {reason}\n")


def show_without_qt(reason: str) -> None:
    """Waits until it is read, or returns at once where nothing can show it."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.user32.MessageBoxW(None, reason, "Skein", _ERROR_ICON)
    elif dialog := next((dialog for dialog in DIALOGS if shutil.which(dialog[0])), None):
        import subprocess

        subprocess.run([*dialog, reason], stderr=subprocess.DEVNULL, check=False)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
