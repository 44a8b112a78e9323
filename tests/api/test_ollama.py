"""Ollama's API. A stream is its default, of one JSON object on each line."""

import json

import pytest

from app.api import engine_client
from tests.api.conftest import Steps, blocks_of_broken_off, endless, serving
from tests.api.parrot import CALL, QWEN3, SCHEMA, THOUGHT, TURNS, Parrot, with_tools
from tests.fakes import CountingBackend

CHAT, GENERATE = "/api/chat", "/api/generate"
ASKED = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "options": {"temperature": 0}}
PROMPT = {"model": "any", "prompt": "Hello", "options": {"temperature": 0}}
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


async def lines(served, path: str, body: dict) -> list[dict]:
    async with served.http.post(served.server.address + path, json=body) as response:
        assert response.status == 200, await response.text()
        assert response.content_type == "application/x-ndjson"
        return [json.loads(line) for line in (await response.text()).splitlines()]


async def whole(served, path: str, body: dict) -> dict:
    status, answer = await served.post(path, body | {"stream": False})
    assert status == 200, answer
    return answer


async def test_a_chat_is_streamed_line_by_line():
    async with serving(Parrot("Hi.")) as served:
        *pieces, last = await lines(served, CHAT, ASKED)
        assert [piece["message"] for piece in pieces] == [
            {"role": "assistant", "content": letter} for letter in "Hi."
        ]
        assert not any(piece["done"] for piece in pieces)
        assert last["message"]["content"] == ""
        assert (last["done"], last["done_reason"], last["eval_count"]) == (True, "stop", 3)
        assert last["prompt_eval_count"] > 0
        assert last["total_duration"] >= last["prompt_eval_duration"] + last["eval_duration"] > 0
        assert last["created_at"].endswith("Z")


async def test_a_chat_is_answered_whole_on_request():
    async with serving(Parrot("Hi.")) as served:
        answer = await whole(served, CHAT, ASKED)
        assert answer["message"] == {"role": "assistant", "content": "Hi."}
        assert (answer["done"], answer["eval_count"]) == (True, 3)


async def test_a_prompt_is_a_chat_of_one_turn():
    async with serving(Parrot("Hi.", TURNS)) as served:
        answer = await whole(served, GENERATE, PROMPT | {"system": "Be brief."})
        assert answer["response"] == "Hi."
        assert answer["prompt_eval_count"] == len("system=|Be brief.;user=|Hello;")
        *pieces, _last = await lines(served, GENERATE, PROMPT | {"system": "Be brief."})
        assert "".join(piece["response"] for piece in pieces) == "Hi."


async def test_a_raw_prompt_knows_no_template():
    async with serving(Parrot("Hi.", TURNS)) as served:
        options = {"options": {"temperature": 0, "num_predict": 2, "stop": ["x"]}}
        answer = await whole(served, GENERATE, PROMPT | {"raw": True} | options)
        assert (answer["response"], answer["done_reason"]) == ("Hi", "length")
        assert answer["prompt_eval_count"] == len("Hello")


async def test_options_are_those_of_sampling_and_others_are_named():
    async with serving(endless()) as served:
        options = {"num_predict": 3, "top_k": 40.0, "repeat_last_n": -1, "num_ctx": 4096, "num_gpu": None}
        answer = await whole(served, CHAT, ASKED | {"options": options})
        assert (answer["eval_count"], answer["done_reason"]) == (3, "length")
        assert answer["warnings"] == ["The option 'num_ctx' has no effect here."]
        last = (await lines(served, CHAT, ASKED | {"options": options}))[-1]
        assert last["warnings"] == answer["warnings"]


async def test_a_call_of_a_tool_comes_in_one_piece():
    async with serving(with_tools(CALL)) as served:
        answer = await whole(served, CHAT, ASKED | {"tools": [TOOL]})
        (call,) = answer["message"]["tool_calls"]
        assert call["function"] == {"index": 0, "name": "add", "arguments": {"a": 1}}
        assert answer["message"]["content"] == "So: "
        *pieces, before, _last = await lines(served, CHAT, ASKED | {"tools": [TOOL]})
        assert "".join(piece["message"]["content"] for piece in pieces) == "So: "
        assert before["message"]["tool_calls"][0]["function"] == call["function"]


async def test_what_the_model_thinks_is_told_apart():
    async with serving(Parrot(THOUGHT + "Hi.", QWEN3)) as served:
        answer = await whole(served, CHAT, ASKED)
        assert answer["message"] == {"role": "assistant", "content": "Hi.", "thinking": "Let me see.\n"}
        pieces = [line["message"] for line in await lines(served, CHAT, ASKED)]
        assert "".join(piece.get("thinking", "") for piece in pieces) == "Let me see.\n"
        assert "".join(piece["content"] for piece in pieces) == "Hi."


