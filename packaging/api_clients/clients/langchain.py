"""langchain-openai: ChatOpenAI."""

import openai
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from api_clients import features as f
from api_clients.features import Trip, Weather, check


def model(url=f.URL, **more):
    given = {
        "model": f.MODEL,
        "api_key": f.KEY,
        "max_retries": 0,
        "max_tokens": 1000,
        "timeout": f.CLIENT_TIMEOUT_S,
    }
    return ChatOpenAI(base_url=f"{url}/v1", **given | more)


ask = [(message["role"], message["content"]) for message in f.MESSAGES]


def chat():
    answer = model(max_tokens=8).invoke(ask)
    check(answer.content and answer.usage_metadata["output_tokens"] == 8, answer)


def stream():
    chunks = list(model(max_tokens=8, stream_usage=True).stream(ask))
    check("".join(chunk.content for chunk in chunks), chunks)
    check(sum(chunk.usage_metadata["output_tokens"] for chunk in chunks if chunk.usage_metadata) == 8, chunks)


def tools():
    call = model().bind_tools([f.WEATHER_TOOL], tool_choice="any").invoke(ask).tool_calls[0]
    Weather.model_validate(call["args"])


def nested():
    call = model().bind_tools([f.TRIP_TOOL], tool_choice="any").invoke(ask).tool_calls[0]
    Trip.model_validate(call["args"])


def forced():
    call = (
        model().bind_tools([f.WEATHER_TOOL, f.TRIP_TOOL], tool_choice="book_trip").invoke(ask).tool_calls[0]
    )
    check(call["name"] == "book_trip", call)


def parallel():
    answer = model(f.CALLER_URL).bind_tools([f.WEATHER_TOOL], parallel_tool_calls=True).invoke(ask)
    f.check_calls([(call["name"], call["args"]) for call in answer.tool_calls])


def streamed():
    pieces = list(model(f.CALLER_URL).bind_tools([f.WEATHER_TOOL], parallel_tool_calls=True).stream(ask))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole += piece
    f.check_calls([(call["name"], call["args"]) for call in whole.tool_calls])


def results():
    call = {"name": "get_weather", "args": f.PARIS, "id": "call_1"}
    more = [AIMessage("", tool_calls=[call]), ToolMessage("Rain.", tool_call_id="call_1")]
    check(
        model(max_tokens=8).bind_tools([f.WEATHER_TOOL]).invoke([HumanMessage("Rain?"), *more]).content,
        "no text",
    )


def schema():
    for method in ("json_schema", "function_calling"):
        answer = model().with_structured_output(Weather, method=method).invoke(ask)
        check(isinstance(answer, Weather), answer)


def schema_nested():
    for method in ("json_schema", "function_calling"):
        answer = model().with_structured_output(Trip, method=method).invoke(ask)
        check(isinstance(answer, Trip), answer)


def logprobs():
    answer = model(max_tokens=8, logprobs=True, top_logprobs=3).invoke(ask)
    check(len(answer.response_metadata["logprobs"]["content"]) == 8, answer.response_metadata)


def n():
    check(len(model(n=2, max_tokens=8).generate([[HumanMessage("Hello!")]]).generations[0]) == 2, "not two")


def errors():
    f.check_raises(openai.AuthenticationError, lambda: model(api_key="wrong").invoke(ask))
    f.check_raises(openai.BadRequestError, lambda: model(extra_body={"top_p": "hot"}).invoke(ask))


def cancel():
    def leave():
        answer = model(max_tokens=f.FOREVER).stream(ask)
        next(answer)
        answer.close()

    f.check_cancelled(leave)


f.run("langchain-openai", globals())
