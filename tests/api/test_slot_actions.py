"""POST /slots/N?action=save|restore|erase, on the fake and on llama.cpp."""

from __future__ import annotations

import asyncio
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.api.llama_server import slot_actions
from app.protocol.errors import InvalidRequestError
from app.protocol.report import SavedState
from tests.api.conftest import OpenBackend, Served, Steps, endless, serving, until
from tests.api.test_llama_server import GREEDY, complete, open_llama
from tests.fakes import CountingBackend

PROMPT = "What is the capital of France, and of Germany?"


@pytest.fixture(params=["fake", pytest.param("llama", marks=pytest.mark.native)])
def opener(request: pytest.FixtureRequest, tiny_gguf: Any) -> OpenBackend:
    return open_llama(tiny_gguf) if request.param == "llama" else lambda _on_progress: nullcontext(endless())


async def act(served: Served, action: str, seq_id: int = 0, filename: str = "one.bin") -> tuple[int, Any]:
    return await served.post(f"/slots/{seq_id}?action={action}", {"filename": filename})


async def test_a_slot_is_saved_erased_and_restored_into_another(opener, tmp_path):
    async with serving(open_backend=opener, slot_folder=tmp_path) as served:
        first = await complete(served, PROMPT)
        slot = first["id_slot"]
        _, saved = await act(served, "save", slot)
        assert saved["n_saved"] >= first["tokens_evaluated"]
        assert saved["n_written"] == (tmp_path / "one.bin").stat().st_size
        assert stat.S_IMODE((tmp_path / "one.bin").stat().st_mode) == 0o600
        assert (await act(served, "erase", slot))[1] == {"id_slot": slot, "n_erased": saved["n_saved"]}
        assert (await complete(served, PROMPT))["timings"]["cache_n"] == 0
        assert (await act(served, "erase", slot))[1]["n_erased"] > 0
        _, restored = await act(served, "restore", 2)
        assert (restored["n_restored"], restored["n_read"]) == (saved["n_saved"], saved["n_written"])
        again = await complete(served, PROMPT)
        assert again["timings"]["cache_n"] == first["tokens_evaluated"] - 1
        assert again["content"] == first["content"]
        assert [path.name for path in tmp_path.iterdir()] == ["one.bin"]


async def test_an_empty_slot_is_saved_and_restored_as_such(tmp_path):
    async with serving(slot_folder=tmp_path) as served:
        assert (await act(served, "save", 3))[1]["n_saved"] == 0
        assert (await act(served, "restore", 3))[1]["n_restored"] == 0


async def test_who_is_in_the_slot_is_not_lost(tmp_path):
    async with serving(slot_folder=tmp_path) as served:
        await complete(served, PROMPT)
        await act(served, "save")
        await act(served, "erase")
        other = await complete(served, "Something else that is long enough to be kept")
        await act(served, "restore", other["id_slot"])
        again = await complete(served, "Something else that is long enough to be kept")
        assert again["timings"]["cache_n"] == other["tokens_evaluated"] - 1


async def test_a_slot_that_answers_is_left_alone(tmp_path):
    steps = Steps()
    backend = CountingBackend(before_decode=steps.wait, n_ctx=512, n_seq_max=4, n_batch=64)
    async with serving(backend, slot_folder=tmp_path) as served:
        answering = asyncio.ensure_future(served.post("/completion", GREEDY | {"prompt": PROMPT}))
        await until(lambda: steps.num_begun > 0)
        asking = [asyncio.ensure_future(act(served, action)) for action in ("erase", "save")]
        await until(lambda: len(served.client._queries) == 2)
        steps.free()
        await answering
        answers = await asyncio.gather(*asking)
    assert [status for status, _body in answers] == [400, 400]
    assert "is answering" in answers[0][1]["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/slots/0?action=save", {}, 400),
        ("/slots/0?action=save", {"filename": "../x"}, 400),
        ("/slots/0?action=save", {"filename": ".hidden"}, 400),
        ("/slots/0?action=save", {"filename": "a/b"}, 400),
        ("/slots/0?action=save", {"filename": ""}, 400),
        ("/slots/0?action=save", {"filename": "x" * 201}, 400),
        ("/slots/0?action=restore", {"filename": "nowhere.bin"}, 400),
        ("/slots/9?action=save", {"filename": "x"}, 400),
        ("/slots/x?action=erase", {}, 400),
        ("/slots/0?action=format", {}, 400),
        ("/slots/0", {}, 400),
    ],
)
async def test_what_cannot_be_is_refused(tmp_path, path, body, status):
    async with serving(slot_folder=tmp_path) as served:
        assert (await served.post(path, body))[0] == status
    assert not [file for file in tmp_path.iterdir() if file.name != "one.bin"]


async def test_without_a_folder_nothing_is_written():
    async with serving() as served:
        status, body = await act(served, "save")
        assert (status, "--slot-save-path" in body["error"]["message"]) == (501, True)


async def test_a_file_of_another_model_or_a_damaged_one_is_refused(tmp_path):
    backend = endless()
    async with serving(backend, slot_folder=tmp_path) as served:
        await complete(served, PROMPT)
        await act(served, "save")
        data = (tmp_path / "one.bin").read_bytes()
        backend.fingerprint = "another"
        status, body = await act(served, "restore")
        assert (status, "another model" in body["error"]["message"]) == (400, True)
        for broken in (data[:-1], data + b"x", data[:20] + b"x" + data[21:], b"", b"x" * 100, data[:13]):
            (tmp_path / "one.bin").write_bytes(broken)
            assert (await act(served, "restore"))[0] == 400


def test_any_flipped_byte_is_found(tmp_path: Path):
    path = tmp_path / "x"
    slot_actions.write(path, SavedState((1, 2, 3), np.arange(50, dtype=np.uint8), "print"))
    data = path.read_bytes()
    saved, num_bytes = slot_actions.read(path)
    assert (saved.token_ids, saved.state.tolist(), saved.fingerprint) == ((1, 2, 3), list(range(50)), "print")
    assert num_bytes == len(data)
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(InvalidRequestError):
            slot_actions.read(path)
