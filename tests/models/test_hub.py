import contextlib
import gzip
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from app.models import hub, hub_address
from app.models.hub import Hub, HubFile, models_of, quantisation_of
from app.models.hub_address import DownloadError, GatedError, HubError
from app.models.order import order_of
from app.system import proxies
from app.system.said import Said
from tests.models.standin_hub import REVISION, StandInHub, standing

GIB = 2**30
Says = Callable[[web.Request], Awaitable[web.StreamResponse]]


def files(*names: str, size_bytes: int = GIB) -> list[HubFile]:
    return [HubFile(name, size_bytes, "0" * 64) for name in names]


async def test_a_search_finds_repositories_with_what_is_said_of_them() -> None:
    async with standing(StandInHub()) as stand_in:
        stand_in.repos = {"Qwen/Qwen3-4B-GGUF": {}, "ggml-org/gemma-3-4b-it-GGUF": {}}
        stand_in.facts["ggml-org/gemma-3-4b-it-GGUF"] = {"gated": "manual", "tags": ["license:gemma"]}
        found = await Hub(stand_in.endpoint).search(" 4b ")
        asked = stand_in.requests[0]
    assert [repo.id for repo in found] == ["Qwen/Qwen3-4B-GGUF", "ggml-org/gemma-3-4b-it-GGUF"]
    qwen, gemma = found
    assert (qwen.num_downloads, qwen.num_likes, qwen.licence, qwen.is_gated) == (
        1000,
        10,
        "apache-2.0",
        False,
    )
    assert (qwen.num_params, qwen.n_ctx_train, qwen.architecture) == (4_022_468_096, 40_960, "qwen3")
    assert (gemma.licence, gemma.is_gated) == ("gemma", True)
    assert "Authorization" not in asked[1]


async def test_a_search_takes_the_proxy_that_the_system_names(monkeypatch: pytest.MonkeyPatch) -> None:
    async with standing(StandInHub()) as stand_in, standing(StandInHub()) as proxy:
        stand_in.repos = proxy.repos = {"Qwen/Qwen3-4B-GGUF": {}}
        monkeypatch.setenv("http_proxy", proxy.endpoint)
        monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
        assert await Hub(stand_in.endpoint).search("4b")
        assert (len(stand_in.requests), proxy.requests) == (1, []), "it is this machine"
        monkeypatch.setattr(proxies, "is_this_machine", lambda _host: False)
        assert await Hub(stand_in.endpoint).search("4b")
        assert (len(stand_in.requests), len(proxy.requests)) == (1, 1)


async def test_the_files_of_a_repository_come_with_size_and_checksum() -> None:
    async with standing(StandInHub()) as stand_in:
        stand_in.repos["a/b"] = {
            "b-Q8_0.gguf": b"GGUF" * 9,
            "mmproj-b-f16.gguf": b"GGUF",
            "b-Q4_K_M.gguf": b"GGUF",
        }
        contents = await Hub(stand_in.endpoint, "hf_token").contents("a/b")
        assert stand_in.requests[0][1]["Authorization"] == "Bearer hf_token"
        order = order_of(contents, contents.models[0], stand_in.endpoint)
    assert [(model.name, model.quantisation, model.size_bytes) for model in contents.models] == [
        ("b-Q4_K_M", "Q4_K_M", 4 + 4),  # with the projector
        ("b-Q8_0", "Q8_0", 36 + 4),
    ]
    assert [file.path for file in order.files] == ["b-Q4_K_M.gguf", "mmproj-b-f16.gguf"]
    assert order.url(order.files[0]) == f"{stand_in.endpoint}/a/b/resolve/{REVISION}/b-Q4_K_M.gguf"


