"""A row's logits are the same, to the last bit, alone and among others: by llama.cpp's patches.

In every type of weights and of cache, in every step, place and number of threads.
"""

import ctypes
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import llama_cpp as lib
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type

from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.weights import WEIGHTS
from app.protocol.load import FlashAttention, KvType, LoadParams
from app.selftest.run import run_checks
from tests.driver import rows
from tests.effort import EFFORT
from tests.native.ggml_ops import flash_attention, multiplied, quantized
from tests.native.oracle import IS_SAME_ALONE
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not IS_SAME_ALONE, reason="no patches, or not on x86"),
]

SHAPE = Shape(n_embd=256, n_ffn=512, n_head=4, n_head_kv=2, head_dim=64)
NUM_TOKENS, NUM_OTHERS = 110, 15
TYPES = (
    *(Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.IQ4_NL, Type.MXFP4),
    *(Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.F16, Type.BF16, Type.F32),
)
# Of weights and of memory: these two are computed in different places of the library.
FTYPES = ("Q4_K_M", "Q6_K", "Q8_0", "Q4_0", "F16")
MODELS = [*product(("qwen3",), FTYPES), ("llama", "Q4_K_M"), ("gemma3", "Q8_0")]
KINDS = (
    *(
        "gemma2",
        "gemma4",
        "qwen3moe",
        "gpt-oss",
        "deepseek2",
        "lfm2",
        "falcon-h1",
        "qwen35",
        "mamba",
        "qwen3vl",
    ),
)
OTHER_MODELS = [*product(KINDS, ("Q4_K_M",)), ("qwen3moe", "Q8_0"), ("mamba", "Q8_0")]
if EFFORT > 1:
    MODELS = list(product(("llama", "qwen3", "gemma3"), FTYPES))
    OTHER_MODELS = list(product(KINDS, ("Q8_0", "Q4_K_M")))


def written(folder: Path, architecture: str, ftype: str) -> Path:
    floats = write_tiny_gguf(folder / f"{architecture}.gguf", architecture, n_layer=None, shape=SHAPE)  # type: ignore[arg-type]
    path = folder / f"{architecture}-{ftype}.gguf"
    params = lib.llama_model_quantize_default_params()
    params.ftype = getattr(lib, f"LLAMA_FTYPE_MOSTLY_{ftype}")
    assert lib.llama_model_quantize(os.fsencode(floats), os.fsencode(path), ctypes.byref(params)) == 0
    return path


def tokens(seq_id: int, num_tokens: int = NUM_TOKENS) -> list[int]:
    return [3 + (seq_id * 31 + i * 7) % 200 for i in range(num_tokens)]


def clear(backend: LlamaBackend) -> None:
    for seq_id in range(NUM_OTHERS + 1):
        backend.truncate(seq_id, 0)


def step(backend: LlamaBackend, *spans: tuple[int, int, list[int]]) -> list[bytes]:
    """The logits of each span's last row."""
    backend.decode(rows(backend, *spans))
    ends = np.cumsum([len(token_ids) for _, _, token_ids in spans]) - 1
    return [np.asarray(backend.logits[end]).tobytes() for end in ends]


def computed(backend: LlamaBackend, seq_id: int, start: int, end: int, num_rows: int) -> dict[int, bytes]:
    """Of the last position of each step."""
    found = {}
    for pos in range(start, end, num_rows):
        part = tokens(0, end)[pos : pos + num_rows]
        (found[pos + len(part) - 1],) = step(backend, (seq_id, pos, part))
    return found


def check(found: dict[int, bytes], expected: dict[int, bytes]) -> None:
    assert found
    wrong = [pos for pos, logits in found.items() if logits != expected[pos]]
    assert not wrong


@pytest.fixture(scope="module", params=MODELS, ids=" ".join)
def params(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadParams:
    path = written(tmp_path_factory.mktemp("model"), *request.param)
    return LoadParams(path, n_ctx=4096, n_seq_max=NUM_OTHERS + 1, n_batch=512, n_ubatch=512, n_threads=1)


@pytest.fixture(scope="module")
def backend(params: LoadParams) -> Iterator[LlamaBackend]:
    with open_llama_backend(params) as backend:
        yield backend


@pytest.fixture(scope="module")
def alone(params: LoadParams) -> dict[int, bytes]:
    """Every token a step of its own, on one thread."""
    with open_llama_backend(replace(params, n_threads=1)) as backend:
        return computed(backend, 0, 0, NUM_TOKENS, 1)


@pytest.mark.parametrize("num_rows", [7, 64, 512])
def test_in_chunks(backend, alone, num_rows):
    clear(backend)
    check(computed(backend, 0, 0, NUM_TOKENS, num_rows), alone)


@pytest.mark.parametrize("num_others", [1, 7, 15])
def test_among_others(backend, alone, num_others):
    clear(backend)
    others = range(1, num_others + 1)
    for seq_id in others:
        step(backend, (seq_id, 0, tokens(seq_id, 5 * seq_id)))
    found = {}
    for pos, token_id in enumerate(tokens(0, 40)):
        spans = [(seq_id, 5 * seq_id + pos, tokens(seq_id, 5 * seq_id + pos + 1)[-1:]) for seq_id in others]
        found[pos] = step(backend, (0, pos, [token_id]), *spans)[0]
    check(found, alone)


def test_in_cells_before_its_own_and_in_a_copy(backend, alone):
    clear(backend)
    step(backend, (1, 0, tokens(1, 40)))
    check(computed(backend, 0, 0, 60, 20), alone)
    step(backend, (2, 0, tokens(2, 30)))
    backend.truncate(1, 0)  # the next cells lie before the first ones, with a hole behind
    check(computed(backend, 0, 60, 100, 3), alone)
    state = backend.save_state(0)
    backend.truncate(2, 0)
    step(backend, (2, 0, tokens(2, 21)))
    backend.truncate(0, 0)
    backend.restore_state(5, state)
    check(computed(backend, 5, 100, NUM_TOKENS, 1), alone)


def test_as_a_branch(backend, alone):
    clear(backend)
    step(backend, (1, 0, tokens(0, 90)))
    backend.share_prefix(1, 0, 90)
    for pos, token_id in enumerate(tokens(0)[90:], 90):
        check({pos: step(backend, (0, pos, [token_id]), (1, pos, tokens(3, pos + 1)[-1:]))[0]}, alone)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_threads": 3},
        {"n_threads": 1, "type_k": KvType.Q8_0, "type_v": KvType.Q8_0},
        {"n_threads": 1, "isolated": True},
    ],
    ids=str,
)
def test_with_other_threads_and_another_cache(changes, tmp_path):
    path = written(tmp_path, "qwen3", "Q4_K_M")
    params = LoadParams(path, n_ctx=1024, n_seq_max=NUM_OTHERS + 1, n_batch=512, n_ubatch=512)
    params = replace(params, **changes)
    with open_llama_backend(replace(params, n_threads=1)) as backend:
        expected = computed(backend, 0, 0, 40, 1)
    with open_llama_backend(params) as backend:
        for num_rows in (1, 13, 40):
            clear(backend)
            check(computed(backend, 0, 0, 40, num_rows), expected)


