"""Turns the settings into what the engine understands."""

from dataclasses import replace
from pathlib import Path

from app.engine.types import LoadParams, ModelInfo, SamplingParams
from app.settings import Settings

_SAMPLING = {"temperature", "top_k", "top_p", "min_p", "repeat_penalty"}


def load_params(settings: Settings, path: Path) -> LoadParams:
    return LoadParams(
        path=path, n_ctx=settings.n_ctx, n_seq_max=settings.n_seq_max, n_threads=settings.n_threads
    )


def sampling_params(settings: Settings, model: ModelInfo | None) -> SamplingParams | None:
    """What the user chose, over what the model's maker recommends; None where the user chose nothing."""
    chosen = settings.model_dump(include=_SAMPLING, exclude_none=True)
    recommended = model.sampling if model else SamplingParams()
    return replace(recommended, **chosen) if chosen else None