@pytest.mark.parametrize(
    ("status", "headers", "error", "text"),
    [
        (401, {"X-Error-Code": "GatedRepo"}, GatedError, "acceptance of its terms"),
        (401, {}, GatedError, "rejected your token"),
        (404, {"X-Error-Code": "RepoNotFound"}, HubError, "renamed, removed|not answer as a model hub"),
        (429, {}, HubError, "limits requests. Wait a few minutes"),
        (429, {"Retry-After": "600"}, HubError, "limits requests. Try again in 10 min"),
        (503, {}, HubError, "HTTP 503"),
    ],
)
async def test_a_refusal_comes_at_once_and_says_what_to_do(
    status: int, headers: dict[str, str], error: type[HubError], text: str
) -> None:
    async with standing(StandInHub()) as stand_in:
        stand_in.refusal = (status, headers)
        for ask in (lambda asked: asked.search("x"), lambda asked: asked.contents("a/b")):
            with pytest.raises(error, match=text) as caught:
                await ask(Hub(stand_in.endpoint, "hf_token"))
            assert isinstance(caught.value.args[0], Said)
        assert len(stand_in.requests) == 2


async def test_nobody_there_is_told_at_once_and_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(_seconds: float) -> None:
        raise AssertionError("it would try again")

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setattr(time, "sleep", sleep)
        with pytest.raises(HubError, match=r"cannot be reached \(Connection refused\)"):
            await Hub(endpoint).search("x")


async def test_a_web_page_is_no_hub() -> None:
    async with standing(StandInHub()) as stand_in:
        stand_in.facts["a/b"] = {"gguf": "<html>"}
        stand_in.repos["a/b"] = {}
        with pytest.raises(HubError, match="not answer as a model hub"):
            await Hub(stand_in.endpoint).search("")


async def endless(request: web.Request, **values: Any) -> web.StreamResponse:
    response = web.StreamResponse(**values)
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        while True:
            await response.write(b"[" * 2**16)
    return response


def answers(body: bytes, **headers: str) -> Says:
    async def says(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, headers=headers, content_type="application/json")

    return says


async def redirects_without_an_end(request: web.Request) -> web.StreamResponse:
    """With as much beside each redirect as anybody reads."""
    where = "/api/models/a/b" if "to" in request.query else "/api/models?to="
    return await endless(request, status=302, headers={"Location": where})


BOMB = gzip.compress(b" " * 2**25)
NUMBERS = b'[{"id": "a/b", "downloads": %s, "likes": -5}, {"id": "../b"}, {"id": "gpt2"}]'


@pytest.mark.parametrize(
    ("says", "text"),
    [
        (endless, "not answer as a model hub"),
        (answers(BOMB, **{"Content-Encoding": "gzip"}), "not answer as a model hub"),
        (answers(b"[]", **{"Content-Encoding": "gzip, gzip"}), "not answer as a model hub"),
        (answers(b"[" * 500_000), "not answer as a model hub"),
        (answers(b'[{"id": "a/b", "downloads": Infinity}]'), "not answer as a model hub"),
        (redirects_without_an_end, "not answer as a model hub"),
    ],
    ids=("endless", "bomb", "packed twice", "deep", "infinite", "redirects"),
)
async def test_whatever_a_hub_says_is_read_within_limits(
    says: Says, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_ANSWER_BYTES", 2**20)
    async with standing(StandInHub()) as stand_in:
        stand_in.says = says
        with pytest.raises(HubError, match=text):
            await Hub(stand_in.endpoint).search("x")


async def test_an_answer_of_very_many_values_is_no_hubs() -> None:
    async with standing(StandInHub()) as stand_in:
        stand_in.says = answers(b"[" + b"[]," * 100_000 + b"[]]")
        with pytest.raises(HubError, match="not answer as a model hub"):
            await Hub(stand_in.endpoint).search("x")


async def test_an_answer_that_only_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "MAX_ANSWER_S", 0.0)
    async with standing(StandInHub()) as stand_in:
        with pytest.raises(HubError, match="does not end"):
            await Hub(stand_in.endpoint).search("x")


async def test_more_pages_are_not_asked_for_and_nonsense_is_not_shown() -> None:
    """The library would ask them wherever they are, with our token."""
    async with standing(StandInHub()) as elsewhere, standing(StandInHub()) as stand_in:
        packed = gzip.compress(NUMBERS % (b"9" * 400))
        link = f'<{elsewhere.endpoint}/api/models>; rel="next"'
        stand_in.says = answers(packed, Link=link, **{"Content-Encoding": "gzip"})
        (repo,) = await Hub(stand_in.endpoint, "hf_token").search("x")
        assert (repo.id, repo.num_downloads, repo.num_likes) == ("a/b", hub.MAX_COUNT, 0)
        assert elsewhere.requests == []


