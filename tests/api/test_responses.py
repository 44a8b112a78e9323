"""POST /v1/responses, as OpenAI and llama-server have it."""

import json

import pytest

from app.api.responses import store
from tests.api.conftest import blocks_of_broken_off, endless, serving
from tests.api.parrot import CALL, QWEN3, SCHEMA, THOUGHT, TURNS, Parrot, with_tools

PATH = "/v1/responses"
ASKED = {"input": "Hello", "temperature": 0}
TOOL = {"type": "function", "name": "add", "parameters": {"type": "object"}}
SHOWN_TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


async def test_an_answer_has_openais_form():
    async with serving(Parrot("Hi.")) as served:
        status, body = await served.post(PATH, ASKED)
        assert status == 200
        assert body["id"].startswith("resp_")
        assert (body["object"], body["status"], body["error"]) == ("response", "completed", None)
        (item,) = body["output"]
        assert item["id"].startswith("msg_")
        assert (item["type"], item["role"], item["status"]) == ("message", "assistant", "completed")
        (part,) = item["content"]
        assert (part["type"], part["text"], part["annotations"]) == ("output_text", "Hi.", [])
        assert body["usage"]["output_tokens"] == 3
        assert body["usage"]["total_tokens"] == body["usage"]["input_tokens"] + 3
        assert "warnings" not in body


async def test_a_stream_tells_of_the_items_in_order():
    async with serving(Parrot("Hi.")) as served:
        events = await served.named_events(PATH, ASKED)
        assert [name for name, _ in events] == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            *["response.output_text.delta"] * 3,
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        assert all(event["type"] == name for name, event in events)
        assert [event["sequence_number"] for _, event in events] == list(range(len(events)))
        added = events[2][1]["item"]
        assert added["content"] == []
        assert {event["item_id"] for _, event in events if "item_id" in event} == {added["id"]}
        assert "".join(event["delta"] for _, event in events if "delta" in event) == "Hi."
        last = events[-1][1]["response"]
        assert last["output"][0]["content"][0]["text"] == "Hi."
        assert last["usage"]["output_tokens"] == 3


async def test_an_answer_that_was_cut_is_incomplete():
    async with serving(endless()) as served:
        _, body = await served.post(PATH, ASKED | {"max_output_tokens": 3})
        assert body["status"] == "incomplete"
        assert body["incomplete_details"] == {"reason": "max_output_tokens"}
        assert body["output"][0]["status"] == "incomplete"
        name, event = (await served.named_events(PATH, ASKED | {"max_output_tokens": 3}))[-1]
        assert name == "response.incomplete"
        assert event["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


async def test_a_call_of_a_function_is_an_item_of_its_own():
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, ASKED | {"tools": [TOOL]})
        text, call = body["output"]
        assert text["content"][0]["text"] == "So: "
        assert (call["type"], call["name"], call["status"]) == ("function_call", "add", "completed")
        assert json.loads(call["arguments"]) == {"a": 1}
        events = await served.named_events(PATH, ASKED | {"tools": [TOOL]})
        told = [event for name, event in events if name == "response.function_call_arguments.done"]
        assert [json.loads(event["arguments"]) for event in told] == [{"a": 1}]
        assert [event["output_index"] for event in told] == [1]
        assert [item["type"] for item in events[-1][1]["response"]["output"]] == ["message", "function_call"]


async def test_what_the_model_thinks_is_an_item_before_the_others():
    async with serving(with_tools(THOUGHT + CALL, QWEN3)) as served:
        _, body = await served.post(PATH, ASKED | {"tools": [TOOL]})
        kinds = ["reasoning", "message", "function_call"]
        assert [item["type"] for item in body["output"]] == kinds
        assert body["output"][0]["content"] == [{"type": "reasoning_text", "text": "Let me see.\n"}]
        assert body["usage"]["output_tokens_details"]["reasoning_tokens"] == len("Let me see.\n")
        events = await served.named_events(PATH, ASKED | {"tools": [TOOL]})
        streamed = events[-1][1]["response"]["output"]
        assert [item["type"] for item in streamed] == kinds
        assert streamed[0]["content"] == body["output"][0]["content"]
        done = [name for name, _ in events if name.endswith(".done")]
        assert done == [
            "response.reasoning_text.done",
            "response.output_item.done",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ]
        following = {"input": "And?", "previous_response_id": body["id"], "tools": [TOOL]}
        assert (await served.post(f"{PATH}/input_tokens", following))[0] == 200


