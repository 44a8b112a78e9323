"""Broken files are told apart by what llama.cpp says of them, and each says what can be done."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from app.engine.llama.load_errors import AGAIN, NEWER, SMALLER, context_refusal
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
