import math

import pytest

from app.engine.errors import InvalidRequestError
from app.engine.types import Message, Request, Role, SamplingParams, Usage

HELLO = (Message(Role.USER, "hello"),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", math.nan),
        ("temperature", -0.1),
        ("temperature", 1e300),
        ("top_k", -1),
        ("top_k", 2**40),
        ("top_p", 1.5),
        ("top_p", math.inf),
        ("min_p", -1e-9),
        ("repeat_penalty", 0.0),
        ("frequency_penalty", math.nan),
        ("presence_penalty", 1e9),
        ("penalty_last_n", -1),
        ("seed", -1),
        ("seed", 2**32),
    ],
)
def test_sampling_values_that_would_spoil_the_answer_are_refused(name, value):
    with pytest.raises(InvalidRequestError, match=f"{name} must be between"):
        SamplingParams(**{name: value})


def test_a_request_without_messages_is_refused():
    with pytest.raises(InvalidRequestError, match="no message"):
        Request("r", "c", ())


def test_an_answer_of_no_tokens_is_refused():
    with pytest.raises(InvalidRequestError, match="max_tokens"):
        Request("r", "c", HELLO, max_tokens=0)


def test_an_empty_stop_string_is_refused():
    with pytest.raises(InvalidRequestError, match="stop string"):
        Request("r", "c", HELLO, stop=("",))


def test_speed_leaves_the_first_token_to_the_prompt():
    assert Usage(num_generated_tokens=11, decode_s=2.0).tokens_per_s == 5.0
    assert Usage(num_generated_tokens=1).tokens_per_s == 0.0
