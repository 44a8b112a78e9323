"""Makes a second llama_cpp for the tests, with llama.cpp's own CPU code: `plain_library.py FOLDER`.

All else in it, the sampler included, is copied from the llama_cpp that is installed here. Where FOLDER is in
PYTHONPATH, it is found before that one. Run by packaging/test with the Python of .venv.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath

from llama_cpp_sources import compiler, make

FAMILY = {"x86_64": "x86", "aarch64": "arm"}.get(platform.machine(), "")
SOURCES = (
    *("ggml-cpu.c", "ggml-cpu.cpp", "repack.cpp", "hbm.cpp", "quants.c", "traits.cpp", "binary-ops.cpp"),
    *("unary-ops.cpp", "vec.cpp", "ops.cpp", "llamafile/sgemm.cpp", "amx/*.cpp", "tiled/*.cpp"),
    *(f"arch/{FAMILY}/quants.c", f"arch/{FAMILY}/repack.cpp"),
)
DEFINED = (
    *("-DNDEBUG", "-D_GNU_SOURCE", "-DGGML_SHARED", "-DGGML_BACKEND_SHARED", "-DGGML_BACKEND_BUILD"),
    *("-DGGML_USE_CPU_REPACK", "-DGGML_USE_LLAMAFILE", "-DGGML_USE_OPENMP", "-DGGML_SCHED_MAX_COPIES=4"),
)
OPTIONS = ("-O1", "-march=native")  # -O3 takes three times as long
ALWAYS = ("-fopenmp", "-fPIC", "-U__AMX_INT8__")
STANDARDS = {".c": ("-x", "c", "-std=gnu11"), ".cpp": ("-std=gnu++17",)}
NAME = "libggml-cpu.so.0"  # as libggml asks for it


def is_needed(path: PurePosixPath) -> bool:
    return path.parts[0] == "ggml" and (path.suffix == ".h" or "ggml-cpu" in path.parts)


def build(made: Path, llama: Path, libraries: Path, options: Sequence[str] = OPTIONS) -> None:
    started = time.monotonic()
    ggml = llama / "ggml"
    cpu = ggml / "src" / "ggml-cpu"
    sources = [path for pattern in SOURCES for path in sorted(cpu.glob(pattern))]
    include = [f"-I{path}" for path in (ggml / "include", ggml / "src", cpu)]
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(libraries.parent, made / "llama_cpp", ignore=shutil.ignore_patterns("libggml-cpu.*"))
    (made / "llama_cpp" / "lib" / "patches.txt").write_text("")
    library = made / "llama_cpp" / "lib" / NAME
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [f"{folder}/{number}.o" for number in range(len(sources))]
        compile_ = [*options, *ALWAYS, *DEFINED, *include, "-c"]
        commands = [
            [compiler(), *STANDARDS[source.suffix], *compile_, source, "-o", object_]
            for source, object_ in zip(sources, objects, strict=True)
        ]
        list(pool.map(partial(subprocess.run, check=True), commands))
        base = library.with_name("libggml-base.so.0")
        linked = [
            compiler(),
            "-shared",
            "-fopenmp",
            f"-Wl,-soname,{NAME}",
            "-Wl,-rpath,$ORIGIN",
            *objects,
            base,
        ]
        subprocess.run([*linked, "-o", library], check=True)
    print(f"{made}: made in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    sys.exit(make(is_needed, partial(build, Path(sys.argv[1]))))
