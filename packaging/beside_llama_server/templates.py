"""Every chat template of llama.cpp: prompts, and what is read out of answers that the template itself wrote.

An answer is written by the template, as a past turn of a chat; then a model is made that says just that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from api_clients.server import llama_server, running, skein
from beside_llama_server.scripted import write_scripted
from beside_llama_server.servers import Body, RefusedError, Server

KEY = "key"
CHAT = "/v1/chat/completions"
USER = {"role": "user", "content": "Hello!"}
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
PLACE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
}
TRIP = {
    "type": "object",
    "properties": {
        "stops": {"type": "array", "items": {"$ref": "#/$defs/place"}},
        "more": {"type": "object"},
    },
    "required": ["stops"],
    "$defs": {"place": PLACE},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": f"About {name}.", "parameters": schema}}
    for name, schema in (("get_weather", WEATHER), ("book_trip", TRIP))
]
PARIS = ("get_weather", {"city": "Paris", "days": 3})
ROME = ("get_weather", {"city": "Rome"})
NESTED = (
    "book_trip",
    {
        "stops": [{"name": "A", "tags": ["x", "y"]}, {"name": "B", "tags": []}],
        "more": {"a": {"b": [1.5, True, None]}},
    },
)
UNICODE = ("get_weather", {"city": 'Zürich 北京 🙂 "quoted" \\ <tag> & line\nfeed'})


def turn(content: str | None = None, *calls: tuple[str, Body], reasoning: str = "") -> Body:
    """An answer as it stands in a chat."""
    said: Body = {"role": "assistant", "content": content}
    if reasoning:
        said["reasoning_content"] = reasoning
    if calls:
        said["tool_calls"] = [
            {"id": f"call{index:05}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(calls)
        ]
    return said


@dataclass(frozen=True, slots=True)
class Case:
    """What the model says, and what is asked beside the messages. `share` of the answer is said."""

    says: Body
    asked: Body
    share: float = 1


WITH_TOOLS = {"tools": TOOLS, "parallel_tool_calls": True}
ANSWERS = {
    "text": Case(turn("Grüße, 北京 🙂."), {}),
    "text beside tools": Case(turn("Nothing to do."), WITH_TOOLS),
    "reasoning": Case(turn("It is four.", reasoning="Two and two…\nis four."), {}),
    "reasoning off": Case(turn("It is four."), {"chat_template_kwargs": {"enable_thinking": False}}),
    "reasoning as text": Case(turn("Four.", reasoning="Two and two."), {"reasoning_format": "none"}),
    "one call": Case(turn(None, PARIS), WITH_TOOLS),
    "required": Case(turn(None, PARIS), {**WITH_TOOLS, "tool_choice": "required"}),
    "two calls": Case(turn(None, PARIS, ROME), WITH_TOOLS),
    "nested": Case(turn(None, NESTED), WITH_TOOLS),
    "unicode": Case(turn(None, UNICODE), WITH_TOOLS),
    "reasoning and call": Case(turn("I look.", PARIS, reasoning="The weather."), WITH_TOOLS),
    "half a call": Case(turn(None, UNICODE), WITH_TOOLS, share=0.6),
}
PROMPTS: dict[str, Body] = {
    "chat": {
        "messages": [
            {"role": "system", "content": "Be brief."},
            USER,
            turn("Hi."),
            {"role": "user", "content": "北京 🙂"},
        ]
    },
    "without a system message": {"messages": [USER]},
    "tools": {"messages": [USER], "tools": TOOLS},
    "results": {
        "messages": [
            USER,
            turn(None, PARIS, NESTED),
            *(
                {"role": "tool", "tool_call_id": f"call{index:05}", "content": "Rain 🙂."}
                for index in range(2)
            ),
        ],
        "tools": TOOLS,
    },
    "past reasoning": {"messages": [USER, turn("Four.", reasoning="Two and two."), USER]},
    "no thinking": {"messages": [USER], "chat_template_kwargs": {"enable_thinking": False}},
    "begun answer": {"messages": [USER, turn("It is")]},
    "tools and a schema": {
        "messages": [USER],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": WEATHER}},
    },
}
# By template: what differs on purpose in prompts with tools.
NO_PLACE = "it has no place for tools: Skein describes them to the model, llama-server leaves them out"
MEANT = {
    "HuggingFaceTB-SmolLM3-3B.jinja": NO_PLACE,
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja": NO_PLACE,
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja": NO_PLACE,
    "deepseek-ai-DeepSeek-V3.1.jinja": NO_PLACE,
    "fireworks-ai-llama-3-firefunction-v2.jinja": "Skein shows it the tools under its own name for them",
    "google-gemma-2-2b-it.jinja": NO_PLACE,
    "ibm-granite-granite-3.3-2B-Instruct.jinja": "it shows no calls: Skein says how to write them",
    "llama-cpp-rwkv-world.jinja": NO_PLACE,
    "microsoft-Phi-3.5-mini-instruct.jinja": NO_PLACE,
}
# By case, where llama-server's outcome has these words.
MEANT_CASES = {
    "answer: required": ("'calls': []", "its answer ends without a call, which Skein holds it to"),
    "stream: required": ("('finish', 'stop')", "its answer ends without a call, which Skein holds it to"),
    "prompt: results": ("single tool-calls at once", "it is refused; Skein shows one call after the other"),
}
ABOUT_TOOLS = ("prompt: tools", "prompt: results")
MARGIN = 1500  # tokens by which the prompt of one server may be longer
FAILS_THERE = "llama-server fails: "
Outcomes = dict[str, str]  # by case: empty where both are the same, else how they differ


def compare_template(template: Path, program: Path, folder: Path) -> Outcomes:
    """Of all prompts and answers. Raises SystemExit where llama-server does not start with the template."""
    text = template.read_text(encoding="utf-8")
    model = folder / "scripted.gguf"
    write_scripted(model, text, 256, {})
    with running(llama_server(program, model, KEY, "--no-prefill-assistant")) as url:
        scripts = dict(_scripts(Server(url, KEY)))
    lengths = [len(prompt.encode()) + len(script.encode()) for prompt, script in scripts.values()]
    width = max(map(len, (script.encode() for _, script in scripts.values()))) + 8
    first = max(lengths, default=0) + MARGIN
    places = {name: first + index * width for index, name in enumerate(scripts)}
    n_ctx = first + (len(scripts) + 1) * width + 64
    write_scripted(model, text, n_ctx, {places[name]: script for name, (_, script) in scripts.items()})
    with running(llama_server(program, model, KEY)) as theirs, running(skein(model, KEY)) as ours:
        both = Server(theirs, KEY), Server(ours, KEY)
        outcomes = {f"prompt: {name}": _difference(both, _prompt_of(body)) for name, body in PROMPTS.items()}
        for name, place in places.items():
            case = ANSWERS[name]
            if case.share < 1:
                case = replace(case, asked={**case.asked, "max_tokens": len(scripts[name][1].encode())})
            outcomes[f"answer: {name}"] = _difference(both, _whole(case, place))
            outcomes[f"stream: {name}"] = _difference(both, _streamed(case, place))
    return outcomes


def _scripts(server: Server) -> Iterator[tuple[str, tuple[str, str]]]:
    """By case: the prompt, and the answer as the template writes it. What it cannot write is left out."""
    end = _written(server, Case(turn("Done"), {})).rpartition("Done")[2]
    for name, case in ANSWERS.items():
        try:
            prompt = server.post("/apply-template", {"messages": [USER], **case.asked})["prompt"]
            written = _written(server, case)
        except RefusedError:
            continue
        script = written[_common(prompt, written) :]
        script = script[: len(script) - _common(script[::-1], end[::-1])]
        script = script[: int(len(script) * case.share)]
        if script:
            yield name, (prompt, script)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next(
        (index for index, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _written(server: Server, case: Case) -> str:
    body = {"messages": [USER, case.says], "add_generation_prompt": False, **case.asked}
    return str(server.post("/apply-template", body)["prompt"])


def _padded(server: Server, case: Case, num_tokens: int) -> Body:
    """The request, with a user's message that makes its prompt as long as the script needs."""
    body: Body = {"messages": [USER], "temperature": 0, "max_tokens": 2000, **case.asked}
    for _ in range(3):  # a template may show a message twice
        prompt = server.post("/apply-template", body)["prompt"]
        length = len(
            server.post("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})[
                "tokens"
            ]
        )
        if length == num_tokens:
            return body
        content = body["messages"][0]["content"] + "." * (num_tokens - length)
        body = {**body, "messages": [{"role": "user", "content": content}]}
    return body


