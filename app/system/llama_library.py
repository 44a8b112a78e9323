"""llama.cpp's libraries as this program uses them, and, where they are borrowed, how far our own build is.

packaging/setup.sh puts them in their place. A program keeps those that it began with. Any thread.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from app.system.said import Said, said

PATCHES = "patches.txt"  # a name a line
LENT = "borrowed.txt"  # name and version of the package that the library was taken out of
BUILD = "../build"  # from the libraries: where packaging/build_llama.py compiles ours
TOLD = "../told"  # the failure that a window has shown


class BuildState(StrEnum):
    COMPILING = "compiling"
    STOPPED = "stopped"  # it goes on when packaging/run starts Skein
    FAILED = "failed"
    READY = "ready"  # the next start uses it


@dataclass(frozen=True, slots=True)
class OwnBuild:
    state: BuildState
    minutes_left: int | None = None  # rounded up; None: not known
    error: str = ""  # a sentence
    log: Path = Path()


@cache
def library_folder() -> Path:
    """Where llama.cpp's libraries were when it was first asked for. Raises ImportError."""
    if chosen := os.environ.get("LLAMA_CPP_LIB_PATH"):  # llama-cpp-python's own
        return Path(chosen).resolve()
    package = find_spec("llama_cpp")
    if package is None or package.origin is None:
        raise ImportError("llama-cpp-python is not installed", name="llama_cpp")
    return (Path(package.origin).parent / "lib").resolve()


def chat_folders() -> tuple[Path, ...]:
    """Where its chat layer may be, which is compiled before the rest."""
    try:
        return library_folder(), library_folder() / BUILD / "chat"
    except ImportError:
        return ()


@cache
def llama_patches() -> tuple[str, ...]:
    """The names of those in packaging/llama_cpp that are in it, such as "attention", as they were applied."""
    try:
        listed = (library_folder() / PATCHES).read_text(encoding="utf-8")
    except (ImportError, OSError):
        return ()
    return tuple(line.partition("-")[2] for line in listed.split())


@cache
def lender() -> str:
    """Whose build of llama.cpp it is, such as "xllamacpp 2026.9.11063". Empty: Skein's."""
    try:
        return (library_folder() / LENT).read_text(encoding="utf-8").strip()
    except (ImportError, OSError):
        return ""


def own_build() -> OwnBuild | None:
    """How far it is. None: this program uses it."""
    if not lender():
        return None
    import psutil  # which takes time, and few programs get here

    folder = library_folder() / BUILD
    try:
        status = json.loads((folder / "status.json").read_text(encoding="utf-8"))
        state, pid, seconds = BuildState.STOPPED, int(status["pid"]), status["seconds_left"]
        log = (folder / "log").resolve()
    except (OSError, ValueError, KeyError, TypeError):
        return OwnBuild(BuildState.COMPILING)  # it has not begun to tell
    match status["state"]:
        case "done":
            state = BuildState.READY
        case "failed":
            state = BuildState.FAILED
        case "running" if psutil.pid_exists(pid):
            state = BuildState.COMPILING
    minutes = None if seconds is None else max(1, -(-int(seconds) // 60))
    return OwnBuild(state, minutes, str(status.get("error", "")), log)


def is_told(error: str) -> bool:
    """Whether a window has shown this failure of our build."""
    with suppress(OSError):
        return (library_folder() / TOLD).read_text(encoding="utf-8") == error
    return False


def note_told(error: str) -> None:
    with suppress(OSError):
        (library_folder() / TOLD).write_text(error, encoding="utf-8")


def missing(what: str, otherwise: Said) -> Said:
    """Why `what` does not work with this library; `otherwise` where it is our own."""
    build = own_build()
    if build is None:
        return otherwise
    needs = said("Skein's own build of llama.cpp is needed for {what}.", what=what)
    return said("{problem} {more}", problem=needs, more=_when_built(build))


def _when_built(build: OwnBuild) -> Said:
    match build.state:
        case BuildState.READY:
            return said("It is ready: restart Skein.")
        case BuildState.FAILED:
            return said("That failed. {reason} More is in {path}.", reason=build.error, path=build.log)
        case BuildState.STOPPED:
            return said("It was stopped, and goes on when packaging/run starts Skein.")
    if build.minutes_left is None:
        return said("It is being compiled in the background.")
    return said("It is being compiled in the background: about {number} min left.", number=build.minutes_left)
