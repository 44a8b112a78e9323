import json
from dataclasses import replace
from pathlib import Path

from app.bridge.parameters import (
    ParameterSource,
    context_cap,
    inherited_sampling,
    max_answer_tokens,
    sampling_params,
)
from app.chats.chat import Chat
from app.protocol.load import LoadParams
from app.protocol.request import MIN_CONTEXT_TOKENS
from app.protocol.sampling import NEVER, SamplingParams
from app.settings.load import load_params
from app.settings.settings import Settings
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


def test_where_each_value_comes_from_is_known() -> None:
    inherited = inherited_sampling(Settings(top_k=7), COOL)
    assert inherited["temperature"] == (0.1, ParameterSource.MODEL)
    assert inherited["top_k"] == (7, ParameterSource.SETTINGS)
    assert inherited["top_p"] == (SamplingParams().top_p, ParameterSource.DEFAULT)
    assert inherited_sampling(Settings(), None)["temperature"] == (0.8, ParameterSource.DEFAULT)


def test_a_chats_values_that_come_from_the_disk_are_as_the_engine_takes_them() -> None:
    chat = Chat(sampling=json.loads('{"logit_bias": [[5, -Infinity]], "dry_sequence_breakers": ["a"]}'))
    sampling = sampling_params(Settings(), chat, None)
    assert sampling
    assert sampling.logit_bias == ((5, NEVER),)
    assert sampling.dry_sequence_breakers == ("a",)


def test_two_choices_that_do_not_go_together_never_fail_a_message() -> None:
    """The chat's range was good until the temperature for all chats was lowered."""
    chat = Chat(sampling={"dynatemp_range": 0.5})
    sampling = sampling_params(Settings(temperature=0.25), chat, COOL)
    assert sampling
    assert (sampling.temperature, sampling.dynatemp_range) == (0.25, 0.25)


async def test_a_request_names_what_was_chosen_also_where_that_is_the_default(
    qloop, workspace, thread
) -> None:
    session = workspace.new_chat()
    session.chat.sampling = {"temperature": 0.8}
    session.send("Hello")
    assert thread.submitted[0].chosen == ("temperature",)
