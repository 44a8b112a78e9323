"""litellm: the provider for servers that speak OpenAI's API."""

import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it fetches prices otherwise

import litellm

from api_clients import features as f
from api_clients.features import Trip, Weather, check

ask: dict[str, Any] = {
    "model": f"openai/{f.MODEL}",
    "messages": f.MESSAGES,
    "api_base": f"{f.URL}/v1",
    "api_key": f.KEY,
    "max_tokens": 1000,
    "num_retries": 0,
    "timeout": f.CLIENT_TIMEOUT_S,
}
short = ask | {"max_tokens": 8}
ask_caller = ask | {"api_base": f"{f.CALLER_URL}/v1", "tools": [f.WEATHER_TOOL], "parallel_tool_calls": True}


def chat():
    answer = litellm.completion(**short)
    check(answer.choices[0].message.content and answer.usage.completion_tokens == 8, answer)


def stream():
    chunks = list(litellm.completion(**short, stream=True, stream_options={"include_usage": True}))
    check("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), chunks)


def tools():
    Weather.model_validate_json(_forced([f.WEATHER_TOOL], "required").arguments)


def nested():
    Trip.model_validate_json(_forced([f.TRIP_TOOL], "required").arguments)


def forced():
    choice = {"type": "function", "function": {"name": "book_trip"}}
    call = _forced([f.WEATHER_TOOL, f.TRIP_TOOL], choice)
    check(call.name == "book_trip", call)


def _forced(tools, choice):
    answer = litellm.completion(**ask, tools=tools, tool_choice=choice)
    return answer.choices[0].message.tool_calls[0].function


def parallel():
    _check_calls(litellm.completion(**ask_caller))


def streamed():
    _check_calls(litellm.stream_chunk_builder(list(litellm.completion(**ask_caller, stream=True))))


def _check_calls(answer):
    calls = answer.choices[0].message.tool_calls or []
    f.check_calls([(call.function.name, call.function.arguments) for call in calls])


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
    answer = litellm.completion(**short | {"messages": f.MESSAGES + more}, tools=[f.WEATHER_TOOL])
    check(answer.choices[0].message.content, answer)


def schema():
    Weather.model_validate_json(litellm.completion(**ask, response_format=Weather).choices[0].message.content)


def schema_nested():
    Trip.model_validate_json(litellm.completion(**ask, response_format=Trip).choices[0].message.content)


def logprobs():
    answer = litellm.completion(**short, logprobs=True, top_logprobs=3).choices[0]
    check(len(answer.logprobs.content) == 8, answer)


def n():
    check(len(litellm.completion(**short, n=2).choices) == 2, "not two")


def errors():
    f.check_raises(litellm.AuthenticationError, lambda: litellm.completion(**short | {"api_key": "wrong"}))
    f.check_raises(litellm.BadRequestError, lambda: litellm.completion(**short, temperature=-5))


def cancel():
    def leave():
        answer = litellm.completion(**ask | {"max_tokens": f.FOREVER}, stream=True)
        next(answer)
        answer.completion_stream.close()

    f.check_cancelled(leave)


f.run("litellm", globals())