async def test_the_token_stays_with_the_hub_where_it_redirects() -> None:
    async with standing(StandInHub()) as elsewhere, standing(StandInHub()) as stand_in:
        elsewhere.repos = {"a/b": {}}

        async def says(request: web.Request) -> web.StreamResponse:
            raise web.HTTPFound(f"{elsewhere.endpoint}{request.path_qs}")

        stand_in.says = says
        (repo,) = await Hub(stand_in.endpoint, "hf_token").search("")
        assert repo.id == "a/b"
        assert [headers.get("Authorization") for _, headers in elsewhere.requests] == [None]
        assert stand_in.requests[0][1]["Authorization"] == "Bearer hf_token"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"Retry-After": "120"}, 120),
        ({"Retry-After": "soon"}, 0),
        ({"Retry-After": "-5"}, 0),
        ({"Retry-After": "9" * 99}, 999_999_999),
        # By the hub's clock, whatever ours says.
        ({"Retry-After": "Wed, 01 Jan 2020 00:01:30 GMT", "Date": "Wed, 01 Jan 2020 00:01:00 GMT"}, 30),
        ({"Retry-After": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0),
        ({"RateLimit": '"resolvers";r=0;t=55', "Retry-After": "1"}, 55),
        ({"RateLimit": '"resolvers";r=12;t=55', "Retry-After": "1"}, 1),
    ],
)
def test_how_long_a_hub_wants_to_be_left_alone(headers: dict[str, str], seconds: float) -> None:
    assert hub_address.wait_s(headers) == seconds


def test_a_certificate_that_is_not_accepted_says_what_to_look_at() -> None:
    reason = (
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1016)"
    )
    told = str(hub_address.unreachable("https://hub.example", ssl.SSLCertVerificationError(1, reason)))
    assert "this computer's date and time" in told
    assert "has expired" in told
    assert "[SSL" not in told


def test_parts_of_a_split_model_are_one() -> None:
    names = [f"Q4_K_M/big-Q4_K_M-0000{number}-of-00003.gguf" for number in (3, 1, 2)]
    (model,) = models_of(files(*names, "mmproj-big.gguf", "big.imatrix.gguf"))
    assert (model.name, model.quantisation, model.size_bytes) == ("big-Q4_K_M", "Q4_K_M", 4 * GIB)
    assert model.projector.path == "mmproj-big.gguf"
    assert [file.path for file in model.files] == sorted(names)
    assert not model.problem


@pytest.mark.parametrize(
    "names",
    [
        ["x-00001-of-00002.gguf"],
        ["x-00002-of-00002.gguf"],
        ["x-00001-of-99999.gguf"],
        ["x-00000-of-00000.gguf"],
        ["x-00001-of-00002.gguf", "x-00003-of-00002.gguf"],
    ],
)
def test_a_split_model_with_a_part_missing_cannot_be_had(names: list[str]) -> None:
    (model,) = models_of(files(*names))
    assert model.problem
    contents = hub.RepoContents(hub.Repo("a/b"), "main", (model,))
    with pytest.raises(DownloadError, match="part"):
        order_of(contents, model, hub_address.DEFAULT_ENDPOINT)
    sound = replace(model, problem="", files=tuple(files("a/x.gguf", "b/x.gguf")))
    with pytest.raises(DownloadError, match="inconsistent"):
        order_of(contents, sound, hub_address.DEFAULT_ENDPOINT)


@pytest.mark.parametrize(
    ("name", "quantisation"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-3b-instruct-q4_k_m-00001-of-00002.gguf", "Q4_K_M"),
        ("Phi-3-mini-4k-instruct-fp16.gguf", "F16"),
        ("Phi-3-mini-4k-instruct-q4.gguf", "Q4"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("Llama-3.2-1B-Instruct-f16.gguf", "F16"),
        ("x.IQ4_XS.gguf", "IQ4_XS"),
        ("x-UD-Q4_K_XL.gguf", "Q4_K_XL"),
        ("BF16/x-BF16-00001-of-00002.gguf", "BF16"),
    ],
)
def test_the_name_of_a_file_says_how_it_is_quantised(name: str, quantisation: str) -> None:
    assert quantisation_of(name) == quantisation
