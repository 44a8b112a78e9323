"""POST /v1/messages, as Anthropic has it."""

import json

import pytest

from app.api import engine_client
from tests.api.conftest import Steps, blocks_of_broken_off, endless, serving
from tests.api.parrot import CALL, QWEN3, SCHEMA, THOUGHT, TURNS, Parrot, with_tools

PATH = "/v1/messages"
ASKED = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 100, "temperature": 0}
TOOL = {"name": "add", "description": "Adds.", "input_schema": {"type": "object"}}
SHOWN_TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}},
}


async def test_an_answer_has_anthropics_form():
    async with serving(Parrot("Hi.")) as served:
        status, body = await served.post(PATH, ASKED)
        assert status == 200
        assert body["id"].startswith("msg_")
        assert (body["type"], body["role"]) == ("message", "assistant")
        assert body["content"] == [{"type": "text", "text": "Hi."}]
        assert (body["stop_reason"], body["stop_sequence"]) == ("end_turn", None)
        assert body["usage"]["output_tokens"] == 3
        assert body["usage"]["input_tokens"] > 0


async def test_a_stream_tells_of_the_blocks_in_order():
    async with serving(Parrot("Hi.")) as served:
        events = await served.named_events(PATH, ASKED)
        assert [name for name, _ in events] == [
            "message_start",
            "content_block_start",
            *["content_block_delta"] * 3,
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert all(event["type"] == name for name, event in events)
        message = events[0][1]["message"]
        assert (message["content"], message["stop_reason"]) == ([], None)
        assert message["usage"]["input_tokens"] > 0
        assert "".join(event["delta"]["text"] for name, event in events if name.endswith("k_delta")) == "Hi."
        assert events[-2][1]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
        assert events[-2][1]["usage"]["output_tokens"] == 3


async def test_what_ended_an_answer_is_told():
    async with serving(endless()) as served:
        _, body = await served.post(PATH, ASKED | {"max_tokens": 3})
        assert body["stop_reason"] == "max_tokens"
    async with serving(Parrot("One. Two.")) as served:
        _, body = await served.post(PATH, ASKED | {"stop_sequences": [". ", "x"]})
        assert body["content"][0]["text"] == "One"
        assert (body["stop_reason"], body["stop_sequence"]) == ("stop_sequence", ". ")


async def test_the_use_of_a_tool_is_a_block_of_its_own():
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ASKED | {"tools": [TOOL]})
        text, use = body["content"]
        assert text == {"type": "text", "text": "So: "}
        assert (use["type"], use["name"], use["input"]) == ("tool_use", "add", {"a": 1})
        assert body["stop_reason"] == "tool_use"
        events = await served.named_events(PATH, ASKED | {"tools": [TOOL]})
        started = [event for name, event in events if name == "content_block_start"]
        assert [event["index"] for event in started] == [0, 1]
        assert started[1]["content_block"]["name"] == "add"
        assert started[1]["content_block"]["input"] == {}
        written = [event["delta"].get("partial_json", "") for name, event in events if "block_delta" in name]
        assert json.loads("".join(written)) == {"a": 1}
        assert [event["index"] for name, event in events if name == "content_block_stop"] == [0, 1]


async def test_what_the_model_thinks_is_a_block_before_the_others():
    async with serving(with_tools(THOUGHT + CALL, QWEN3)) as served:
        _, body = await served.post(PATH, ASKED | {"tools": [TOOL]})
        assert body["content"][0] == {"type": "thinking", "thinking": "Let me see.\n", "signature": ""}
        kinds = ["thinking", "text", "tool_use"]
        assert [block["type"] for block in body["content"]] == kinds
        events = await served.named_events(PATH, ASKED | {"tools": [TOOL]})
        started = [event for name, event in events if name == "content_block_start"]
        assert [event["content_block"]["type"] for event in started] == kinds
        deltas = [event["delta"] for name, event in events if name == "content_block_delta"]
        assert "".join(delta.get("thinking", "") for delta in deltas) == "Let me see.\n"
        signed = next(n for n, (_, event) in enumerate(events) if "signature_delta" in json.dumps(event))
        assert events[signed + 1][1] == {"type": "content_block_stop", "index": 0}


async def test_uses_and_their_results_are_shown_to_the_model_as_in_a_chat_completion():
    async with serving(with_tools("ok")) as served:
        use = {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "2"}]}
        messages = [
            *ASKED["messages"],
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result, {"type": "text", "text": "And?"}]},
        ]
        asked = {"messages": messages, "tools": [TOOL], "system": "Add."}
        function = {"name": "add", "arguments": '{"a": 1}'}
        messages = [
            {"role": "system", "content": "Add."},
            *ASKED["messages"],
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "t1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "t1", "content": "2"},
            {"role": "user", "content": "And?"},
        ]
        chat = {"messages": messages, "tools": [SHOWN_TOOL]}
        _, body = await served.post(f"{PATH}/count_tokens", asked)
        _, same = await served.post("/v1/chat/completions/input_tokens", chat)
        assert body["input_tokens"] == same["input_tokens"]