Read = Callable[[Server], Any]


def _difference(both: tuple[Server, Server], read: Read) -> str:
    theirs, ours = (_outcome(server, read) for server in both)
    if theirs == ours:
        return ""
    if isinstance(theirs, Refused) and theirs.status >= 500:
        return f"{FAILS_THERE}{theirs.message}, Skein {ours!r}"
    return f"llama-server {theirs!r}, Skein {ours!r}"


def _outcome(server: Server, read: Read) -> Any:
    try:
        return read(server)
    except RefusedError as error:
        return Refused(error.status, str(error))


@dataclass(frozen=True, slots=True)
class Refused:
    """Both may say it in words of their own."""

    status: int
    message: str = field(compare=False)


def _prompt_of(body: Body) -> Read:
    return lambda server: server.post("/apply-template", body)["prompt"]


def _whole(case: Case, place: int) -> Read:
    def read(server: Server) -> Any:
        choice = server.post(CHAT, _padded(server, case, place))["choices"][0]
        return _message(choice["message"]), choice["finish_reason"]

    return read


def _message(message: Body) -> Body:
    calls = [
        (call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or []
    ]
    return {
        "content": message.get("content") or "",
        "reasoning": message.get("reasoning_content") or "",
        "calls": calls,
    }


def _streamed(case: Case, place: int) -> Read:
    """What came in which order. How much text comes in one chunk is left out."""

    def read(server: Server) -> Any:
        pieces: list[tuple[str, str]] = []
        for chunk in server.stream(CHAT, _padded(server, case, place)):
            for choice in chunk["choices"]:
                for kind, text in _pieces(choice):
                    if pieces and pieces[-1][0] == kind:
                        text = pieces.pop()[1] + text
                    pieces.append((kind, text))
        return pieces

    return read


def _pieces(choice: Body) -> Iterator[tuple[str, str]]:
    delta = choice["delta"]
    for kind in ("reasoning_content", "content"):
        if text := delta.get(kind):
            yield kind, text
    for call in delta.get("tool_calls") or []:
        function = call["function"]
        if function.get("name"):
            yield f"name {call['index']}", function["name"]
        if function.get("arguments"):
            yield f"arguments {call['index']}", function["arguments"]
    if choice.get("finish_reason"):
        yield "finish", choice["finish_reason"]
