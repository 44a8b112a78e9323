"""Errors as the clients of each path expect them, about what the caller wrote."""

import pytest

from app.protocol.errors import GrammarError
from tests.api.conftest import endless, serving
from tests.api.parrot import Parrot
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend

CHAT = "/v1/chat/completions"
HI = {"role": "user", "content": "Hi"}


async def error_of(served, path, body):
    status, answer = await served.post(path, body)
    assert status == 400
    return answer["error"]


async def test_the_code_is_a_word_for_openais_clients_and_a_number_for_llama_servers():
    async with serving() as served:
        error = await error_of(served, CHAT, {"messages": [HI], "temperature": "hot"})
        assert error == {
            "message": "temperature: Input should be a number",
            "type": "invalid_request_error",
            "param": "temperature",
            "code": "invalid_value",
        }
        error = await error_of(served, "/completion", {"prompt": "x", "temperature": "hot"})
        assert error == {
            "code": 400,
            "message": "temperature: Input should be a number",
            "type": "invalid_request_error",
        }
        status, body = await served.get("/v1/models", headers={"Authorization": "Bearer wrong"})
        assert (status, body["error"]["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({}, "messages", "messages: Field required"),
        ({"messages": []}, "messages", "messages: List should have at least 1 item"),
        ({"messages": "Hi"}, "messages", "messages: Input should be a list"),
        ({"messages": ["Hi"]}, "messages[0]", "messages[0]: Input should be an object"),
        ({"messages": [HI | {"content": 5}]}, "messages[0].content", "should be a list or a string"),
        ({"messages": [HI, HI | {"content": ["x"]}]}, "messages[1].content[0]", "should be an object"),
        ({"messages": [HI | {"content": [{"type": "text"}]}]}, "messages", "needs its text"),
        ({"messages": [HI | {"role": "king"}]}, "messages[0].role", "should be 'system', 'developer'"),
        ({"messages": [HI], "stop": [1]}, "stop[0]", "should be a string"),
        ({"messages": [HI], "stop": ["x"] * 65}, "stop", "List should have at most 64 items"),
        ({"messages": [HI], "stop": ["x", "y" * 1001]}, "stop[1]", "should have at most 1000 characters"),
        ({"messages": [HI], "max_tokens": 8.5}, "max_tokens", "should be a whole number"),
        ({"messages": [HI], "top_k": "8"}, "top_k", "should be a whole number"),
        ({"messages": [HI], "logit_bias": "x"}, "logit_bias", "should be a list or an object"),
    ],
)
async def test_a_field_of_several_types_is_complained_about_once(body, param, message):
    async with serving() as served:
        error = await error_of(served, CHAT, body)
        assert error["param"] == param
        assert message in error["message"]
        assert "Fields" not in error["message"]  # no name of a class


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "video_url", "video_url": {"url": "data:"}}, "video_url"),
        ({"type": "file", "file": {}}, "file"),
    ],
)
async def test_videos_and_files_are_left_out_and_both_are_told(part, kind):
    text = {"type": "text", "text": "What is this?"}
    messages = [HI | {"content": [text, part]}, {"role": "assistant", "content": [part]}, HI]
    template = "{% for m in messages %}{{ m.content }};{% endfor %}"
    async with serving(Parrot("Hi.", template)) as served:
        asked = {"messages": messages, "tools": [{"type": "web_search"}], "max_tokens": 1}
        status, body = await served.post(CHAT, asked)
        assert status == 200
        assert body["warnings"] == [
            f"messages: {kind!r} was left out, which this server does not have.",
            "tools: 'web_search' was left out, which this server does not have.",
        ]
        _, body = await served.post("/apply-template", asked)
        note = f"[{kind!r} was left out: this server cannot read it]"
        assert body["prompt"] == f"What is this?\n{note};;{HI['content']};"


async def test_a_prompt_that_is_too_long_gets_advice_for_a_program_not_for_the_window():
    async with serving() as served:
        error = await error_of(served, CHAT, {"messages": [HI | {"content": "word " * 200}]})
        assert (error["type"], error["code"]) == ("exceed_context_size_error", "context_length_exceeded")
        assert error["n_prompt_tokens"] > error["n_ctx"] == TINY_CONTEXT["n_ctx"]
        assert "exceeds the available context size" in error["message"]
        assert "Settings" not in error["message"]
        assert "--ctx" in error["message"]


async def test_what_is_no_http_is_not_told_the_versions_of_the_libraries():
    async with serving() as served:
        for data in (b"GET /health HTTP/9.9\r\nHost: x\r\n\r\n", b"\x16\x03\x01\r\n\r\n", b"?\r\n\r\n"):
            _status, answer = await served.answer_to(data)
            assert b"Server: Skein\r\n" in answer
            assert b"aiohttp" not in answer


async def test_a_grammar_that_fails_while_it_is_followed_is_the_callers_mistake():
    def fail_later(token_ids):
        if len(token_ids) > 14:
            raise GrammarError("The grammar took 1.0 seconds for one token: it is too ambiguous.")
        return ord("a")

    async with serving(CountingBackend(fail_later, **TINY_CONTEXT)) as served:
        error = await error_of(served, "/v1/completions", {"prompt": "some words", "max_tokens": 20})
        assert (error["type"], "too ambiguous" in error["message"]) == ("invalid_request_error", True)
        assert (await served.post("/v1/completions", {"prompt": "x", "max_tokens": 2}))[0] == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, {"messages": [HI]}),
        ("/v1/completions", {"prompt": "x"}),
        ("/completion", {"prompt": "x"}),
        ("/generate", {"prompt": "x"}),
    ],
)
async def test_a_field_that_has_no_effect_is_named_with_the_answer(path, body):
    asked = body | {"max_tokens": 3, "model": "any", "service_tier": "flex", "repeatable": True, "user": None}
    told = ["The field 'service_tier' has no effect here.", "The field 'repeatable' has no effect here."]
    async with serving(endless()) as served:
        assert (await served.post(path, asked))[1]["warnings"] == told
        events = [event for event in await served.events(path, asked) if event != "[DONE]"]
        assert [event["warnings"] for event in events if "warnings" in event] == [told]
        assert "warnings" not in (await served.post(path, body | {"max_tokens": 3}))[1]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"functions": []}, "functions is not supported: use tools."),
        ({"function_call": "auto"}, "function_call is not supported: use tool_choice."),
        ({"modalities": ["text", "audio"]}, "modalities: this server answers in text only."),
        ({"audio": {"voice": "alloy"}}, "audio: this server answers in text only."),
    ],
)
async def test_a_field_without_which_the_answer_would_be_another_is_refused(extra, message):
    async with serving() as served:
        error = await error_of(served, CHAT, {"messages": [HI]} | extra)
        assert error["message"] == message
        assert (await served.post(CHAT, {"messages": [HI], "modalities": ["text"], "max_tokens": 1}))[
            0
        ] == 200


async def test_a_model_is_as_old_whenever_it_is_asked_for(monkeypatch):
    async with serving() as served:
        first = await served.get("/v1/models")
        monkeypatch.setattr("time.time", lambda: 5e9)
        assert await served.get("/v1/models") == first
