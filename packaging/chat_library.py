"""Makes llama.cpp's chat layer a library beside the others of the llama-cpp-python that is installed here.

It is the code that knows each model family's templates, tool calls and reasoning, with a C function around it
(llama_cpp/chat). It needs no other library of llama.cpp. Run by packaging/setup.sh with the Python of .venv,
and with the folder where it is kept for other checkouts: compiling it takes a minute.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from llama_cpp_sources import compiler, libraries, make

OURS = Path(__file__).parent / "llama_cpp" / "chat"
NAME = "libskein-chat" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
SOURCES = (
    *("common/chat*.cpp", "common/peg-parser.cpp", "common/json*.cpp", "common/trie.cpp"),
    *("common/unicode.cpp", "common/jinja/*.cpp", "common/parsers/*.cpp"),
)
HEADERS = ("common", "include", "ggml/include", "vendor/nlohmann")
INCLUDED = ("common", "include", "ggml/include", "vendor")
LICENCE = "licenses/LICENSE-jsonhpp"
LICENCE_NAME = "LICENSE-jsonhpp"
OPTIONS = ("-std=c++17", "-O2", "-fPIC", "-DNDEBUG", "-fvisibility=hidden")


def is_needed(path: PurePosixPath) -> bool:
    if path.suffix in (".h", ".hpp"):
        return any(path.is_relative_to(folder) for folder in HEADERS)
    return str(path) == LICENCE or any(fnmatch(str(path), pattern) for pattern in SOURCES)


def build(llama: Path, libraries: Path, options: tuple[str, ...] = ()) -> None:
    """Into `libraries`, where it takes the place of an older one in one step."""
    started = time.monotonic()
    sources = [*OURS.glob("*.cpp"), *(path for pattern in SOURCES for path in sorted(llama.glob(pattern)))]
    include = [f"-I{OURS}", *(f"-I{llama / name}" for name in INCLUDED)]
    command = [compiler(), *OPTIONS, *options, *include, "-include", str(OURS / "notes.h")]
    made = libraries / f"skein-chat-{os.getpid()}.new"  # another checkout may be making it, too
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [f"{folder}/{number}.o" for number in range(len(sources))]
        commands = [
            [*command, "-c", str(source), "-o", object_]
            for source, object_ in zip(sources, objects, strict=True)
        ]
        list(pool.map(lambda one: subprocess.run(one, check=True), commands))
        linked = [compiler(), *options, "-shared", "-Wl,-s" if sys.platform == "linux" else "-fPIC"]
        subprocess.run([*linked, *objects, "-o", str(made)], check=True)
    shutil.copy(llama / LICENCE, libraries / LICENCE_NAME)
    made.replace(libraries / NAME)
    size = (libraries / NAME).stat().st_size
    print(f"{NAME}: {size / 1e6:.1f} MB, made in {time.monotonic() - started:.0f} s")


def install(kept: Path) -> int:
    """From `kept`, which is filled first if it is empty. Returns the exit code."""
    if not can_be_loaded(kept / NAME):
        kept.mkdir(parents=True, exist_ok=True)
        if code := make(is_needed, lambda llama, _libraries: build(llama, kept)):
            return code
    for name in (NAME, LICENCE_NAME):
        shutil.copy(kept / name, libraries() / f"{name}.new").replace(libraries() / name)
    return 0


def can_be_loaded(library: Path) -> bool:
    """Not if it is missing, or was made for another system that shares the folder."""
    try:
        ctypes.CDLL(str(library))
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1])))
