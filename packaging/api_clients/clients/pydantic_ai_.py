"""pydantic-ai: agents on OpenAI's chat completions."""

import asyncio
import contextlib

from openai import AsyncOpenAI
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import DeferredToolRequests, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from api_clients import features as f
from api_clients.features import Trip, Weather, check


def agent(output=str, *, url=f.URL, key=f.KEY, max_tokens=1000, **more):
    openai = AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=f.CLIENT_TIMEOUT_S)
    model = OpenAIChatModel(f.MODEL, provider=OpenAIProvider(openai_client=openai))
    settings = {"max_tokens": max_tokens} | more.pop("settings", {})
    return Agent(
        model, output_type=output, retries=0, model_settings=settings, system_prompt="Be brief.", **more
    )


WEATHER = ToolDefinition(
    name="get_weather", description=Weather.__doc__, parameters_json_schema=Weather.model_json_schema()
)


def chat():
    answer = agent(max_tokens=8).run_sync("Hello!")
    check(answer.output, answer)


def stream():
    async def read():
        async with agent(max_tokens=8).run_stream("Hello!") as answer:
            return [text async for text in answer.stream_text(debounce_by=None)]

    texts = asyncio.run(read())
    check(len(texts) > 1 and texts[-1], texts)


def tools():
    check(isinstance(agent(ToolOutput(Weather)).run_sync("Hello!").output, Weather), "not parsed")


def nested():
    check(isinstance(agent(ToolOutput(Trip)).run_sync("Hello!").output, Trip), "not parsed")


def forced():
    """One of two tools, for it has no way to name one."""
    output = agent([ToolOutput(Weather), ToolOutput(Trip)]).run_sync("Hello!").output
    check(isinstance(output, Weather | Trip), output)


def parallel():
    calling = agent([str, DeferredToolRequests], url=f.CALLER_URL, toolsets=[ExternalToolset([WEATHER])])
    output = calling.run_sync("Hello!").output
    f.check_calls([(call.tool_name, call.args) for call in output.calls])


def streamed():
    async def read():
        async with agent(ToolOutput(Trip)).run_stream("Hello!") as answer:
            return [trip async for trip in answer.stream_output(debounce_by=None)]

    trips = asyncio.run(read())
    Trip.model_validate(trips[-1].model_dump())


def results():
    call = ToolCallPart("get_weather", f.PARIS, "call_1")
    history = [
        ModelRequest([UserPromptPart("Rain?")]),
        ModelResponse([call]),
        ModelRequest([ToolReturnPart("get_weather", "Rain.", "call_1")]),
    ]
    check(agent(max_tokens=8).run_sync(message_history=history).output, "no text")


def schema():
    check(isinstance(agent(NativeOutput(Weather)).run_sync("Hello!").output, Weather), "not parsed")


def schema_nested():
    check(isinstance(agent(NativeOutput(Trip)).run_sync("Hello!").output, Trip), "not parsed")


def logprobs():
    settings = {"openai_logprobs": True, "openai_top_logprobs": 3}
    answer = agent(max_tokens=8, settings=settings).run_sync("Hello!")
    details = answer.all_messages()[-1].provider_details or {}
    check(len(details.get("logprobs", [])) == 8, details)


def errors():
    said = f.check_raises(ModelHTTPError, lambda: agent(key="wrong").run_sync("Hello!"))
    check("401" in said, said)
    said = f.check_raises(ModelHTTPError, lambda: agent(settings={"temperature": "hot"}).run_sync("Hello!"))
    check("400" in said, said)


def cancel():
    async def read_a_little():
        async with agent(max_tokens=f.FOREVER).run_stream("Hello!") as answer:
            async for _ in answer.stream_text(debounce_by=None):
                raise ConnectionAbortedError

    def leave():
        with contextlib.suppress(ConnectionAbortedError):
            asyncio.run(read_a_little())

    f.check_cancelled(leave)


f.run("pydantic-ai-slim", globals())
