"""Reads an exported starter model back, so that training can go on from the shipped file."""

from pathlib import Path

import gguf
import torch
from tokenizers import AddedToken, Tokenizer, models
from torch import Tensor

from starter_model.export_gguf import gguf_name
from starter_model.model import StarterModel
from starter_model.tokenizer import SPECIAL_TOKENS, byte_level


def weights(path: Path, model: StarterModel) -> dict[str, Tensor]:
    """In the names of `model`; raises KeyError if the file lacks one."""
    stored = {tensor.name: tensor.data for tensor in gguf.GGUFReader(path).tensors}
    return {name: torch.tensor(stored[gguf_name(name)].astype("float32")) for name in model.state_dict()}


def tokenizer(path: Path) -> Tokenizer:
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"].contents()]
    read = byte_level(models.BPE({token: place for place, token in enumerate(tokens)}, merges))
    read.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
    return read
