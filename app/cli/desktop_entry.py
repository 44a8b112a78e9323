"""Adds Skein to this user's desktop menu and to the programs for GGUF files; removes it again.

For a checkout or a pip installation on Linux: a package has done the same for all users. Follows the XDG base
directories. Knows no Qt. Any thread.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from app.system import paths

# These make the desktop reread the folders. Where one is missing, that happens at its next start.
_REFRESH = (
    ("update-desktop-database", "applications"),
    ("update-mime-database", "mime"),
    ("gtk-update-icon-cache", "icons/hicolor"),
)


def install() -> int:
    """Returns the exit code, and says on stdout what it wrote."""
    if problem := _not_here():
        return _refuse(problem)
    try:
        for target, content in _files():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            _say(f"wrote {target}")
    except OSError as error:
        return _refuse(f"{error.filename} could not be written: {error.strerror}.")
    _refresh()
    return 0


def remove() -> int:
    """Takes away what `install` wrote, and nothing else. Returns the exit code."""
    if problem := _not_here():
        return _refuse(problem)
    try:
        for target, _content in _files():
            if target.exists():
                target.unlink()
                _say(f"removed {target}")
    except OSError as error:
        return _refuse(f"{error.filename} could not be removed: {error.strerror}.")
    _refresh()
    return 0


def command() -> str:
    """The command that starts this installation."""
    program = Path(sys.argv[0]).absolute()
    if program.name in ("skein", "skein-gui") and os.access(program, os.X_OK):
        of_checkout = (
            program.parent.parent.parent / "packaging" / "run"
        )  # which sets up what a new version needs
        return _quoted(str(of_checkout if os.access(of_checkout, os.X_OK) else program))
    return f"{_quoted(sys.executable)} -m app"


def _files() -> Iterator[tuple[Path, bytes]]:
    """Where each file goes, and what is in it."""
    source, data = paths.resources_dir(), data_home()
    entry = (source / "desktop" / "skein.desktop").read_text(encoding="utf-8")
    yield (data / "applications" / "skein.desktop", entry.replace("Exec=skein", f"Exec={command()}").encode())
    yield data / "mime" / "packages" / "skein.xml", (source / "desktop" / "skein-mime.xml").read_bytes()
    icon = (source / "icons" / "skein.svg").read_bytes()
    yield data / "icons" / "hicolor" / "scalable" / "apps" / "skein.svg", icon
    yield data / "icons" / "hicolor" / "scalable" / "mimetypes" / "application-x-gguf.svg", icon


def data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _quoted(argument: str) -> str:
    """The Desktop Entry Specification's form for Exec; a percent sign would begin a field code."""
    escaped = argument.replace("%", "%%")
    for char in '\\"`$':
        escaped = escaped.replace(char, "\\" + char)
    # The value is a string first, in which a backslash is written twice.
    return '"' + escaped.replace("\\", "\\\\") + '"'


def _refresh() -> None:
    for program, folder in _REFRESH:
        target = data_home() / folder
        if (found := shutil.which(program)) and target.is_dir():
            subprocess.run(
                [found, str(target)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )


def _not_here() -> str:
    if not sys.platform.startswith("linux"):
        return "only Linux desktops are set up this way; on this system the installer does it."
    return ""


def _refuse(reason: str) -> int:
    sys.stderr.write(f"skein: {reason}\n")
    return 1


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
