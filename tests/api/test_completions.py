"""POST /v1/completions, as OpenAI and llama-server have it."""

import pytest

from tests.api.conftest import endless, serving
from tests.api.parrot import Parrot
from tests.conftest import TINY_CONTEXT
from tests.driver import all_guesses_checked
from tests.fakes import CountingBackend

PATH = "/v1/completions"
GREEDY = {"prompt": "some words", "max_tokens": 6, "temperature": 0}


async def test_an_answer_has_openais_frame():
    async with serving(endless(), aliases=("clever",)) as served:
        status, body = await served.post(PATH, GREEDY)
        assert status == 200
        assert body["id"].startswith("cmpl-")
        assert body["object"] == "text_completion"
        assert body["model"] == "clever"
        assert body["system_fingerprint"].startswith("b")
        (choice,) = body["choices"]
        assert (choice["index"], choice["logprobs"], choice["finish_reason"]) == (0, None, "length")
        assert len(choice["text"]) == 6
        assert body["usage"]["prompt_tokens"] == 10
        timings = body["timings"]
        assert (timings["cache_n"], timings["prompt_n"], timings["predicted_n"]) == (0, 10, 6)
        assert min(value for value in timings.values()) >= 0


async def test_timings_tell_of_guesses_where_there_were_some():
    async with serving(endless()) as served:
        _, body = await served.post(PATH, GREEDY)
    assert "draft_n" not in body["timings"]

    def repeating(_token_ids):
        return ord("a")

    with all_guesses_checked():
        async with serving(CountingBackend(repeating, num_drafted_tokens=4)) as served:
            _, body = await served.post(PATH, GREEDY | {"prompt": "aaaaaa", "max_tokens": 20})
    assert body["choices"][0]["text"] == "a" * 20
    timings = body["timings"]
    assert timings["draft_n"] == timings["draft_n_accepted"] > 10


async def test_the_streamed_answer_is_the_same():
    async with serving(endless()) as served:
        _, whole = await served.post(PATH, GREEDY)
        *chunks, done = await served.events(PATH, GREEDY)
        assert done == "[DONE]"
        assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == whole["choices"][0]["text"]
        reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
        assert reasons[-1] == "length"
        assert set(reasons[:-1]) == {None}
        assert len({chunk["id"] for chunk in chunks}) == 1


async def test_usage_is_streamed_on_request_in_a_chunk_without_choices():
    async with serving(endless()) as served:
        events = await served.events(PATH, GREEDY | {"stream_options": {"include_usage": True}})
        assert events[-2]["choices"] == []
        assert events[-2]["usage"]["completion_tokens"] == 6
        assert events[-1] == "[DONE]"


async def test_a_prompt_may_be_tokens_and_several_prompts_are_answered_in_order():
    async with serving(endless()) as served:
        _, one = await served.post(PATH, GREEDY)
        _, tokens = await served.post(PATH, GREEDY | {"prompt": list(b"some words")})
        assert tokens["choices"][0]["text"] == one["choices"][0]["text"]
        _, both = await served.post(PATH, GREEDY | {"prompt": ["other", "some words", [1, 2, 3]]})
        assert [choice["index"] for choice in both["choices"]] == [0, 1, 2]
        assert both["choices"][1]["text"] == one["choices"][0]["text"]
        assert both["usage"]["prompt_tokens"] == 5 + 10 + 3
        assert both["usage"]["completion_tokens"] == 18


async def test_copies_share_their_prompt_and_count_it_once():
    async with serving(endless()) as served:
        _, body = await served.post(PATH, GREEDY | {"n": 3, "prompt": "p" * 40})
        assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
        assert len({choice["text"] for choice in body["choices"]}) == 1
        assert (body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]) == (40, 18)
        assert served.num_steps < 3 * 7
        events = await served.events(PATH, GREEDY | {"n": 2})
        texts = {0: "", 1: ""}
        for event in events[:-1]:
            texts[event["choices"][0]["index"]] += event["choices"][0]["text"]
        assert texts[0] == texts[1]


async def test_logprobs_come_in_openais_lists():
    async with serving(endless()) as served:
        _, body = await served.post(PATH, GREEDY | {"logprobs": 1})
        choice = body["choices"][0]
        assert "".join(choice["logprobs"]["tokens"]) == choice["text"]
        assert choice["logprobs"]["text_offset"] == [0, 1, 2, 3, 4, 5]
        assert choice["logprobs"]["token_logprobs"] == [0.0] * 6
        assert len(choice["logprobs"]["top_logprobs"]) == 6
        events = await served.events(PATH, GREEDY | {"logprobs": 1})
        offsets = [one for event in events[:-1] for one in event["choices"][0]["logprobs"]["text_offset"]]
        assert offsets == [0, 1, 2, 3, 4, 5]


async def test_the_next_request_computes_only_what_is_new():
    async with serving(endless()) as served:
        prompt = "p" * 40
        _, first = await served.post(PATH, GREEDY | {"prompt": prompt})
        _, second = await served.post(
            PATH, GREEDY | {"prompt": prompt + first["choices"][0]["text"] + "more"}
        )
        assert second["usage"]["prompt_tokens_details"]["cached_tokens"] >= 45
        assert second["timings"]["cache_n"] == second["usage"]["prompt_tokens_details"]["cached_tokens"]


