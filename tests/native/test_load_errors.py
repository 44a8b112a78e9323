"""Broken files are told apart by what llama.cpp says of them, and each says what can be done."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from app.engine.llama.load_errors import (
    AGAIN,
    COMPLETE,
    FIRST,
    LANGUAGE,
    NEWER,
    RENAMED,
    SMALLER,
    context_refusal,
)
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import ModelLoadError
from app.protocol.load import LoadParams

pytestmark = pytest.mark.native

TENSOR = b"blk.0.attn_q.weight"


def put_number(data: bytes, place: int, number: int) -> bytes:
    return data[:place] + struct.pack("<I", number) + data[place + 4 :]


def with_tensor_type(data: bytes, number: int) -> bytes:
    """Behind the tensor's name stand the number of its dimensions, these, and its type."""
    place = data.index(TENSOR) + len(TENSOR)
    (num_dimensions,) = struct.unpack_from("<I", data, place)
    return put_number(data, place + 4 + 8 * num_dimensions, number)


@pytest.mark.parametrize(
    ("broken", "why", "what_to_do"),
    [
        (lambda data: b"hello", "x.gguf is not a GGUF file", "the GGUF format only."),
        (lambda data: data.replace(b"llama", b"lloma"), "has the architecture “lloma”", NEWER),
        (lambda data: with_tensor_type(data, 77), "tensors of type 77", NEWER),
        (lambda data: put_number(data, 4, 9), "newer version of the GGUF format (9)", NEWER),
        (lambda data: data[:-5000], "is incomplete", AGAIN),
        (lambda data: data[:200], "The header of x.gguf cannot be read", AGAIN),
        (lambda data: data.replace(TENSOR, b"blk.0.attn_x.weight"), "“blk.0.attn_q.weight”", AGAIN),
        (
            lambda data: data.replace(b"llama.embedding_length", b"llama.embedding_lengt_"),
            "lacks the metadata “llama.embedding_length”",
            AGAIN,
        ),
    ],
)
def test_a_broken_file_says_why_and_what_to_do(
    tiny_gguf: Callable[[str], Path], tmp_path: Path, broken, why, what_to_do
) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(broken(tiny_gguf("llama").read_bytes()))
    with pytest.raises(ModelLoadError) as refused, open_llama_backend(LoadParams(path)):
        pass
    assert why in str(refused.value)
    assert str(refused.value).endswith(what_to_do)


def with_values(data: bytes, added: bytes, num_added: int, num_tensors: int | None = None) -> bytes:
    """With more metadata, and a text that keeps the weights where alignment wants them: see `aligned`."""
    num_known, num_values = struct.unpack_from("<QQ", data, 8)
    counts = struct.pack("<QQ", num_known if num_tensors is None else num_tensors, num_values + num_added + 1)
    return data[:8] + counts + added + data[24:]


def aligned(num_bytes: int) -> bytes:
    """A text in the metadata that, after so many bytes, ends at a multiple of 32."""
    key = struct.pack("<Q", 6) + b"filler" + struct.pack("<I", 8)
    num_chars = -(num_bytes + len(key) + 8) % 32
    return key + struct.pack("<Q", num_chars) + b"x" * num_chars


def in_two_parts(path: Path, folder: Path) -> list[Path]:
    """All tensors are in the first part."""
    parts = [folder / f"x-0000{number}-of-00002.gguf" for number in (1, 2)]
    data = path.read_bytes()
    (num_tensors,) = struct.unpack_from("<Q", data, 8)
    for number, part in enumerate(parts):
        told = ((b"split.no", "<IH", 2, number), (b"split.count", "<IH", 2, 2))
        values = [*told, (b"split.tensors.count", "<Ii", 5, num_tensors)]
        added = b"".join(
            struct.pack("<Q", len(key)) + key + struct.pack(form, kind, value)
            for key, form, kind, value in values
        )
        part.write_bytes(
            with_values(data, added + aligned(len(added)), len(values), num_tensors if number == 0 else 0)
        )
    return parts


def test_a_part_of_a_model_says_which_file_to_open(tiny_gguf: Callable[[str], Path], tmp_path: Path) -> None:
    first, second = in_two_parts(tiny_gguf("llama"), tmp_path)

    def said_of(path: Path) -> str:
        with pytest.raises(ModelLoadError) as refused, open_llama_backend(LoadParams(path)):
            pass
        return str(refused.value)

    assert said_of(second) == f"{second.name} is part 2 of a model. {FIRST}"
    renamed = first.rename(tmp_path / "renamed.gguf")
    assert said_of(renamed) == f"renamed.gguf is part of a model whose parts have been renamed. {RENAMED}"
    second.unlink()
    assert said_of(renamed.rename(first)).endswith(COMPLETE)


def test_a_projector_says_that_it_is_one(tiny_gguf: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / "mmproj.gguf"
    data = tiny_gguf("llama").read_bytes()
    name = struct.pack("<Q", 20) + b"general.architecture" + struct.pack("<IQ", 8, 5) + b"llama"
    assert name in data
    as_projector = data.replace(name, name[:-13] + struct.pack("<Q", 4) + b"clip")
    path.write_bytes(with_values(as_projector, aligned(-1), 0))
    with pytest.raises(ModelLoadError) as refused, open_llama_backend(LoadParams(path)):
        pass
    assert str(refused.value).startswith("mmproj.gguf is a projector")
    assert str(refused.value).endswith(LANGUAGE)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "ggml_aligned_malloc: insufficient memory (attempted to allocate 2048.00 MB)",
            (
                "A context of 4,096 tokens is too large. "
                "There is not enough memory for x.gguf: an allocation of 2.0 GiB failed"
            ),
        ),
        (
            "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 1073741824",
            "x.gguf: an allocation of 1.0 GiB failed",
        ),
        ("llama_init: failed to allocate compute pp buffers", "There is not enough memory for x.gguf."),
        (
            "llama_init: quantized V cache was requested",
            "cannot create a context of 4,096 tokens for x.gguf: quantized",
        ),
    ],
)
def test_a_context_that_cannot_be_made_says_how_much_was_missing(line: str, why: str) -> None:
    said = context_refusal("x.gguf", 4096, [line], line.split(": ", 1)[-1])
    assert why in said
    assert said.endswith(SMALLER)
