"""POST /v1/chat/completions, as OpenAI and llama-server have it."""

import json

import pytest

from app.api.event_stream import EventStream
from tests.api.conftest import endless, serving
from tests.api.parrot import CALL, Parrot, with_tools

PATH = "/v1/chat/completions"
ASKED = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 6, "temperature": 0}
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


def turn(role: str, content: object = "x", **more: object) -> dict:
    return {"role": role, "content": content, **more}


async def test_an_answer_has_openais_frame():
    async with serving(Parrot("Hi.")) as served:
        status, body = await served.post(PATH, ASKED)
        assert status == 200
        assert body["object"] == "chat.completion"
        assert body["id"].startswith("chatcmpl-")
        assert body["system_fingerprint"].startswith("b")
        (choice,) = body["choices"]
        assert choice["message"] == {"role": "assistant", "content": "Hi.", "refusal": None}
        assert (choice["finish_reason"], choice["logprobs"]) == ("stop", None)
        assert body["usage"]["completion_tokens"] == 3
        assert body["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


async def test_where_usage_is_asked_for_each_chunk_but_its_own_says_that_it_comes():
    async with serving(Parrot("Hi.")) as served:
        *chunks, last, _done = await served.events(PATH, ASKED | {"stream_options": {"include_usage": True}})
        assert [chunk["usage"] for chunk in chunks] == [None] * len(chunks)
        assert last["usage"]["completion_tokens"] == 3
        assert all("usage" not in chunk for chunk in (await served.events(PATH, ASKED))[:-1])


async def test_the_path_without_v1_is_the_same():
    async with serving(Parrot("Hi.")) as served:
        assert (await served.post("/chat/completions", ASKED))[1]["choices"][0]["message"]["content"] == "Hi."


async def test_a_stream_begins_with_the_role_and_ends_with_the_reason():
    async with serving(Parrot("Hi.")) as served:
        first, *middle, last, done = await served.events(PATH, ASKED)
        assert first["object"] == "chat.completion.chunk"
        assert first["choices"][0] == {
            "index": 0,
            "delta": {"role": "assistant", "content": None, "refusal": None},
            "logprobs": None,
            "finish_reason": None,
        }
        assert [chunk["choices"][0]["delta"] for chunk in middle] == [{"content": text} for text in "Hi."]
        assert last["choices"][0] == {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}
        assert last["timings"]["predicted_n"] == 3
        assert done == "[DONE]"
        assert len({chunk["id"] for chunk in (first, *middle, last)}) == 1


async def test_usage_and_timings_are_streamed_on_request():
    async with serving(Parrot("Hi.")) as served:
        options = {"stream_options": {"include_usage": True}, "timings_per_token": True}
        first, *middle, usage, _done = await served.events(PATH, ASKED | options)
        assert "timings" not in first
        assert all("timings" in chunk for chunk in middle)
        assert usage["choices"] == []
        assert usage["usage"]["completion_tokens"] == 3


async def test_the_older_and_the_newer_limit_are_both_understood():
    async with serving(endless()) as served:
        for limit in (
            {"max_tokens": 3},
            {"max_completion_tokens": 3},
            {"max_tokens": 9, "max_completion_tokens": 3},
        ):
            _, body = await served.post(PATH, {"messages": ASKED["messages"]} | limit)
            assert body["usage"]["completion_tokens"] == 3
            assert body["choices"][0]["finish_reason"] == "length"


async def test_logprobs_spell_the_answer():
    async with serving(Parrot("Hi.")) as served:
        _, body = await served.post(PATH, ASKED | {"logprobs": True, "top_logprobs": 1})
        content = body["choices"][0]["logprobs"]["content"]
        assert "".join(token["token"] for token in content) == "Hi."
        assert [token["bytes"] for token in content] == [[72], [105], [46]]
        assert all(token["logprob"] <= 0 and len(token["top_logprobs"]) == 1 for token in content)
        _first, *middle, _last, _done = await served.events(PATH, ASKED | {"logprobs": True})
        streamed = [token for chunk in middle for token in chunk["choices"][0]["logprobs"]["content"]]
        assert "".join(token["token"] for token in streamed) == "Hi."
        assert streamed[0]["top_logprobs"] == []


async def test_copies_have_their_own_choices_whole_and_streamed():
    async with serving(Parrot("Hi.")) as served:
        _, body = await served.post(PATH, ASKED | {"n": 3})
        assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
        assert body["usage"]["completion_tokens"] == 9
        events = await served.events(PATH, ASKED | {"n": 2})
        for index in (0, 1):
            choices = [event["choices"][0] for event in events[:-1] if event["choices"][0]["index"] == index]
            assert "".join(choice["delta"].get("content") or "" for choice in choices) == "Hi."
            assert choices[-1]["finish_reason"] == "stop"


async def test_text_parts_are_joined_and_developers_are_the_system():
    template = "{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}"
    async with serving(Parrot("Hi.", template)) as served:
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        messages = [turn("developer", "d"), turn("user", parts)]
        _, body = await served.post(PATH, {"messages": messages})
        assert body["usage"]["prompt_tokens"] == len("system=d;user=a\nb;")


async def test_an_answer_at_the_end_is_gone_on_with():
    async with serving(endless()) as served:
        messages = [turn("user", "Hello"), turn("assistant", "I am")]
        _, whole = await served.post(PATH, ASKED)
        _, begun = await served.post(PATH, ASKED | {"messages": messages})
        assert begun["usage"]["prompt_tokens"] == whole["usage"]["prompt_tokens"] + len("I am")
        _, same = await served.post(PATH, ASKED | {"messages": messages, "continue_final_message": True})
        assert same["usage"]["prompt_tokens"] == begun["usage"]["prompt_tokens"]


async def test_the_next_turn_computes_only_what_is_new():
    async with serving(Parrot("Hi.")) as served:
        _, first = await served.post(PATH, ASKED)
        answer = first["choices"][0]["message"]
        messages = [*ASKED["messages"], answer, turn("user", "And?")]
        _, second = await served.post(PATH, ASKED | {"messages": messages})
        assert second["usage"]["prompt_tokens_details"]["cached_tokens"] >= first["usage"]["total_tokens"] - 1
        assert len(served.client.titles) == 1


@pytest.mark.parametrize(
    "messages",
    [
        None,
        "string",
        [],
        [123],
        [{}],
        [{"role": 123}],
        [{"role": "system", "content": 123}],
        [{"role": "king", "content": "x"}],
        [{"role": "user"}],
        [{"role": "user", "content": None}],
        [turn("system"), {}],
        [turn("user"), turn("assistant"), turn("assistant")],
        [turn("user", [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}}])],
        [turn("user"), turn("assistant", None, tool_calls=[{"function": {"name": "f", "arguments": "[1]"}}])],
        [turn("user"), turn("assistant", None, tool_calls=[{"function": {"arguments": "{}"}}])],
    ],
)
async def test_messages_that_make_no_sense_are_refused(messages):
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED | {"messages": messages})
        assert (status, body["error"]["type"]) == (400, "invalid_request_error")
        assert "messages" in body["error"]["message"]