async def test_ten_in_a_row_cost_the_same():
    async with serving(endless()) as served:
        costs = []
        for _ in range(10):
            before = served.num_steps
            _, body = await served.post(PATH, GREEDY | {"prompt": "the same again and again"})
            costs.append(
                (served.num_steps - before, body["usage"]["completion_tokens"], body["choices"][0]["text"])
            )
        assert len(set(costs[1:])) == 1
        assert len({text for _steps, _tokens, text in costs}) == 1


@pytest.mark.parametrize(
    "extra", [{"echo": True, "logprobs": 1}, {"suffix": "x"}, {"best_of": 3}, {"n": 0}, {"n": 33}]
)
async def test_what_cannot_be_done_is_said_not_left_out(extra):
    async with serving(endless()) as served:
        status, _ = await served.post(PATH, GREEDY | extra)
        assert status == 400


@pytest.mark.parametrize("stop", [None, ["never"]])
async def test_an_answer_that_is_cut_within_a_character_ends_before_it(stop):
    asked = GREEDY | {"prompt": "x", "max_tokens": 4, "stop": stop}  # a token is a byte
    async with serving(Parrot("ok 🙂")) as served:
        _, body = await served.post(PATH, asked)
        assert (body["choices"][0]["text"], body["choices"][0]["finish_reason"]) == ("ok ", "length")
        assert body["usage"]["completion_tokens"] == 4
        events = (await served.events(PATH, asked))[:-1]
        assert "".join(choice["text"] for event in events for choice in event["choices"]) == "ok "


async def test_with_echo_each_answer_begins_with_its_prompt():
    asked = GREEDY | {"prompt": ["ab", [99, 100]], "n": 2, "echo": True, "max_tokens": 2}
    async with serving(endless()) as served:
        _, body = await served.post(PATH, asked)
        texts = [choice["text"] for choice in body["choices"]]
        assert [text[:2] for text in texts] == ["ab", "ab", "cd", "cd"]
        assert [len(text) for text in texts] == [4] * 4
        streamed = [""] * 4
        for event in (await served.events(PATH, asked))[:-1]:
            for choice in event["choices"]:
                streamed[choice["index"]] += choice["text"]
        assert streamed == texts


async def test_one_prompt_of_several_that_is_too_long_ends_all_of_them():
    async with serving(endless()) as served:
        status, body = await served.post(PATH, GREEDY | {"prompt": ["x", "y" * 600], "max_tokens": None})
        assert (status, body["error"]["type"]) == (400, "exceed_context_size_error")
        assert served.client.num_open == 0


async def test_an_answer_that_fails_half_way_ends_its_stream_with_the_error():
    from app.protocol.errors import BadLogitsError

    def fail_later(token_ids):
        if len(token_ids) > 14:
            raise BadLogitsError("The model computed only zeros logits.")
        return ord("a")

    async with serving(CountingBackend(fail_later, **TINY_CONTEXT)) as served:
        events = await served.events(PATH, GREEDY | {"max_tokens": 20})
        assert "".join(event["choices"][0]["text"] for event in events[:-1]) == "aaaaa"
        assert events[-1]["error"] == {
            "message": "The model computed only zeros logits.",
            "type": "server_error",
            "param": None,
            "code": None,
        }
        assert (await served.post(PATH, GREEDY | {"max_tokens": 2}))[0] == 200


async def test_generate_answers_with_text_reason_and_usage():
    async with serving(endless()) as served:
        status, body = await served.post("/generate", GREEDY)
        assert status == 200
        assert body.keys() == {"text", "finish_reason", "usage"}
        assert len(body["text"]) == 6
        assert body["finish_reason"] == "length"
        assert body["usage"] == {
            "prompt_tokens": 10,
            "completion_tokens": 6,
            "total_tokens": 16,
            "prompt_tokens_details": {"cached_tokens": 0},
        }


async def test_the_streamed_text_is_the_same():
    async with serving(endless()) as served:
        _, whole = await served.post("/generate", GREEDY)
        events = await served.events("/generate", GREEDY)
        assert "".join(event["text"] for event in events) == whole["text"]
        assert [event.get("finish_reason") for event in events] == [None] * 5 + ["length"]
        assert events[-1]["usage"]["completion_tokens"] == 6


async def test_it_says_what_raw_completion_says():
    async with serving(endless()) as served:
        _, ours = await served.post("/generate", GREEDY)
        _, theirs = await served.post("/v1/completions", GREEDY)
        assert ours["text"] == theirs["choices"][0]["text"]


async def test_control_tokens_count_in_a_raw_prompt():
    async with serving(endless()) as served:
        _, body = await served.post("/generate", {"prompt": "<|im_start|>x", "max_tokens": 1})
        assert body["usage"]["prompt_tokens"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"prompt": ""},
        {"prompt": None},
        *({"prompt": "x", "max_tokens": bad} for bad in (0, -1, 2**31, "x")),
    ],
)
async def test_what_cannot_be_answered_is_refused(body):
    async with serving(endless()) as served:
        status, answer = await served.post("/generate", body)
        assert (status, answer["error"]["code"]) == (400, 400)
        assert "prompt" in answer["error"]["message"] or "max_tokens" in answer["error"]["message"]