def test_the_self_test_sees_it(tmp_path):
    params = LoadParams(written(tmp_path, "gemma3", "Q4_K_M"), n_ctx=4096, n_seq_max=5, n_threads=1)
    with open_llama_backend(params) as backend:
        (together,) = [line for line in run_checks(backend).lines if line.name == "b"]
    assert "to the last bit" in together.seen


def test_what_is_infinite_in_one_branch_does_not_reach_the_other():
    """Both are in one tile, for they share half of their cells."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2, num, 64)).astype(np.float16) for num in (2, 96, 96))
    sees = np.stack([np.arange(96) < 80, (np.arange(96) < 64) | (np.arange(96) >= 80)])
    usual = flash_attention(q.astype(np.float32), k, v, sees, Type.F16, 1)
    k[:, 64:70], v[:, 64:80] = np.nan, np.inf
    found = flash_attention(q.astype(np.float32), k, v, sees, Type.F16, 1)
    assert not np.isfinite(found[0]).any()
    np.testing.assert_array_equal(found[1], usual[1])


# 256 outputs are interleaved where there is a kernel for that, 67 never are.
@pytest.mark.parametrize("num_outputs", [256, 67])
@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_a_row_times_weights_of_each_type(kind, num_outputs):
    random = np.random.default_rng(0)
    weights = quantized(random.standard_normal((num_outputs, 768), np.float32), kind)
    x = random.standard_normal((70, 768), np.float32)
    alone = np.concatenate([multiplied(weights, kind, row[None], 1) for row in x[:20]])
    for num_rows in (2, 3, 4, 5, 8, 9, 17, 33, 70):
        together = multiplied(weights, kind, x[:num_rows], 3)[:20]
        np.testing.assert_array_equal(together, alone[:num_rows])


def test_a_model_says_that_it_is_so(backend):
    assert backend.model.is_same_alone


def test_a_model_says_that_it_is_not_so(tmp_path):
    assert {kind.name.lower() for kind in TYPES} == {kind.lower() for kind in WEIGHTS}
    path = written(tmp_path, "llama", "Q4_0")
    others = [
        LoadParams(written(tmp_path, "llama", "Q3_K_M"), n_ctx=512),
        LoadParams(path, n_ctx=512, flash_attention=FlashAttention.OFF),
    ]
    for params in others:
        with open_llama_backend(params) as other:
            assert not other.model.is_same_alone


@pytest.mark.parametrize(("kind", "ftype"), OTHER_MODELS)
def test_other_kinds_of_memory_and_experts(kind, ftype, tmp_path):
    path = written(tmp_path, kind, ftype)
    params = LoadParams(path, n_ctx=4096, n_seq_max=NUM_OTHERS + 1, n_batch=512, n_ubatch=512, n_threads=1)
    with open_llama_backend(params) as backend:
        assert backend.model.is_same_alone
        alone = computed(backend, 0, 0, NUM_TOKENS, 1)
        for num_rows in (7, 64):
            test_in_chunks(backend, alone, num_rows)
        test_among_others(backend, alone, NUM_OTHERS)


@pytest.mark.parametrize("family", ["falcon-h1", "nemotron_h", "qwen35"])
def test_few_rows_of_more_cells(family, models):
    """The room for the positions of cells must grow where that for the mask need not."""
    params = LoadParams(
        models.path_of(family), n_ctx=1024, n_seq_max=3, n_batch=160, n_ubatch=160, n_threads=1
    )
    with open_llama_backend(params) as backend:
        alone = computed(backend, 0, 0, 213, 1)
        backend.truncate(0, 0)
        step(backend, (0, 0, tokens(0, 117)), (1, 0, tokens(1, 6)), (2, 0, tokens(2, 17)))
        step(backend, (0, 117, tokens(0, 181)[117:]), (2, 17, tokens(2, 49)[17:]))
        found = step(backend, (0, 181, tokens(0, 213)[181:]), (2, 49, tokens(2, 50)[49:]))
    check({212: found[0]}, alone)
