"""POST /v1/chat/completions, as OpenAI and llama-server have it."""

import json
from typing import NoReturn

import pytest

from app.api.event_stream import EventStream
from app.engine.prompts.message_reader import MessageReader
from app.protocol.errors import RequestError
from tests.api.conftest import endless, serving
from tests.api.parrot import CALL, QWEN3, SCHEMA, STRICT, THOUGHT, Parrot, with_tools

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
        too_long = {"messages": [turn("user", "x" * 600)]}
        status, body = await served.post(f"{PATH}/input_tokens", too_long)
        assert (status, body["input_tokens"] // 100) == (200, 6)


ANSWERED = [turn("user", "Hello"), turn("assistant"), turn("user", "And?")]


@pytest.mark.parametrize(
    ("fields", "extra"),
    [
        ({"content": None}, {}),
        ({"content": None, "tool_calls": []}, {}),
        ({"content": []}, {}),
        ({"content": [{"type": "refusal", "refusal": "no"}], "refusal": None}, {}),
        ({"content": "x", "name": None, "tool_calls": None, "reasoning_content": None, "audio": None}, {}),
        ({"content": None, "tool_calls": [{"id": None, "type": None, "function": {"name": "f"}}]}, {}),
        ({"content": "", "tool_calls": [{"id": "", "function": {"name": "f", "arguments": None}}]}, {}),
        ({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}]}, {}),
        ({}, {"stop": ""}),
        ({}, {"stop": ["", "x"]}),
        ({}, {"stop": []}),
        ({}, {"response_format": {}}),
        ({}, {"response_format": {"type": None}}),
        ({}, {"response_format": {"type": "json_schema", "schema": {"type": "object"}}}),
        ({}, {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}),
        ({}, {"tools": [], "tool_choice": None, "parallel_tool_calls": None}),
        ({}, {"tools": [{"function": {"name": "f", "description": None, "parameters": None}}]}),
        ({}, {"chat_template_kwargs": {"enable_thinking": None}}),
        ({}, {"logit_bias": {}, "stream_options": None, "n": None, "seed": None, "logprobs": None}),
    ],
    ids=str,
)
async def test_what_clients_leave_out_or_send_as_null_is_taken(fields, extra):
    question, answer, following = ANSWERED
    asked = ASKED | {"messages": [question, answer | fields, following]} | extra
    async with serving(Parrot("Hi.")) as served:
        status, body = await served.post(PATH, asked)
        assert status == 200, body


async def test_calls_without_ids_have_the_same_in_each_request_and_their_results_in_order():
    template = (
        "{% for m in messages %}{% for c in m.tool_calls or [] %}<{{ c.id }}>{% endfor %}"
        "{{ '[' + m.tool_call_id + ']' if m.tool_call_id }}{% endfor %}"
    )
    calls = [
        {"function": {"name": "f"}},
        {"id": "mine", "function": {"name": "f"}},
        {"function": {"name": "f"}},
    ]
    results = [turn("tool", tool_call_id="mine"), turn("tool"), turn("tool", None, tool_call_id="")]
    messages = [*ASKED["messages"], turn("assistant", None, tool_calls=calls), *results]
    async with serving(Parrot("Hi.", template)) as served:
        for _ in range(2):
            _, body = await served.post("/apply-template", {"messages": messages})
            assert body["prompt"] == "<call00000><mine><call00002>[mine][call00000][call00002]"


ADDING = {"messages": ASKED["messages"], "tools": [TOOL]}


def joined(chunks: list[dict], name: str) -> str:
    return "".join(chunk["choices"][0]["delta"].get(name) or "" for chunk in chunks)


def calls_in(chunks: list[dict]) -> list[dict]:
    return [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", [])]


async def test_a_call_of_a_tool_is_no_text():
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ADDING)
        choice = body["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"].strip() == "So:"
        (call,) = choice["message"]["tool_calls"]
        assert call["type"] == "function"
        assert call["function"]["name"] == "add"
        assert json.loads(call["function"]["arguments"]) == {"a": 1}


