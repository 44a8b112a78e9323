"""Limits and ends: slow callers (T29), sizes (T30), broken HTTP (T31), JSON (T32), leaks (T34), stopping."""

import asyncio
import json
import logging
import time
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from app.api import event_stream
from app.api.json_body import Limits
from app.protocol.errors import EngineError
from tests.api.conftest import KEY, SOON, endless, serving, until
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend

POST = f"POST /generate HTTP/1.1\r\nHost: localhost:%d\r\nX-Api-Key: {KEY}\r\n"


async def test_half_open_connections_delay_nobody_and_are_closed_by_their_deadline():
    async with serving(limits=Limits(header_s=0.4)) as served:
        num_fds = psutil.Process().num_fds()
        beginnings = [b"", b"GET /health HTTP/1.1\r\nHost: local", b"G"]
        half_open = [await served.raw(beginnings[number % 3]) for number in range(150)]
        times = []
        for _ in range(10):
            began = time.perf_counter()
            assert (await served.get("/health"))[0] == 200
            times.append(time.perf_counter() - began)
        assert max(times) < 0.5
        for reader, writer in half_open:
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            writer.close()
        await until(lambda: psutil.Process().num_fds() <= num_fds + 2)


async def test_a_body_that_drips_in_is_cut_off():
    async with serving(limits=Limits(body_s=0.2, linger_s=0.1)) as served:
        head = (POST % served.port + "Content-Length: 1000\r\n\r\n{").encode()
        status, answer = await served.answer_to(head)
        assert status == 408
        assert b'"error"' in answer


async def test_a_body_too_large_is_refused_before_it_is_read():
    async with serving(limits=Limits(max_body_bytes=100_000, linger_s=0.1)) as served:
        before = psutil.Process().memory_info().rss
        status, answer = await served.answer_to(
            (POST % served.port + "Content-Length: 10000000000\r\n\r\n").encode() + b"x" * 50_000
        )
        assert status == 413, answer
        chunk = b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n"
        endless_body = (POST % served.port + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunk * 5
        assert (await served.answer_to(endless_body))[0] == 413
        assert psutil.Process().memory_info().rss - before < 16 << 20


async def test_a_compressed_body_is_refused_without_unpacking_it():
    async with serving() as served:
        headers = "Content-Encoding: gzip\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
        assert (await served.answer_to((POST % served.port + headers).encode()))[0] == 415


@pytest.mark.parametrize(
    "request_text",
    [
        "POST / HTTP/1.1\r\nHost: H\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /generate HTTP/1.1\r\nHost: H\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
        "POST /generate HTTP/1.1\r\nHost: H\r\nContent-Length: -1\r\n\r\n",
        "POST /generate HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /health HTTP/1.1\r\nHost: H\r\n" + "".join(f"A{n}: b\r\n" for n in range(1000)) + "\r\n",
        "GET /health HTTP/1.1\r\nHost: H\r\nLong: " + "x" * 65_536 + "\r\n\r\n",
        "GET /" + "x" * 65_536 + " HTTP/1.1\r\nHost: H\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: H\r\nBad header\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: H\r\nA: b\x00c\r\n\r\n",
        "GET /health HTTP/9.9\r\nHost: H\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01",
    ],
)
async def test_what_is_no_http_ends_the_connection_in_the_one_form(request_text):
    async with serving() as served:
        data = request_text.replace("Host: H", f"Host: localhost:{served.port}\r\nX-Api-Key: {KEY}")
        status, answer = await served.answer_to(data.encode("latin-1"))
        assert status in (400, 431), answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["type"] == "invalid_request_error"
        assert served.num_steps == 0


async def test_pipelined_requests_are_answered_in_order():
    async with serving() as served:
        one = f"GET /%s HTTP/1.1\r\nHost: localhost:{served.port}\r\nX-Api-Key: {KEY}\r\n"
        data = (
            one % "health"
            + "\r\n"
            + one % "v1/models"
            + "\r\n"
            + one % "health"
            + "Connection: close\r\n\r\n"
        )
        _status, answer = await served.answer_to(data.encode())
        assert answer.count(b"200 OK") == 3
        assert answer.index(b'"status"') < answer.index(b'"object"') < answer.rindex(b'"status"')


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"prompt": "x"',
        b"[]",
        b'"prompt"',
        b"null",
        b'{"prompt": NaN}',
        b'{"prompt": "x", "temperature": Infinity}',
        b'{"prompt": "\xff\xfe"}',
        b'{"prompt": "\\ud80"}',
        b"[" * 100_000,
        b'{"prompt": ' + b"[" * 100_000,
        b'{"prompt": "x", "seed": ' + b"9" * 5_000 + b"}",
        b'{"prompt": 1}',
        b'{"prompt": ["x"]}',
        b'{"prompt": ""}',
        b"{}",
    ],
)
async def test_a_body_that_cannot_be_read_is_the_callers_mistake(body):
    async with serving() as served:
        async with served.http.post(served.server.address + "/generate", data=body) as response:
            assert response.status == 400
            error = (await response.json())["error"]
        assert error.keys() == {"code", "message", "type"}
        assert error["type"] == "invalid_request_error"
        assert 0 < len(error["message"]) <= 500
        assert "/" not in error["message"].replace("application/json", "")
        assert "Traceback" not in error["message"]


async def test_what_is_not_there_says_so_in_the_one_form():
    async with serving() as served:
        status, body = await served.post("/v1/nothing", {})
        assert (status, body["error"]["type"]) == (404, "not_found_error")
        status, body = await served.get("/generate")
        assert (status, body["error"]["code"]) == (405, 405)


