"""The sources of the llama-cpp-python that is installed here, for libraries that are made beside its own.

No wheel has those, and pip keeps and takes wheels that were built long ago.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

PACKAGE = "llama-cpp-python"
LLAMA = "vendor/llama.cpp"


def make(is_needed: Callable[[PurePosixPath], bool], build: Callable[[Path, Path], None]) -> int:
    """Calls `build` with the folder of llama.cpp, unpacked as far as it is needed, and that of the libraries.

    `is_needed` is asked about each path within the folder. Returns the exit code.
    """
    if find_spec("llama_cpp") is None:
        print("llama-cpp-python is not installed.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        llama = unpacked(downloaded(Path(folder)), Path(folder), is_needed)
        build(llama, libraries())
    return 0


def libraries() -> Path:
    package = find_spec("llama_cpp")
    assert package
    assert package.origin
    return Path(package.origin).parent / "lib"


def downloaded(folder: Path) -> Path:
    """The archive of the sources. Where they were compiled here, pip has kept it."""
    wanted = f"{PACKAGE}=={version(PACKAGE)}"
    pip = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-binary", PACKAGE, "--dest", str(folder), wanted], check=True)
    return next(folder.glob("*.tar.gz"))


def unpacked(archive: Path, folder: Path, is_needed: Callable[[PurePosixPath], bool]) -> Path:
    """Only what is needed of 9,000 files. Written here: Python 3.11.2 cannot extract with a filter."""
    with tarfile.open(archive) as sources:
        for member in sources:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])  # below the name and the version
            inside = path.relative_to(LLAMA) if path.is_relative_to(LLAMA) else None
            if inside is None or ".." in inside.parts or not is_needed(inside):
                continue
            if content := sources.extractfile(member):
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())
    return next(folder.glob(f"*/{LLAMA}"))


def compiler() -> str:
    return next(filter(None, map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))))
