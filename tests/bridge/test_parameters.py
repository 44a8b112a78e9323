from pathlib import Path

from app.bridge.parameters import load_params, sampling_params
from app.engine.types import LoadParams, SamplingParams
from app.settings import Settings


def test_settings_become_load_params() -> None:
    settings = Settings(n_ctx=2048, n_seq_max=4, n_threads=2)
    assert load_params(settings, Path("a.gguf")) == LoadParams(
        Path("a.gguf"), n_ctx=2048, n_seq_max=4, n_threads=2
    )


def test_the_default_settings_are_the_engines_defaults() -> None:
    assert sampling_params(Settings()) == SamplingParams()
    assert load_params(Settings(), Path("a")) == LoadParams(Path("a"))
