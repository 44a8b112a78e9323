"""Makes llama.cpp's RPC part beside the other libraries of the llama-cpp-python that is installed here.

No wheel has it, and pip keeps and takes wheels that were built long ago. It is two files of the same sources,
compiled in seconds; ggml loads it as a module. llama.cpp's licence comes along, which no wheel has either.
Run by packaging/setup.sh with the Python of .venv.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

PACKAGE = "llama-cpp-python"
SOURCES = "vendor/llama.cpp/ggml"
LICENCE = "vendor/llama.cpp/LICENSE"
LICENCE_NAME = "LICENSE-llama.cpp"
NAME = "libggml-rpc.so"  # also on macOS: ggml looks for that
DEFINED = ("-DNDEBUG", "-DGGML_BACKEND_DL", "-DGGML_BACKEND_BUILD", "-DGGML_BACKEND_SHARED")


def main() -> int:
    package = find_spec("llama_cpp")
    if package is None or package.origin is None:
        print("llama-cpp-python is not installed.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        ggml = unpacked_sources(downloaded(Path(folder)), Path(folder))
        libraries = Path(package.origin).parent / "lib"
        build(ggml, libraries)
        shutil.copy(ggml.parent / "LICENSE", libraries / LICENCE_NAME)
    return 0


def downloaded(folder: Path) -> Path:
    """The archive of the sources. Where they were compiled here, pip has kept it."""
    wanted = f"{PACKAGE}=={version(PACKAGE)}"
    pip = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-binary", PACKAGE, "--dest", str(folder), wanted], check=True)
    return next(folder.glob("*.tar.gz"))


def unpacked_sources(archive: Path, folder: Path) -> Path:
    """Only what is needed of 9,000 files. Written here: Python 3.11.2 cannot extract with a filter."""
    with tarfile.open(archive) as sources:
        for member in sources:
            content = sources.extractfile(member) if _is_needed(PurePosixPath(member.name)) else None
            if content:
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())
    return next(folder.glob(f"*/{SOURCES}"))


def _is_needed(path: PurePosixPath) -> bool:
    """Below the folder that has the name and the version."""
    inside = PurePosixPath(*path.parts[1:])
    if str(inside) == LICENCE:
        return True
    if not inside.is_relative_to(SOURCES) or ".." in inside.parts:
        return False
    is_header = inside.suffix == ".h" and inside.parent.name in ("include", "src")
    return is_header or inside.parent.name == "ggml-rpc"


def build(ggml: Path, libraries: Path) -> None:
    """Into `libraries`, where it takes the place of an older one in one step."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))))
    sources = [str(ggml / "src" / "ggml-rpc" / name) for name in ("ggml-rpc.cpp", "transport.cpp")]
    include = [f"-I{ggml / name}" for name in ("include", "src", "src/ggml-rpc")]
    base = next(path for path in sorted(libraries.glob("libggml-base.*")))
    made = libraries / "ggml-rpc.new"
    origin = "@loader_path" if sys.platform == "darwin" else "$ORIGIN"
    options = ["-std=c++17", "-O2", "-fPIC", "-shared", "-pthread", *DEFINED, *include]
    command = [compiler, *options, *sources, str(base), f"-Wl,-rpath,{origin}", "-o", str(made)]
    subprocess.run(command, check=True)
    made.replace(libraries / NAME)


if __name__ == "__main__":
    sys.exit(main())
