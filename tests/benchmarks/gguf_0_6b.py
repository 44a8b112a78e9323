"""A GGUF of the size and shape of Qwen3-0.6B in Q4_K_M, with random weights: real work, no download.

The weights are written as quantised blocks right away, so nothing has to be quantised. Tensor types are those
llama.cpp's Q4_K_M gives this model. 397 MB, kept in the user's cache folder.
"""

import os
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
import platformdirs
from gguf import GGMLQuantizationType

from tests.native.tiny_ggufs import add_byte_vocabulary

FILE_NAME = "qwen3-0.6b-shaped-random-q4_k_m-1.gguf"  # the last number changes with this file

N_VOCAB = 151_936
N_LAYER = 28
N_EMBD = 1024
N_FFN = 3072
N_HEAD, N_HEAD_KV, HEAD_DIM = 16, 8, 128
N_CTX_TRAIN = 40_960

WEIGHTS_PER_BLOCK = 256
WEIGHT_STD = 0.02

Q4_K = np.dtype([("d", "<f2"), ("dmin", "<f2"), ("scales", "u1", 12), ("quants", "u1", 128)])
Q6_K = np.dtype([("quants", "u1", 192), ("scales", "i1", 16), ("d", "<f2")])


def cached_gguf() -> Path:
    """The file's path; the first call takes some seconds to write it."""
    folder = platformdirs.user_cache_path("skein", appauthor=False, ensure_exists=True)
    path = folder / FILE_NAME
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        _write(unfinished)
        unfinished.replace(path)
    return path


def _write(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "qwen3")
    _add_header(writer)
    rng = np.random.default_rng(0)

    def add(name: str, rows: int, columns: int, kind: GGMLQuantizationType) -> None:
        writer.add_tensor(name, _random_blocks(rng, rows, columns, kind), raw_dtype=kind)

    def add_ones(name: str, size: int) -> None:
        writer.add_tensor(name, np.ones(size, np.float32))

    q4, q6 = GGMLQuantizationType.Q4_K, GGMLQuantizationType.Q6_K
    add("token_embd.weight", N_VOCAB, N_EMBD, q6)  # also the output matrix
    add_ones("output_norm.weight", N_EMBD)
    for layer in range(N_LAYER):
        block = f"blk.{layer}"
        finer = q6 if _has_more_bits(layer) else q4
        add_ones(f"{block}.attn_norm.weight", N_EMBD)
        add(f"{block}.attn_q.weight", N_HEAD * HEAD_DIM, N_EMBD, q4)
        add(f"{block}.attn_k.weight", N_HEAD_KV * HEAD_DIM, N_EMBD, q4)
        add(f"{block}.attn_v.weight", N_HEAD_KV * HEAD_DIM, N_EMBD, finer)
        add(f"{block}.attn_output.weight", N_EMBD, N_HEAD * HEAD_DIM, q4)
        add_ones(f"{block}.attn_q_norm.weight", HEAD_DIM)
        add_ones(f"{block}.attn_k_norm.weight", HEAD_DIM)
        add_ones(f"{block}.ffn_norm.weight", N_EMBD)
        add(f"{block}.ffn_gate.weight", N_FFN, N_EMBD, q4)
        add(f"{block}.ffn_up.weight", N_FFN, N_EMBD, q4)
        add(f"{block}.ffn_down.weight", N_EMBD, N_FFN, finer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_header(writer: gguf.GGUFWriter) -> None:
    writer.add_name("Random weights in the shape of Qwen3 0.6B")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(N_CTX_TRAIN)
    writer.add_embedding_length(N_EMBD)
    writer.add_block_count(N_LAYER)
    writer.add_feed_forward_length(N_FFN)
    writer.add_head_count(N_HEAD)
    writer.add_head_count_kv(N_HEAD_KV)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1_000_000.0)
    add_byte_vocabulary(writer, N_VOCAB)


def _has_more_bits(layer: int) -> bool:
    """Which layers get 6 bits in Q4_K_M: the first and last eighth, and every third between."""
    eighth = N_LAYER // 8
    return layer < eighth or layer >= 7 * N_LAYER // 8 or (layer - eighth) % 3 == 2


def _random_blocks(
    rng: np.random.Generator, rows: int, columns: int, kind: GGMLQuantizationType
) -> npt.NDArray[np.uint8]:
    """Shape (rows, bytes a row): valid blocks whose weights have mean 0 and standard deviation WEIGHT_STD."""
    num_blocks = rows * columns // WEIGHTS_PER_BLOCK
    blocks = _q4_k(rng, num_blocks) if kind == GGMLQuantizationType.Q4_K else _q6_k(rng, num_blocks)
    return blocks.view(np.uint8).reshape(rows, -1)


def _q4_k(rng: np.random.Generator, num_blocks: int) -> npt.NDArray[np.void]:
    """A weight is d · scale · quant - dmin · min with quants 0 … 15, and 6 bits for scale and min."""
    blocks = np.zeros(num_blocks, Q4_K)
    # Every scale and every min is 32. The first eight bytes hold four of each in their low six bits, and the
    # high bits of the other four in their top two.
    blocks["scales"][:, :8] = 32 | (32 >> 4) << 6
    step = WEIGHT_STD / np.sqrt((16**2 - 1) / 12)
    blocks["d"] = step / 32
    blocks["dmin"] = step * 7.5 / 32
    blocks["quants"] = rng.integers(0, 256, (num_blocks, 128), np.uint8)
    return blocks


def _q6_k(rng: np.random.Generator, num_blocks: int) -> npt.NDArray[np.void]:
    """A weight is d · scale · (quant - 32) with quants 0 … 63."""
    blocks = np.zeros(num_blocks, Q6_K)
    blocks["scales"] = 8
    blocks["d"] = WEIGHT_STD / np.sqrt((64**2 - 1) / 12) / 8
    blocks["quants"] = rng.integers(0, 256, (num_blocks, 192), np.uint8)
    return blocks
