"""Turns the settings into what the engine understands."""

from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.chats.chat import Chat
from app.chats.sampling_json import frozen
from app.protocol.load import FlashAttention, KvType, LoadParams, LoraAdapter, RopeScaling
from app.protocol.model import ModelInfo
from app.protocol.request import MIN_CONTEXT_TOKENS
from app.protocol.sampling import SamplingParams
from app.settings import ModelSettings, Settings

FOR_ALL_MODELS = {"n_ctx", "n_seq_max", "n_threads", "isolated", "num_drafted_tokens"}
_ENUMS = {"type_k": KvType, "type_v": KvType, "flash_attention": FlashAttention, "rope_scaling": RopeScaling}
_SAMPLING = {"temperature", "top_k", "top_p", "min_p", "repeat_penalty"}


def load_params(settings: Settings, path: Path) -> LoadParams:
    """As chosen for this run, else for this model, else for all, else as LoadParams itself says."""
    for_all = settings.model_dump(include=FOR_ALL_MODELS)
    own = settings.models.get(str(path), ModelSettings())
    own_values = {name: value for name, value in own if value is not None}
    chosen = for_all | {name: own_values[name] for name in own_values if not settings.is_overridden(name)}
    chosen["adapters"] = tuple(LoraAdapter(adapter.path, adapter.scale) for adapter in own.adapters)
    for name, kind in _ENUMS.items():
        if name in chosen:
            chosen[name] = kind(chosen[name])
    return LoadParams(path=path, verify=settings.verify, **chosen)


def context_cap(settings: Settings, chat: Chat) -> int | None:
    """How long `chat` may get: its own cap, else the one for all chats; None without either."""
    cap = chat.max_context_tokens or settings.max_chat_tokens
    return max(cap, MIN_CONTEXT_TOKENS) if cap else None


def max_answer_tokens(settings: Settings, chat: Chat) -> int | None:
    """How long an answer may get: as the chat says, else as the settings do. None: as there is room."""
    return chat.max_tokens or settings.max_tokens


def sampling_params(settings: Settings, chat: Chat, model: ModelInfo | None) -> SamplingParams | None:
    """What is chosen for this chat, over what is for all, over what the model's maker recommends.

    None where nothing is chosen.
    """
    own = {name: frozen(name, value) for name, value in chat.sampling.items()}
    chosen = settings.model_dump(include=_SAMPLING, exclude_none=True) | own
    recommended = model.sampling if model else SamplingParams()
    return replace(recommended, **_fitting(recommended, chosen)) if chosen else None


class Source(StrEnum):
    """Whose value holds where a chat has none of its own."""

    SETTINGS = "settings"
    MODEL = "model"  # its maker recommends it
    DEFAULT = "default"  # llama.cpp's


def inherited_sampling(settings: Settings, model: ModelInfo | None) -> dict[str, tuple[Any, Source]]:
    """What holds for a chat that chooses nothing, by the names of SamplingParams."""
    default = SamplingParams()
    inherited: dict[str, tuple[Any, Source]] = {}
    for field in fields(SamplingParams):
        value = getattr(model.sampling if model else default, field.name)
        is_default = value == getattr(default, field.name)
        inherited[field.name] = (value, Source.DEFAULT if is_default else Source.MODEL)
    for name, value in settings.model_dump(include=_SAMPLING, exclude_none=True).items():
        inherited[name] = (value, Source.SETTINGS)
    return inherited


def _fitting(recommended: SamplingParams, chosen: dict[str, Any]) -> dict[str, Any]:
    """Each value is good; together two may not be, when one of them is the chat's and the other is not."""
    temperature = chosen.get("temperature", recommended.temperature)
    spread = chosen.get("dynatemp_range", recommended.dynatemp_range)
    return chosen | {"dynatemp_range": min(spread, temperature)}
