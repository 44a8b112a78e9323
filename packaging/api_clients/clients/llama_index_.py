"""llama-index-llms-openai-like."""

import openai
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from api_clients import features as f
from api_clients.features import Trip, Weather, check


def model(url=f.URL, *, max_tokens=1000, key=f.KEY, **more):
    given = {"api_base": f"{url}/v1", "api_key": key, "max_tokens": max_tokens, "max_retries": 0}
    flags = {"is_chat_model": True, "is_function_calling_model": True, "timeout": f.CLIENT_TIMEOUT_S}
    return OpenAILike(model=f.MODEL, context_window=8192, **given, **flags, **more)


messages = [ChatMessage(role=message["role"], content=message["content"]) for message in f.MESSAGES]
get_weather = FunctionTool.from_defaults(
    lambda **_: "Rain.", "get_weather", Weather.__doc__, fn_schema=Weather
)
book_trip = FunctionTool.from_defaults(lambda **_: "Booked.", "book_trip", Trip.__doc__, fn_schema=Trip)


def chat():
    check(model(max_tokens=8).chat(messages).message.content, "no text")


def stream():
    check(list(model(max_tokens=8).stream_chat(messages))[-1].message.content, "no text")


def tools():
    Weather.model_validate(_forced([get_weather], tool_required=True).tool_kwargs)


def nested():
    Trip.model_validate(_forced([book_trip], tool_required=True).tool_kwargs)


def forced():
    call = _forced([get_weather, book_trip], tool_choice="book_trip")
    check(call.tool_name == "book_trip", call)


def _forced(tools, **how):
    llm = model()
    return llm.get_tool_calls_from_response(llm.chat_with_tools(tools, chat_history=messages, **how))[0]


def parallel():
    llm = model(f.CALLER_URL)
    answer = llm.chat_with_tools([get_weather], chat_history=messages, allow_parallel_tool_calls=True)
    calls = llm.get_tool_calls_from_response(answer)
    f.check_calls([(call.tool_name, call.tool_kwargs) for call in calls])


def streamed():
    llm = model(f.CALLER_URL)
    *_, last = llm.stream_chat_with_tools(
        [get_weather], chat_history=messages, allow_parallel_tool_calls=True
    )
    calls = llm.get_tool_calls_from_response(last)
    f.check_calls([(call.tool_name, call.tool_kwargs) for call in calls])


def results():
    llm = model(f.CALLER_URL)
    asked = llm.chat_with_tools([get_weather], chat_history=messages, allow_parallel_tool_calls=True).message
    ids = [
        call.tool_id
        for call in llm.get_tool_calls_from_response(
            llm.chat_with_tools([get_weather], chat_history=messages)
        )
    ]
    answers = [ChatMessage("Rain.", role=MessageRole.TOOL, tool_call_id=id_) for id_ in ids]
    check(model(max_tokens=8).chat([*messages, asked, *answers]).message.content, "no text")


def schema():
    check(isinstance(model().as_structured_llm(Weather).chat(messages).raw, Weather), "not parsed")


def schema_nested():
    check(isinstance(model().as_structured_llm(Trip).chat(messages).raw, Trip), "not parsed")


def logprobs():
    answer = model(max_tokens=8, logprobs=True, top_logprobs=3).chat(messages)
    check(len(answer.logprobs or []) == 8, answer)


def errors():
    f.check_raises(openai.AuthenticationError, lambda: model(key="wrong").chat(messages))
    f.check_raises(openai.BadRequestError, lambda: model(additional_kwargs={"top_p": "hot"}).chat(messages))


def cancel():
    def leave():
        answer = model(max_tokens=f.FOREVER).stream_chat(messages)
        next(answer)
        answer.close()

    f.check_cancelled(leave)


f.run("llama-index-llms-openai-like", globals())
