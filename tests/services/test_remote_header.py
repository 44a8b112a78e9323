from collections.abc import Callable
from pathlib import Path

import pytest

from app.models.gguf_header import HeaderError
from app.models.hub_address import HubError, file_url
from app.models.model_file import open_header
from app.services import model_hub
from app.services.model_hub import read_remote_header
from tests.models.standin_hub import Lie, StandInHub, honest, standing


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