async def test_results_belong_to_calls_in_their_order():
    template = (
        "{% for m in messages %}{% for c in m.tool_calls or [] %}<{{ c.id }}>{% endfor %}"
        "{{ '[' + m.tool_call_id + ']' + m.name if m.tool_call_id }}{% endfor %}"
    )
    calls = [{"function": {"name": "add", "arguments": {"a": number}}} for number in (1, 2)]
    messages = [
        *ASKED["messages"],
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "1", "tool_name": "add"},
        {"role": "tool", "content": "2", "tool_name": "add"},
    ]
    async with serving(Parrot("ok", template)) as served:
        answer = await whole(served, CHAT, ASKED | {"messages": messages})
        call_id = "call00000"
        assert answer["prompt_eval_count"] == 2 * len(f"<{call_id}>") + 2 * len(f"[{call_id}]add")


async def test_thinking_is_switched_by_the_template():
    template = "{{ enable_thinking }}{{ reasoning_effort }}{% for m in messages %}{{ m.content }}{% endfor %}"
    async with serving(Parrot("ok", template)) as served:
        for extra, prompt in (
            ({"think": False}, "FalseHello"),
            ({"think": True}, "TrueHello"),
            ({"think": "high"}, "TruehighHello"),
        ):
            assert (await whole(served, CHAT, ASKED | extra))["prompt_eval_count"] == len(prompt)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, {"messages": None}),
        (CHAT, {"messages": [{"role": "user", "content": None, "images": None, "tool_calls": None}]}),
        (CHAT, {"messages": [{"role": "user"}, {"role": "assistant", "content": None}, {"role": "user"}]}),
        (CHAT, {"messages": [{"role": "user", "content": "x", "thinking": None, "tool_name": None}]}),
        (
            CHAT,
            {
                "messages": [
                    {"role": "user", "content": "x"},
                    {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": None}}]},
                    {"role": "tool", "content": None},
                ]
            },
        ),
        (CHAT, ASKED | {"tools": None, "format": None, "options": None, "think": None, "keep_alive": None}),
        (CHAT, ASKED | {"tools": [{"function": {"name": "f"}}], "options": {"stop": None}}),
        (CHAT, ASKED | {"format": "", "options": {"stop": [""], "num_predict": 3}}),
        (GENERATE, {"prompt": None}),
        (GENERATE, PROMPT | {"system": None, "images": None, "raw": None, "context": None, "suffix": None}),
    ],
    ids=str,
)
async def test_null_is_a_field_that_is_missing(path, body):
    async with serving(Parrot("Hi.", TURNS)) as served:
        assert (await whole(served, path, body))["done"]


async def test_a_call_that_was_cut_has_what_is_whole_of_it_and_a_warning():
    cut = {"options": {"temperature": 0, "num_predict": CALL.index("}") - 1}, "tools": [TOOL]}
    async with serving(with_tools(CALL)) as served:
        answer = await whole(served, CHAT, ASKED | cut)
        assert answer["message"]["tool_calls"][0]["function"]["arguments"] == {}
        assert answer["done_reason"] == "length"
        (warning,) = answer["warnings"]
        assert "The call of 'add' was cut" in warning
        assert (await lines(served, CHAT, ASKED | cut))[-1]["warnings"] == [warning]


async def test_what_was_thought_is_sent_back():
    messages = [
        *ASKED["messages"],
        {"role": "assistant", "content": "b", "thinking": "Hm"},
        {"role": "user", "content": "c"},
    ]
    async with serving(Parrot("ok", TURNS)) as served:
        answer = await whole(served, CHAT, ASKED | {"messages": messages})
        assert answer["prompt_eval_count"] == len("user=|Hello;assistant=Hm|b;user=|c;")


async def test_logprobs_spell_the_answer():
    for extra in ({}, {"raw": True}):
        async with serving(Parrot("Hi.")) as served:
            asked = PROMPT | extra | {"logprobs": True, "top_logprobs": 1}
            answer = await whole(served, GENERATE, asked)
            assert "".join(token["token"] for token in answer["logprobs"]) == "Hi."
            pieces = await lines(served, GENERATE, asked)
            spelled = [token["token"] for piece in pieces for token in piece.get("logprobs", [])]
            assert "".join(spelled) == "Hi."


