"""Writes a checkpoint of the training as a GGUF that llama.cpp runs as architecture "qwen3"."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from starter_model.model import Shape, StarterModel
from starter_model.tokenizer import END_OF_TEXT, SPECIAL_TOKENS, TURN_END, load_tokenizer

CHAT_TEMPLATE = Path(__file__).with_name("chat_template.jinja").read_text(encoding="utf-8").rstrip("\n")
DESCRIPTION = (
    "A tiny chat model for the first start of Skein: sums, differences, counting, "
    "questions about Skein and language models, and calls of tools."
)

_BLOCK_NAMES = {
    "attn_norm": "attn_norm",
    "attn.q": "attn_q",
    "attn.k": "attn_k",
    "attn.v": "attn_v",
    "attn.q_norm": "attn_q_norm",
    "attn.k_norm": "attn_k_norm",
    "attn.output": "attn_output",
    "ffn_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}


@dataclass(frozen=True, slots=True)
class Trained:
    model: StarterModel
    tokenizer: Tokenizer
    step: int


def load_trained(folder: Path) -> Trained:
    """The averaged weights of the newest checkpoint in a training folder."""
    state: dict[str, Any] = torch.load(folder / "checkpoint.pt", weights_only=True)
    model = StarterModel(Shape(**state["shape"]))
    model.load_state_dict(state["average"])
    model.eval()
    return Trained(model, load_tokenizer(folder / "tokenizer.json"), state["step"])


def export(trained: Trained, target: Path, name: str, licence: str) -> None:
    """Replaces `target` in one step, so that a reader never meets half a file."""
    fresh = target.with_suffix(".new")
    writer = gguf.GGUFWriter(fresh, "qwen3")
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name(name)
    writer.add_description(DESCRIPTION)
    writer.add_license(licence)
    writer.add_languages(["en"])
    writer.add_size_label(f"{_num_parameters(trained.model) / 1e6:.1f}M")
    writer.add_sampling_temp(0.0)  # it has one right answer to everything it knows
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    _add_shape(writer, trained.model.shape)
    _add_tokenizer(writer, trained.tokenizer)
    for tensor_name, values in _tensors(trained.model):
        writer.add_tensor(tensor_name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    fresh.replace(target)


def _num_parameters(model: StarterModel) -> int:
    return sum(weight.numel() for weight in model.parameters())


def _add_shape(writer: gguf.GGUFWriter, shape: Shape) -> None:
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.num_layers)
    writer.add_feed_forward_length(shape.ffn_width)
    writer.add_head_count(shape.num_heads)
    writer.add_head_count_kv(shape.num_kv_heads)
    writer.add_key_length(shape.head_width)
    writer.add_value_length(shape.head_width)
    writer.add_layer_norm_rms_eps(shape.norm_epsilon)
    writer.add_rope_freq_base(shape.rope_base)


def _add_tokenizer(writer: gguf.GGUFWriter, tokenizer: Tokenizer) -> None:
    ids = tokenizer.get_vocab()
    tokens = sorted(ids, key=lambda token: ids[token])
    types = [gguf.TokenType.CONTROL if token in SPECIAL_TOKENS else gguf.TokenType.NORMAL for token in tokens]
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(ids[TURN_END])
    writer.add_bos_token_id(ids[END_OF_TEXT])
    writer.add_pad_token_id(ids[END_OF_TEXT])
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def _tensors(model: StarterModel) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, weight in model.state_dict().items():
        yield gguf_name(name), _as_stored(weight)


def gguf_name(name: str) -> str:
    if name.startswith("blocks."):
        _, index, rest = name.removesuffix(".weight").split(".", 2)
        return f"blk.{index}.{_BLOCK_NAMES[rest]}.weight"
    return {"embedding.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}[name]


def _as_stored(weight: Tensor) -> NDArray[Any]:
    # llama.cpp wants norms in F32; they are few.
    values: NDArray[Any] = weight.float().numpy()
    return values.astype(np.float16) if weight.dim() == 2 else values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the training folder")
    parser.add_argument("target", type=Path, help="the GGUF to write")
    parser.add_argument("--name", default="Skein starter")
    parser.add_argument("--licence", default="mit", help="SPDX name in lower case")
    args = parser.parse_args()
    trained = load_trained(args.folder)
    export(trained, args.target, args.name, args.licence)
    print(f"{args.target}: {args.target.stat().st_size} bytes, step {trained.step}")


if __name__ == "__main__":
    main()
