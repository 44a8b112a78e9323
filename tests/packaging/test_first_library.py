"""packaging/first_library.py: what is taken out of a wheel, and which library is refused."""

import ctypes
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import first_library
import pytest
from first_library import LAYOUTS, RefusedError, check, fetch, layout, unpack
from llama_cpp import llama_cpp, mtmd_cpp


def function_of(name: str) -> Any:
    return getattr(mtmd_cpp if name.startswith("mtmd") else llama_cpp, name)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_wanted_layouts_are_those_of_our_build(name) -> None:
    assert layout(function_of(name)) == LAYOUTS[name]


@pytest.mark.parametrize(
    ("default", "is_wanted"),
    [
        ({}, True),
        ({"flag": True}, False),
        ({"later": 7}, False),
        ({"text": b"other"}, True),  # where it lies is different at each start
        ({"text": None}, False),
    ],
)
def test_another_default_or_a_longer_struct_is_seen(default, is_wanted) -> None:
    class Wanted(ctypes.Structure):
        _fields_ = (("flag", ctypes.c_bool), ("number", ctypes.c_uint32), ("text", ctypes.c_char_p))

    class Longer(ctypes.Structure):
        _fields_ = (*Wanted._fields_, ("later", ctypes.c_uint64))

    def returning(structure: type[ctypes.Structure], values: dict[str, object]) -> Any:
        def write(room: int) -> int:  # as a function does that returns a long struct
            made = structure(**({"number": 3, "text": b"text"} | values))
            kept.append(made)
            ctypes.memmove(room, ctypes.byref(made), ctypes.sizeof(made))
            return room

        function: Any = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(write)
        kept.append(function)
        function.restype = Wanted
        return function

    kept: list[object] = []
    wanted = layout(returning(Wanted, {}))
    found = layout(returning(Longer if "later" in default else Wanted, default))
    assert (found == wanted) is is_wanted


def wheel(folder: Path, **content: bytes) -> Path:
    path = folder / "lender-1.2-cp310-abi3-linux.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("lender/lender.abi3.so", content.get("library", b"library"))
        packed.writestr("lender-1.2.dist-info/licenses/LICENSE", "MIT")
    return path


def test_one_file_out_of_the_wheel_stands_under_all_names(tmp_path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    unpack(wheel(tmp_path), made)
    for name in ("libllama.so", "libggml.so", "libggml-base.so", "libggml-cpu.so", "libmtmd.so"):
        assert (made / name).resolve() == made / "libllama.so"
    assert (made / "libllama.so").read_bytes() == b"library"
    assert (made / "LICENSE-lender").read_text() == "MIT"
    assert (made / "borrowed.txt").read_text() == "lender 1.2\n"


def as_pip(monkeypatch, *, code: int = 0, cut: bool = False) -> None:
    def download(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        assert "--require-hashes" in command
        to = Path(next(option for option in command if option.startswith("--dest=")).removeprefix("--dest="))
        if not code:
            made = wheel(to)
            made.write_bytes(made.read_bytes()[:-30] if cut else made.read_bytes())
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(first_library.subprocess, "run", download)


@pytest.mark.parametrize(
    ("pip", "why"),
    [({"code": 1}, "could not be downloaded, or is another file"), ({"cut": True}, "could not be unpacked")],
)
def test_what_is_there_stays_when_a_download_is_refused(tmp_path, monkeypatch, pip, why) -> None:
    folder = tmp_path / "borrowed"
    folder.mkdir()
    (folder / "borrowed.txt").write_text("older")
    as_pip(monkeypatch, **pip)
    with pytest.raises(RefusedError, match=why):
        fetch(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["borrowed"]
    as_pip(monkeypatch)
    fetch(folder)
    assert (folder / "borrowed.txt").read_text() == "lender 1.2\n"


def test_a_library_that_ends_its_process_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "borrowed.txt").write_text("lender 1.2\n")
    run = subprocess.run

    def crash(_command: object, **options: object) -> subprocess.CompletedProcess[str]:
        return run([sys.executable, "-c", "import os; os.abort()"], **options)

    monkeypatch.setattr(first_library.subprocess, "run", crash)
    with pytest.raises(RefusedError, match=r"lender 1\.2 does not run here"):
        check(tmp_path)
