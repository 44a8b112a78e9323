"""ollama: its own API. It has no word for a tool that must be called."""

from typing import Any

import ollama

from api_clients import features as f
from api_clients.features import Trip, Weather, check


def client(url=f.URL, key=f.KEY):
    return ollama.Client(url, headers={"Authorization": f"Bearer {key}"}, timeout=f.CLIENT_TIMEOUT_S)


ask: dict[str, Any] = {"model": f.MODEL, "messages": f.MESSAGES, "options": {"num_predict": 1000}}
short = ask | {"options": {"num_predict": 8}}


def chat():
    (model, *_) = client().list().models
    client().show(model.model)
    answer = client().chat(**short | {"model": model.model})
    check(answer.message.content and answer.done_reason == "length" and answer.eval_count == 8, answer)
    check(client().generate(f.MODEL, "Hello!", options={"num_predict": 8}).response, "no text")


def stream():
    chunks = list(client().chat(**short, stream=True))
    check("".join(chunk.message.content or "" for chunk in chunks) and chunks[-1].done, chunks)


def parallel():
    _check_calls(client(f.CALLER_URL).chat(**ask, tools=[f.WEATHER_TOOL]).message.tool_calls)


def streamed():
    chunks = client(f.CALLER_URL).chat(**ask, tools=[f.WEATHER_TOOL], stream=True)
    _check_calls([call for chunk in chunks for call in chunk.message.tool_calls or []])


def _check_calls(calls):
    f.check_calls([(call.function.name, call.function.arguments) for call in calls or []])


def results():
    call = {"function": {"name": "get_weather", "arguments": f.PARIS}}
    more = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_name": "get_weather", "content": "Rain."},
    ]
    answer = client().chat(**short | {"messages": f.MESSAGES + more}, tools=[f.WEATHER_TOOL])
    check(answer.message.content, answer)


def schema():
    Weather.model_validate_json(client().chat(**ask, format=Weather.model_json_schema()).message.content)


def schema_nested():
    Trip.model_validate_json(client().chat(**ask, format=Trip.model_json_schema()).message.content)


def logprobs():
    answer = client().chat(**short, logprobs=True, top_logprobs=3)
    check(len(answer.logprobs) == 8 and len(answer.logprobs[0].top_logprobs) == 3, answer.logprobs)


def errors():
    said = f.check_raises(ollama.ResponseError, lambda: client(key="wrong").chat(**short))
    check("401" in said, said)
    said = f.check_raises(ollama.ResponseError, lambda: client().chat(**ask | {"options": {"top_p": 99}}))
    check("400" in said, said)


def cancel():
    def leave():
        answer = client().chat(**ask | {"options": {"num_predict": f.FOREVER}}, stream=True)
        next(answer)
        answer.close()

    f.check_cancelled(leave)


f.run("ollama", globals())
