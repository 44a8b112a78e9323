"""What is compiled beside llama.cpp's libraries comes from the same sources, and from few of them."""

import tarfile
from io import BytesIO
from pathlib import Path

import rpc_library
from llama_cpp_sources import unpacked

NEEDED = {
    "vendor/llama.cpp/LICENSE",
    "vendor/llama.cpp/ggml/include/ggml-rpc.h",
    "vendor/llama.cpp/ggml/src/ggml-impl.h",
    "vendor/llama.cpp/ggml/src/ggml-rpc/ggml-rpc.cpp",
    "vendor/llama.cpp/ggml/src/ggml-rpc/transport.h",
}
OTHERS = {
    "vendor/llama.cpp/src/llama.cpp",
    "vendor/llama.cpp/ggml/src/ggml.c",
    "vendor/llama.cpp/ggml/src/ggml-cuda/common.h",
    "llama_cpp/llama.py",
}


def test_only_what_it_is_made_of_is_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "llama_cpp_python-1.tar.gz"
    with tarfile.open(archive, "w:gz") as sources:
        for name in NEEDED | OTHERS:
            sources.addfile(tarfile.TarInfo(f"llama_cpp_python-1/{name}"), BytesIO())
    llama = unpacked(archive, tmp_path, rpc_library.is_needed)
    top = llama.parents[1]
    assert {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()} == NEEDED
    archive.unlink()


def test_it_takes_its_place_in_one_step_or_not_at_all(tmp_path: Path, monkeypatch) -> None:
    """A compiler that fails leaves what was there."""
    (tmp_path / "libggml-base.so.0").touch()
    (tmp_path / rpc_library.NAME).write_text("older")
    (tmp_path / "LICENSE").touch()
    calls = []

    def compile_it(command: list[str], check: bool) -> None:
        calls.append(command)
        Path(command[-1]).write_text("newer")

    monkeypatch.setattr(rpc_library.subprocess, "run", compile_it)
    rpc_library.build(tmp_path, tmp_path)
    assert (tmp_path / rpc_library.NAME).read_text() == "newer"
    assert str(tmp_path / "libggml-base.so.0") in calls[0]
    assert "-Wl,-rpath,$ORIGIN" in calls[0]
    assert not list(tmp_path.glob("*.new"))
