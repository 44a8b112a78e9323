"""What each layer of a model stores per cell or sequence, by the header: keys and values, or a state.

Roughly as llama.cpp has it; what is not known here counts as full attention, which takes most. Any thread.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.models.gguf_header import GgufHeader, TensorInfo
from app.protocol import states
from app.protocol.load import MAX_DRAFTED_TOKENS

# Sliding windows of models whose files do not list the layers that have one: every n-th has full attention.
SWA_PERIODS = {"cohere2": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "olmo2": 4}
STATE_TENSORS = ("ssm_", "shortconv.", "time_mix_")
STATE_KEYS = ("ssm.state_size", "shortconv.l_cache", "wkv.head_size", "kda.head_dim")
KEY_TENSORS = ("attn_k.weight", "attn_kv_a_mqa.weight", "attn_kv_a.weight", "attn_k_b.weight")


@dataclass(frozen=True, slots=True)
class Layer:
    """Counts of numbers, not bytes: `keys` and `values` a cell, `state` a sequence of any length."""

    keys: int
    values: int
    state: int
    has_window: bool
    weights_bytes: int


class Hyperparameters:
    """Hyperparameters of a header, by names without the architecture; per layer where they differ."""

    def __init__(self, header: GgufHeader) -> None:
        self.architecture = header.architecture
        self._values = header.values

    def number(self, name: str, default: int = 0, layer: int = 0) -> int:
        value: Any = self._values.get(f"{self.architecture}.{name}", default)
        if isinstance(value, tuple):
            value = value[min(layer, len(value) - 1)] if value else default
        return max(value, 0) if isinstance(value, int) else default

    def flags(self, name: str) -> tuple[Any, ...]:
        value = self._values.get(f"{self.architecture}.{name}")
        return value if isinstance(value, tuple) else ()

    def has(self, name: str) -> bool:
        return f"{self.architecture}.{name}" in self._values


def layers_of(header: GgufHeader) -> list[Layer]:
    """Without layers for multi-token prediction."""
    hyper = Hyperparameters(header)
    count = min(hyper.number("block_count"), len(header.tensors))  # a file may claim anything
    tensors = _by_layer(header)
    return [
        _layer(hyper, layer, tensors.get(layer, {}))
        for layer in range(count - hyper.number("nextn_predict_layers"))
    ]


def has_states(header: GgufHeader) -> bool:
    """What it keeps of a chat is more than cells, of which any can be removed."""
    return any(map(Hyperparameters(header).has, STATE_KEYS))


def most_draft_tokens(header: GgufHeader, n_seq_max: int) -> int:
    """How many of one chat it can reject at once."""
    if not has_states(header):
        return MAX_DRAFTED_TOKENS
    hyper = Hyperparameters(header)
    return states.most_snapshots(hyper.architecture, hyper.number, header.weights_bytes, n_seq_max)


def _by_layer(header: GgufHeader) -> dict[int, dict[str, TensorInfo]]:
    found: defaultdict[int, dict[str, TensorInfo]] = defaultdict(dict)
    for tensor in header.tensors:
        begin, _, rest = tensor.name.partition(".")
        number, _, name = rest.partition(".")
        if begin == "blk" and number.isdecimal():
            found[int(number)][name] = tensor
    return found


def _layer(hyper: Hyperparameters, layer: int, tensors: Mapping[str, TensorInfo]) -> Layer:
    has_window = _has_window(hyper, layer)
    has_state = any(name.startswith(STATE_TENSORS) for name in tensors)
    keys = values = 0
    if _has_keys(hyper, layer, tensors, has_state):
        num_heads = hyper.number("attention.head_count", layer=layer)
        num_kv_heads = hyper.number("attention.head_count_kv", num_heads, layer)
        keys = num_kv_heads * _head_length(hyper, "key", has_window)
        is_latent = hyper.has("attention.key_length_mla")  # the values are part of the keys
        values = 0 if is_latent else num_kv_heads * _head_length(hyper, "value", has_window)
    state = states.state_length(hyper.number) if has_state else 0
    return Layer(keys, values, state, has_window, sum(tensor.size_bytes for tensor in tensors.values()))


def _head_length(hyper: Hyperparameters, kind: str, has_window: bool) -> int:
    usual = hyper.number("embedding_length") // max(hyper.number("attention.head_count"), 1)
    length = hyper.number(f"attention.{kind}_length", usual)
    return hyper.number(f"attention.{kind}_length_swa", length) if has_window else length


def _has_window(hyper: Hyperparameters, layer: int) -> bool:
    if not hyper.number("attention.sliding_window"):
        return False
    if flags := hyper.flags("attention.sliding_window_pattern"):
        return layer < len(flags) and bool(flags[layer])
    period = hyper.number("attention.sliding_window_pattern", SWA_PERIODS.get(hyper.architecture, 1))
    return layer % max(period, 1) < period - 1


def _has_keys(hyper: Hyperparameters, layer: int, tensors: Mapping[str, TensorInfo], has_state: bool) -> bool:
    if layer >= hyper.number("block_count") - hyper.number("attention.shared_kv_layers"):
        return False
    # A fused matrix may also be that of a recurrent state.
    return any(name in tensors for name in KEY_TENSORS) or ("attn_qkv.weight" in tensors and not has_state)
