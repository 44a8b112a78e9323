"""The types for keys and values in the cache, and which of them a model supports.

What is refused here would abort the process, or fail without a useful message. Any thread.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import llama_cpp as lib

from app.protocol.errors import ModelLoadError
from app.protocol.load import FlashAttention, KvType, LoadParams
from app.system.said import said


@dataclass(frozen=True, slots=True)
class _NativeType:
    number: int  # enum ggml_type
    block_length: int  # numbers that share one scale
    block_bytes: int


NATIVE_TYPES = {
    KvType.F16: _NativeType(lib.GGML_TYPE_F16, 1, 2),
    KvType.BF16: _NativeType(30, 1, 2),
    KvType.Q8_0: _NativeType(lib.GGML_TYPE_Q8_0, 32, 34),
    KvType.Q5_1: _NativeType(lib.GGML_TYPE_Q5_1, 32, 24),
    KvType.Q5_0: _NativeType(lib.GGML_TYPE_Q5_0, 32, 22),
    KvType.Q4_1: _NativeType(lib.GGML_TYPE_Q4_1, 32, 20),
    KvType.Q4_0: _NativeType(lib.GGML_TYPE_Q4_0, 32, 18),
}
FLASH_ATTENTION = {
    FlashAttention.AUTO: lib.LLAMA_FLASH_ATTN_TYPE_AUTO,
    FlashAttention.ON: lib.LLAMA_FLASH_ATTN_TYPE_ENABLED,
    FlashAttention.OFF: lib.LLAMA_FLASH_ATTN_TYPE_DISABLED,
}


def row_bytes(kind: KvType, length: int) -> int:
    """Of `length` numbers, rounded up to whole blocks."""
    native = NATIVE_TYPES[kind]
    return -(-length // native.block_length) * native.block_bytes


def check_types(params: LoadParams, key_length: int, value_length: int) -> None:
    """Lengths are those of one head; 0 without attention. Raises ModelLoadError."""
    if is_quantised(params.type_v) and params.flash_attention is FlashAttention.OFF:
        raise ModelLoadError(
            said(
                "The value cache can be {type} only with flash attention. Turn it on, or choose f16.",
                type=params.type_v,
            )
        )
    for kind, length in ((params.type_k, key_length), (params.type_v, value_length)):
        block_length = NATIVE_TYPES[kind].block_length
        if length % block_length:
            raise ModelLoadError(
                said(
                    "{name} cannot use a {type} KV cache: its blocks are {block} values, and this "
                    "model's heads have {length}. Choose f16.",
                    name=params.path.name,
                    type=kind,
                    block=block_length,
                    length=length,
                )
            )


def can_rotate_again(kind: KvType, key_length: int) -> bool:
    """Keys whose positions move are rotated. With any other type the process would abort.

    The library transforms keys in blocks of 64 numbers before it quantises them, and reverts that without
    checking whether it was done.
    """
    if kind is KvType.BF16:
        return False
    is_mixed = key_length % 64 == 0 and not os.environ.get("LLAMA_ATTN_ROT_DISABLE")
    return is_mixed or not is_quantised(kind)


def is_quantised(kind: KvType) -> bool:
    return NATIVE_TYPES[kind].block_length > 1
