"""anthropic: the Messages API."""

from typing import Any, Literal

import anthropic
from pydantic import BaseModel

from api_clients import features as f
from api_clients.features import Trip, Weather, check

client = anthropic.Anthropic(base_url=f.URL, api_key=f.KEY, max_retries=0, timeout=f.CLIENT_TIMEOUT_S)
caller = client.with_options(base_url=f.CALLER_URL)
ask: dict[str, Any] = {
    "model": f.MODEL,
    "system": "Be brief.",
    "messages": f.MESSAGES[1:],
    "max_tokens": 1000,
}
short = ask | {"max_tokens": 8}


def _tool(tool):
    function = tool["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


WEATHER, TRIP = _tool(f.WEATHER_TOOL), _tool(f.TRIP_TOOL)


def chat():
    answer = client.messages.create(**short)
    check(answer.content[0].text and answer.stop_reason == "max_tokens", answer)
    check(answer.usage.output_tokens == 8, answer.usage)
    counted = client.messages.count_tokens(**{name: ask[name] for name in ("model", "system", "messages")})
    check(
        counted.input_tokens == answer.usage.input_tokens + (answer.usage.cache_read_input_tokens or 0),
        counted,
    )


def stream():
    with client.messages.stream(**short) as answer:
        text = "".join(answer.text_stream)
        check(text and text == answer.get_final_message().content[0].text, text)


def tools():
    Weather.model_validate(_forced([WEATHER], {"type": "any"}).input)


def nested():
    Trip.model_validate(_forced([TRIP], {"type": "any"}).input)


def forced():
    call = _forced([WEATHER, TRIP], {"type": "tool", "name": "book_trip"})
    check(call.name == "book_trip", call)


def _forced(tools, choice):
    answer = client.messages.create(**ask, tools=tools, tool_choice=choice)
    check(answer.stop_reason == "tool_use", answer)
    return next(block for block in answer.content if block.type == "tool_use")


def parallel():
    _check_calls(caller.messages.create(**ask, tools=[WEATHER]))


def streamed():
    with caller.messages.stream(**ask, tools=[WEATHER]) as answer:
        num_pieces = sum(event.type == "input_json" for event in answer)
        _check_calls(answer.get_final_message())
    check(num_pieces > 2, "arguments come as a whole, not as they are written")


def _check_calls(answer):
    f.check_calls([(block.name, block.input) for block in answer.content if block.type == "tool_use"])


def results():
    call = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": f.PARIS}
    more = [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain."}]},
    ]
    answer = client.messages.create(**short | {"messages": ask["messages"] + more}, tools=[WEATHER])
    check(answer.content[0].text, answer)


class Forecast(BaseModel):
    """Without limits: this client takes them out of a schema."""

    city: str
    metric: bool


class Stop(BaseModel):
    name: str
    kind: Literal["town", "village"]


class Journey(BaseModel):
    start: Stop
    stops: list[Stop]


def schema():
    check(
        isinstance(client.messages.parse(**ask, output_format=Forecast).parsed_output, Forecast), "not parsed"
    )


def schema_nested():
    check(
        isinstance(client.messages.parse(**ask, output_format=Journey).parsed_output, Journey), "not parsed"
    )


def errors():
    wrong = client.with_options(api_key="wrong")
    f.check_raises(anthropic.AuthenticationError, lambda: wrong.messages.create(**short))
    f.check_raises(
        anthropic.BadRequestError, lambda: client.messages.create(**short | {"max_tokens": "many"})
    )


def cancel():
    def leave():
        with client.messages.stream(**ask | {"max_tokens": f.FOREVER}) as answer:
            next(iter(answer.text_stream))

    f.check_cancelled(leave)


f.run("anthropic", globals())