async def test_the_arguments_of_a_call_are_streamed_as_they_are_written():
    async with serving(with_tools(CALL)) as served:
        *chunks, _done = await served.events(PATH, ADDING)
        assert joined(chunks, "content").strip() == "So:"
        first, *others = calls_in(chunks)
        assert (first["index"], first["type"], first["function"]["name"]) == (0, "function", "add")
        assert first["id"]
        assert all(call["index"] == 0 and call.keys() == {"index", "function"} for call in others)
        arguments = "".join(call["function"]["arguments"] for call in (first, *others))
        assert json.loads(arguments) == {"a": 1}
        assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_call_cut_short_has_what_was_written_of_it():
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ADDING | {"max_tokens": len(CALL) - 16})
        assert body["choices"][0]["finish_reason"] == "length"
        (call,) = body["choices"][0]["message"]["tool_calls"]
        assert call["function"]["name"] == "add"
        assert '{"a": 1'.startswith(call["function"]["arguments"])


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "function": {"name": "add"}},
        {"type": "allowed_tools", "allowed_tools": {"tools": [{"function": {"name": "add"}}]}},
    ],
    ids=["named", "allowed"],
)
async def test_a_choice_of_tools_changes_no_prompt(choice):
    other = {"type": "function", "function": {"name": "other"}}
    for template in (QWEN3, STRICT):
        async with serving(with_tools(CALL, template)) as served:
            asked = ADDING | {"tools": [TOOL, other]}
            _, usual = await served.post("/apply-template", asked)
            _, chosen = await served.post("/apply-template", asked | {"tool_choice": choice})
            assert '"other"' in chosen["prompt"]
            assert chosen == usual
            _, body = await served.post(PATH, asked | {"tool_choice": choice})
            assert body["choices"][0]["finish_reason"] == "tool_calls"
            missing = json.loads(json.dumps(choice).replace("add", "missing"))
            status, body = await served.post(PATH, asked | {"tool_choice": missing})
            assert (status, body["error"]["param"]) == (400, "tool_choice")


@pytest.mark.parametrize("limit", [{"max_tokens": CALL.index("}") - 1}, {"stop": [": 1"]}], ids=str)
async def test_a_call_that_was_cut_is_said_to_be_so(limit):
    reason = "stop" if "stop" in limit else "length"
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ADDING | limit)
        (choice,) = body["choices"]
        assert choice["finish_reason"] == reason
        assert choice["message"]["tool_calls"][0]["function"]["arguments"].startswith('{"a"')
        (warning,) = body["warnings"]
        assert "The call of 'add' was cut" in warning
        *chunks, _done = await served.events(PATH, ADDING | limit)
        assert [chunk["warnings"] for chunk in chunks if "warnings" in chunk] == [[warning]]
        assert chunks[-1]["choices"][0]["finish_reason"] == reason


async def test_a_call_that_was_cut_is_shown_as_far_as_it_goes():
    template = (
        "{% for m in messages %}{% for c in m.tool_calls or [] %}"
        "{{ c.id }}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}"
    )
    async with serving(Parrot("Hi.", template)) as served:
        for arguments, shown in (
            ('{"a": "Kra', '{"a": "Kra"}'),
            ('{"a": [1, {"b": ', '{"a": [1, {}]}'),
            ("{", "{}"),
            ("", "{}"),
            ("[1]", '{"arguments": "[1]"}'),
            ("{}" + "[" * 3, "{}"),
        ):
            call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
            messages = [turn("user"), turn("assistant", None, tool_calls=[call]), turn("tool")]
            _, body = await served.post("/apply-template", {"messages": messages})
            assert body["prompt"] == f"c{shown}"


async def test_without_tools_the_same_words_are_text():
    for extra in ({"tools": []}, {"tool_choice": "none"}):
        async with serving(with_tools(CALL)) as served:
            _, body = await served.post(PATH, ADDING | extra)
            assert body["choices"][0]["message"]["content"] == CALL


