from dataclasses import replace
from pathlib import Path

from app.bridge.parameters import context_cap, load_params, max_answer_tokens, sampling_params
from app.chats.chat import Chat
from app.engine.sampling import SamplingParams
from app.engine.types import MIN_CONTEXT_TOKENS, LoadParams
from app.settings import Settings
from tests.fakes import model_info

COOL = model_info(sampling=SamplingParams(temperature=0.1, top_k=3))


def test_settings_become_load_params() -> None:
    settings = Settings(n_ctx=2048, n_seq_max=4, n_threads=2, isolated=True)
    assert load_params(settings, Path("a.gguf")) == LoadParams(
        Path("a.gguf"), n_ctx=2048, n_seq_max=4, n_threads=2, isolated=True
    )


def test_the_default_settings_are_the_engines_defaults() -> None:
    assert load_params(Settings(), Path("a")) == LoadParams(Path("a"))


def test_a_chats_own_cap_goes_before_the_one_for_all_chats() -> None:
    assert context_cap(Settings(), Chat()) is None
    assert context_cap(Settings(max_chat_tokens=1024), Chat()) == 1024
    assert context_cap(Settings(max_chat_tokens=1024), Chat(max_context_tokens=4096)) == 4096


def test_a_cap_is_never_smaller_than_a_request_may_have() -> None:
    assert context_cap(Settings(max_chat_tokens=1), Chat()) == MIN_CONTEXT_TOKENS


def test_where_the_user_chose_nothing_the_model_decides() -> None:
    assert sampling_params(Settings(), Chat(), COOL) is None
    assert sampling_params(Settings(), Chat(), None) is None


def test_what_the_user_chose_stands_over_what_the_model_recommends() -> None:
    settings = Settings(temperature=0.9)
    assert sampling_params(settings, Chat(), COOL) == replace(COOL.sampling, temperature=0.9)
    assert sampling_params(settings, Chat(), None) == SamplingParams(temperature=0.9)


def test_what_is_chosen_for_a_chat_stands_over_what_is_for_all() -> None:
    settings, chat = Settings(temperature=0.9, top_k=5, max_tokens=50), Chat(sampling={"temperature": 0.1})
    assert sampling_params(settings, chat, COOL) == replace(COOL.sampling, temperature=0.1, top_k=5)
    assert max_answer_tokens(settings, chat) == 50
    assert max_answer_tokens(settings, Chat(max_tokens=9)) == 9
    assert max_answer_tokens(Settings(), chat) is None
