"""Shows why Skein cannot start: on the terminal, or without one in a dialog of the desktop.

For failures before there is a window. Knows no Qt. Any thread.
"""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

# Commands that show a text and a button. The text is the last argument.
DIALOGS = (
    ("zenity", "--error", "--no-markup", "--title=Skein", "--text"),
    ("kdialog", "--title", "Skein", "--error"),
    ("xmessage", "-center"),
)
_ERROR_ICON = 0x10  # Windows' MB_ICONERROR


# Where Debian's package is not named after the library.
_PACKAGES = {"libglib-2.0.so.0": "libglib2.0-0", "libgthread-2.0.so.0": "libglib2.0-0"}


def missing_for_window(qt: Path) -> str:
    """Which system libraries Qt lacks, and how to install them; "" if it can open a window.

    Qt itself would abort. Only Linux leaves these libraries to the user. `qt` is PySide6's folder.
    """
    platform = "wayland" if os.environ.get("WAYLAND_DISPLAY") else "xcb"
    plugin = qt / "Qt" / "plugins" / "platforms" / f"libq{platform}.so"
    if sys.platform != "linux" or "QT_QPA_PLATFORM" in os.environ or not plugin.exists():
        return ""
    import ctypes

    try:
        ctypes.CDLL(str(plugin))  # costs nothing: Qt loads it next
    except OSError as error:
        named = Path(str(error).partition(":")[0]).name
        names = _not_found(plugin, qt / "QtWidgets.abi3.so", qt / "QtSvg.abi3.so") or [named]
        return (
            f"The window needs system libraries that are missing: {', '.join(names)}. On Debian and Ubuntu "
            f"install them by: sudo apt install {' '.join(debian_packages(names))}"
        )
    return ""


def _not_found(*files: Path) -> list[str]:
    import subprocess

    try:
        told = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    return sorted(set(re.findall(r"(\S+) => not found", told)))


def debian_packages(libraries: Sequence[str]) -> list[str]:
    """Named after the libraries: libEGL.so.1 is in libegl1, libX11.so.6 in libx11-6."""
    named = {one: re.sub(r"(?<=\d)\.so\.", "-", one).replace(".so.", "").lower() for one in libraries}
    return sorted({_PACKAGES.get(one, name) for one, name in named.items()})


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
