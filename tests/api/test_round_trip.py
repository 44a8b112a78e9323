"""Whatever the server gave it takes back: answers cut anywhere, in the history of the next request."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.api.conftest import Served, serving
from tests.api.parrot import QWEN, QWEN3, TEMPLATES, Parrot
from tests.conftest import TINY_CONTEXT
from tests.effort import EFFORT
from tests.fakes import CountingBackend, endless_token

NUM_ANSWERS = 6 * EFFORT
QUESTION = {"role": "user", "content": "How is it in Kraków?"}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}, "deep": {}}}
FUNCTION = {"name": "look", "description": "", "parameters": PARAMETERS}
TOOL = {"type": "function", "function": FUNCTION}
MISTRAL = (TEMPLATES / "mistralai-Mistral-Nemo-Instruct-2407.jinja").read_text()
GLM = (TEMPLATES / "GLM-4.6.jinja").read_text()
GPT_OSS = (TEMPLATES / "openai-gpt-oss-120b.jinja").read_text()
ARGUMENTS = [
    "{}",
    '{"city": "\\ud83d"}',
    '{"city": "Krak\\u00f3w \\"x\\" 🙂"}',
    '{"city": "a", "deep": [1.5, {"x": [null, true]}]}',
    '{"deep": ' + "[" * 150,
    "[1]",
    '"x"',
    "",
]
PIECES = {
    QWEN: ["So: ", "\n", '<tool_call>\n{"name": "look", "arguments": %s}\n</tool_call>'],
    QWEN3: [
        "<think>\nHm.\n</think>\n\n",
        "<think>",
        "Hi 🙂",
        '<tool_call>\n{"name": "look", "arguments": %s}\n</tool_call>\n',
    ],
    MISTRAL: ["Hi", '[TOOL_CALLS][{"name": "look", "arguments": %s, "id": "abcdefghi"}]'],
    GLM: [
        "\n<think>Hm</think>\n",
        "Hi",
        "<tool_call>look\n<arg_key>city</arg_key>\n<arg_value>%s</arg_value>\n</tool_call>",
    ],
    GPT_OSS: [
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant",
        "<|channel|>final<|message|>Hi",
        "<|channel|>commentary to=functions.look <|constrain|>json<|message|>%s",
    ],
}


class Babbler(Parrot):
    def say(self, text: str) -> None:
        self._text, self.num_prompt_tokens = text.encode(), 0


def babble(draw: random.Random, template: str) -> str:
    pieces = [draw.choice(PIECES[template]) for _ in range(draw.randint(0, 4))]
    return "".join(piece % draw.choice(ARGUMENTS) if "%s" in piece else piece for piece in pieces)


async def completion(served: Served, body: dict[str, Any], streamed: bool) -> list[dict[str, Any]]:
    """The messages that a client of chat completions holds for answers."""
    if not streamed:
        status, whole = await served.post("/v1/chat/completions", body)
        assert status == 200, whole
        return [choice["message"] for choice in whole["choices"]]
    messages: dict[int, dict[str, Any]] = {}
    for event in await served.events("/v1/chat/completions", body):
        for choice in event["choices"] if event != "[DONE]" else ():
            message = messages.setdefault(choice["index"], {"role": "assistant", "content": None})
            for name in ("content", "reasoning_content"):
                if text := choice["delta"].get(name):
                    message[name] = (message.get(name) or "") + text
            for call in choice["delta"].get("tool_calls", ()):
                calls = message.setdefault("tool_calls", [])
                if call.get("id"):
                    calls.append(call)
                else:
                    calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    return list(messages.values())


async def chat_completions(served: Served, streamed: bool, max_tokens: int) -> None:
    asked = {"messages": [QUESTION], "tools": [TOOL], "max_tokens": max_tokens}
    for message in await completion(served, asked | {"n": 2}, streamed):
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": None}
            for call in message.get("tool_calls") or ()
        ]
        messages = [QUESTION, message, *(results or [QUESTION])]
        status, body = await served.post("/v1/chat/completions", asked | {"messages": messages})
        assert status == 200, (message, body)


async def anthropic(served: Served, streamed: bool, max_tokens: int) -> None:
    tool = {"name": "look", "input_schema": PARAMETERS}
    asked = {"messages": [QUESTION], "tools": [tool], "max_tokens": max_tokens}
    content: list[dict[str, Any]] = []
    if streamed:
        for name, event in await served.named_events("/v1/messages", asked):
            if name == "content_block_start":
                content.append(event["content_block"])
            elif name == "content_block_delta":
                add_to_block(content[-1], event["delta"])
    else:
        content = (await served.post("/v1/messages", asked))[1]["content"]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"]}
        for block in content
        if block["type"] == "tool_use"
    ]
    messages = [
        QUESTION,
        {"role": "assistant", "content": content},
        {"role": "user", "content": results} if results else QUESTION,
    ]
    status, body = await served.post("/v1/messages", asked | {"messages": messages})
    assert status == 200, (content, body)


def add_to_block(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta["type"]:
        case "input_json_delta":
            block["input"] = (block["input"] or "") + delta["partial_json"]
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]


async def responses(served: Served, streamed: bool, max_tokens: int) -> None:
    asked = {
        "input": [QUESTION],
        "tools": [{"type": "function", **FUNCTION}],
        "max_output_tokens": max_tokens,
    }
    if streamed:
        response = (await served.named_events("/v1/responses", asked))[-1][1]["response"]
    else:
        response = (await served.post("/v1/responses", asked))[1]
    results = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": ""}
        for item in response["output"]
        if item["type"] == "function_call"
    ]
    for more in (
        {"input": [QUESTION, *response["output"], *(results or [QUESTION])]},
        {"input": results or [QUESTION], "previous_response_id": response["id"]},
    ):
        status, body = await served.post("/v1/responses", asked | more)
        assert status == 200, (response["output"], body)


async def ollama(served: Served, streamed: bool, max_tokens: int) -> None:
    asked = {"messages": [QUESTION], "tools": [TOOL], "options": {"num_predict": max_tokens}}
    address = f"{served.server.address}/api/chat"
    async with served.http.post(address, json=asked | {"stream": streamed}) as response:
        assert response.status == 200, await response.text()
        lines = [json.loads(line)["message"] for line in (await response.text()).splitlines()]
    message = {
        "role": "assistant",
        "content": "".join(line["content"] for line in lines),
        "thinking": "".join(line.get("thinking", "") for line in lines),
        "tool_calls": [call for line in lines for call in line.get("tool_calls", ())],
    }
    results = [{"role": "tool", "content": None, "tool_name": "look"} for _call in message["tool_calls"]]
    messages = [QUESTION, message, *(results or [QUESTION])]
    status, body = await served.post("/api/chat", asked | {"messages": messages, "stream": False})
    assert status == 200, (message, body)


async def test_an_answer_may_have_any_number_of_calls() -> None:
    """A small model may repeat one until its limit."""
    uses = [{"type": "tool_use", "id": f"c{n}", "name": "look", "input": {}} for n in range(1500)]
    calls = [{"id": use["id"], "type": "function", "function": {"name": "look"}} for use in uses]
    turns = {
        "/v1/messages": {"role": "assistant", "content": uses},
        "/v1/chat/completions": {"role": "assistant", "content": None, "tool_calls": calls},
        "/api/chat": {"role": "assistant", "tool_calls": calls},
    }
    async with serving(CountingBackend(endless_token, **(TINY_CONTEXT | {"n_ctx": 1 << 18}))) as served:
        for path, turn in turns.items():
            asked = {"messages": [QUESTION, turn, QUESTION], "max_tokens": 1, "stream": False}
            status, body = await served.post(path, asked | {"options": {"num_predict": 1}})
            assert status == 200, body


Protocol = Callable[[Served, bool, int], Awaitable[None]]


@pytest.mark.parametrize("protocol", [chat_completions, anthropic, responses, ollama])
@pytest.mark.parametrize("template", PIECES, ids=["qwen 2.5", "qwen 3", "mistral", "glm", "gpt-oss"])
async def test_an_answer_is_taken_back_wherever_it_was_cut(protocol: Protocol, template: str) -> None:
    draw = random.Random(f"{protocol.__name__} {PIECES[template]}")
    backend = Babbler("", template)
    async with serving(backend) as served:
        for number in range(NUM_ANSWERS):
            text = babble(draw, template)
            backend.say(text)
            await protocol(served, bool(number % 2), draw.randint(1, len(text.encode()) + 1))
