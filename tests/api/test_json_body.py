"""A body is read within limits, and however large it is the loop serves others meanwhile."""

import json
import threading

import pytest
from pydantic import ValidationError

from app.api import json_body
from app.api.chat_fields import ChatFields
from app.api.completions import CompletionFields
from app.api.errors import ApiError
from app.protocol.sampling import SamplingParams
from tests.api.conftest import serving


@pytest.mark.parametrize(("size", "is_beside"), [(100, False), (100_000, True)])
async def test_a_large_body_is_read_beside_the_loop(monkeypatch, size, is_beside):
    threads = []
    parse_object = json_body.parse_object
    monkeypatch.setattr(
        json_body,
        "parse_object",
        lambda body: threads.append(threading.current_thread()) or parse_object(body),
    )
    async with serving() as served:
        await served.post("/v1/completions", {"prompt": "x" * size, "max_tokens": 1})
    assert [thread is not threading.main_thread() for thread in threads] == [is_beside]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"x\ud83d", "x\ufffd"),
        (r"x\ude42y", "x\ufffdy"),
        (r"\ud83d\ud83d\uDE42", "\ufffd🙂"),
        (r"\\ud83d \ud83d", "\\ud83d \ufffd"),
        (r"\\\ud83d\u00e4", "\\\ufffdä"),
    ],
)
def test_half_a_character_spoils_itself_alone(text, value):
    """Programs that cut a text as JavaScript counts write such."""
    assert json_body.parse_object(f'{{"a": "{text}"}}'.encode()) == {"a": value}


async def test_a_body_of_too_many_values_is_refused(monkeypatch):
    monkeypatch.setattr(json_body, "MAX_COMMAS", 1_000, raising=False)
    async with serving() as served:
        body = {"messages": [{"role": "user", "content": "x"}], "metadata": [1] * 2_000}
        status, answer = await served.post("/v1/chat/completions", body)
        assert (status, answer["error"]["message"]) == (400, "The body has more than 1,000 values.")


def nested(text: str) -> bytes:
    return b'{"a": ' + text.encode() + b"}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" + "[]," * 20_000 + "[]]", "20,000 objects and lists"),
        ("{" + ",".join(f'"k{number}":1' for number in range(50_001)) + "}", "50,000 fields"),
        ("[" + '"a:",' * 150_001 + '"a"]', "150,000 texts"),
        ('"\\ud8"', "invalid escape"),
        ("[" * 10_000 + "]" * 10_000, "recursion limit"),
        ("NaN", "expected value"),
        ("1,", "column"),
    ],
)
def test_what_would_hold_up_others_or_is_no_json_is_refused_with_the_reason(text, reason):
    """One object more takes some microseconds in which no other thread runs: 600,000 took 0.2 s."""
    with pytest.raises(ApiError, match=reason):
        json_body.parse_object(nested(text))


def test_brackets_and_colons_in_texts_are_not_counted():
    code = 'if (a[1]) { b: "c" } \\ ' * 50_000
    assert json_body.parse_object(json.dumps({"prompt": code}).encode()) == {"prompt": code}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (CompletionFields, {"prompt": [None] * 10_000}),
        (CompletionFields, {"prompt": "x", "stop": [None] * 10_000}),
        (CompletionFields, {"prompt": "x", "logit_bias": [None] * 10_000}),
        (ChatFields, {"messages": [None] * 10_000}),
        (ChatFields, {"messages": [{"role": "user", "content": [None] * 10_000}]}),
    ],
)
def test_of_what_is_wrong_a_little_is_looked_for(kind, body):
    with pytest.raises(ValidationError) as error:
        kind.model_validate(body)
    assert error.value.error_count() < 10


def test_copies_and_prompts_do_not_multiply_the_parameters(monkeypatch):
    """Each has ten thousand biases to check."""
    made = []
    check = SamplingParams.__post_init__
    monkeypatch.setattr(SamplingParams, "__post_init__", lambda params: made.append(params) or check(params))
    fields = CompletionFields.model_validate({"prompt": ["x"] * 32, "n": 32})
    assert len(fields.requests(SamplingParams(), fields.prompts)) == 32 * 32
    assert len(made) == 1 + 32
