"""Load settings that a model cannot have, by its header: those that llama.cpp would refuse or ignore.

Also which models can draft for it. The library checks all that again at the load; here no model is loaded.
Any thread.
"""

from collections.abc import Iterator
from pathlib import Path

from app.models.gguf_header import (
    TENSOR_TYPES,
    TOKENS,
    GgufHeader,
    HeaderError,
    LongArray,
    read_token_texts,
)
from app.models.layers import Hyperparameters, has_states, most_draft_tokens
from app.models.model_file import open_header, why_unusable
from app.protocol.load import FlashAttention, KvType, LoadParams, RopeScaling
from app.protocol.states import has_snapshots
from app.system.said import said

# llama.cpp has the same in common/speculative.cpp.
MAX_SIZE_DIFFERENCE = 128  # tokens: some files pad the vocabulary
FIRST_COMPARED = 5
MARKS = ("model", "add_bos_token", "add_eos_token", "bos_token_id", "eos_token_id")
_BLOCK_LENGTHS = {name: length for _, (name, length, _size) in TENSOR_TYPES.items()}


def refusals(header: GgufHeader, params: LoadParams) -> dict[str, str]:
    """Why the library would refuse to load the model, by the name of the setting."""
    found: dict[str, str] = {}
    if params.flash_attention is FlashAttention.OFF and _block_length(params.type_v) > 1:
        reason = said(
            "A {type} value cache needs flash attention: choose f16, or leave it on.",
            type=params.type_v,
        )
        found["type_v"] = found["flash_attention"] = reason
    keys, values = _head_lengths(header)
    for name, kind, lengths in (("type_k", params.type_k, keys), ("type_v", params.type_v, values)):
        if odd := [length for length in lengths if length % _block_length(kind)]:
            found[name] = said(
                "{type} has blocks of {block} values, and this model's heads have {length}. Choose f16.",
                type=kind,
                block=_block_length(kind),
                length=odd[0],
            )
    return found


def remarks(header: GgufHeader, params: LoadParams) -> dict[str, str]:
    """Settings without effect on this model, with the reason, by name."""
    return dict(_remarks(header, params))


def adapter_refusal(adapter: GgufHeader, model: GgufHeader) -> str:
    """Why `adapter` cannot be used with `model`. Empty if it can."""
    if adapter.text("general.type") != "adapter":
        return said("It is not a LoRA adapter.")
    if model.architecture and adapter.architecture != model.architecture:
        return said(
            "It was made for {theirs} models; this one is {ours}.",
            theirs=adapter.architecture,
            ours=model.architecture,
        )
    return ""


def _remarks(header: GgufHeader, params: LoadParams) -> Iterator[tuple[str, str]]:
    is_scaled = params.rope_scaling in (RopeScaling.LINEAR, RopeScaling.YARN)
    if params.rope_factor and not is_scaled:
        yield "rope_factor", said("Has no effect without linear or YaRN scaling.")
    if is_scaled and not params.rope_factor:
        yield "rope_scaling", said("Has no effect without a factor.")
    if params.n_ubatch > params.n_batch:
        yield (
            "n_ubatch",
            said("Cannot exceed the batch of {rows:,} rows.", rows=params.n_batch),
        )
    hyper = Hyperparameters(header)
    trained = hyper.number("context_length")
    n_ctx_seq = params.n_ctx // params.n_seq_max if params.isolated else params.n_ctx
    if trained and n_ctx_seq > trained and not is_scaled:
        yield (
            "n_ctx",
            said(
                "One chat cannot exceed {trained:,} tokens, the context the model was trained for.",
                trained=trained,
            ),
        )
    if params.swa_full and not hyper.has("attention.sliding_window"):
        yield "swa_full", said("Has no effect: this model has no sliding window.")
    if not can_take_back(header, params.n_seq_max):
        reason = said("This model cannot reject draft tokens, so none are used.")
        if has_snapshots(header.architecture, hyper.number):
            reason = said("With so many chats at once, rejecting draft tokens would take too much memory.")
        if params.num_drafted_tokens:
            yield "num_drafted_tokens", reason
        if params.draft_model:
            yield "draft_model", reason
    elif params.draft_model and not params.num_drafted_tokens:
        yield "draft_model", said("Draft tokens are off, so it is not loaded.")


def _block_length(kind: KvType) -> int:
    return _BLOCK_LENGTHS[kind.name]


def _head_lengths(header: GgufHeader) -> tuple[set[int], set[int]]:
    """Head lengths of keys and values. Layers with a sliding window may have others."""
    hyper = Hyperparameters(header)
    num_heads = hyper.number("attention.head_count")
    usual = hyper.number("embedding_length") // num_heads if num_heads else 0
    keys = {hyper.number("attention.key_length", usual), hyper.number("attention.key_length_swa")}
    values = {hyper.number("attention.value_length", usual), hyper.number("attention.value_length_swa")}
    return keys, values


def can_take_back(header: GgufHeader, n_seq_max: int) -> bool:
    """Whether it can remove its last tokens, such as rejected draft tokens."""
    return most_draft_tokens(header, n_seq_max) > 0


def why_not_draft(draft: Path, model: Path) -> str:
    """Why `draft` cannot draft for `model`. Empty if it can."""
    try:
        return _why_not(draft, open_header(draft), model, open_header(model))
    except (HeaderError, OSError) as error:
        return why_unusable(draft, error)


def _why_not(draft: Path, theirs: GgufHeader, model: Path, ours: GgufHeader) -> str:
    if has_states(theirs):
        return said("It cannot remove tokens it has computed, so it cannot reject draft tokens.")
    if any(_differs(f"tokenizer.ggml.{mark}", theirs, ours) for mark in MARKS):
        return said("Its vocabulary type or its special tokens differ.")
    return _why_other_tokens(draft, theirs, model, ours, FIRST_COMPARED)


def why_not_compared(other: Path, theirs: GgufHeader, base: Path, ours: GgufHeader) -> str:
    """Why nobody can tell how far two models are from each other at a token. Empty if one can.

    All tokens that both have must be the same; one may be padded at its end, and special ones may have
    another use. Raises HeaderError, OSError.
    """
    if _differs("tokenizer.ggml.model", theirs, ours):
        return said("Its vocabulary type or its special tokens differ.")
    return _why_other_tokens(other, theirs, base, ours, 0)


def _why_other_tokens(one: Path, theirs: GgufHeader, other: Path, ours: GgufHeader, first: int) -> str:
    num_theirs, num_ours = _num_tokens(theirs), _num_tokens(ours)
    if abs(num_theirs - num_ours) > MAX_SIZE_DIFFERENCE:
        return said(
            "Its vocabulary has {theirs:,} tokens, the model's {ours:,}.", theirs=num_theirs, ours=num_ours
        )
    end = min(num_theirs, num_ours)
    with one.open("rb") as their_file, other.open("rb") as our_file:
        if read_token_texts(their_file, first, end) != read_token_texts(our_file, first, end):
            return said("Its tokens differ.")
    return ""


def _differs(key: str, one: GgufHeader, other: GgufHeader) -> bool:
    """A missing value means the default of the vocabulary type."""
    return key in one.values and key in other.values and one.values[key] != other.values[key]


def _num_tokens(header: GgufHeader) -> int:
    tokens = header.values.get(TOKENS)
    return len(tokens) if isinstance(tokens, tuple | LongArray) else 0
