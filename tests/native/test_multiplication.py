"""Quantised weights times any number of rows: what llama.cpp's CPU code has ways of its own for.

One row, a few and many, in the types that most models come in, against the same weights as floats.
"""

import ctypes
import os
from pathlib import Path

import llama_cpp as lib
import numpy as np
import pytest
from llama_cpp.llama_cpp import _lib

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from tests.driver import rows
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = pytest.mark.native

SHAPE = Shape(n_embd=512, n_ffn=768, n_head=4, n_head_kv=2, head_dim=64, n_vocab=600)
MAX_ROWS = 20


def converted(source: Path, name: str, ftype: int) -> Path:
    params = lib.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = ftype, True
    path = source.with_name(name)
    code = lib.llama_model_quantize(os.fsencode(source), os.fsencode(path), ctypes.byref(params))
    assert code == 0
    return path


def opened(path: Path):
    return open_llama_backend(LoadParams(path, n_ctx=1024, n_seq_max=MAX_ROWS, n_batch=256, n_threads=2))


@pytest.fixture(scope="module", params=["Q4_K_M", "Q5_K_M", "Q8_0"])
def backends(request, tmp_path_factory):
    """The quantised model, and one with the very weights that its blocks stand for."""
    folder = tmp_path_factory.mktemp("model")
    floats = write_tiny_gguf(folder / "random.gguf", "qwen3", n_layer=2, shape=SHAPE)
    quantised = converted(floats, "quantised.gguf", getattr(lib, f"LLAMA_FTYPE_MOSTLY_{request.param}"))
    exact = converted(quantised, "exact.gguf", lib.LLAMA_FTYPE_ALL_F32)
    with opened(quantised) as backend, opened(exact) as reference:
        yield backend, reference


def logits_of_many(backend, num_rows: int) -> np.ndarray:
    """Of the second token of `num_rows` sequences, computed in one step. Shape (num_rows, n_vocab)."""
    for seq_id in range(MAX_ROWS):
        backend.truncate(seq_id, 0)
    for seq_id in range(num_rows):
        backend.decode(rows(backend, (seq_id, 0, [3 + seq_id])))
    backend.decode(rows(backend, *((seq_id, 1, [40 + 11 * seq_id]) for seq_id in range(num_rows))))
    return np.stack([backend.logits[row] for row in range(num_rows)])


def logits_of_prompt(backend, num_rows: int) -> np.ndarray:
    backend.truncate(0, 0)
    backend.decode(rows(backend, (0, 0, [3 + i * 7 % 250 for i in range(num_rows)])))
    return backend.logits[num_rows - 1].copy()


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """In standard deviations. 0.02 comes of activations in 8 bits; the weights' 4 bits make up 0.15."""
    return float(np.sqrt(np.square(found - expected).mean(axis=-1)).max() / expected.std())


@pytest.mark.parametrize("num_rows", range(1, MAX_ROWS + 1))
def test_answers_computed_together_are_those_of_the_same_weights_as_floats(backends, num_rows):
    assert error(*(logits_of_many(backend, num_rows) for backend in backends)) < 0.04


@pytest.mark.parametrize("num_rows", [2, 7, 8, 9, 16, 17, 31, 63, 64, 65, 100, 250])
def test_a_prompt_is_computed_as_with_the_same_weights_as_floats(backends, num_rows):
    assert error(*(logits_of_prompt(backend, num_rows) for backend in backends)) < 0.04


def quantised_to_q8_k(function: str, library: str, values: np.ndarray) -> np.ndarray:
    """Blocks of 256: a float32, 256 int8 and 16 int16. A bundle's library is named after a family of CPUs."""
    folder = Path(_lib._name).parent
    quantise = getattr(ctypes.CDLL(next(folder.glob(f"{library}[.-]*"))), function)
    blocks = np.zeros(values.size // 256 * 292, np.uint8)
    quantise(
        values.ctypes.data_as(ctypes.c_void_p),
        blocks.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_int64(values.size),
    )
    return blocks


def test_activations_are_quantised_to_the_bytes_of_the_plain_code():
    random = np.random.default_rng(0)
    values = (
        random.standard_normal((50, 256), np.float32) * np.logspace(-30, 30, 50, dtype=np.float32)[:, None]
    )
    values[7] = 0
    values[8, [3, 200]] = -9e9, 9e9  # of two with the same magnitude the first says the sign
    values[9, [200, 201]] = 9e9, -9e9
    values[10] = 2**-120  # below, both count as 0 and the bytes do not matter
    found = quantised_to_q8_k("quantize_row_q8_K", "libggml-cpu", values)
    np.testing.assert_array_equal(found, quantised_to_q8_k("quantize_row_q8_K_ref", "libggml-base", values))
