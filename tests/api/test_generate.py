"""POST /generate."""

import pytest

from tests.api.conftest import endless, serving

GREEDY = {"prompt": "some words", "max_tokens": 6, "temperature": 0}


async def test_an_answer_is_text_reason_and_usage():
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


async def test_the_streamed_answer_is_the_same():
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


async def test_a_stop_string_ends_it():
    async with serving(endless()) as served:
        _, whole = await served.post("/generate", GREEDY)
        _, stopped = await served.post("/generate", GREEDY | {"stop": [whole["text"][2:4]]})
        assert (stopped["text"], stopped["finish_reason"]) == (whole["text"][:2], "stop")


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


@pytest.mark.parametrize("stream", [False, True])
async def test_a_prompt_too_long_is_told_with_its_length(stream):
    async with serving(endless()) as served:
        status, body = await served.post("/generate", {"prompt": "x" * 600, "stream": stream})
        assert status == 400
        assert body["error"]["type"] == "exceed_context_size_error"
        assert (body["error"]["n_prompt_tokens"], body["error"]["n_ctx"]) == (600, 512)
