"""Borrows a compiled llama.cpp, which answers until ours is compiled: `first_library.py fetch|check FOLDER`.

It is in a wheel of PyPI, for x86-64 processors with AVX2, and is taken out of the wheel; its package is never
imported. `fetch` brings the version with the hash in first_library.txt. `check` refuses one that does not fit
the binding: the default parameters have to be those of the llama.cpp that the binding was written for, to the
byte and no byte longer, and the starter model has to add two numbers. Exit code 1: it is not to be used, and
stdout says why. Run by packaging/setup.sh with the Python of .venv; `check` needs Skein installed.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WANTED = Path(__file__).with_suffix(".txt")  # a requirements file: pip checks the hash
LIBRARY = "libllama.so"
# All of llama.cpp is in one file, which the binding and ggml's loader look for under several names.
OTHER_NAMES = ("libggml.so", "libggml-base.so", "libggml-cpu.so", "libmtmd.so")
LENDER = "borrowed.txt"  # app/system/llama_library.py reads it

# As in llama-cpp-python 0.3.36. tests/packaging/test_first_library.py finds them in our build.
LAYOUTS = {
    "llama_context_default_params": "8de40205464d673c9ac77eeff213c25c49d3c4fb303bb66de8741a8a957b609c",
    "llama_model_default_params": "bf9d529db0d3a1c3a8cad6fc9c169472d4c028e4359110fdd3aa83468a41e348",
    "mtmd_context_params_default": "a22a3553458e618efc6a5e4c5a3888bb5edbd4271d75b298fa4d476d5e8e03f7",
}
ROOM = 4096  # bytes, for a result of any length
POINTERS = (ctypes.c_void_p, ctypes.c_char_p, ctypes._Pointer, ctypes._CFuncPtr)
QUESTION, ANSWER = "34+21=", "= 55"


class RefusedError(Exception):
    """Says why the library is not used; the sentence goes on after it."""


def fetch(folder: Path) -> None:
    """Raises RefusedError. `folder` appears in one step."""
    what = "the library for the first answers"
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        pip = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
        options = ["--no-deps", "--only-binary=:all:", "--require-hashes", f"--dest={work}"]
        if subprocess.run([*pip, *options, "-r", str(WANTED)], stdout=sys.stderr).returncode:
            raise RefusedError(f"{what} could not be downloaded, or is another file than Skein knows")
        made = Path(work, "library")
        made.mkdir()
        try:
            unpack(next(Path(work).glob("*.whl")), made)
        except (zipfile.BadZipFile, OSError, StopIteration) as error:
            raise RefusedError(f"{what} could not be unpacked ({error})") from error
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


def unpack(wheel: Path, folder: Path) -> None:
    name, version, *_tags = wheel.name.split("-")
    with zipfile.ZipFile(wheel) as packed:
        for end, made in ((".so", LIBRARY), ("/LICENSE", f"LICENSE-{name}")):
            part = next(part for part in packed.namelist() if part.endswith(end))
            with packed.open(part) as source, (folder / made).open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
    for other in OTHER_NAMES:
        (folder / other).symlink_to(LIBRARY)
    (folder / LENDER).write_text(f"{name} {version}\n", encoding="utf-8")


def check(folder: Path) -> None:
    """Raises RefusedError. In processes of their own, which a wrong library may end."""
    lender = (folder / LENDER).read_text(encoding="utf-8").strip()
    environment = os.environ | dict.fromkeys(("LLAMA_CPP_LIB_PATH", "MTMD_CPP_LIB"), str(folder))

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        print(done.stderr, file=sys.stderr)
        if done.returncode not in (0, 1):
            raise RefusedError(f"{lender} does not run here (exit code {done.returncode})")
        return done.stdout.strip()

    if found := run(sys.executable, __file__, "layouts"):
        raise RefusedError(f"{lender} does not fit llama-cpp-python: {found}")
    starter = Path(__file__).parents[1] / "resources" / "models" / "starter.gguf"
    skein = Path(sys.executable).with_name("skein")
    said = run(skein, "ask", "--model", starter, "--temperature", "0", QUESTION)
    if not said.endswith(ANSWER):
        raise RefusedError(f"{lender} computes {said[:40]!r} for {QUESTION}")


def check_layouts() -> None:
    """In this process. Raises RefusedError."""
    from llama_cpp import llama_cpp, mtmd_cpp

    for name, wanted in LAYOUTS.items():
        library = mtmd_cpp._libmtmd if name.startswith("mtmd") else llama_cpp._lib
        if layout(getattr(library, name)) != wanted:
            raise RefusedError(f"what {name} returns is laid out otherwise")


def layout(function: ctypes._NamedFuncPointer) -> str:
    """A hash of what the function returns, a struct that it writes where its caller says (System V, x86-64).

    Pointers count as set or not set, holes between the fields not at all, bytes behind the last field do.
    """
    structure = function.restype
    assert issubclass(structure, ctypes.Structure)
    written = [_result(function, fill) for fill in (0x5A, 0xA5)]
    length = 1 + max(at for at in range(ROOM) if written[0][at] == written[1][at])
    facts: list[object] = [max(length, ctypes.sizeof(structure))]
    for name, kind, *_bits in structure._fields_:
        field = getattr(structure, name)
        value = written[0][field.offset : field.offset + field.size]
        facts.append((name, any(value) if issubclass(kind, POINTERS) else value.hex()))
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _result(function: ctypes._NamedFuncPointer, fill: int) -> bytes:
    room = (ctypes.c_ubyte * ROOM)(*([fill] * ROOM))
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address
    ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address)(ctypes.addressof(room))
    return bytes(room)


if __name__ == "__main__":
    try:
        {"fetch": fetch, "check": check, "layouts": check_layouts}[sys.argv[1]](*map(Path, sys.argv[2:]))
    except RefusedError as error:
        print(error)
        sys.exit(1)
