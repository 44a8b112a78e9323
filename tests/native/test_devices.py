"""What llama.cpp can compute on here. What needs a GPU runs where there is one, and says so where not."""

from __future__ import annotations

from dataclasses import replace

import psutil
import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.native_library import library, library_info
from app.protocol.errors import ModelLoadError
from app.protocol.load import LoadParams
from app.protocol.model import Device, DeviceKind
from app.system import paths
from tests.driver import next_turn, request, run

pytestmark = [pytest.mark.native, pytest.mark.timeout(300)]

GPUS = (DeviceKind.GPU, DeviceKind.INTEGRATED)
PARAMS = LoadParams(paths.starter_model(), n_ctx=1024, n_seq_max=4, n_threads=1)


def devices() -> tuple[Device, ...]:
    library()
    return library_info().devices


def test_the_processor_is_listed_with_its_name_and_memory() -> None:
    [processor] = [device for device in devices() if device.kind is DeviceKind.CPU]
    assert processor.name == "CPU"
    assert processor.description
    assert 0 < processor.free_bytes <= processor.total_bytes <= 2 * psutil.virtual_memory().total


def test_a_device_that_is_not_there_is_named_with_those_that_are() -> None:
    with (
        pytest.raises(ModelLoadError, match=r"The device CUDA99 is gone\..*CPU"),
        open_llama_backend(replace(PARAMS, devices=("CUDA99",))),
    ):
        pass


def test_on_a_gpu_everything_is_as_on_the_processor() -> None:
    """Answers side by side, a fork, a state that is saved and restored, and books that agree."""
    alone = _answers(replace(PARAMS, n_gpu_layers=0))
    assert "55" in alone[0]
    gpus = [device.name for device in devices() if device.kind in GPUS]
    if not gpus:
        pytest.skip("no GPU that this llama.cpp can compute on")
    for name in gpus:
        assert _answers(replace(PARAMS, devices=(name,), n_gpu_layers=999)) == alone, name


def _answers(params: LoadParams) -> list[str]:
    with open_llama_backend(params) as backend:
        engine = Engine(backend, verify=True)
        asked = [request("What is 34 + 21?", "a"), request("Count from 3 to 9", "b", max_tokens=24)]
        first = run(engine, *asked)
        said = [first.answers[one.request_id].text for one in asked]
        assert engine.slots.fork("a", "c")
        assert engine.slots.hibernate_chat("b")
        forked = replace(next_turn(asked[0], said[0], "What is 12 + 30?"), chat_id="c")
        later = [next_turn(asked[1], said[1], "What is 5 + 6?"), forked]
        second = run(engine, *later)
        usages = [second.answers[one.request_id].usage for one in later]
        assert usages[0].num_restored_tokens
        assert usages[1].num_reused_tokens + usages[1].num_shared_tokens
        engine.close()
    return [*said, *(second.answers[one.request_id].text for one in later)]
