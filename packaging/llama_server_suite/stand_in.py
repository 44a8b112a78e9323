"""Writes the model that stands for those the suite would download: random weights, a real vocabulary.

Its answers are nonsense, the same ones for the same seed. So tests that expect certain words, or counts of
another vocabulary, fail with it on llama-server, too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from tests.native.tiny_projectors import write_tiny_projector

Metadata = tuple[tuple[str, int], ...]
Weights = npt.NDArray[np.float32]

N_LAYER, N_EMBD, N_FFN = 5, 64, 128
N_HEAD, N_HEAD_KV = 4, 2
N_CTX_TRAIN = 8192
WIDTH = 0.8  # of the weights: wide enough that other seeds give other texts

VOCABULARY_KEYS = ("tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type")


def stand_in(
    folder: Path, vocabulary: Path, chat_template: str | None = None, metadata: Metadata = ()
) -> Path:
    """The model with this chat template, written into `folder` when it is asked for the first time."""
    told = (chat_template or "") + (repr(metadata) if metadata else "")
    name = hashlib.sha256(told.encode()).hexdigest()[:12]
    path = folder / f"stand-in-{name}.gguf"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        _write(unfinished, vocabulary, chat_template, metadata)
        unfinished.rename(path)
    return path


def projector(folder: Path) -> Path:
    """For the stand-in's pictures: random weights, too. Written when it is asked for the first time."""
    path = folder / "mmproj-stand-in.gguf"
    if not path.exists():
        write_tiny_projector(path.with_suffix(".part"), "gemma3", n_out=N_EMBD).rename(path)
    return path


def _write(path: Path, vocabulary: Path, chat_template: str | None, metadata: Metadata) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("stand-in")
    writer.add_context_length(N_CTX_TRAIN)
    writer.add_embedding_length(N_EMBD)
    writer.add_block_count(N_LAYER)
    writer.add_feed_forward_length(N_FFN)
    writer.add_head_count(N_HEAD)
    writer.add_head_count_kv(N_HEAD_KV)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(N_EMBD // N_HEAD)
    if chat_template is not None:
        writer.add_chat_template(chat_template)
    for key, value in metadata:
        writer.add_uint32(key, value)
    n_vocab = _copy_vocabulary(writer, vocabulary)
    for tensor, values in _weights(n_vocab).items():
        writer.add_tensor(tensor, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _copy_vocabulary(writer: gguf.GGUFWriter, vocabulary: Path) -> int:
    fields = gguf.GGUFReader(vocabulary).fields
    tokens, scores, types = (fields[key].contents() for key in VOCABULARY_KEYS)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    return len(tokens)


def _weights(n_vocab: int) -> dict[str, Weights]:
    rng = np.random.default_rng(0)
    n_embd_kv = N_EMBD // N_HEAD * N_HEAD_KV

    def drawn(*shape: int) -> Weights:
        values: Weights = (rng.standard_normal(shape) * WIDTH / np.sqrt(shape[-1])).astype(np.float32)
        return values

    weights = {"token_embd.weight": drawn(n_vocab, N_EMBD), "output_norm.weight": np.ones(N_EMBD, np.float32)}
    for layer in range(N_LAYER):
        block = f"blk.{layer}"
        weights[f"{block}.attn_norm.weight"] = np.ones(N_EMBD, np.float32)
        weights[f"{block}.ffn_norm.weight"] = np.ones(N_EMBD, np.float32)
        weights[f"{block}.attn_q.weight"] = drawn(N_EMBD, N_EMBD)
        weights[f"{block}.attn_k.weight"] = drawn(n_embd_kv, N_EMBD)
        weights[f"{block}.attn_v.weight"] = drawn(n_embd_kv, N_EMBD)
        weights[f"{block}.attn_output.weight"] = drawn(N_EMBD, N_EMBD)
        weights[f"{block}.ffn_gate.weight"] = drawn(N_FFN, N_EMBD)
        weights[f"{block}.ffn_up.weight"] = drawn(N_FFN, N_EMBD)
        weights[f"{block}.ffn_down.weight"] = drawn(N_EMBD, N_FFN)
    return weights
