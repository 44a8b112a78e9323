"""llama-server's endpoints, on the fake and on llama.cpp."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from app.api.engine_client import Defaults
from app.api.state import Presentation
from app.protocol.load import LoadParams, LoraAdapter
from tests.api.conftest import SOON, OpenBackend, Served, Steps, endless, serving, until
from tests.conftest import TINY_CONTEXT
from tests.fakes import END, CountingBackend

GREEDY = {"temperature": 0.0, "n_predict": 8}
TURN = "<|im_start|>user\nHello<|im_end|>\n"
START = "<|im_start|>assistant\n"


def open_llama(tiny_gguf: Callable[[str], Path]) -> OpenBackend:
    from app.engine.llama.loading import open_llama_backend

    params = LoadParams(tiny_gguf("qwen3"), n_threads=1, **TINY_CONTEXT)
    return lambda on_progress: open_llama_backend(params, on_progress)


@pytest.fixture(params=["fake", pytest.param("llama", marks=pytest.mark.native)])
def opener(request: pytest.FixtureRequest, tiny_gguf: Callable[[str], Path]) -> OpenBackend:
    """A backend that never ends an answer by itself soon, and the real one."""
    if request.param == "llama":
        return open_llama(tiny_gguf)
    return lambda _on_progress: nullcontext(endless())


async def complete(served: Served, prompt: object, **fields: Any) -> Any:
    status, body = await served.post("/completion", GREEDY | {"prompt": prompt} | fields)
    assert status == 200, body
    return body


async def refused(served: Served, **fields: Any) -> tuple[int, str]:
    status, body = await served.post("/completion", GREEDY | {"prompt": "Hi"} | fields)
    assert body["error"].keys() >= {"code", "message", "type"}
    return status, body["error"]["message"]


# Prompts.


async def test_one_prompt_has_many_forms(opener):
    async with serving(open_backend=opener) as served:
        _, body = await served.post("/tokenize", {"content": "Hello", "add_special": True})
        tokens = body["tokens"]
        forms = ["Hello", tokens, {"prompt_string": "Hello"}, ["He", *tokens[2:]], [tokens], ["Hello"]]
        answers = [await complete(served, form) for form in forms]
    assert {answer["content"] for answer in answers} == {answers[0]["content"]}
    assert {answer["tokens_evaluated"] for answer in answers} == {len(tokens)}


async def test_many_prompts_get_a_list_of_answers(opener):
    async with serving(open_backend=opener) as served:
        alone = [(await complete(served, prompt))["content"] for prompt in ("one", "two")]
        _, body = await served.post("/tokenize", {"content": "two"})
        together = await complete(served, ["one", body["tokens"], {"prompt_string": "one"}])
    assert [answer["index"] for answer in together] == [0, 1, 2]
    assert [answer["content"] for answer in together] == [alone[0], alone[1], alone[0]]


@pytest.mark.parametrize(
    ("prompt", "status"),
    [
        (None, 400),
        ([], 400),
        ({}, 400),
        ([{"prompt_string": 1}], 400),
        ([[]], 400),
        ("", 400),
        ([1.5], 400),
        ([True], 400),
        ([999_999], 400),
        ([-1, "Hi"], 400),
        ({"prompt_string": "Hi", "multimodal_data": ["aGk="]}, 400),
    ],
)
async def test_what_is_no_prompt_is_refused(prompt, status):
    async with serving() as served:
        assert (await refused(served, prompt=prompt))[0] == status


async def test_a_prompt_that_does_not_fit_is_refused_in_llama_servers_words(opener):
    async with serving(open_backend=opener) as served:
        for stream in (False, True):
            body = {"prompt": "a" * 600, "stream": stream}
            async with served.http.post(served.server.address + "/completion", json=body) as response:
                assert response.status == 400
                error = (await response.json())["error"]
            assert error["type"] == "exceed_context_size_error"
            assert "exceeds the available context size" in error["message"]
            assert (error["n_prompt_tokens"], error["n_ctx"]) == (600, 512)


# The answer.


async def test_an_answer_tells_how_it_was_made(opener):
    async with serving(open_backend=opener) as served:
        asked = {"seed": 7, "top_k": 3, "stop": ["never"], "return_tokens": True}
        answer = await complete(served, TURN + START, **asked)
        _, detokenized = await served.post("/detokenize", {"tokens": answer["tokens"]})
    assert (answer["tokens_predicted"], answer["stop_type"], answer["stopping_word"]) == (8, "limit", "")
    assert answer["tokens_cached"] == answer["tokens_evaluated"] + 7  # the last one was not computed
    assert answer["prompt"] == TURN + START
    assert detokenized["content"] == answer["content"]
    assert answer["has_new_line"] is ("\n" in answer["content"])
    assert answer["truncated"] is False
    assert answer["id_slot"] in range(4)
    settings = answer["generation_settings"]
    assert (settings["n_predict"], settings["seed"], settings["top_k"], settings["stop"]) == (
        8,
        7,
        3,
        ["never"],
    )
    assert (settings["temperature"], settings["logit_bias"]) == (0.0, [])
    timings = answer["timings"]
    assert timings["prompt_n"] + timings["cache_n"] == answer["tokens_evaluated"]
    assert timings["predicted_n"] == 8
    assert all(value >= 0 for value in timings.values())


async def test_tokens_are_told_only_where_they_are_asked_for():
    async with serving() as served:
        assert (await complete(served, "Hi"))["tokens"] == []


async def test_the_end_of_an_answer_has_its_reason():
    ends = CountingBackend(lambda tokens: END if len(tokens) > 5 else ord("a") + len(tokens), **TINY_CONTEXT)
    async with serving(ends) as served:
        answer = await complete(served, "Hi")
        assert (answer["stop_type"], answer["content"]) == ("eos", "cdef")
        answer = await complete(served, "Hi", stop=["ef", "e"])
        assert (answer["stop_type"], answer["stopping_word"], answer["content"]) == ("word", "e", "cd")


async def test_an_answer_that_fills_the_context_is_truncated(opener):
    async with serving(open_backend=opener) as served:
        answer = await complete(served, "a" * 300, n_predict=-1, ignore_eos=True)
    assert answer["truncated"] is True
    assert answer["tokens_evaluated"] + answer["tokens_predicted"] == 512


async def test_only_the_fields_that_were_named_are_sent():
    async with serving() as served:
        paths = ["content", "generation_settings/n_predict", "timings/predicted_n", "nothing", "content/x"]
        answer = await complete(served, "Hi", response_fields=paths)
    assert answer.keys() == {"content", "generation_settings/n_predict", "timings/predicted_n"}
    assert answer["generation_settings/n_predict"] == 8


async def test_several_answers_to_one_prompt_differ_by_their_seed(opener):
    async with serving(open_backend=opener) as served:
        answers = await complete(served, "Hi", n=3, temperature=5.0, top_k=0, top_p=1.0, min_p=0.0, seed=1)
    assert [answer["generation_settings"]["seed"] for answer in answers] == [1, 2, 3]


@pytest.mark.native
async def test_probabilities_before_and_after_sampling(tiny_gguf):
    async with serving(open_backend=open_llama(tiny_gguf)) as served:
        before = (await complete(served, "Hi", n_probs=4))["completion_probabilities"]
        after = await complete(served, "Hi", n_probs=4, post_sampling_probs=True, temperature=2.0, top_k=3)
    assert len(before) == 8
    for token in before:
        assert token["logprob"] == max(top["logprob"] for top in token["top_logprobs"])  # greedy
        assert len(token["top_logprobs"]) == 4
        assert token["token"].encode() == bytes(token["bytes"]) or "\ufffd" in token["token"]
    for token in after["completion_probabilities"]:
        assert 0 < token["prob"] <= 1
        top = [other["prob"] for other in token["top_probs"]]
        assert top == sorted(top, reverse=True)
        assert len(top) <= 3
        assert sum(top) == pytest.approx(1, abs=1e-4)


@pytest.mark.native
async def test_a_token_is_biased_by_its_id_or_its_text_in_a_list_or_a_map(tiny_gguf):
    async with serving(open_backend=open_llama(tiny_gguf)) as served:
        first = (await complete(served, "Hi", n_probs=1, n_predict=1))["completion_probabilities"][0]
        token, text = first["id"], "hell"
        _, body = await served.post("/tokenize", {"content": text})
        (other,) = body["tokens"]
        for shape in ([[token, False]], {str(token): -1000}):
            answer = await complete(served, "Hi", n_predict=1, logit_bias=shape, return_tokens=True)
            assert answer["tokens"] != [token]
        for shape in ([[text, 1000]], {text: 1000.0}, {text: 1000, str(other): 1000}):
            answer = await complete(served, "Hi", n_predict=1, logit_bias=shape, return_tokens=True)
            assert answer["tokens"] == [other]
            assert answer["generation_settings"]["logit_bias"] == [{"token": other, "bias": 1000.0}]


@pytest.mark.parametrize("bias", [[[1]], [[1, True]], [[None, 1]], [[1.5, 1]], {"a": "b"}, [[True, 1]], 3])
async def test_what_is_no_bias_is_refused(bias):
    async with serving() as served:
        assert (await refused(served, logit_bias=bias))[0] == 400


async def test_without_its_end_an_answer_goes_on_and_says_which_tokens_are_ruled_out():
    async with serving(CountingBackend(lambda _tokens: END, **TINY_CONTEXT)) as served:
        assert (await complete(served, "Hi"))["tokens_predicted"] == 0
        answer = await complete(served, "Hi", ignore_eos=True)
    assert answer["tokens_predicted"] == 8
    assert answer["generation_settings"]["logit_bias"] == [{"token": END, "bias": None}]


@pytest.mark.parametrize(
    "field",
    [
        "n_predict",
        "n_probs",
        "n",
        "id_slot",
        "cache_prompt",
        "return_tokens",
        "response_fields",
        "logit_bias",
    ],
)
async def test_no_value_of_a_field_does_harm(field):
    async with serving() as served:
        for value in (-2, 0, 2**31, 2**63, 1e300, "x", None, [], {}, True, [None], [[]], {"x": {}}):
            status, body = await served.post("/completion", {"prompt": "Hi", field: value})
            assert status in (200, 400), (value, body)
        assert await complete(served, "Hi")


# The cache, and the slot.


async def test_a_prompt_is_computed_again_only_if_the_caller_insists(opener):
    prompt = "a prompt that is long enough to be worth sharing"
    async with serving(open_backend=opener) as served:
        first, second, anew = [
            await complete(served, prompt, cache_prompt=cache) for cache in (None, True, False)
        ]
    assert first["timings"]["cache_n"] == 0
    assert second["timings"]["cache_n"] == second["tokens_evaluated"] - 1
    assert anew["timings"]["cache_n"] == 0
    assert first["content"] == second["content"] == anew["content"]


async def test_a_slot_that_is_not_there_cannot_be_wished_for():
    async with serving() as served:
        status, message = await refused(served, id_slot=4)
        assert (status, "0 to 3" in message) == (400, True)
        assert (await complete(served, "Hi", id_slot=3))["content"]
        assert (await complete(served, "Hi", id_slot=-1))["content"]


# Streams.


async def test_a_stream_says_the_same_as_a_whole_answer(opener):
    async with serving(open_backend=opener) as served:
        whole = await complete(served, "Hello", return_tokens=True)
        *pieces, last = await served.events("/completion", GREEDY | {"prompt": "Hello"})
    assert "".join(piece["content"] for piece in pieces) + last["content"] == whole["content"]
    assert [token for piece in pieces for token in piece["tokens"]] == whole["tokens"]
    assert not any(piece["stop"] or "timings" in piece for piece in pieces)
    assert last["stop"] is True
    assert last["generation_settings"] == whole["generation_settings"] | {"stream": True}
    same = ("stop_type", "prompt", "tokens_predicted", "tokens_evaluated", "model")
    assert [last[name] for name in same] == [whole[name] for name in same]


async def test_each_piece_has_its_probabilities_and_timings_where_asked_for(opener):
    async with serving(open_backend=opener) as served:
        asked = GREEDY | {"prompt": "Hello", "n_probs": 1, "timings_per_token": True}
        *pieces, _last = await served.events("/completion", asked)
    assert [len(piece["completion_probabilities"]) for piece in pieces] == [1] * 8
    assert [piece["timings"]["predicted_n"] for piece in pieces] == list(range(1, 9))


async def test_the_prompts_progress_goes_from_what_was_cached_to_all_of_it(opener):
    async with serving(open_backend=opener) as served:
        await complete(served, "a" * 100)
        asked = GREEDY | {"prompt": "a" * 100 + "b" * 200, "return_progress": True}
        events = await served.events("/completion", asked)
    progress = [event["prompt_progress"] for event in events if "prompt_progress" in event]
    assert progress[0] == {"total": 300, "cache": 100, "processed": 100, "time_ms": 0}
    processed = [one["processed"] for one in progress]
    assert processed == sorted(set(processed))
    assert processed[-1] == 300
    assert len(processed) > 3  # 64 rows a step
    assert events[0]["timings"]["prompt_n"] == 0


async def test_each_of_several_streamed_answers_has_its_own_end():
    async with serving() as served:
        events = await served.events("/completion", GREEDY | {"prompt": ["one", "two"]})
        alone = [(await complete(served, prompt))["content"] for prompt in ("one", "two")]
    for index in (0, 1):
        mine = [event for event in events if event["index"] == index]
        assert "".join(event["content"] for event in mine) == alone[index]
        assert [event["stop"] for event in mine] == [False] * (len(mine) - 1) + [True]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_caller_that_leaves_takes_all_his_answers_along(stream):
    steps = Steps()
    async with serving(endless(before_decode=steps.wait)) as served:
        asked = {"prompt": ["one", "two"], "stream": stream, "ignore_eos": True}
        url = served.server.address + "/completion"
        asking = asyncio.ensure_future(served.http.post(url, json=asked))
        steps.allow(3)
        await until(lambda: steps.num_begun == 4)
        if not asking.cancel():  # its stream has begun
            asking.result().close()
        await until(lambda: served.client.num_open == 0)
        steps.free()
        await until(served.is_idle)
        assert {slot.request_id for slot in served.reports[-1].slots} == {None}
        assert steps.num_begun == 4


# Texts and tokens.


async def test_a_text_survives_the_way_to_tokens_and_back(opener):
    text = "What is 媽 and 🤗?<|im_end|>"
    async with serving(open_backend=opener) as served:
        _, body = await served.post("/tokenize", {"content": text})
        _, back = await served.post("/detokenize", body)
        assert back == {"content": text}
        _, plain = await served.post("/tokenize", {"content": text, "parse_special": False})
        assert len(plain["tokens"]) > len(body["tokens"])
        _, mixed = await served.post("/tokenize", {"content": ["What is", *body["tokens"][7:]]})
        assert mixed == body


async def test_the_piece_of_a_token_is_text_or_bytes_of_a_character(opener):
    async with serving(open_backend=opener) as served:
        _, body = await served.post("/tokenize", {"content": "a媽", "with_pieces": True})
    assert [token["piece"] for token in body["tokens"]] == ["a", *[[byte] for byte in "媽".encode()]]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tokenize", {"content": 5}),
        ("/tokenize", {"content": [5, -1]}),
        ("/tokenize", {"content": "a" * 1_000_001}),
        ("/tokenize", {"content": "a" * 300_000}),
        ("/detokenize", {}),
        ("/detokenize", {"tokens": [999_999]}),
        ("/detokenize", {"tokens": [-1]}),
        ("/detokenize", {"tokens": ["1"]}),
        ("/detokenize", {"tokens": [True]}),
        ("/apply-template", {"messages": []}),
    ],
)
async def test_what_has_no_tokens_is_refused(path, body):
    async with serving() as served:
        status, answer = await served.post(path, body)
        assert (status, answer["error"]["code"]) == (400, 400)


async def test_a_chat_becomes_its_prompt_and_nothing_is_computed(opener):
    messages = [{"role": "user", "content": "Hello"}]
    async with serving(open_backend=opener) as served:
        for extra, prompt in (
            ({}, TURN + START),
            ({"add_generation_prompt": False}, TURN),
            ({"messages": [*messages, {"role": "assistant", "content": "Wh"}]}, TURN + START + "Wh"),
        ):
            status, body = await served.post("/apply-template", {"messages": messages} | extra)
            assert (status, body) == (200, {"prompt": prompt})
        assert served.num_steps == 0


# What the server tells of itself.


async def test_props_tell_what_is_served_but_not_where_it_lies():
    backend = CountingBackend(**TINY_CONTEXT, path=Path("/secret-folder/model.gguf"))
    defaults = Defaults(temperature=0.5, seed=42, max_tokens=64)
    async with serving(backend, defaults=defaults, aliases=("clever",)) as served:
        status, props = await served.get("/props")
    assert status == 200
    assert (props["model_path"], props["model_alias"], props["total_slots"]) == ("model.gguf", "clever", 4)
    settings = props["default_generation_settings"]
    assert settings["n_ctx"] == 512
    params = settings["params"]
    assert (params["seed"], params["temperature"], params["n_predict"]) == (42, 0.5, 64)
    assert "<|im_start|>" in props["chat_template"]
    assert "chat_template_tool_use" not in props
    assert props["eos_token"] == "<|im_end|>"
    assert "secret" not in str(props)


async def test_props_tell_of_a_template_for_tools():
    backend = CountingBackend(**TINY_CONTEXT)
    backend.chat_template, backend.tool_template = "{{ messages }}", "{{ tools }}"
    async with serving(backend) as served:
        _, props = await served.get("/props")
    assert (props["chat_template"], props["chat_template_tool_use"]) == ("{{ messages }}", "{{ tools }}")


async def test_slots_tell_positions_and_cells_but_no_text():
    steps = Steps()
    backend = CountingBackend(before_decode=steps.wait, **TINY_CONTEXT)
    async with serving(backend) as served:
        _, slots = await served.get("/slots")
        assert [slot["id"] for slot in slots] == [0, 1, 2, 3]
        assert {(slot["state"], slot["is_processing"], slot["pos_max"]) for slot in slots} == {
            ("empty", False, -1)
        }
        steps.allow(3)
        asked = {"prompt": "canary " * 10, "n_predict": 20, "ignore_eos": True}
        async with served.http.post(
            served.server.address + "/completion", json=asked | {"stream": True}
        ) as answer:
            await until(lambda: steps.num_begun == 4)
            _, slots = await served.get("/slots")
            busy = slots[0]
            assert (busy["is_processing"], busy["state"], busy["n_ctx"]) == (True, "decode", 512)
            assert (busy["pos_min"], busy["pos_max"]) == (0, 70)
            assert (busy["n_cells"], busy["n_cells_own"], busy["n_cells_shared"]) == (71, 71, 0)
            assert (busy["n_prompt_tokens"], busy["n_prompt_tokens_processed"]) == (70, 70)
            assert busy["next_token"] == [{"has_next_token": True, "n_remain": 18, "n_decoded": 2}]
            assert [slot["is_processing"] for slot in slots] == [True, False, False, False]
            steps.free()
            await answer.read()
        _, slots = await served.get("/slots")
        assert (slots[0]["is_processing"], slots[0]["state"]) == (False, "warm")
        assert slots[0]["next_token"] == [{"has_next_token": False, "n_remain": -1, "n_decoded": 0}]
        assert "canary" not in str(slots)


async def test_a_caller_can_ask_whether_a_slot_is_free():
    steps = Steps()
    async with serving(endless(n_seq_max=1, before_decode=steps.wait)) as served:
        assert (await served.get("/slots?fail_on_no_slot=1"))[0] == 200
        steps.allow(1)
        asked = {"prompt": "Hi", "n_predict": 20, "stream": True}
        async with served.http.post(served.server.address + "/completion", json=asked) as answer:
            await until(lambda: steps.num_begun == 2)
            assert (await served.get("/slots?fail_on_no_slot=1"))[0] == 503
            assert (await served.get("/slots"))[0] == 200
            steps.free()
            await answer.read()


async def metrics_of(served: Served) -> dict[str, float]:
    """Every figure, each with its HELP and TYPE."""
    async with served.http.get(served.server.address + "/metrics") as response:
        assert response.status == 200
        assert response.content_type == "text/plain"
        assert int(response.headers["Process-Start-Time-Unix"]) > 0
        text = await response.text()
    values = dict(re.findall(r"^llamacpp:(\w+) (\S+)$", text, re.MULTILINE))
    for name in values:
        assert f"# HELP llamacpp:{name} " in text
        assert re.search(f"# TYPE llamacpp:{name} (counter|gauge)\n", text)
    return {name: float(value) for name, value in values.items()}


async def test_metrics_count_what_the_answers_told(opener):
    async with serving(open_backend=opener) as served:
        before = await metrics_of(served)
        assert set(before.values()) == {0.0}
        first = await complete(served, "the quick brown fox")
        answers = [first, *await complete(served, ["the quick brown fox", "x"])]
        after = await metrics_of(served)
        num_used = served.reports[-1].cells.num_used
    timings = [answer["timings"] for answer in answers]
    assert after["prompt_tokens_total"] == sum(one["prompt_n"] for one in timings)
    assert after["prompt_tokens_cached_total"] == sum(one["cache_n"] for one in timings) > 0
    assert after["tokens_predicted_total"] == sum(one["predicted_n"] for one in timings)
    assert after["n_decode_total"] == served.num_steps
    assert after["n_tokens_max"] == first["tokens_evaluated"] + 8
    assert (after["requests_processing"], after["requests_deferred"]) == (0, 0)
    assert 1 <= after["n_busy_slots_per_decode"] < 2
    assert after["kv_cache_tokens"] == num_used > 0
    assert after["kv_cache_usage_ratio"] == pytest.approx(num_used / 512)


async def test_metrics_tell_who_runs_and_who_waits():
    steps = Steps()
    async with serving(endless(n_seq_max=1, before_decode=steps.wait)) as served:
        steps.allow(1)
        asked = {"prompt": ["one", "two", "three"], "n_predict": 2, "stream": True}
        async with served.http.post(served.server.address + "/completion", json=asked) as answer:
            await until(lambda: steps.num_begun == 2)
            metrics = await metrics_of(served)
            assert (metrics["requests_processing"], metrics["requests_deferred"]) == (1, 2)
            steps.free()
            await answer.read()


async def test_slots_and_metrics_can_be_switched_off():
    async with serving(presentation=Presentation(is_monitored=False)) as served:
        for path in ("/slots", "/metrics"):
            status, body = await served.get(path)
            assert (status, body["error"]["type"]) == (501, "not_supported_error")
        _, props = await served.get("/props")
        assert (props["endpoint_slots"], props["endpoint_metrics"]) == (False, False)


@pytest.mark.parametrize("path", ["/slots", "/metrics", "/props", "/completion", "/tokenize", "/slots/0"])
async def test_nothing_is_told_without_the_key(path):
    async with serving() as served:
        for ask in (served.get, lambda path, **options: served.post(path, {}, **options)):
            status, body = await ask(path, headers={"Authorization": "Bearer wrong"})
            assert (status, body["error"]["type"]) == (401, "authentication_error")


# In OpenAI's endpoints.


async def test_a_verbose_chat_tells_its_whole_prompt():
    messages = [{"role": "user", "content": "Hello"}]
    async with serving() as served:
        _, quiet = await served.post("/v1/chat/completions", {"messages": messages, "max_tokens": 2})
        assert "__verbose" not in quiet
        asked = {"messages": messages, "max_tokens": 2, "verbose": True}
        _, verbose = await served.post("/v1/chat/completions", asked)
    assert verbose["__verbose"]["prompt"] == TURN + START
    assert verbose["__verbose"]["content"] == verbose["choices"][0]["message"]["content"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
async def test_openais_streams_tell_a_prompts_progress_too(path):
    asked = {"prompt": "a" * 100, "messages": [{"role": "user", "content": "a" * 100}], "max_tokens": 2}
    async with serving(endless()) as served:
        events = (await served.events(path, asked | {"return_progress": True}))[:-1]
    progress = [event["prompt_progress"] for event in events if "prompt_progress" in event]
    assert [one["processed"] for one in progress] == [0, 64, progress[0]["total"]]
    assert all(len(event["choices"]) == 1 for event in events)


async def test_many_pieces_are_tokenized_in_parts_between_which_others_are_served(monkeypatch):
    calls = []
    async with serving() as served:
        use_prompts = served.client.use_prompts

        async def watched(work):
            calls.append(work)
            return await use_prompts(work)

        monkeypatch.setattr(served.client, "use_prompts", watched)
        pieces = ["ab", 99] * 3_000
        _, body = await served.post("/tokenize", {"content": pieces, "with_pieces": True})
        assert [one["piece"] for one in body["tokens"]] == ["a", "b", "c"] * 3_000
        assert len(calls) == 3 + 5
        _, body = await served.post("/detokenize", {"tokens": [97] * 5_000})
        assert body == {"content": "a" * 5_000}
        assert len(calls) == 3 + 5 + 3
        _, body = await served.post("/tokenize", {"content": ["a"] * 11_000 + ["b" * 990_000]})
        assert "1,000,000 characters together" in body["error"]["message"]


async def test_who_leaves_ends_the_tokenizing_of_what_is_left():
    begun, may_go_on = threading.Event(), threading.Event()

    class Slow(CountingBackend):
        num_tokenized = 0

        def tokenize(self, text, *, parse_special):
            self.num_tokenized += 1
            if self.num_tokenized == 100:
                begun.set()
                may_go_on.wait(SOON)
            return super().tokenize(text, parse_special=parse_special)

    async with serving(Slow(**TINY_CONTEXT)) as served:
        asking = asyncio.create_task(served.post("/tokenize", {"content": ["a"] * 100_000}))
        await asyncio.to_thread(begun.wait, SOON)
        asking.cancel()
        await asyncio.wait([asking])
        await served.get("/health")  # by then the server knows
        may_go_on.set()
        assert (await served.post("/tokenize", {"content": "b"}))[1] == {"tokens": [98]}
        assert served.backend.num_tokenized < 10_000


# Adapters.


async def test_adapters_are_listed_and_the_same_for_all_requests():
    loaded = (LoraAdapter(Path("/secret/folder/poet.gguf"), 0.5),)
    async with serving(CountingBackend(**TINY_CONTEXT, adapters=loaded)) as served:
        assert await served.get("/lora-adapters") == (200, [{"id": 0, "path": "poet.gguf", "scale": 0.5}])
        for scales in ([], [{"id": 0, "scale": 1.0}], [{"id": 1, "scale": 0.5}]):
            assert (await refused(served, lora=scales))[0] == 400
        assert await complete(served, "Hi", lora=[{"id": 0, "scale": 0.5}])
        status, body = await served.post("/lora-adapters", {})
        assert (status, "share a step" in body["error"]["message"]) == (400, True)