async def test_calls_and_their_results_are_shown_to_the_model_as_in_a_chat_completion():
    async with serving(with_tools("ok")) as served:
        items = [
            {"role": "user", "content": "1 + 1?"},
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]},
            {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'},
            {"type": "function_call", "call_id": "c2", "name": "add", "arguments": '{"a": 2}'},
            {"type": "function_call_output", "call_id": "c1", "output": "2"},
            {"type": "function_call_output", "call_id": "c2", "output": "3"},
        ]
        asked = {"input": items, "tools": [TOOL], "instructions": "Add."}
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": "add", "arguments": f'{{"a": {n}}}'}}
            for n in (1, 2)
        ]
        messages = [
            {"role": "system", "content": "Add."},
            {"role": "user", "content": "1 + 1?"},
            {"role": "assistant", "content": "", "reasoning_content": "Hm", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
        ]
        chat = {"messages": messages, "tools": [SHOWN_TOOL]}
        _, body = await served.post(f"{PATH}/input_tokens", asked)
        assert body == (await served.post("/v1/chat/completions/input_tokens", chat))[1]


SPACE = {"type": "namespace", "name": "mcp__sky", "description": "", "tools": [TOOL]}


@pytest.mark.parametrize("name", ["mcp__sky", "mcp__sky__"])
async def test_functions_of_a_namespace_are_offered_and_called_by_their_own_names(name):
    call = '<tool_call>\n{"name": "mcp__sky__add", "arguments": {"a": 1}}\n</tool_call>'
    asked = ASKED | {"tools": [SPACE | {"name": name}]}
    async with serving(with_tools(call)) as served:
        _, body = await served.post(PATH, asked)
        assert "warnings" not in body
        (item,) = body["output"]
        assert (item["namespace"], item["name"]) == (name, "add")
        events = await served.named_events(PATH, asked)
        added = next(event["item"] for kind, event in events if kind == "response.output_item.added")
        assert (added["namespace"], added["name"]) == (name, "add")
        result = {"type": "function_call_output", "call_id": item["call_id"], "output": "2"}
        items = [{"role": "user", "content": "Hello"}, item, result]
        _, again = await served.post(f"{PATH}/input_tokens", {"input": items})
        flat = [items[0], item | {"name": "mcp__sky__add", "namespace": None}, result]
        assert again == (await served.post(f"{PATH}/input_tokens", {"input": flat}))[1]
        chosen = {"tool_choice": {"type": "function", "namespace": name, "name": "add"}}
        assert (await served.post(PATH, asked | chosen))[0] == 200


async def test_allowed_tools_change_no_prompt():
    tools = [TOOL, TOOL | {"name": "other"}]
    choice = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "add"}]}
    async with serving(with_tools(CALL)) as served:
        _, usual = await served.post(f"{PATH}/input_tokens", ASKED | {"tools": tools})
        asked = ASKED | {"tools": tools, "tool_choice": choice}
        assert (await served.post(f"{PATH}/input_tokens", asked))[1] == usual


async def test_items_and_parts_that_cannot_be_read_are_left_out_and_both_are_told():
    items = [
        {
            "role": "user",
            "content": [{"type": "input_file", "file_id": "f"}, {"type": "input_text", "text": "a"}],
        },
        {"type": "web_search_call", "id": "w", "action": {"type": "search"}, "output": {"x": 1}, "role": 5},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "file_id": "f"}]},
        {"role": "user", "content": "c"},
    ]
    async with serving(Parrot("ok", TURNS)) as served:
        status, body = await served.post(PATH, {"input": items})
        assert status == 200
        kinds = ["web_search_call", "input_file", "input_image"]
        assert [warning.split("'")[1] for warning in body["warnings"]] == kinds
        notes = [f"[{kind!r} was left out: this server cannot read it]" for kind in kinds]
        result = f"<tool_response>\n{notes[2]}\n</tool_response>"
        shown = f"user=|{notes[1]}\na;assistant=|b;user=|{result}\nc;"
        assert body["usage"]["input_tokens"] == len(shown)


@pytest.mark.parametrize(
    ("item", "extra"),
    [
        ({"content": None}, {}),
        ({"content": []}, {}),
        ({"content": "x", "id": None, "status": None, "type": None}, {}),
        ({"content": [{"type": "output_text", "text": "x", "annotations": None, "logprobs": None}]}, {}),
        ({"content": "x"}, {"previous_response_id": "", "instructions": None, "tools": None, "text": None}),
        (
            {"content": "x"},
            {"reasoning": {"effort": None, "summary": None}, "include": None, "metadata": None},
        ),
        ({"content": "x"}, {"text": {"format": None}, "tool_choice": None, "conversation": None}),
        ({"content": "x"}, {"input": ""}),
        (
            {"content": "x"},
            {"tools": [{"type": "function", "name": "f", "parameters": None, "strict": None}]},
        ),
    ],
    ids=str,
)
async def test_what_clients_leave_out_or_send_as_null_is_taken(item, extra):
    items = [{"role": "user", "content": "a"}, {"role": "assistant"} | item, {"role": "user", "content": "c"}]
    async with serving(Parrot("ok", TURNS)) as served:
        status, body = await served.post(PATH, {"input": items} | extra)
        assert status == 200, body


async def test_a_call_that_was_cut_is_incomplete_and_gone_on_from():
    asked = ASKED | {"tools": [TOOL], "max_output_tokens": CALL.index("}") - 1}
    async with serving(with_tools(CALL)) as served:
        _, body = await served.post(PATH, asked)
        assert body["output"][1]["status"] == body["status"] == "incomplete"
        (warning,) = body["warnings"]
        assert "The call of 'add' was cut" in warning
        _name, last = (await served.named_events(PATH, asked))[-1]
        assert last["response"]["warnings"] == [warning]
        result = {"type": "function_call_output", "call_id": body["output"][1]["call_id"], "output": "cut"}
        following = {"input": [result], "previous_response_id": body["id"], "tools": [TOOL]}
        assert (await served.post(PATH, following))[0] == 200


async def test_what_was_thought_is_sent_back():
    async with serving(Parrot("ok", TURNS)) as served:
        items = [
            {"role": "user", "content": "a"},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "short"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
            {"role": "user", "content": [{"type": "input_text", "text": "c"}]},
        ]
        _, body = await served.post(PATH, {"input": items})
        assert body["usage"]["input_tokens"] == len("user=|a;assistant=short|b;user=|c;")


async def test_a_response_can_be_gone_on_with_by_its_id():
    template = "{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}"
    async with serving(Parrot("Hi.", template)) as served:
        _, first = await served.post(PATH, ASKED | {"instructions": "Only now."})
        following = {"input": "And?", "previous_response_id": first["id"]}
        _, second = await served.post(PATH, following)
        assert second["usage"]["input_tokens"] == len("user=Hello;assistant=Hi.;user=And?;")
        assert second["previous_response_id"] == first["id"]
        reference = [
            {"role": "user", "content": "Hello"},
            {"type": "item_reference", "id": first["output"][0]["id"]},
            {"role": "user", "content": "And?"},
        ]
        _, third = await served.post(PATH, {"input": reference})
        assert third["usage"]["input_tokens"] == second["usage"]["input_tokens"]
        assert (await served.get(f"{PATH}/{second['id']}"))[1]["output"] == second["output"]


async def test_a_response_that_is_not_stored_is_gone():
    async with serving(Parrot("Hi.")) as served:
        _, first = await served.post(PATH, ASKED | {"store": False})
        status, body = await served.post(PATH, ASKED | {"previous_response_id": first["id"]})
        assert status == 400
        assert "not kept" in body["error"]["message"]
        assert (await served.get(f"{PATH}/{first['id']}"))[0] == 404
        _, kept = await served.post(PATH, ASKED)
        async with served.http.delete(f"{served.server.address}{PATH}/{kept['id']}") as response:
            assert (await response.json())["deleted"] is True
        assert (await served.get(f"{PATH}/{kept['id']}"))[0] == 404


async def test_a_reference_counts_once():
    async with serving(Parrot("Hi.")) as served:
        _, first = await served.post(PATH, ASKED)
        reference = {"type": "item_reference", "id": first["output"][0]["id"]}
        items = [{"role": "user", "content": "Hello"}, reference, reference]
        status, body = await served.post(PATH, {"input": items})
        assert status == 400
        assert "twice" in body["error"]["message"]


async def test_the_oldest_responses_are_dropped(monkeypatch):
    async with serving(Parrot("Hi.")) as served:
        _, first = await served.post(PATH, ASKED)
        monkeypatch.setattr(store, "MAX_BYTES", 3 * len(json.dumps(first)))
        kept = [(await served.post(PATH, ASKED))[1]["id"] for _ in range(4)]
        assert (await served.get(f"{PATH}/{first['id']}"))[0] == 404
        assert (await served.get(f"{PATH}/{kept[-1]}"))[0] == 200
        monkeypatch.setattr(store, "MAX_RESPONSES", 1)
        await served.post(PATH, ASKED)
        assert (await served.get(f"{PATH}/{kept[-1]}"))[0] == 404


async def test_an_answer_follows_a_schema():
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    wish = {"format": {"type": "json_schema", "name": "it", "schema": schema, "strict": True}}
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED | {"text": wish, "max_output_tokens": 8})
        assert status == 200
        assert body["text"] == wish


async def test_tools_that_only_openai_runs_are_left_out_by_name():
    async with serving(Parrot("Hi.")) as served:
        _, body = await served.post(PATH, ASKED | {"tools": [{"type": "web_search"}]})
        assert body["output"][0]["content"][0]["text"] == "Hi."
        assert body["warnings"] == ["tools: 'web_search' was left out, which this server does not have."]


async def test_logprobs_come_with_the_text():
    async with serving(Parrot("Hi.")) as served:
        _, body = await served.post(PATH, ASKED | {"top_logprobs": 1})
        logprobs = body["output"][0]["content"][0]["logprobs"]
        assert "".join(one["token"] for one in logprobs) == "Hi."
        events = await served.named_events(PATH, ASKED | {"include": ["message.output_text.logprobs"]})
        told = [one for name, event in events if name.endswith("text.delta") for one in event["logprobs"]]
        assert "".join(one["token"] for one in told) == "Hi."


async def test_progress_and_timings_are_streamed_on_request():
    async with serving(Parrot("Hi.")) as served:
        events = await served.named_events(PATH, ASKED | {"timings_per_token": True, "return_progress": True})
        progress = [(name, event) for name, event in events if "prompt_progress" in event]
        assert {name for name, _ in progress} == {"response.in_progress"}
        assert progress[-1][1]["prompt_progress"]["processed"] == progress[-1][1]["prompt_progress"]["total"]
        assert all("timings" in event for name, event in events if name == "response.output_text.delta")
        assert "timings" in events[-1][1]


async def test_the_tokens_of_an_input_are_counted():
    async with serving(Parrot("Hi.")) as served:
        _, body = await served.post(f"{PATH}/input_tokens", ASKED)
        assert body["input_tokens"] == (await served.post(PATH, ASKED))[1]["usage"]["input_tokens"]


async def test_a_failure_on_the_way_is_an_event():
    *_, error, last = await blocks_of_broken_off(PATH, ASKED | {"stream": True}, b"output_text.delta")
    assert error.startswith("event: error\n")
    failed = json.loads(last.partition("data: ")[2])
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"]["message"] == "The model was unloaded."


@pytest.mark.parametrize(
    ("extra", "word"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "msg_1"),
        ({"previous_response_id": "resp_1"}, "resp_1"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "data: URL"),
        ({"input": [{"type": "function_call", "call_id": "1", "arguments": "{}"}]}, "name"),
        ({"background": True}, "background"),
        ({"text": {"format": {"type": "json_schema"}}}, "schema"),
        ({"tools": [TOOL], "tool_choice": {"type": "file_search"}}, "file_search"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"temperature": -1}, "temperature"),
    ],
)
async def test_what_makes_no_sense_is_refused(extra, word):
    async with serving(endless()) as served:
        status, body = await served.post(PATH, ASKED | extra)
        assert (status, body["error"]["type"]) == (400, "invalid_request_error")
        assert word in body["error"]["message"]


async def test_what_a_schema_asks_for_and_nobody_enforces_is_named():
    asked = ASKED | {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}}
    async with serving(with_tools('{"n": 5}')) as served:
        _, body = await served.post(PATH, asked)
        (warning,) = body["warnings"]
        assert "#/$defs/n: multipleOf" in warning
        events = await served.named_events(PATH, asked)
        assert [events[place][1]["response"]["warnings"] for place in (0, -1)] == [[warning], [warning]]