TEXT = {"type": "text", "text": "a"}
NOTE = "['document' was left out: this server cannot read it]"


@pytest.mark.parametrize(
    ("blocks", "shown", "left_out"),
    [
        (
            [{"type": "document", "source": {"type": "base64", "data": "aGk="}}, TEXT],
            f"{NOTE}\na",
            "document",
        ),
        ([{"type": "document", "source": {"type": "text", "data": "b"}, "title": None}, TEXT], "b\na", None),
        ([{"type": "document", "source": {"type": "content", "content": [TEXT]}}], "a", None),
        ([{"type": "search_result", "source": "http://x", "title": "t", "content": [TEXT]}], "a", None),
        ([{"type": "tool_reference", "tool_name": "b"}, TEXT], "b\na", None),
    ],
)
async def test_blocks_that_cannot_be_read_are_left_out_and_both_are_told(blocks, shown, left_out):
    told = [f"messages: {left_out!r} was left out, which this server does not have."] if left_out else []
    result = {"type": "tool_result", "tool_use_id": "t", "content": blocks}
    async with serving(Parrot("ok", TURNS)) as served:
        for content, written in ((blocks, shown), ([result], f"<tool_response>\n{shown}\n</tool_response>")):
            messages = [{"role": "user", "content": content}]
            _, body = await served.post(PATH, ASKED | {"messages": messages})
            usage = body["usage"]
            assert usage["input_tokens"] + usage["cache_read_input_tokens"] == len(f"user=|{written};")
            assert body.get("warnings", []) == told


async def test_what_anthropic_runs_itself_is_left_out():
    ran = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": {"error_code": "unavailable"}},
        TEXT,
    ]
    messages = [*ASKED["messages"], {"role": "assistant", "content": ran}, *ASKED["messages"]]
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]
    async with serving(Parrot("ok", TURNS)) as served:
        status, body = await served.post(PATH, ASKED | {"messages": messages, "tools": tools})
        assert status == 200
        assert body["usage"]["input_tokens"] == len("user=|Hello;assistant=|a;user=|Hello;")
        assert [warning.split("'")[1] for warning in body["warnings"]] == [
            "server_tool_use",
            "web_search_tool_result",
            "web_search_20250305",
        ]
        _name, begun = (await served.named_events(PATH, ASKED | {"messages": messages, "tools": tools}))[0]
        assert begun["message"]["warnings"] == body["warnings"]


@pytest.mark.parametrize(
    ("content", "extra"),
    [
        (None, {}),
        ([], {}),
        ([{"type": "text", "text": None, "citations": None}], {}),
        ([{"type": "tool_use", "id": "t", "name": "add", "input": None}], {}),
        ([{"type": "tool_use", "id": "t", "name": "add", "input": '{"a'}], {}),
        ([{"type": "redacted_thinking", "data": "x"}], {}),
        ([TEXT], {"system": None, "tools": None, "tool_choice": None, "thinking": None, "metadata": None}),
        ([TEXT], {"tools": [{"name": "add", "type": None, "description": None, "input_schema": None}]}),
        ([TEXT], {"stop_sequences": [], "output_config": {"format": None, "effort": None}}),
        ([TEXT], {"mcp_servers": [], "container": None}),
    ],
    ids=str,
)
async def test_what_clients_leave_out_or_send_as_null_is_taken(content, extra):
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": None}]}
    messages = [*ASKED["messages"], {"role": "assistant", "content": content}, result]
    async with serving(Parrot("ok", TURNS)) as served:
        status, body = await served.post(PATH, ASKED | {"messages": messages} | extra)
        assert status == 200, body


async def test_a_use_that_was_cut_has_what_is_whole_of_it_and_a_warning():
    call = 'So: <tool_call>\n{"name": "add", "arguments": {"a": 1, "b": "abc"}}\n</tool_call>'
    asked = ASKED | {"tools": [TOOL], "max_tokens": call.index('c"')}
    async with serving(with_tools(call)) as served:
        _, body = await served.post(PATH, asked)
        assert body["content"][1]["input"] == {"a": 1}
        assert body["stop_reason"] == "max_tokens"
        (warning,) = body["warnings"]
        assert "The call of 'add' was cut" in warning
        assert (await served.named_events(PATH, asked))[-2][1]["warnings"] == [warning]


async def test_what_was_thought_is_sent_back():
    async with serving(Parrot("ok", TURNS)) as served:
        thought = {"type": "thinking", "thinking": "Hm", "signature": ""}
        messages = [
            *ASKED["messages"],
            {"role": "assistant", "content": [thought, {"type": "text", "text": "b"}]},
            {"role": "user", "content": "c"},
        ]
        _, body = await served.post(PATH, ASKED | {"messages": messages})
        assert body["usage"]["input_tokens"] == len("user=|Hello;assistant=Hm|b;user=|c;")


