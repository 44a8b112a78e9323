"""Our tables of the types of weights beside the installed library's own: what it adds must be added there."""

from __future__ import annotations

import ctypes
import re
import struct
from pathlib import Path

import llama_cpp as lib
import pytest
from llama_cpp.llama_cpp import _lib

from app.engine.llama.native_library import library
from app.models.gguf_header import TENSOR_TYPES
from app.protocol.model_names import FILE_TYPES

pytestmark = pytest.mark.native


def num_types(folder: Path) -> int:
    """As the library says of a file with weights of an unknown type."""
    path = folder / "unknown.gguf"
    weights = struct.pack("<Q1sIQIQ", 1, b"w", 1, 32, 9999, 0)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + weights + bytes(256))
    log = library()
    log.recent.clear()
    assert not lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
    [said] = [found for line in log.recent if (found := re.search(r"should be in \[0, (\d+)\)", line))]
    return int(said[1])


def test_every_type_of_weights_is_known_with_its_size(tmp_path: Path) -> None:
    _lib.ggml_type_name.restype = ctypes.c_char_p
    _lib.ggml_type_size.restype = ctypes.c_size_t
    _lib.ggml_blck_size.restype = ctypes.c_int64
    theirs = {
        number: (_lib.ggml_type_name(number).decode().upper(), _lib.ggml_blck_size(number), size)
        for number in range(num_types(tmp_path))
        if (size := _lib.ggml_type_size(number))  # else it was taken back
    }
    assert theirs == TENSOR_TYPES


def test_every_kind_of_file_that_the_binding_names_is_known() -> None:
    names = {
        getattr(lib, name): re.sub("LLAMA_FTYPE_(MOSTLY_|ALL_)?", "", name)
        for name in dir(lib)
        if name.startswith("LLAMA_FTYPE_") and not name.endswith("GUESSED")
    }
    assert names.items() <= FILE_TYPES.items()
