"""A caller that leaves takes its work along, at any stage (F23), and so does one that stops reading (F25)."""

import asyncio
import json
import socket

import pytest

from app.api import engine_client
from app.api.json_body import Limits
from tests.api.conftest import KEY, TINY_CONTEXT, Served, Steps, endless, serving, until
from tests.fakes import CountingBackend, endless_token

LONG = {"prompt": "p" * 200, "max_tokens": 200}
SHORT = {"prompt": "p", "max_tokens": 200}


def post(path: str, body: dict[str, object]) -> bytes:
    data = json.dumps(body).encode()
    headers = f"Host: localhost:PORT\r\nX-Api-Key: {KEY}\r\nContent-Length: {len(data)}"
    return f"POST {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode() + data


async def ask(served: Served, body: dict[str, object], path: str = "/generate"):
    return await served.raw(post(path, body).replace(b"PORT", str(served.port).encode()))


def leave(writer: asyncio.StreamWriter, *, with_reset: bool) -> None:
    if with_reset:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.close()


@pytest.mark.parametrize("with_reset", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("body", "num_steps", "num_cached"), [(LONG, 2, 128), (SHORT, 5, 0)], ids=["prefill", "decode"]
)
async def test_work_ends_with_the_step_it_is_in_and_serves_who_comes_again(
    body, num_steps, num_cached, stream, with_reset
):
    steps = Steps()
    backend = CountingBackend(endless_token, steps.wait, **TINY_CONTEXT)
    async with serving(backend) as served:
        _reader, writer = await ask(served, body | {"stream": stream})
        steps.allow(num_steps - 1)
        await until(lambda: steps.num_begun == num_steps)  # and stands in that step
        leave(writer, with_reset=with_reset)
        await until(lambda: served.client.num_open == 0)
        steps.free()
        await until(served.is_idle)
        assert len(backend.batches) == num_steps
        _, again = await served.post("/v1/completions", body | {"max_tokens": 1})
        assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == num_cached


async def test_what_waits_for_a_slot_never_begins():
    steps = Steps()
    backend = CountingBackend(endless_token, steps.wait, **(TINY_CONTEXT | {"n_seq_max": 1}))
    async with serving(backend) as served:
        _reader, first = await ask(served, SHORT)
        await until(lambda: steps.num_begun == 1)
        _reader, second = await ask(served, LONG)
        await until(lambda: served.client.num_open == 2)
        second.close()
        await until(lambda: served.client.num_open == 1)
        steps.free()
        await until(lambda: len(backend.batches) > 20)
        first.close()
        await until(served.is_idle)
        assert len({span.request_id for report in served.reports for span in report.spans}) == 1


async def test_what_waits_in_the_api_is_never_submitted():
    async with serving(endless(n_seq_max=2, n_ctx=16_384), num_spare_slots=1) as served:
        _reader, first = await ask(served, {"prompt": "p", "stream": True})
        await until(lambda: served.num_steps > 2)
        _reader, second = await ask(served, LONG)
        await until(lambda: served.client.num_waiting == 1)
        second.close()
        await until(lambda: served.client.num_waiting == 0)
        assert served.client.num_open == 1
        first.close()
        await until(lambda: served.client.num_open == 0)


async def test_a_body_that_stops_half_way_computes_nothing():
    async with serving() as served:
        whole = post("/generate", SHORT).replace(b"PORT", str(served.port).encode())
        _reader, writer = await served.raw(whole[:-5])
        await asyncio.sleep(0.02)
        writer.close()
        assert (await served.get("/health"))[0] == 200
        assert served.num_steps == 0


async def test_one_that_leaves_does_not_disturb_the_others():
    async with serving(endless()) as served:
        alone = await served.post("/generate", {"prompt": "stays", "max_tokens": 100, "temperature": 0})
        staying = asyncio.create_task(
            served.post("/generate", {"prompt": "stays", "max_tokens": 100, "temperature": 0})
        )
        leaving = [await ask(served, SHORT | {"stream": True}) for _ in range(3)]
        for _reader, writer in leaving:
            writer.close()
        assert (await staying)[1]["text"] == alone[1]["text"]


async def test_after_a_storm_of_short_visits_nothing_runs():
    async with serving(endless(n_ctx=16_384)) as served:
        for number in range(150):
            body = {"prompt": "p" * 200, "stream": number % 2 == 0}
            reader, writer = await ask(served, body)
            if number % 4 == 0:
                await reader.read(200)
            leave(writer, with_reset=number % 3 == 0)
        await until(lambda: not served.server._runner.server.connections)  # all have been read, to their end
        await until(lambda: served.client.num_open == 0)
        await until(served.is_idle)
        await until(lambda: served.backend.num_samplers == 0)
        assert len({slot.chat_id for slot in served.reports[-1].slots} - {None}) <= 8
        num_batches = len(served.backend.batches)
        assert (await served.post("/generate", {"prompt": "next", "max_tokens": 3}))[0] == 200
        assert len(served.backend.batches) - num_batches == 3


LOUD = {"prompt": "p", "stream": True, "logprobs": 5, "max_tokens": 1500}


async def ask_without_reading(served: Served) -> socket.socket:
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    raw.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(raw, ("127.0.0.1", served.port))
    await loop.sock_sendall(raw, post("/v1/completions", LOUD).replace(b"PORT", str(served.port).encode()))
    await until(lambda: served.client.num_open == 1)
    return raw


async def test_who_reads_nothing_loses_only_his_own_answer(monkeypatch):
    monkeypatch.setattr(engine_client, "MAX_UNREAD_BYTES", 16_000)
    async with serving(endless(n_ctx=16_384)) as served:
        raw = await ask_without_reading(served)
        others = [await served.post("/generate", {"prompt": "x", "max_tokens": 5}) for _ in range(5)]
        assert [status for status, _ in others] == [200] * 5
        await until(lambda: served.client.num_open == 0)
        await until(served.is_idle)
        assert max(span.num_generated_tokens for report in served.reports for span in report.spans) < 1499
        raw.close()


async def test_who_reads_gets_all_of_it(monkeypatch):
    monkeypatch.setattr(engine_client, "MAX_UNREAD_BYTES", 16_000)
    async with serving(endless(n_ctx=16_384)) as served:
        events = await served.events("/v1/completions", LOUD | {"max_tokens": 300})
        assert len("".join(event["choices"][0]["text"] for event in events[:-1])) == 300


async def test_a_reader_who_stands_still_is_cut_off_by_a_deadline(caplog):
    async with serving(endless(n_ctx=16_384), limits=Limits(send_s=0.1)) as served:
        raw = await ask_without_reading(served)
        await until(lambda: served.client.num_open == 0)
        await until(served.is_idle)
        assert max(span.num_generated_tokens for report in served.reports for span in report.spans) < 1499
        raw.close()
    assert caplog.text == ""  # his own doing: a log is for what Skein did wrong