async def test_an_answer_that_was_begun_is_gone_on_with():
    async with serving(endless()) as served:
        _, whole = await served.post(f"{PATH}/count_tokens", ASKED)
        begun = [*ASKED["messages"], {"role": "assistant", "content": "I am"}]
        _, body = await served.post(f"{PATH}/count_tokens", ASKED | {"messages": begun})
        assert body["input_tokens"] == whole["input_tokens"] + len("I am")


async def test_a_stamp_that_changes_with_each_request_changes_no_prompt():
    system = "x-anthropic-billing-header: cc_version=2; cch=%s; You are Claude Code."
    async with serving(Parrot("ok", TURNS)) as served:
        for stamp in ("a5145", "0ef17"):
            blocks = [{"type": "text", "text": system % stamp}, {"type": "text", "text": "cch=12345; stays"}]
            _, body = await served.post(PATH, ASKED | {"system": blocks})
        assert body["usage"]["input_tokens"] == 1  # the last one is computed in any case
        prompt = f"system=|{system % 'a5145'}\ncch=12345; stays;user=|Hello;"
        assert body["usage"]["cache_read_input_tokens"] == len(prompt) - 1


async def test_the_tokens_of_a_prompt_are_counted():
    async with serving(Parrot("Hi.")) as served:
        status, body = await served.post(f"{PATH}/count_tokens", {"messages": ASKED["messages"]})
        usage = (await served.post(PATH, ASKED))[1]["usage"]
        assert status == 200
        assert body == {"input_tokens": usage["input_tokens"] + usage["cache_read_input_tokens"]}


async def test_thinking_is_switched_by_the_template():
    template = "{{ enable_thinking }}{{ reasoning_effort }}{% for m in messages %}{{ m.content }}{% endfor %}"
    async with serving(Parrot("ok", template)) as served:
        for extra, prompt in (
            ({"thinking": {"type": "disabled"}}, "FalseHello"),
            ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "TrueHello"),
            ({"thinking": {"type": "enabled"}, "output_config": {"effort": "low"}}, "TruelowHello"),
        ):
            _, body = await served.post(f"{PATH}/count_tokens", ASKED | extra)
            assert body["input_tokens"] == len(prompt)


async def test_who_waits_for_a_stream_is_pinged(monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.02)
    steps = Steps()
    async with serving(endless(before_decode=steps.wait)) as served:
        body = ASKED | {"stream": True, "max_tokens": 3}
        async with served.http.post(served.server.address + PATH, json=body) as response:
            await response.content.readuntil(b'event: ping\ndata: {"type":"ping"}\n\n')
            steps.free()
            assert b"message_stop" in await response.read()


@pytest.mark.parametrize(
    ("extra", "word"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "king", "content": "x"}]}, "messages"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}]},
            "data: URL",
        ),
        ({"mcp_servers": [{"url": "x"}]}, "mcp_servers"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"temperature": -1}, "temperature"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_anthropics_form(extra, word):
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED | extra)
        assert (status, body["type"], body["error"]["type"]) == (400, "error", "invalid_request_error")
        assert word in body["error"]["message"]


async def test_an_image_that_a_tool_returned_needs_a_model_that_sees():
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "image", "source": source}]}
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED | {"messages": [{"role": "user", "content": [result]}]})
        assert status == 400
        assert "cannot see" in body["error"]["message"]


async def test_more_tokens_than_fit_are_counted_too():
    async with serving(endless()) as served:  # a client asks before it shortens
        for number in (300, 600):
            messages = [{"role": "user", "content": "x" * number}]
            status, body = await served.post(f"{PATH}/count_tokens", {"messages": messages})
            assert (status, body["input_tokens"] // 100) == (200, number // 100)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_chat_too_long_is_told_so_that_agents_shorten_it(streamed):
    async with serving(endless()) as served:
        messages = [{"role": "user", "content": "x" * 600}]
        status, body = await served.post(PATH, ASKED | {"messages": messages, "stream": streamed})
        assert status == 400
        assert body["error"]["message"].startswith("prompt is too long: 6")
        assert "tokens > 512 maximum" in body["error"]["message"]


async def test_a_key_that_is_wrong_is_told_in_anthropics_form():
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED, headers={"Authorization": "", "x-api-key": "wrong"})
        assert (status, body["error"]["type"]) == (401, "authentication_error")


async def test_a_failure_on_the_way_is_an_event():
    *_, last = await blocks_of_broken_off(PATH, ASKED | {"stream": True}, b"text_delta")
    name, data = last.split("\n")
    assert name == "event: error"
    told = json.loads(data.removeprefix("data: "))
    assert told["error"] == {"type": "overloaded_error", "message": "The model was unloaded."}


async def test_what_a_schema_asks_for_and_nobody_enforces_is_named():
    asked = ASKED | {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    async with serving(with_tools('{"n": 5}')) as served:
        _, body = await served.post(PATH, asked)
        (warning,) = body["warnings"]
        assert "#/$defs/n: multipleOf" in warning
        _name, begun = (await served.named_events(PATH, asked))[0]
        assert begun["message"]["warnings"] == [warning]
