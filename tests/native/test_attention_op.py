"""Flash attention of the CPU backend by itself, in the shapes that models come in, against float64."""

from itertools import product

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type

from app.system.llama_library import llama_patches
from tests.native.ggml_ops import flash_attention, read_back, stored

pytestmark = pytest.mark.native

NUM_CELLS, NUM_KV_HEADS = 200, 2
ROWS = [[0], [0, 1, 2], [0, 1, *[2] * 5], [*[0] * 70, 1, 2]]  # the sequence of each row
# Plain llama.cpp rounds Q, and the sums of V, to 16 bits; both round Q to 8 bits where K is.
TOLERANCE = {Type.F16: 1e-5 if "attention" in llama_patches() else 0.005, Type.Q8_0: 0.02}
SHAPES = list(product((64, 128, 256), (1, 2, 4, 8)))  # size of a head, heads to one of K


def inputs(size: int, gqa: int, sequences: list[int], kind: Type):
    """Cells of the sequences lie between each other, with holes, and one of them sees none of the first."""
    random = np.random.default_rng(size + gqa)
    owner = random.choice([0, 1, 2, -1], NUM_CELLS, p=[0.5, 0.2, 0.2, 0.1])
    owner[:70][owner[:70] == 1] = -1
    limits = [NUM_CELLS - sequences[row:].count(sequence) for row, sequence in enumerate(sequences, 1)]
    sees = np.stack(
        [(owner == s) & (np.arange(NUM_CELLS) < n) for s, n in zip(sequences, limits, strict=True)]
    )
    q = random.standard_normal((gqa * NUM_KV_HEADS, len(sequences), size), np.float32)
    k, v = (stored(random.standard_normal((NUM_KV_HEADS, NUM_CELLS, size), np.float32), kind) for _ in "kv")
    return q, k, v, sees


def expected(q, k, v, sees, kind: Type, sinks: np.ndarray | None = None) -> np.ndarray:
    """Shape (rows, heads, size). Sinks are scores of one more cell, whose value is nothing."""
    gqa = len(q) // len(k)
    k, v = (np.repeat(read_back(one, kind).astype(np.float64), gqa, axis=0) for one in (k, v))
    scores = np.where(sees, q.astype(np.float64) @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - highest)
    total = weights.sum(axis=-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks.astype(np.float64)[:, None, None] - highest)
    return (weights @ v / total).transpose(1, 0, 2)


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """Of the worst row and head, in standard deviations."""
    return float(np.sqrt(np.square(found - wanted).mean(axis=-1)).max() / wanted.std())


@pytest.mark.parametrize("kind", [Type.F16, Type.Q8_0], ids=lambda kind: kind.name)
@pytest.mark.parametrize(("size", "gqa"), SHAPES)
def test_any_number_of_threads_computes_what_float64_does(size, gqa, kind) -> None:
    for number, sequences in enumerate(ROWS):
        given = inputs(size, gqa, sequences, kind)
        wanted = expected(*given, kind)
        for num_threads in (1 + (size // 64 + gqa + number) % 8, 2):
            assert error(flash_attention(*given, kind, num_threads), wanted) < TOLERANCE[kind]


@pytest.mark.parametrize("kind", [Type.F16, Type.Q8_0], ids=lambda kind: kind.name)
def test_a_sink_takes_its_share_of_the_weights(kind) -> None:
    """It may be far above all scores, among them, or far below."""
    sinks = np.array([30.0, 3.0, -1.0, -30.0], np.float32)
    for sequences in ROWS:
        given = inputs(64, 2, sequences, kind)
        wanted = expected(*given, kind, sinks)
        for num_threads in (1, 3):
            found = flash_attention(*given, kind, num_threads, sinks)
            assert error(found, wanted) < TOLERANCE[kind]
