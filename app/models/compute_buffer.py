"""The size of the compute buffer: what llama.cpp reserves for its graphs on the CPU.

The library plans the graph of the largest step in advance and reuses a tensor's memory after its last use, so
the peak counts. The peak differs by kind of layer; for each kind it is noted here, as measured. Any thread.
"""

from dataclasses import dataclass

from app.models.gguf_header import GgufHeader
from app.models.layers import FLOAT_BYTES, Hyperparameters, Layer, head_length

HALF_BYTES = 2


@dataclass(frozen=True, slots=True)
class Step:
    """The largest step of a context."""

    num_rows: int
    num_outputs: int  # rows that get logits
    n_seq_max: int
    num_cells: int  # that a row may see, all layers but those with a window
    num_window_cells: int  # 0: no layer has one
    has_flash_attention: bool


def compute_bytes(header: GgufHeader, layers: list[Layer], n_vocab: int, step: Step) -> int:
    hyper = Hyperparameters(header)
    n_embd = hyper.number("embedding_length")
    peak = max((_peak_of_layer(hyper, layer, step) for layer in layers), default=0)
    logits = step.num_outputs * (n_vocab + n_embd)
    return _masks_bytes(layers, step) + FLOAT_BYTES * max(step.num_rows * n_embd + peak, logits)


def inputs_bytes(header: GgufHeader, layers: list[Layer], step: Step) -> int:
    """The graph's inputs: all that stays here if all layers are elsewhere."""
    n_embd = Hyperparameters(header).number("embedding_length")
    return _masks_bytes(layers, step) + FLOAT_BYTES * step.num_rows * n_embd


def _masks_bytes(layers: list[Layer], step: Step) -> int:
    """The attention masks. Being inputs, they are allocated throughout."""
    kinds = {layer.has_window for layer in layers if layer.keys}
    num_cells = sum(step.num_window_cells if has_window else step.num_cells for has_window in kinds)
    return step.num_rows * num_cells * (HALF_BYTES if step.has_flash_attention else FLOAT_BYTES)


def _peak_of_layer(hyper: Hyperparameters, layer: Layer, step: Step) -> int:
    """In numbers, without the layer's input."""
    peaks = [step.num_rows * max(_feed_forward(layer), _mixture(hyper, layer))]
    if layer.keys:
        peaks.append(step.num_rows * _attention(hyper, layer, step))
    if layer.state:
        peaks.append(_state(layer, step))
    return max(peaks)


def _attention(hyper: Hyperparameters, layer: Layer, step: Step) -> int:
    num_heads = layer.num_heads
    queries = num_heads * head_length(hyper, "key", layer.has_window)
    gated = layer.width("attn_q.weight")  # twice as many where half of them are a gate
    weights = 0 if step.has_flash_attention else num_heads * step.num_cells
    return 2 * max(queries, gated) + queries // 2 + 2 * layer.keys + weights


def _feed_forward(layer: Layer) -> int:
    """Gate, up projection and their product, and a gap left by the previous layer."""
    width = layer.width("ffn_up.weight", "ffn_gate.weight", "ffn_up_shexp.weight")
    is_gated = "ffn_gate.weight" in layer.tensors or "ffn_gate_shexp.weight" in layer.tensors
    return 15 * width // 4 if is_gated else 5 * width // 2


def _mixture(hyper: Hyperparameters, layer: Layer) -> int:
    """As `_feed_forward` for all experts that a row uses, or their outputs before the sum."""
    width = layer.width("ffn_up_exps.weight", "ffn_gate_up_exps.weight")
    n_embd = hyper.number("embedding_length")
    used = hyper.number("expert_used_count") if width else 0
    return max(15 * used * width // 4, used * (width + 2 * n_embd) + 2 * n_embd) if used else 0


def _state(layer: Layer, step: Step) -> int:
    states = step.n_seq_max * layer.state
    if "ssm_in.weight" in layer.tensors:  # Mamba
        return step.num_rows * 3 * layer.width("ssm_in.weight") + states
    if "shortconv.in_proj.weight" in layer.tensors:
        return step.num_rows * 2 * layer.width("shortconv.in_proj.weight") + states
    return step.num_rows * 4 * layer.width("attn_qkv.weight") + 2 * states  # read, and written anew
