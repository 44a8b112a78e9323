"""Answers beside tools and a JSON schema, by the real sampler."""

import json

import pytest

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from tests.api.conftest import serving
from tests.api.parrot import QWEN, STRICT, TEMPLATES
from tests.effort import EFFORT
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

DIGIT = {"type": "integer", "minimum": 1, "maximum": 9}
ASKED = {
    "messages": [{"role": "user", "content": "Hi"}],
    "max_tokens": 1000,
    "temperature": 1.0,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "flip",
                "parameters": {
                    "type": "object",
                    "properties": {"up": {"type": "boolean"}},
                    "required": ["up"],
                },
            },
        }
    ],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"schema": {"type": "object", "properties": {"n": DIGIT}, "required": ["n"]}},
    },
}


MISTRAL = (TEMPLATES / "mistralai-Mistral-Nemo-Instruct-2407.jinja").read_text()
FLIP = ASKED["tools"][0]
OTHER = {"type": "function", "function": {**FLIP["function"], "name": "other"}}
NAMED = {"type": "function", "function": {"name": "flip"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}


@pytest.mark.parametrize("choice", ["required", NAMED, ALLOWED], ids=["required", "named", "allowed"])
@pytest.mark.parametrize(
    "template", [QWEN, MISTRAL, STRICT, None], ids=["with tools", "mistral", "strict", "none"]
)
async def test_random_weights_call_a_tool_that_must_be_called_and_say_nothing(tmp_path, template, choice):
    model = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=template)
    asked = ASKED | {"tools": [OTHER, FLIP], "tool_choice": choice, "parallel_tool_calls": False}
    del asked["response_format"]
    params = LoadParams(model, n_ctx=4096)
    async with serving(open_backend=lambda _on_progress: open_llama_backend(params)) as served:
        for seed in range(2 * EFFORT):
            status, body = await served.post("/v1/chat/completions", asked | {"seed": seed})
            assert status == 200, body
            (one,) = body["choices"]
            assert (one["finish_reason"], one["message"]["content"]) == ("tool_calls", None)
            (call,) = one["message"]["tool_calls"]
            assert call["function"]["name"] in (("flip", "other") if choice == "required" else ("flip",))
            assert isinstance(json.loads(call["function"]["arguments"])["up"], bool)


@pytest.mark.parametrize("template", [QWEN, STRICT, None], ids=["with tools", "strict", "none"])
async def test_random_weights_follow_the_schema_or_call_a_tool(tmp_path, template):
    model = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=template)
    params = LoadParams(model, n_ctx=4096)
    reasons = []
    async with serving(open_backend=lambda _on_progress: open_llama_backend(params)) as served:
        for seed in range(8):
            status, body = await served.post("/v1/chat/completions", ASKED | {"seed": seed})
            assert status == 200, body
            (choice,) = body["choices"]
            reasons.append(choice["finish_reason"])
            if choice["finish_reason"] == "stop":
                assert json.loads(choice["message"]["content"])["n"] in range(1, 10)
                continue
            assert choice["message"]["content"] is None
            for call in choice["message"]["tool_calls"]:
                assert call["function"]["name"] == "flip"
                assert isinstance(json.loads(call["function"]["arguments"])["up"], bool)
    assert set(reasons) == {"stop", "tool_calls"}
