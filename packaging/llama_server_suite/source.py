"""Gets the suite out of the source package of the llama-cpp-python that Skein uses, and what it needs to run.

Nothing of it is kept in this repository: all lies in the cache folder, and is made there when it is missing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath

PACKAGE = "llama-cpp-python"
# In the package, below its one folder.
WANTED = (
    PurePosixPath("vendor/llama.cpp/tools/server/tests"),
    PurePosixPath("vendor/llama.cpp/models/templates"),
    PurePosixPath("vendor/llama.cpp/models/ggml-vocab-llama-spm.gguf"),
)
# The exact minors that the suite asks for have no wheels for every Python that Skein runs on.
LOOSENED = {"aiohttp", "numpy", "pytest-xdist"}


@dataclass(frozen=True, slots=True)
class Suite:
    """Where things lie: `folder` is the cache folder of one version."""

    folder: Path

    @property
    def tests(self) -> Path:
        return self.folder / WANTED[0]

    @property
    def vocabulary(self) -> Path:
        return self.folder / WANTED[2]

    @property
    def models(self) -> Path:
        return self.folder / "stand-ins"

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"


def prepare(cache: Path) -> Suite:
    """Downloads and installs what is missing."""
    suite = Suite(cache / f"{PACKAGE}-{version(PACKAGE)}")
    suite.models.mkdir(parents=True, exist_ok=True)
    if not suite.vocabulary.exists():
        _unpack(_package(suite.folder), suite.folder)
    if not (suite.folder / "ready").exists():
        _install(suite)
        (suite.folder / "ready").touch()
    return suite


def _package(folder: Path) -> Path:
    """The source package, from pip's cache where it has been built before."""
    found = list(folder.glob("*.tar.gz"))
    if not found:
        wanted = f"{PACKAGE}=={version(PACKAGE)}"
        _run(
            sys.executable, "-m", "pip", "download", "--no-binary", PACKAGE, "--no-deps", "-d", folder, wanted
        )
        found = list(folder.glob("*.tar.gz"))
    return found[0]


def _unpack(package: Path, folder: Path) -> None:
    with tarfile.open(package) as archive:
        for member in archive:
            inner = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if any(inner.is_relative_to(wanted) for wanted in WANTED) and (
                content := archive.extractfile(member)
            ):
                (folder / inner).parent.mkdir(parents=True, exist_ok=True)
                (folder / inner).write_bytes(content.read())


def _install(suite: Suite) -> None:
    """A virtual environment of the suite's own: its requirements are not ours."""
    shutil.rmtree(suite.folder / "venv", ignore_errors=True)
    venv.create(suite.folder / "venv", with_pip=True)
    lines = (suite.tests / "requirements.txt").read_text().split()
    names = [line.partition("~=")[0] if line.partition("~=")[0] in LOOSENED else line for line in lines]
    _run(suite.python, "-m", "pip", "install", "--quiet", *names)


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)
