"""Turns the settings into what the engine understands."""

from dataclasses import replace
from pathlib import Path

import psutil

from app.chats.chat import Chat
from app.engine.sampling import SamplingParams
from app.engine.types import MIN_CONTEXT_TOKENS, LoadParams, ModelInfo
from app.settings import Settings

_SAMPLING = {"temperature", "top_k", "top_p", "min_p", "repeat_penalty"}


def num_physical_cores() -> int:
    return psutil.cpu_count(logical=False) or 1


def load_params(settings: Settings, path: Path) -> LoadParams:
    return LoadParams(
        path=path,
        n_ctx=settings.n_ctx,
        n_seq_max=settings.n_seq_max,
        n_threads=settings.n_threads,
        isolated=settings.isolated,
        verify=settings.verify,
    )


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
    chosen = settings.model_dump(include=_SAMPLING, exclude_none=True) | chat.sampling
    recommended = model.sampling if model else SamplingParams()
    return replace(recommended, **chosen) if chosen else None