@pytest.mark.parametrize(
    "extra",
    [
        {"response_format": {"type": "sound"}},
        {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "json_object", "schema": 123}},
        {"response_format": {"type": "json_object"}, "grammar": 'root ::= "a"'},
        {"top_logprobs": 3},
        {"logprobs": True, "top_logprobs": 21},
        {"add_generation_prompt": True, "continue_final_message": True},
        {"continue_final_message": True},
        {"tool_choice": "required"},
        {"chat_template_kwargs": {"messages": []}},
    ],
)
async def test_wishes_that_make_no_sense_are_refused(extra):
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED | extra)
        assert (status, body["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_chat_too_long_is_told_with_its_length(stream):
    async with serving(endless()) as served:
        status, body = await served.post(PATH, {"messages": [turn("user", "x" * 600)], "stream": stream})
        assert (status, body["error"]["type"]) == (400, "exceed_context_size_error")
        assert body["error"]["n_prompt_tokens"] > body["error"]["n_ctx"] == 512


async def test_a_template_that_refuses_the_chat_is_the_callers_mistake():
    async with serving(Parrot("x", "{{ raise_exception('no system here') }}")) as served:
        status, body = await served.post(PATH, ASKED)
        assert status == 400
        assert "no system here" in body["error"]["message"]


async def test_prompt_tokens_are_counted_without_an_answer():
    async with serving(endless()) as served:
        _, body = await served.post(f"{PATH}/input_tokens", ASKED)
        _, answer = await served.post(PATH, ASKED)
        assert body["input_tokens"] == answer["usage"]["prompt_tokens"]
        assert (await served.post(f"{PATH}/input_tokens", {"messages": [turn("user", "x" * 600)]}))[0] == 400


ADDING = {"messages": ASKED["messages"], "tools": [TOOL]}


async def test_a_call_of_a_tool_is_no_text():
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ADDING)
        choice = body["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] == "So: "
        (call,) = choice["message"]["tool_calls"]
        assert call["type"] == "function"
        assert call["function"]["name"] == "add"
        assert json.loads(call["function"]["arguments"]) == {"a": 1}


async def test_a_call_of_a_tool_is_streamed_as_one():
    async with serving(with_tools(CALL)) as served:
        *chunks, _done = await served.events(PATH, ADDING)
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        assert "".join(delta.get("content") or "" for delta in deltas) == "So: "
        (call,) = [call for delta in deltas for call in delta.get("tool_calls", [])]
        assert call["index"] == 0
        assert json.loads(call["function"]["arguments"]) == {"a": 1}
        assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_call_cut_short_stays_text():
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ADDING | {"max_tokens": 30})
        assert body["choices"][0]["finish_reason"] == "length"
        assert body["choices"][0]["message"]["content"] == CALL[:30]


async def test_without_tools_the_same_words_are_text():
    async with serving(with_tools(CALL)) as served:
        for extra in ({"tools": []}, {"tool_choice": "none"}):
            _, body = await served.post(PATH, ADDING | extra)
            assert body["choices"][0]["message"]["content"] == CALL


async def test_one_call_only_where_the_caller_wants_one():
    async with serving(with_tools(CALL * 2)) as served:
        _, body = await served.post(PATH, ADDING)
        assert len(body["choices"][0]["message"]["tool_calls"]) == 2
    async with serving(with_tools(CALL * 2)) as served:
        _, body = await served.post(PATH, ADDING | {"parallel_tool_calls": False})
        assert len(body["choices"][0]["message"]["tool_calls"]) == 1


async def test_the_template_gets_tools_calls_and_results():
    async with serving(with_tools("ok")) as served:
        call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
        messages = [
            *ASKED["messages"],
            turn("assistant", None, tool_calls=[call]),
            turn("tool", "2", tool_call_id="c1"),
        ]
        _, body = await served.post(PATH, ADDING | {"messages": messages})
        written = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
        prompt = f"{json.dumps([TOOL])}user: Hello\nassistant: {json.dumps([written])}\ntool: 2\n"
        assert body["usage"]["prompt_tokens"] == len(prompt)


async def test_a_template_without_tools_says_so():
    async with serving(Parrot("x")) as served:
        status, body = await served.post(PATH, ADDING)
        assert status == 400
        assert "knows no tools" in body["error"]["message"]


async def test_a_stream_is_kept_alive_while_a_call_is_written_and_nothing_of_it_sent(monkeypatch):
    monkeypatch.setattr(EventStream, "silent_s", 15.0)
    async with serving(with_tools('<tool_call>{"name": "add", "arguments": {}}')) as served:
        address = f"{served.server.address}{PATH}"
        async with served.http.post(address, json=ADDING | {"stream": True}) as response:
            text = await response.text()
    assert "tool_calls" in text
    assert ":\n\n" in text
