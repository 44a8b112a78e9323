"""Streamed answers that go on without their reader, and are read again."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.api.conftest import Served, Steps, serving, until
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token

NAME = "chat-1::org/model"
NAMED = {"X-Conversation-Id": NAME}
ASKED = {"prompt": "Hi", "max_tokens": 8, "stream": True}
PATH = f"/v1/stream?conv_id={NAME}"


async def ask(served: Served, **headers: str) -> str:
    url = f"{served.server.address}/generate"
    async with served.http.post(url, json=ASKED, headers=NAMED | headers) as response:
        assert response.status == 200
        return await response.text()


async def read(served: Served, start: int = 0) -> tuple[int, str]:
    async with served.http.get(f"{served.server.address}{PATH}&from={start}") as response:
        return response.status, await response.text()


async def end(served: Served) -> int:
    async with served.http.delete(served.server.address + PATH) as response:
        return response.status


async def test_what_was_streamed_can_be_read_again_from_any_byte():
    async with serving() as served:
        whole = await ask(served)
        assert whole.startswith("data: {")
        assert await read(served) == (200, whole)
        assert await read(served, 20) == (200, whole[20:])
        _, found = await served.post("/v1/streams/lookup", {"conversation_ids": ["chat-1", "other"]})
        assert found == [{"conversation_id": NAME, "is_done": True, "total_bytes": len(whole)}]
        assert await end(served) == 204
        assert (await read(served))[0] == 404
        assert await end(served) == 204


async def test_an_answer_goes_on_when_its_reader_has_left():
    steps = Steps()
    async with serving(CountingBackend(endless_token, before_decode=steps.wait, **TINY_CONTEXT)) as served:
        leaving = asyncio.ensure_future(ask(served))
        steps.allow(3)
        await until(lambda: steps.num_begun > 2)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        reading = asyncio.ensure_future(read(served))
        steps.free()
        status, text = await reading
    events = [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line]
    assert status == 200
    assert events[-1]["usage"]["completion_tokens"] == 8


async def test_ending_a_stream_ends_its_answer():
    steps = Steps()
    async with serving(CountingBackend(endless_token, before_decode=steps.wait, **TINY_CONTEXT)) as served:
        asking = asyncio.ensure_future(ask(served))
        steps.allow(2)
        await until(lambda: steps.num_begun > 2)
        assert await end(served) == 204
        await until(lambda: served.client.num_open == 0)
        steps.free()
        assert "finish_reason" not in await asking


async def test_a_second_request_of_the_same_name_replaces_the_first():
    async with serving() as served:
        await ask(served)
        second = await ask(served)
        assert (await read(served))[1] == second


async def test_what_is_no_stream_is_answered_as_ever_and_not_kept():
    async with serving() as served:
        status, body = await served.post("/generate", ASKED | {"stream": False}, headers=NAMED)
        assert (status, "text" in body) == (200, True)
        status, _ = await served.post("/generate", ASKED | {"max_tokens": 0}, headers=NAMED)
        assert status == 400
        assert (await read(served))[0] == 404


async def test_only_those_with_the_key_read():
    async with serving() as served:
        await ask(served)
        status, _ = await served.get(PATH, headers={"Authorization": "Bearer wrong"})
        assert status == 401


@pytest.mark.parametrize("query", ["", "?conv_id=", f"?conv_id={NAME}&from=x", f"?conv_id={NAME}&from=-1"])
async def test_a_question_for_no_stream_is_refused(query):
    async with serving() as served:
        await ask(served)
        status, _ = await served.get(f"/v1/stream{query}")
        assert status == 400


async def test_a_name_that_is_too_long_is_refused():
    async with serving() as served:
        status, _ = await served.post("/generate", ASKED, headers={"X-Conversation-Id": "x" * 501})
        assert status == 400


async def test_only_the_last_streams_are_kept():
    async with serving() as served:
        for number in range(40):
            await ask(served, **{"X-Conversation-Id": f"n{number}"})
        names = [f"n{number}" for number in range(40)]
        _, found = await served.post("/v1/streams/lookup", {"conversation_ids": names})
        assert [one["conversation_id"] for one in found] == names[8:]
