import asyncio
import logging
import socket
from collections.abc import Callable
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring
from PySide6.QtCore import QObject, SignalInstance

from app.models.gguf_header import HeaderError
from app.models.hub_address import HubError, file_url
from app.models.memory_fit import estimate
from app.models.model_file import open_header
from app.services import model_hub
from app.services.model_hub import ModelHub, read_remote_header
from app.services.preferences import Preferences
from app.settings.load import load_params
from app.settings.settings import Settings
from tests.models.standin_hub import Lie, StandInHub, honest, standing
from tests.services.keyrings import MemoryKeyring


async def told(signal: SignalInstance) -> object:
    future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    signal.connect(lambda value=None: future.done() or future.set_result(value))
    return await future


async def test_the_newest_question_is_answered(qapp: QObject, qloop: object, ring: MemoryKeyring) -> None:
    async with standing(StandInHub()) as stand_in:
        stand_in.repos = {"a/one-GGUF": {}, "a/two-GGUF": {"two-Q4_K_M.gguf": b"GGUF"}}
        hub = ModelHub(Preferences(Settings(hub_endpoint=stand_in.endpoint)))
        ring.kept["skein", stand_in.endpoint] = "hf_kept"
        answers: list[str] = []
        hub.found.connect(lambda found: answers.append(found.words))
        hub.search("one")
        hub.search("two")
        found = await told(hub.found)
        assert [repo.id for repo in found.repos] == ["a/two-GGUF"]  # type: ignore[attr-defined]
        assert answers == ["two"]
        hub.open("a/two-GGUF")
        contents = await told(hub.opened)
        assert [model.name for model in contents.models] == ["two-Q4_K_M"]  # type: ignore[attr-defined]
        assert {headers["Authorization"] for _, headers in stand_in.requests} == {"Bearer hf_kept"}
        stand_in.refusal = (403, {"X-Error-Code": "GatedRepo"})
        hub.open("a/two-GGUF")
        trouble = await told(hub.failed)
        assert trouble.page == f"{stand_in.endpoint}/a/two-GGUF"  # type: ignore[attr-defined]
        hub.close()


async def test_what_the_models_of_a_repository_take_is_looked_up(
    qapp: QObject, qloop: object, ring: MemoryKeyring, tiny_gguf: Callable[[str], Path]
) -> None:
    async with standing(StandInHub()) as stand_in:
        path = tiny_gguf("qwen3")
        stand_in.repos = {"a/tiny-GGUF": {"tiny-F32.gguf": path.read_bytes()}}
        settings = Settings(hub_endpoint=stand_in.endpoint)
        hub = ModelHub(Preferences(settings))
        estimated: list[tuple[str, int]] = []
        hub.estimated.connect(lambda repo_id, beside: estimated.append((repo_id, beside)))
        hub.open("a/tiny-GGUF")
        await told(hub.estimated)
        need = estimate(open_header(path), load_params(settings, path))
        assert estimated == [("a/tiny-GGUF", need.kv_bytes + need.compute_bytes + need.output_bytes)]


async def test_a_hub_that_never_answers_is_given_up(
    qapp: QObject, qloop: object, ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_hub, "PATIENCE_S", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hub = ModelHub(Preferences(Settings(hub_endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")))
        for ask in (hub.search, hub.open):
            ask("a/b")
            trouble = await told(hub.failed)
            assert "cannot be reached (it does not respond)" in trouble.text  # type: ignore[attr-defined]


async def test_an_address_that_cannot_be_used_is_told(
    qapp: QObject, qloop: object, ring: MemoryKeyring
) -> None:
    preferences = Preferences(Settings(hub_endpoint="http://mirror.example"))
    hub = ModelHub(preferences)
    hub.search("x")
    trouble = await told(hub.failed)
    assert "https://" in trouble.text  # type: ignore[attr-defined]
    assert hub.endpoint == "https://huggingface.co"


async def test_a_token_is_for_one_hub_and_nowhere_but_in_the_keyring(
    qapp: QObject,
    qloop: object,
    ring: MemoryKeyring,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_shell")
    async with standing(StandInHub()) as stand_in:
        settings = Settings(hub_endpoint=stand_in.endpoint)
        preferences = Preferences(settings)
        hub = ModelHub(preferences)
        hub.set_token("hf_secret")
        assert hub.has_token
        assert "in the keyring" in str(await told(hub.token_noted))
        hub.search("x")
        await told(hub.found)
        assert stand_in.requests[0][1]["Authorization"] == "Bearer hf_secret"
        assert await hub.token("https://huggingface.co") == "hf_of_the_shell"
        assert await hub.token("https://mirror.example") == ""
        hub.set_token("")
        assert "removed" in str(await told(hub.token_noted))
        assert ring.kept == {}
        assert not hub.has_token
    assert "hf_secret" not in settings.model_dump_json() + caplog.text


async def test_without_a_keyring_a_token_counts_until_the_end(
    qapp: QObject, qloop: object, ring: MemoryKeyring
) -> None:
    keyring.set_keyring(NoKeyring())
    hub = ModelHub(Preferences(Settings()))
    assert await hub.token("https://mirror.example") == ""
    hub.set_token("hf_secret")
    assert "until Skein is closed" in str(await told(hub.token_noted))
    assert await hub.token(hub.endpoint) == "hf_secret"


async def test_some_of_a_file_is_enough(
    tiny_gguf: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_hub, "FIRST_BYTES", 512)
    path = tiny_gguf("qwen3")
    header = open_header(path)
    async with standing(StandInHub()) as hub:
        hub.repos["a/b"] = {"tiny.gguf": path.read_bytes()}
        url = file_url(hub.endpoint, "a/b", "main", "tiny.gguf")
        assert await read_remote_header(url, hub.endpoint) == header
        assert hub.ranges[:3] == ["bytes=0-511", "bytes=512-1023", "bytes=1024-2047"]
        loaded = int(hub.ranges[-1].rpartition("-")[2]) + 1
        assert header.num_bytes - 32 <= loaded < max(4 * header.num_bytes, path.stat().st_size)

        monkeypatch.setattr(model_hub, "MAX_BYTES", 1024)
        with pytest.raises(HeaderError, match="too large"):
            await read_remote_header(url, hub.endpoint)
        monkeypatch.undo()
        hub.repos["a/b"]["tiny.gguf"] = path.read_bytes()[: header.num_bytes // 2]
        with pytest.raises(HeaderError):
            await read_remote_header(url, hub.endpoint)
        hub.answer_piece = lambda content, _begin, _end: honest(content, 0)
        with pytest.raises(HeaderError, match="range requests"):
            await read_remote_header(url, hub.endpoint)
        empty = Lie(206, {"Content-Range": "bytes 0-99/100", "Content-Length": "0"})
        hub.answer_piece = lambda _content, _begin, _end: empty
        with pytest.raises(HeaderError, match="truncated"):
            await read_remote_header(url, hub.endpoint)
        hub.redirect = lambda _request: "http://169.254.169.254/x"
        with pytest.raises(HubError, match="not safe"):
            await read_remote_header(url, hub.endpoint)
