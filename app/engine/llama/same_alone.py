"""Whether a row's logits are the same, to the last bit, alone and among others. Any thread.

They are by the patches in packaging/llama_cpp, for the types of weights for which
tests/native/test_same_alone.py shows it.
"""

import re
from collections.abc import Iterable

from app.protocol.load import FlashAttention, LoadParams
from app.protocol.model import LibraryInfo
from app.system.llama_library import llama_patches

PATCHES = frozenset(("attention", "q4-k", "k-quants", "one-row", "positions"))
# As llama.cpp names them. One row of Q2_K, Q3_K, IQ4_XS and smaller IQ types has an order of sums of its own.
WEIGHTS = frozenset(
    (
        *("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "mxfp4"),
        *("q4_K", "q5_K", "q6_K", "f16", "bf16", "f32"),
    )
)
# As in: llama_model_loader: - type q5_0:  133 tensors
WEIGHTS_LINE = re.compile(r"^llama_model_loader: - type +(\S+): +\d+ tensors$")


def has_patches() -> bool:
    return PATCHES.issubset(llama_patches())


def is_same_alone(lines: Iterable[str], library: LibraryInfo, params: LoadParams) -> bool:
    """Of a model: `lines` were logged while it loaded."""
    weights = {match[1] for line in lines if (match := WEIGHTS_LINE.match(line))}
    is_by_our_kernels = has_patches() and "AVX2" in library.features and not library.gpus
    is_as_tested = not (params.workers or params.adapters or params.isolated)
    has_attention = params.flash_attention is not FlashAttention.OFF
    return bool(weights) and weights <= WEIGHTS and is_by_our_kernels and is_as_tested and has_attention
