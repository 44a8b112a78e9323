"""What a chat asks of the engine: its own choices over the settings over the model's."""

from dataclasses import fields, replace
from enum import StrEnum
from typing import Any

from app.chats.chat import Chat
from app.chats.options import frozen
from app.protocol.model import ModelInfo
from app.protocol.request import MIN_CONTEXT_TOKENS
from app.protocol.sampling import SamplingParams
from app.settings.settings import Settings

_SAMPLING = {"temperature", "top_k", "top_p", "min_p", "repeat_penalty"}


def context_cap(settings: Settings, chat: Chat) -> int | None:
    """How long `chat` may get: its own cap, else the one for all chats; None without either."""
    cap = chat.max_context_tokens or settings.max_chat_tokens
    return max(cap, MIN_CONTEXT_TOKENS) if cap else None


def max_answer_tokens(settings: Settings, chat: Chat) -> int | None:
    """The limit of an answer: the chat's own, else that of the settings. None: what the context holds."""
    return chat.max_tokens or settings.max_tokens


def sampling_params(settings: Settings, chat: Chat, model: ModelInfo | None) -> SamplingParams | None:
    """What is chosen for this chat, over what is for all, over what the model's maker recommends.

    None where nothing is chosen.
    """
    chosen = chosen_sampling(settings, chat)
    recommended = model.sampling if model else SamplingParams()
    return replace(recommended, **_fitting(recommended, chosen)) if chosen else None


def chosen_sampling(settings: Settings, chat: Chat) -> dict[str, Any]:
    own = {name: frozen(name, value) for name, value in chat.sampling.items()}
    return settings.model_dump(include=_SAMPLING, exclude_none=True) | own


class ParameterSource(StrEnum):
    """Where the value comes from if a chat has none of its own."""

    SETTINGS = "settings"
    MODEL = "model"  # its maker recommends it
    DEFAULT = "default"  # llama.cpp's
    SERVER = "server"  # nothing is sent: a server of another program has its own, which it does not tell


def inherited_sampling(
    settings: Settings, model: ModelInfo | None, *, is_foreign: bool = False
) -> dict[str, tuple[Any, ParameterSource]]:
    """The values for a chat without choices of its own, by the names of SamplingParams."""
    default = SamplingParams()
    unset = ParameterSource.SERVER if is_foreign else ParameterSource.DEFAULT
    inherited: dict[str, tuple[Any, ParameterSource]] = {}
    for field in fields(SamplingParams):
        value = getattr(model.sampling if model else default, field.name)
        is_default = value == getattr(default, field.name)
        inherited[field.name] = (value, unset if is_default else ParameterSource.MODEL)
    for name, value in settings.model_dump(include=_SAMPLING, exclude_none=True).items():
        inherited[name] = (value, ParameterSource.SETTINGS)
    return inherited


def _fitting(recommended: SamplingParams, chosen: dict[str, Any]) -> dict[str, Any]:
    """Each value is valid, but two may not fit together when only one of them is the chat's."""
    temperature = chosen.get("temperature", recommended.temperature)
    spread = chosen.get("dynatemp_range", recommended.dynatemp_range)
    return chosen | {"dynatemp_range": min(spread, temperature)}
