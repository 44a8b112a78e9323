"""The network: the qwen3 architecture of llama.cpp at a small size, in plain torch."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class Shape:
    num_tokens: int
    num_layers: int = 8
    width: int = 192
    num_heads: int = 4
    num_kv_heads: int = 2
    # 64 is the smallest head size that every flash attention kernel of llama.cpp knows.
    head_width: int = 64
    ffn_width: int = 512
    context: int = 2048
    rope_base: float = 10_000.0
    norm_epsilon: float = 1e-6


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        q_width = shape.num_heads * shape.head_width
        kv_width = shape.num_kv_heads * shape.head_width
        self.q = nn.Linear(shape.width, q_width, bias=False)
        self.k = nn.Linear(shape.width, kv_width, bias=False)
        self.v = nn.Linear(shape.width, kv_width, bias=False)
        self.output = nn.Linear(q_width, shape.width, bias=False)
        self.q_norm = nn.RMSNorm(shape.head_width, eps=shape.norm_epsilon)
        self.k_norm = nn.RMSNorm(shape.head_width, eps=shape.norm_epsilon)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        rows, length, _ = x.shape
        heads = (rows, length, -1, self.shape.head_width)
        q = rotate(self.q_norm(self.q(x).view(heads)).transpose(1, 2), cos, sin)
        k = rotate(self.k_norm(self.k(x).view(heads)).transpose(1, 2), cos, sin)
        v = self.v(x).view(heads).transpose(1, 2)
        shared = self.shape.num_heads // self.shape.num_kv_heads
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        mixed = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
        projected: Tensor = self.output(mixed.transpose(1, 2).reshape(rows, length, -1))
        return projected


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attn_norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        self.attn = Attention(shape)
        self.ffn_norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        self.gate = nn.Linear(shape.width, shape.ffn_width, bias=False)
        self.up = nn.Linear(shape.width, shape.ffn_width, bias=False)
        self.down = nn.Linear(shape.ffn_width, shape.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attn(self.attn_norm(x), cos, sin)
        h = self.ffn_norm(x)
        out: Tensor = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return out


class StarterModel(nn.Module):
    cos: Tensor
    sin: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        # The output projection is this same table: llama.cpp does so when output.weight is missing.
        self.embedding = nn.Embedding(shape.num_tokens, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.num_layers))
        self.norm = nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
        cos, sin = rope_tables(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self._init_weights()

    def hidden(self, token_ids: Tensor) -> Tensor:
        """The last hidden state of every position, before the output projection."""
        length = token_ids.shape[1]
        cos, sin = self.cos[:length], self.sin[:length]
        x = self.embedding(token_ids)
        for block in self.blocks:
            x = block(x, cos, sin)
        normed: Tensor = self.norm(x)
        return normed

    def forward(self, token_ids: Tensor, wanted: Tensor | None = None) -> Tensor:
        """Logits of every position, or of those that are `wanted`."""
        hidden = self.hidden(token_ids)
        return F.linear(hidden if wanted is None else hidden[wanted], self.embedding.weight)

    def _init_weights(self) -> None:
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                # Branches that add to the residual start small, so that deep sums stay tame.
                small = name.endswith(("output.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / (2 * self.shape.num_layers) ** 0.5 if small else 0.02)


def rope_tables(shape: Shape) -> tuple[Tensor, Tensor]:
    half = shape.head_width // 2
    frequencies = shape.rope_base ** (-torch.arange(half) / half)
    angles = torch.outer(torch.arange(shape.context), frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates halves against each other: the "neox" order that llama.cpp uses for qwen3."""
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin
