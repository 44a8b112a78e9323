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
        ({"input": [{"type": "computer_call"}]}, "computer_call"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "msg_1"),
        ({"previous_response_id": "resp_1"}, "resp_1"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "data: URL"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input_file"),
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
