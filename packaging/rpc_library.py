"""Makes llama.cpp's RPC part beside the other libraries of the llama-cpp-python that is installed here.

It is two files of the same sources, compiled in seconds; ggml loads it as a module. llama.cpp's licence comes
along, which no wheel has either. Run by packaging/setup.sh with the Python of .venv.
"""

import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from llama_cpp_sources import compiler, make

LICENCE = "LICENSE"
LICENCE_NAME = "LICENSE-llama.cpp"
NAME = "libggml-rpc.so"  # also on macOS: ggml looks for that
DEFINED = ("-DNDEBUG", "-DGGML_BACKEND_DL", "-DGGML_BACKEND_BUILD", "-DGGML_BACKEND_SHARED")


def is_needed(path: PurePosixPath) -> bool:
    if str(path) == LICENCE:
        return True
    if path.parts[0] != "ggml":
        return False
    is_header = path.suffix == ".h" and path.parent.name in ("include", "src")
    return is_header or path.parent.name == "ggml-rpc"


def build(llama: Path, libraries: Path) -> None:
    """Into `libraries`, where it takes the place of an older one in one step."""
    ggml = llama / "ggml"
    sources = [str(ggml / "src" / "ggml-rpc" / name) for name in ("ggml-rpc.cpp", "transport.cpp")]
    include = [f"-I{ggml / name}" for name in ("include", "src", "src/ggml-rpc")]
    base = next(path for path in sorted(libraries.glob("libggml-base.*")))
    made = libraries / "ggml-rpc.new"
    origin = "@loader_path" if sys.platform == "darwin" else "$ORIGIN"
    options = ["-std=c++17", "-O2", "-fPIC", "-shared", "-pthread", *DEFINED, *include]
    command = [compiler(), *options, *sources, str(base), f"-Wl,-rpath,{origin}", "-o", str(made)]
    subprocess.run(command, check=True)
    made.replace(libraries / NAME)
    shutil.copy(llama / LICENCE, libraries / LICENCE_NAME)


if __name__ == "__main__":
    sys.exit(make(is_needed, build))