async def test_without_a_question_the_model_is_there():
    async with serving(endless()) as served:
        assert (await whole(served, CHAT, {"model": "any"}))["done_reason"] == "load"
        assert (await whole(served, CHAT, {"model": "any", "messages": []}))["message"]["content"] == ""
        assert (await whole(served, GENERATE, {"model": "any"}))["response"] == ""


async def test_the_model_is_listed_and_shown():
    model = {"description": "qwen3 0.6B Q4_K - Medium", "n_params": 596_049_920, "takes_tools": True}
    async with serving(CountingBackend(**model)) as served:
        (listed,) = (await served.get("/api/tags"))[1]["models"]
        (running,) = (await served.get("/api/ps"))[1]["models"]
        assert listed["name"] == listed["model"] == running["name"]
        assert listed["details"]["quantization_level"] == "Q4_K_M"
        assert listed["details"]["parameter_size"] == "596.05M"
        status, shown = await served.post("/api/show", {"model": listed["name"]})
        assert status == 200
        assert shown["details"] == listed["details"]
        assert shown["capabilities"] == ["completion", "tools"]
        family = listed["details"]["family"]
        assert shown["model_info"][f"{family}.context_length"] == running["context_length"]


async def test_it_is_found_without_the_key_but_tells_nothing():
    async with serving() as served:
        for ask in (served.http.get, served.http.head):
            async with ask(f"{served.server.address}/", headers={"Authorization": ""}) as response:
                assert response.status == 200
        async with served.http.get(f"{served.server.address}/") as response:
            assert await response.text() == "Ollama is running"
        assert (await served.get("/api/version"))[1]["version"].startswith("0.")
        status, body = await served.get("/api/tags", headers={"Authorization": ""})
        assert (status, body) == (401, {"error": "Invalid API Key"})


async def test_who_waits_for_a_stream_gets_lines_that_can_be_read(monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.02)
    steps = Steps()
    async with serving(endless(before_decode=steps.wait)) as served:
        body = PROMPT | {"options": {"num_predict": 3}}
        async with served.http.post(served.server.address + GENERATE, json=body) as response:
            assert await response.content.readexactly(2) == b"  "
            steps.free()
            read = [json.loads(line) for line in (await response.text()).splitlines()]
        assert read[-1]["eval_count"] == 3


@pytest.mark.parametrize(
    ("path", "body", "word"),
    [
        (CHAT, {"messages": [{"role": "king", "content": "x"}]}, "role"),
        (CHAT, {"messages": [{"role": "user", "content": "x", "images": ["aGk="]}]}, "cannot see"),
        (CHAT, ASKED | {"options": {"temperature": -1}}, "temperature"),
        (CHAT, ASKED | {"options": {"num_predict": "many"}}, "num_predict"),
        (CHAT, ASKED | {"format": "xml"}, "format"),
        (CHAT, ASKED | {"tools": [{"type": "function"}]}, "tools"),
        (GENERATE, PROMPT | {"images": ["aGk="]}, "cannot see"),
        ("/api/embed", {"input": "x"}, "no embeddings"),
        (GENERATE, PROMPT | {"suffix": "x"}, "to fill gaps"),
        (GENERATE, PROMPT | {"raw": True, "options": {"temperature": "hot"}}, "temperature"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_ollamas_form(path, body, word):
    async with serving(endless()) as served:
        status, answer = await served.post(path, body)
        assert status == 400
        assert word in answer["error"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/pull"),
        ("POST", "/api/create"),
        ("DELETE", "/api/delete"),
        ("POST", "/api/blobs/sha256:0"),
        ("POST", "/api/unheard-of"),
    ],
)
async def test_what_is_not_offered_says_so(method, path):
    async with serving() as served:
        address = served.server.address + path
        async with served.http.request(method, address, json={"model": "x"}) as response:
            assert response.status == 404
            assert list(await response.json()) == ["error"]


async def test_a_failure_on_the_way_is_a_line():
    *_, block = await blocks_of_broken_off(CHAT, ASKED, b"\n")
    assert json.loads(block.splitlines()[-1]) == {"error": "The model was unloaded."}


async def test_what_a_schema_asks_for_and_nobody_enforces_is_named():
    async with serving(with_tools('{"n": 5}')) as served:
        (warning,) = (await whole(served, CHAT, ASKED | {"format": SCHEMA}))["warnings"]
        assert "#/$defs/n: multipleOf" in warning
        assert (await lines(served, CHAT, ASKED | {"format": SCHEMA}))[-1]["warnings"] == [warning]
