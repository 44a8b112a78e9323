"""openai: chat completions."""

import json
from collections import defaultdict
from typing import Any

import openai
from openai import OpenAI

from api_clients import features as f
from api_clients.features import Trip, Weather, check

client = OpenAI(base_url=f"{f.URL}/v1", api_key=f.KEY, max_retries=0, timeout=f.CLIENT_TIMEOUT_S)
caller = client.with_options(base_url=f"{f.CALLER_URL}/v1")
ask: dict[str, Any] = {"model": f.MODEL, "messages": f.MESSAGES, "max_tokens": 1000}
short = ask | {"max_tokens": 8}


def chat():
    answer = client.chat.completions.create(**short)
    check(answer.choices[0].message.content and answer.choices[0].finish_reason == "length", answer)
    check(answer.usage.completion_tokens == 8 and answer.usage.prompt_tokens > 8, answer.usage)


def stream():
    chunks = list(
        client.chat.completions.create(**short, stream=True, stream_options={"include_usage": True})
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    check(text and chunks[-1].usage.completion_tokens == 8, chunks[-1])


def tools():
    call = _forced([f.WEATHER_TOOL], "required")
    Weather.model_validate_json(call.arguments)


def nested():
    call = _forced([f.TRIP_TOOL], "required")
    Trip.model_validate_json(call.arguments)


def forced():
    call = _forced([f.WEATHER_TOOL, f.TRIP_TOOL], {"type": "function", "function": {"name": "book_trip"}})
    check(call.name == "book_trip", call)
    Trip.model_validate_json(call.arguments)


def _forced(tools, choice):
    answer = client.chat.completions.create(**ask, tools=tools, tool_choice=choice).choices[0]
    check(answer.finish_reason == "tool_calls", answer)
    return answer.message.tool_calls[0].function


def parallel():
    answer = caller.chat.completions.create(**ask, tools=[f.WEATHER_TOOL], parallel_tool_calls=True)
    f.check_calls(
        [(call.function.name, call.function.arguments) for call in answer.choices[0].message.tool_calls]
    )


def streamed():
    # A server that is quicker than its reader may send several pieces as one.
    check(max(_num_pieces() for _ in range(10)) > 2, "arguments come as a whole, not as they are written")


def _num_pieces():
    calls: dict[int, list[str]] = defaultdict(lambda: ["", ""])
    num_pieces = 0
    body = ask | {"tools": [f.WEATHER_TOOL], "parallel_tool_calls": True}
    for chunk in caller.chat.completions.create(**body, stream=True):
        for call in chunk.choices[0].delta.tool_calls or []:
            calls[call.index][0] += call.function.name or ""
            calls[call.index][1] += call.function.arguments or ""
            num_pieces += 1
    f.check_calls([(name, arguments) for name, arguments in calls.values()])
    return num_pieces


def results():
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": json.dumps(f.PARIS)},
    }
    more = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Rain."},
    ]
    answer = client.chat.completions.create(**short | {"messages": f.MESSAGES + more}, tools=[f.WEATHER_TOOL])
    check(answer.choices[0].message.content, answer)


def schema():
    answer = client.chat.completions.parse(**ask, response_format=Weather)
    check(isinstance(answer.choices[0].message.parsed, Weather), answer)


def schema_nested():
    answer = client.chat.completions.parse(**ask, response_format=Trip)
    check(isinstance(answer.choices[0].message.parsed, Trip), answer)


def logprobs():
    answer = client.chat.completions.create(**short, logprobs=True, top_logprobs=3).choices[0]
    check(
        len(answer.logprobs.content) == 8 and len(answer.logprobs.content[0].top_logprobs) == 3,
        answer.logprobs,
    )


def n():
    answer = client.chat.completions.create(**short, n=2, seed=1)
    check([choice.index for choice in answer.choices] == [0, 1], answer)


def errors():
    wrong = client.with_options(api_key="wrong")
    f.check_raises(openai.AuthenticationError, lambda: wrong.chat.completions.create(**short))
    f.check_raises(openai.BadRequestError, lambda: client.chat.completions.create(**short, temperature="hot"))


def cancel():
    def leave():
        with client.chat.completions.create(**ask | {"max_tokens": f.FOREVER}, stream=True) as answer:
            next(iter(answer))

    f.check_cancelled(leave)


f.run("openai", globals())