async def test_a_call_that_was_written_as_text_is_one_where_the_caller_says_so():
    text = 'So:\n```json\n{"name": "add", "arguments": {"a": 1}}\n```'
    async with serving(with_tools(text)) as served:
        _, body = await served.post(PATH, ADDING)
        assert body["choices"][0]["message"]["content"] == text
    async with serving(with_tools(text)) as served:
        _, body = await served.post(PATH, ADDING | {"calls_in_text": True})
        (choice,) = body["choices"]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] == "So:"
        assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"a": 1}
    async with serving(with_tools(text)) as served:
        *chunks, _done = await served.events(PATH, ADDING | {"calls_in_text": True, "stream": True})
        (call,) = calls_in(chunks)
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("add", {"a": 1})
        assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    async with serving(with_tools(text)) as served:
        _, body = await served.post(PATH, ADDING | {"calls_in_text": True, "tool_choice": "none"})
        assert body["choices"][0]["message"]["content"] == text


async def test_one_call_only_where_the_caller_wants_one():
    async with serving(with_tools(f"{CALL}\n{CALL[4:]}")) as served:
        _, body = await served.post(PATH, ADDING | {"parallel_tool_calls": True})
        assert len(body["choices"][0]["message"]["tool_calls"]) == 2
    async with serving(with_tools(f"{CALL}\n{CALL[4:]}")) as served:
        _, body = await served.post(PATH, ADDING | {"parallel_tool_calls": False})
        assert len(body["choices"][0]["message"]["tool_calls"]) == 1


async def test_a_reader_that_ends_with_the_server_is_no_fault_of_the_answer(monkeypatch):
    async with serving() as served:

        async def ends(_reader: MessageReader, _text: str, _is_last: bool) -> NoReturn:
            served.client.close()
            raise RequestError("Parsing the answer took more than 2 seconds.")

        monkeypatch.setattr(MessageReader, "read", ends)
        last = (await served.events(PATH, ASKED | {"stream": True}))[-1]
        assert last["error"]["message"] == "The server was stopped."


async def test_reasoning_is_told_apart_whole_and_streamed():
    async with serving(with_tools(f"{THOUGHT}Hi.", QWEN3)) as served:
        _, body = await served.post(PATH, ASKED | {"max_tokens": None})
        message = body["choices"][0]["message"]
        assert (message["content"], message["reasoning_content"].strip()) == ("Hi.", "Let me see.")
        *chunks, _done = await served.events(PATH, ASKED | {"max_tokens": None})
        assert joined(chunks, "content") == "Hi."
        assert joined(chunks, "reasoning_content").strip() == "Let me see."
        _, body = await served.post(PATH, ASKED | {"max_tokens": None, "reasoning_format": "none"})
        assert body["choices"][0]["message"]["content"].startswith("<think>")


@pytest.mark.parametrize("at", [7, 9, 16, 22, 27, 29])
async def test_an_answer_goes_on_from_within_its_reasoning(at):
    whole = f"{THOUGHT}Hi."
    messages = [*ASKED["messages"], turn("assistant", whole[:at])]
    asked = ASKED | {"messages": messages, "max_tokens": None}
    async with serving(with_tools(whole[at:].lstrip("\n"), QWEN3)) as served:
        _, body = await served.post(PATH, asked)
        message = body["choices"][0]["message"]
        assert message["content"] == "Hi."
        assert (message.get("reasoning_content") or "").strip() in "Let me see."
        *chunks, _done = await served.events(PATH, asked)
        assert joined(chunks, "content") == message["content"]


async def test_a_call_that_was_begun_is_told_as_a_whole():
    at = CALL.index('"arguments"')
    asked = ADDING | {"messages": [*ASKED["messages"], turn("assistant", CALL[:at])]}
    async with serving(with_tools(CALL[at:])) as served:
        _, body = await served.post(PATH, asked)
        (call,) = body["choices"][0]["message"]["tool_calls"]
        assert call["function"] == {"name": "add", "arguments": '{"a": 1}'}
        assert body["choices"][0]["finish_reason"] == "tool_calls"