async def test_neither_answers_nor_logs_tell_paths_keys_or_prompts(caplog):
    caplog.set_level(logging.DEBUG)
    backend = CountingBackend(**TINY_CONTEXT, path=Path("/secret-folder/model.gguf"))
    async with serving(backend) as served:
        told = str(await served.get("/v1/models"))
        for path in ("/generate", "/v1/completions"):
            told += str(
                await served.post(path, {"prompt": "canary " * 9, "max_tokens": 2, "model": "../../x"})
            )
            told += str(await served.post(path, {"prompt": "canary " * 99, "max_tokens": 2}))
        await served.answer_to(b"GET /canary HTTP/1.1\r\nX-Api-Key: canary\r\nbad\r\n\r\n")
    assert "secret-folder" not in told
    assert KEY not in told
    assert "canary" not in told
    assert "canary" not in caplog.text
    assert KEY not in caplog.text


async def test_the_model_goes_by_its_alias():
    async with serving(aliases=("clever",)) as served:
        assert (await served.get("/v1/models"))[1]["data"][0]["id"] == "clever"
        assert (await served.get("/v1/models/clever"))[0] == 200
        assert (await served.get("/v1/models/other"))[0] == 404


async def test_too_many_connections_are_refused_and_places_become_free_again():
    async with serving(limits=Limits(num_connections=5, header_s=5)) as served:
        idle = [await served.raw(b"") for _ in range(5)]
        await until(lambda: len(served.server._runner.server.connections) == 5)
        status, answer = await served.answer_to(b"GET /health HTTP/1.1\r\n\r\n")
        assert status == 503
        assert b"Retry-After" in answer
        for _reader, writer in idle:
            writer.close()
            await writer.wait_closed()
        assert (await served.get("/health"))[0] == 200


async def test_a_full_house_is_told_when_to_come_back():
    many = {"prompt": "x", "n": 32}
    async with serving(endless(n_ctx=16_384), max_open=33) as served:
        asked = [asyncio.create_task(served.post("/v1/completions", many)) for _ in range(2)]
        await until(lambda: served.client.num_open == 64)
        address = served.server.address + "/v1/completions"
        async with served.http.post(address, json=many | {"prompt": ["x", "y"]}) as response:
            assert response.status == 503
            assert int(response.headers["Retry-After"]) > 0
            assert (await response.json())["error"]["type"] == "unavailable_error"
        for task in asked:
            task.cancel()
        await until(lambda: served.client.num_open == 0)


async def test_stopping_ends_what_is_being_answered_at_once():
    async with serving(endless(n_ctx=16_384)) as served:
        whole = asyncio.create_task(served.post("/generate", {"prompt": "x"}))
        stream = await served.raw(
            (POST % served.port + 'Content-Length: 29\r\n\r\n{"prompt":"x","stream": true}').encode()
        )
        half = await served.raw((POST % served.port + "Content-Length: 29\r\n\r\n").encode())
        await until(lambda: served.client.num_open == 2)
        await stream[0].readuntil(b"data: ")
        await served.server.stop()
        assert (await whole)[0] == 503
        assert b"The server was stopped." in await stream[0].read()
        for _reader, writer in (stream, half):
            writer.close()
        assert served.client.num_open == 0
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", served.port)


async def test_a_port_that_is_taken_is_an_os_error():
    async with serving() as served:
        with pytest.raises(OSError):
            async with serving(port=served.port):
                pass


async def test_an_engine_that_fails_ends_every_answer_with_an_error():
    def fail(_batch: object) -> None:
        raise EngineError("the device is gone")

    async with serving(CountingBackend(before_decode=fail, **TINY_CONTEXT)) as served:
        status, body = await served.post("/generate", {"prompt": "x"})
        assert (status, body["error"]["type"]) == (500, "server_error")
        assert isinstance(await served.engine.ended, EngineError)
        assert (await served.get("/health"))[0] == 503
        assert (await served.post("/generate", {"prompt": "x"}))[0] == 503


async def test_two_hundred_callers_are_all_answered_on_four_slots():
    async with serving() as served:
        body = {"prompt": "some words to begin with", "max_tokens": 4, "temperature": 0, "ignore_eos": True}
        answers = await asyncio.gather(*(served.post("/generate", body) for _ in range(200)))
        assert {status for status, _ in answers} == {200}
        assert len({answer["text"] for _, answer in answers}) == 1
        await until(served.is_idle)
        num_steps = served.num_steps
        assert (await served.get("/health"))[0] == 200
        assert served.num_steps == num_steps


async def test_a_long_answer_is_handed_over_in_pieces(monkeypatch):
    """The loop serves others in between."""
    monkeypatch.setattr(event_stream, "MAX_PIECE_BYTES", 10)
    pieces = []
    write = web.Response.write

    async def note(response: web.Response, data: bytes) -> None:
        pieces.append(data)
        await write(response, data)

    monkeypatch.setattr(web.Response, "write", note)
    async with serving() as served:
        assert await served.post("/tokenize", {"content": "Hello"}) == (200, {"tokens": list(b"Hello")})
        assert max(map(len, pieces)) == 10
        assert b"".join(pieces) == b'{"tokens":[72,101,108,108,111]}'
        async with served.http.head(served.server.address + "/health") as response:
            assert (response.status, await response.read()) == (200, b"")
