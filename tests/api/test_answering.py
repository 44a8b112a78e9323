"""What a caller hears while nothing has come yet, and when something comes too late for a status."""

import asyncio

from app.api import engine_client
from tests.api.conftest import KEY, SOON, Steps, serving
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token

BODY = b'{"prompt": "x", "max_tokens": 3, "stream": true}'


async def test_who_waits_for_a_stream_hears_that_somebody_is_there(monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.02)
    steps = Steps()
    async with serving(CountingBackend(endless_token, steps.wait, **TINY_CONTEXT)) as served:
        head = f"POST /generate HTTP/1.1\r\nHost: localhost:{served.port}\r\nX-Api-Key: {KEY}\r\n"
        data = head.encode() + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(BODY) + BODY
        reader, writer = await served.raw(data)
        before = await asyncio.wait_for(reader.readuntil(b":\n\n"), SOON)
        assert b"200 OK" in before
        assert b"data:" not in before
        steps.free()
        assert (await reader.read()).count(b"data: ") == 3
        writer.close()


async def test_who_waits_for_a_whole_answer_gets_it_however_long_it_takes(monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.01)
    steps = Steps()
    async with serving(CountingBackend(endless_token, steps.wait, **TINY_CONTEXT)) as served:
        asking = asyncio.create_task(served.post("/generate", {"prompt": "x", "max_tokens": 3}))
        await asyncio.sleep(0.05)
        steps.free()
        status, body = await asking
        assert (status, len(body["text"])) == (200, 3)
