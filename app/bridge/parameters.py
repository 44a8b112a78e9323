"""Turns the settings into what the engine understands."""

from pathlib import Path

from app.engine.types import LoadParams, SamplingParams
from app.settings import Settings


def load_params(settings: Settings, path: Path) -> LoadParams:
    return LoadParams(
        path=path, n_ctx=settings.n_ctx, n_seq_max=settings.n_seq_max, n_threads=settings.n_threads
    )


def sampling_params(settings: Settings) -> SamplingParams:
    return SamplingParams(
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        min_p=settings.min_p,
        repeat_penalty=settings.repeat_penalty,
    )
