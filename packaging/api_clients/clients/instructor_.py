"""instructor: answers of a pydantic model, by tools and by schemas."""

from collections.abc import Iterable
from typing import Any

import instructor
from openai import OpenAI

from api_clients import features as f
from api_clients.features import Trip, Weather, check

openai_client = OpenAI(base_url=f"{f.URL}/v1", api_key=f.KEY, max_retries=0, timeout=f.CLIENT_TIMEOUT_S)
by_tools = instructor.from_openai(openai_client, mode=instructor.Mode.TOOLS)
by_schema = instructor.from_openai(openai_client, mode=instructor.Mode.JSON_SCHEMA)
by_two_calls = instructor.from_openai(
    openai_client.with_options(base_url=f"{f.CALLER_URL}/v1"), mode=instructor.Mode.PARALLEL_TOOLS
)
ask: dict[str, Any] = {"model": f.MODEL, "messages": f.MESSAGES, "max_tokens": 1000, "max_retries": 0}


class get_weather(Weather):  # noqa: N801  (instructor takes the name of the class for that of the tool)
    """The weather of the next days."""


def tools():
    check(isinstance(by_tools.create(**ask, response_model=Weather), Weather), "not parsed")


def nested():
    check(isinstance(by_tools.create(**ask, response_model=Trip), Trip), "not parsed")


def parallel():
    calls = list(by_two_calls.create(**ask, response_model=Iterable[get_weather]))
    f.check_calls([("get_weather", call.model_dump()) for call in calls])


def streamed():
    partly = list(by_tools.create_partial(**ask, response_model=Trip))
    Trip.model_validate(partly[-1].model_dump())


def schema():
    check(isinstance(by_schema.create(**ask, response_model=Weather), Weather), "not parsed")


def schema_nested():
    check(isinstance(by_schema.create(**ask, response_model=Trip), Trip), "not parsed")


def errors():
    wrong = instructor.from_openai(openai_client.with_options(api_key="wrong"), mode=instructor.Mode.TOOLS)
    said = f.check_raises(Exception, lambda: wrong.create(**ask, response_model=Weather))
    check("401" in said, said)


f.run("instructor", globals())
