"""Shows why Skein cannot start: on the terminal, or without one in a dialog of the desktop.

For failures before there is a window. Knows no Qt. Any thread.
"""

import shutil
import sys
from typing import TextIO

# Commands that show a text and a button. The text is the last argument.
DIALOGS = (
    ("zenity", "--error", "--no-markup", "--title=Skein", "--text"),
    ("kdialog", "--title", "Skein", "--error"),
    ("xmessage", "-center"),
)
_ERROR_ICON = 0x10  # Windows' MB_ICONERROR


def has_terminal() -> bool:
    """Whether output may be read by someone. Without a console, Windows provides no streams at all."""
    return any(_is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr))


def write(reason: str) -> None:
    """To the terminal, or whatever stderr is redirected to."""
    if sys.stderr:
        sys.stderr.write(f"skein: {reason}\n")


def show_without_qt(reason: str) -> None:
    """Blocks until the dialog is closed, or returns at once if none can be shown."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.user32.MessageBoxW(None, reason, "Skein", _ERROR_ICON)
    elif dialog := next((dialog for dialog in DIALOGS if shutil.which(dialog[0])), None):
        import subprocess

        subprocess.run([*dialog, reason], stderr=subprocess.DEVNULL, check=False)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
