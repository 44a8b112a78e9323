"""openai: the Responses API."""

import json
from typing import Any

import openai
from openai import OpenAI

from api_clients import features as f
from api_clients.features import Trip, Weather, check

client = OpenAI(base_url=f"{f.URL}/v1", api_key=f.KEY, max_retries=0, timeout=f.CLIENT_TIMEOUT_S)
caller = client.with_options(base_url=f"{f.CALLER_URL}/v1")
ask: dict[str, Any] = {"model": f.MODEL, "input": f.MESSAGES, "max_output_tokens": 1000}
short = ask | {"max_output_tokens": 16}
WEATHER = {"type": "function", **f.WEATHER_TOOL["function"]}
TRIP = {"type": "function", **f.TRIP_TOOL["function"]}


def chat():
    answer = client.responses.create(**short, instructions="Be brief.")
    check(answer.output_text and answer.usage.output_tokens == 16, answer)
    check(answer.status == "incomplete" and answer.incomplete_details.reason == "max_output_tokens", answer)


def stream():
    events = list(client.responses.create(**short, stream=True))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    check(events[0].type == "response.created" and events[-1].type == "response.incomplete", events[-1])
    check(text and text == events[-1].response.output_text, text)


def tools():
    Weather.model_validate_json(_forced([WEATHER], "required").arguments)


def nested():
    Trip.model_validate_json(_forced([TRIP], "required").arguments)


def forced():
    call = _forced([WEATHER, TRIP], {"type": "function", "name": "book_trip"})
    check(call.name == "book_trip", call)
    Trip.model_validate_json(call.arguments)


def _forced(tools, choice):
    answer = client.responses.create(**ask, tools=tools, tool_choice=choice)
    return next(item for item in answer.output if item.type == "function_call")


def parallel():
    answer = caller.responses.create(**ask, tools=[WEATHER], parallel_tool_calls=True)
    f.check_calls([(item.name, item.arguments) for item in answer.output if item.type == "function_call"])


def streamed():
    with caller.responses.stream(**ask, tools=[WEATHER], parallel_tool_calls=True) as events:
        num_pieces = sum(event.type == "response.function_call_arguments.delta" for event in events)
        answer = events.get_final_response()
    f.check_calls([(item.name, item.arguments) for item in answer.output if item.type == "function_call"])
    check(num_pieces, "arguments come as a whole")


def results():
    more = [
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "get_weather",
            "arguments": json.dumps(f.PARIS),
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "Rain."},
    ]
    answer = client.responses.create(**short | {"input": f.MESSAGES + more}, tools=[WEATHER])
    check(answer.output_text, answer)


def schema():
    check(isinstance(client.responses.parse(**ask, text_format=Weather).output_parsed, Weather), "not parsed")


def schema_nested():
    check(isinstance(client.responses.parse(**ask, text_format=Trip).output_parsed, Trip), "not parsed")


def logprobs():
    answer = client.responses.create(**short, top_logprobs=3, include=["message.output_text.logprobs"])
    given = answer.output[0].content[0].logprobs
    check(given and len(given) == 16 and len(given[0].top_logprobs) == 3, given)


def errors():
    wrong = client.with_options(api_key="wrong")
    f.check_raises(openai.AuthenticationError, lambda: wrong.responses.create(**short))
    f.check_raises(openai.BadRequestError, lambda: client.responses.create(**short, temperature="hot"))


def cancel():
    def leave():
        with client.responses.create(**ask | {"max_output_tokens": f.FOREVER}, stream=True) as answer:
            next(iter(answer))

    f.check_cancelled(leave)


f.run("openai", globals())
