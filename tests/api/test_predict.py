"""POST /predict: several chats in one request."""

from __future__ import annotations

import pytest

from tests.api.conftest import serving

CHAT = {"@requestFormat": "chatCompletions", "max_tokens": 4, "messages": [{"role": "user", "content": "Hi"}]}


async def test_each_instance_has_its_prediction():
    async with serving() as served:
        _, alone = await served.post("/v1/chat/completions", CHAT)
        status, body = await served.post("/predict", {"instances": [CHAT, CHAT | {"stream": True}]})
    assert status == 200
    texts = [one["choices"][0]["message"]["content"] for one in body["predictions"]]
    assert texts == [alone["choices"][0]["message"]["content"]] * 2


async def test_one_that_fails_costs_itself_alone():
    wrong = [CHAT | {"messages": []}, CHAT | {"@requestFormat": "embeddings"}, {}]
    async with serving() as served:
        _, body = await served.post("/predict", {"instances": [*wrong, CHAT]})
    assert ["error" in one for one in body["predictions"]] == [True, True, True, False]


@pytest.mark.parametrize("body", [{}, {"instances": 5}, {"instances": [5]}, {"instances": [CHAT] * 129}])
async def test_what_is_no_list_of_instances_is_refused(body):
    async with serving() as served:
        assert (await served.post("/predict", body))[0] == 400