async def test_half_a_character_at_the_end_of_a_begun_answer_is_left_out():
    """A program that counts as JavaScript does cuts an emoji in two."""
    counts = []
    async with serving(endless()) as served:
        for begun in ("I am \ud83d", "I am \ufffd", "I am "):
            messages = [turn("user", "Cut \ude42"), turn("assistant", begun)]
            data = json.dumps({"messages": messages, "max_tokens": 2}).encode()
            async with served.http.post(served.server.address + PATH, data=data) as response:
                body = await response.json()
            assert response.status == 200, body
            counts.append(body["usage"]["prompt_tokens"])
        assert len(set(counts)) == 1


async def test_the_template_gets_tools_calls_results_and_reasoning():
    async with serving(with_tools("ok", QWEN3)) as served:
        call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
        messages = [
            *ASKED["messages"],
            turn("assistant", None, tool_calls=[call], reasoning_content="Add them."),
            turn("tool", "2", tool_call_id="c1"),
        ]
        _, body = await served.post("/apply-template", ADDING | {"messages": messages})
        told = (
            "# Tools",
            '"name": "add"',
            "<think>\nAdd them.\n</think>",
            '"arguments": {"a": 1}',
            "<tool_response>\n2\n</tool_response>",
        )
        places = [body["prompt"].index(part) for part in told]
        assert places == sorted(places)


@pytest.mark.parametrize("template", [None, STRICT], ids=["no template", "strict"])
async def test_tools_work_with_every_template(template):
    async with serving(Parrot(CALL, template)) as served:
        _, body = await served.post(PATH, ADDING)
        (choice,) = body["choices"]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("So: ", "tool_calls")
        (call,) = choice["message"]["tool_calls"]
        assert call["function"] == {"name": "add", "arguments": '{"a": 1}'}
        messages = [*ASKED["messages"], choice["message"], turn("tool", "2", tool_call_id=call["id"])]
        _, body = await served.post("/apply-template", ADDING | {"messages": messages})
        call_text = CALL.removeprefix("So: ")
        told = ("<tools>", '"name": "add"', "Hello", call_text, "<tool_response>\n2\n</tool_response>")
        places = [body["prompt"].index(part) for part in told]
        assert places == sorted(places)
        events = await served.events(PATH, ADDING | {"tool_choice": "required"})
        assert any(event != "[DONE]" and "tool_calls" in str(event) for event in events)


async def test_a_stream_is_kept_alive_while_a_call_begins_and_nothing_of_it_is_sent(monkeypatch):
    monkeypatch.setattr(EventStream, "silent_s", 15.0)
    async with serving(with_tools(CALL.removeprefix("So: "))) as served:
        address = f"{served.server.address}{PATH}"
        async with served.http.post(address, json=ADDING | {"stream": True}) as response:
            text = await response.text()
    assert "tool_calls" in text
    assert ":\n\n" in text


async def test_what_a_schema_asks_for_and_nobody_enforces_is_named_whole_and_streamed():
    wished = {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}
    async with serving(with_tools('{"n": 5}')) as served:
        _, body = await served.post(PATH, ASKED | wished)
        (warning,) = body["warnings"]
        assert "#/$defs/n: multipleOf" in warning
        first, *_others = await served.events(PATH, ASKED | wished)
        assert first["warnings"] == [warning]


async def test_tools_may_have_definitions():
    """As pydantic writes a model in a model."""
    tool = {"type": "function", "function": {"name": "add", "parameters": SCHEMA}}
    for choice in ("required", {"type": "function", "function": {"name": "add"}}):
        async with serving(with_tools(CALL)) as served:
            status, body = await served.post(PATH, ADDING | {"tools": [tool], "tool_choice": choice})
            assert status == 200
            assert body["choices"][0]["finish_reason"] == "tool_calls"
