"""llm: OpenAI's chat completions, as a model of extra-openai-models.yaml is."""

import json

import llm
import openai
from llm.default_plugins.openai_models import Chat

from api_clients import features as f
from api_clients.features import Trip, Weather, check


def model(url=f.URL):
    return Chat(f.MODEL, api_base=f"{url}/v1", supports_schema=True, supports_tools=True)


def ask(text="Hello!", *, url=f.URL, key=f.KEY, **more):
    return model(url).prompt(text, system="Be brief.", key=key, **{"max_tokens": 1000, **more})


def chat():
    check(ask(max_tokens=8, stream=False).text(), "no text")


def stream():
    check(len(list(ask(max_tokens=8))) > 1, "not in pieces")


WEATHER = llm.Tool("get_weather", Weather.__doc__, Weather.model_json_schema(), lambda **_: "Rain.")


def parallel():
    _check_calls(ask(url=f.CALLER_URL, tools=[WEATHER], stream=False))


def streamed():
    _check_calls(ask(url=f.CALLER_URL, tools=[WEATHER]))


def _check_calls(answer):
    f.check_calls([(call.name, call.arguments) for call in answer.tool_calls()])


def results():
    conversation = llm.Conversation(model())
    given = {"tools": [WEATHER], "key": f.KEY, "max_tokens": 1000}
    called = conversation.prompt("Rain?", **given).execute_tool_calls()
    check(called and conversation.prompt("", tool_results=called, **given).text(), called)


def schema():
    Weather.model_validate(json.loads(ask(schema=Weather).text()))


def schema_nested():
    Trip.model_validate(json.loads(ask(schema=Trip).text()))


def errors():
    f.check_raises(openai.AuthenticationError, lambda: ask(key="wrong").text())


def cancel():
    def leave():
        answer = iter(ask(max_tokens=f.FOREVER))
        next(answer)
        answer.close()

    f.check_cancelled(leave)


f.run("llm", globals())
