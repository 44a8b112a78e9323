"""The recurrent states of a model, by its file: how large they are, and how far they can step back.

It steps back by snapshots (`n_rs_seq` of llama.cpp), of which every sequence has as many. Any thread.
"""

from collections.abc import Callable

FLOAT_BYTES = 4
SNAPSHOTS_SHARE = 0.1  # of the weights' size, for the snapshots of all sequences
FEW_BYTES = 32 << 20  # are spent in any case
MIN_SNAPSHOTS, MAX_SNAPSHOTS = 2, 8
# Those of llm_arch_supports_rs_rollback in llama-arch.cpp whose states `state_length` knows.
WITH_SNAPSHOTS = frozenset(("lfm2", "lfm2moe", "nemotron_h", "nemotron_h_moe", "qwen35", "qwen35moe"))


def state_length(number: Callable[[str], int]) -> int:
    """How many numbers one layer keeps of a sequence: n_embd_r + n_embd_s in llama-hparams.cpp.

    `number` reads a hyperparameter by its name without the architecture; 0 if there is none.
    """
    n_embd = number("embedding_length")
    inner, size = number("ssm.inner_size"), number("ssm.state_size")
    if head_size := number("wkv.head_size"):
        return n_embd * ((number("token_shift_count") or 2) + head_size)
    if length := number("shortconv.l_cache"):
        return n_embd * (length - 1)
    kernel = number("ssm.conv_kernel")
    return max(kernel - 1, 0) * (inner + 2 * number("ssm.group_count") * size) + inner * size


def most_snapshots(architecture: str, number: Callable[[str], int], size_bytes: int, n_seq_max: int) -> int:
    """How many draft tokens of a sequence could be rejected at once. 0: it cannot, or takes too much memory.

    Every layer is taken for one with a state: the library does not tell which are.
    """
    if not has_snapshots(architecture, number):
        return 0
    state_bytes = number("block_count") * state_length(number) * FLOAT_BYTES * max(n_seq_max, 1)
    most_bytes = max(SNAPSHOTS_SHARE * size_bytes, FEW_BYTES)
    most = min(int(most_bytes // max(state_bytes, 1)), MAX_SNAPSHOTS)
    return most if most >= MIN_SNAPSHOTS else 0


def has_snapshots(architecture: str, number: Callable[[str], int]) -> bool:
    """Not beside a window: its rows would go through in several micro-batches, and miss cells."""
    return architecture in WITH_SNAPSHOTS and not number("attention.sliding_window")
