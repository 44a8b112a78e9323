from dataclasses import replace
from pathlib import Path

from app.bridge.parameters import load_params, sampling_params
from app.engine.types import LoadParams, SamplingParams
from app.settings import Settings
from tests.fakes import model_info

COOL = model_info(sampling=SamplingParams(temperature=0.1, top_k=3))


def test_settings_become_load_params() -> None:
    settings = Settings(n_ctx=2048, n_seq_max=4, n_threads=2)
    assert load_params(settings, Path("a.gguf")) == LoadParams(
        Path("a.gguf"), n_ctx=2048, n_seq_max=4, n_threads=2
    )


def test_the_default_settings_are_the_engines_defaults() -> None:
    assert load_params(Settings(), Path("a")) == LoadParams(Path("a"))


def test_where_the_user_chose_nothing_the_model_decides() -> None:
    assert sampling_params(Settings(), COOL) is None
    assert sampling_params(Settings(), None) is None


def test_what_the_user_chose_stands_over_what_the_model_recommends() -> None:
    settings = Settings(temperature=0.9)
    assert sampling_params(settings, COOL) == replace(COOL.sampling, temperature=0.9)
    assert sampling_params(settings, None) == SamplingParams(temperature=0.9)
