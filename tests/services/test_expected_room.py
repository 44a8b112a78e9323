"""The room for the next model: with what the loaded one holds, and on GPUs that are only simulated."""

import pytest

from app.protocol.load import LoadParams
from app.protocol.model import Device, DeviceKind, LibraryInfo, MemoryNeed
from app.services import model_fits
from app.services.model_fits import ExpectedRoom

MIB = 1 << 20


@pytest.mark.parametrize(
    ("kind", "here", "there", "asleep"),
    [
        # 1000 MiB are free here. The model has 10 here, of which 4 are pages of its file, and 70 there.
        (DeviceKind.GPU, 1006, 370, 1000),
        (DeviceKind.INTEGRATED, 1076, 370, 1000),
    ],
)
def test_what_the_model_holds_counts_as_free_while_it_is_there(
    engine, load, monkeypatch, kind, here, there, asleep
) -> None:
    monkeypatch.setattr(model_fits, "free_memory_bytes", lambda: 1000 * MIB)
    elsewhere = MemoryNeed(weights_bytes=70 * MIB)
    load(
        "a.gguf",
        library=LibraryInfo(devices=(Device("V0", "", kind, 500 * MIB, 300 * MIB),)),
        memory=elsewhere + MemoryNeed(weights_bytes=10 * MIB, mapped_bytes=4 * MIB),
        memory_elsewhere=(("V0", elsewhere),),
    )
    params = LoadParams(engine.model.path)
    room = ExpectedRoom.of(engine).room(params)
    assert (room.here_bytes, room.gpus[0].free_bytes) == (here * MIB, there * MIB)
    engine.sleep()
    room = ExpectedRoom.of(engine).room(params)
    assert (room.here_bytes, room.gpus[0].free_bytes) == (asleep * MIB, there * MIB)


def test_without_a_model_it_is_what_is_free(engine, monkeypatch) -> None:
    monkeypatch.setattr(model_fits, "free_memory_bytes", lambda: 1000 * MIB)
    assert ExpectedRoom.of(engine).total_bytes() == 1000 * MIB
