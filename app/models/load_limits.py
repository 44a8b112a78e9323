"""Load settings that a model cannot have, by its header: those that llama.cpp would refuse or ignore.

Pure arithmetic on the header. Any thread.
"""

from collections.abc import Iterator

from app.models.gguf_header import TENSOR_TYPES, GgufHeader
from app.models.layers import Hyperparameters
from app.protocol.load import FlashAttention, KvType, LoadParams, RopeScaling
from app.system.said import said

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
    if not can_take_back(header):
        reason = said("This model cannot reject draft tokens, so none are used.")
        if params.num_drafted_tokens:
            yield "num_drafted_tokens", reason
        if params.draft_model:
            yield "draft_model", reason
    elif params.draft_model and not params.num_drafted_tokens:
        yield "draft_model", said("Choose a number of draft tokens, too: at 0 it is not loaded.")


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


def can_take_back(header: GgufHeader) -> bool:
    """Whether it can remove its last tokens, such as rejected draft tokens."""
    hyper = Hyperparameters(header)
    return not (
        hyper.has("ssm.state_size") or hyper.has("shortconv.l_cache") or hyper.has("attention.sliding_window")
    )
