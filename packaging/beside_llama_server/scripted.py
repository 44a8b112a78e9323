"""Writes a model whose next token depends on its position alone, so that it says what a script says.

Embeddings of tokens are zero. Those of positions are codes, and the output matrix has the code of each token.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np

from tests.native.tiny_ggufs import add_byte_vocabulary, byte_letters

N_EMBD, N_FFN, HEAD_DIM = 64, 64, 32


def write_scripted(path: Path, chat_template: str, n_ctx: int, scripts: Mapping[int, str]) -> None:
    """After a prompt of so many tokens it says the script, a byte in each token, and ends its turn."""
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_name("scripted")
    writer.add_context_length(n_ctx)
    writer.add_embedding_length(N_EMBD)
    writer.add_block_count(1)
    writer.add_feed_forward_length(N_FFN)
    writer.add_head_count(N_EMBD // HEAD_DIM)
    writer.add_layer_norm_eps(1e-5)
    writer.add_chat_template(chat_template)
    n_vocab = add_byte_vocabulary(writer)
    end = n_vocab - 1  # the last of its control tokens ends a turn
    said = np.full(n_ctx, end)
    for num_tokens, script in scripts.items():
        token_ids = [*script.encode("utf-8"), end]
        said[num_tokens - 1 : num_tokens - 1 + len(token_ids)] = token_ids
    codes = _codes(n_vocab)
    tensors = {
        "token_embd.weight": np.zeros((n_vocab, N_EMBD)),
        "position_embd.weight": codes[said],
        "output_norm.weight": np.ones(N_EMBD),
        "output_norm.bias": np.zeros(N_EMBD),
        # No two logits alike: where a grammar forbids what the script says, both must take the same instead.
        "output.weight": codes + np.random.default_rng(1).normal(0, 0.05, codes.shape),
        "blk.0.attn_norm.weight": np.ones(N_EMBD),
        "blk.0.attn_norm.bias": np.zeros(N_EMBD),
        "blk.0.attn_qkv.weight": np.zeros((3 * N_EMBD, N_EMBD)),
        "blk.0.attn_qkv.bias": np.zeros(3 * N_EMBD),
        "blk.0.attn_output.weight": np.zeros((N_EMBD, N_EMBD)),
        "blk.0.attn_output.bias": np.zeros(N_EMBD),
        "blk.0.ffn_norm.weight": np.ones(N_EMBD),
        "blk.0.ffn_norm.bias": np.zeros(N_EMBD),
        "blk.0.ffn_up.weight": np.zeros((N_FFN, N_EMBD)),
        "blk.0.ffn_up.bias": np.zeros(N_FFN),
        "blk.0.ffn_down.weight": np.zeros((N_EMBD, N_FFN)),
        "blk.0.ffn_down.bias": np.zeros(N_EMBD),
    }
    for name, values in tensors.items():
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _codes(n_vocab: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """A row of as many +1 as -1 for each token: the norm leaves it as it is, and two of them differ a lot."""
    rng = np.random.default_rng(0)
    signs = np.repeat([1.0, -1.0], N_EMBD // 2)
    return np.array([rng.permutation(signs) for _ in range(n_vocab)])


assert len(byte_letters()) == 256  # they are the first tokens, in the order of the bytes
