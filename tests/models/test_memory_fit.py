"""What a model would take, by its header alone, and what is said when that is too much.

That the library really takes so much is shown in tests/native/test_loading.py.
"""

from dataclasses import replace

import pytest

from app.models.gguf_header import GgufHeader
from app.models.memory_fit import Fit, advice, estimate, fit_of, fitted, largest_n_ctx, plan
from app.models.memory_need import Room
from app.models.model_file import read_whole_header
from app.protocol.errors import ModelLoadError, NoRoomYetError
from app.protocol.load import DEFAULT_N_CTX, FlashAttention, KvType, LoadParams, LoraAdapter, RopeScaling
from app.protocol.model import Device, DeviceKind

HEAD = 2 * 16  # bytes of 16 numbers as f16: the only head for keys, or for values
MIB = 1 << 20


@pytest.fixture
def header(tiny_gguf):
    return lambda family: read_whole_header(tiny_gguf(family))


@pytest.fixture
def wanted(tiny_gguf):
    return lambda family="qwen3", **values: LoadParams(
        tiny_gguf(family), **({"num_drafted_tokens": 0} | values)
    )


@pytest.mark.parametrize(
    ("family", "cells", "states"),
    [
        ("qwen3", 4 * 16_384, 0),
        ("qwen3moe", 4 * 16_384, 0),
        # One layer of six sees everything; the others see 32 tokens of each of 8 chats, and the step's rows.
        ("gemma3", 16_384 + 5 * 512, 0),
        ("gpt-oss", 2 * 16_384 + 2 * 512, 0),
        # Every other layer keeps a state for each of 8 chats instead.
        ("lfm2", 2 * 16_384, 8 * 2 * 2 * 32),
        ("qwen35", 2 * 16_384, 8 * 2 * (3 * (32 + 2 * 16) + 32 * 16)),
        ("mamba", 0, 8 * 4 * (3 * 64 + 64 * 16)),
    ],
)
def test_each_family_keeps_what_its_layers_keep(header, wanted, family, cells, states):
    need = estimate(header(family), wanted(family, n_ctx=16_384))
    assert need.kv_bytes == cells * 2 * HEAD + 4 * states


def test_states_have_snapshots_for_what_may_be_rejected(header, wanted):
    def need(family, **values):
        return estimate(header(family), wanted(family, n_ctx=16_384, **values))

    state = 4 * 2 * (3 * (32 + 2 * 16) + 32 * 16)
    with_drafts = need("qwen35", num_drafted_tokens=5)
    assert with_drafts.kv_bytes == need("qwen35").kv_bytes + 8 * 5 * state
    assert with_drafts.compute_bytes == need("qwen35").compute_bytes + 8 * 5 * state // 2  # a layer's
    assert need("qwen35", num_drafted_tokens=64).kv_bytes == need("qwen35").kv_bytes + 8 * 8 * state
    assert with_drafts.output_bytes == 13 / 8 * need("qwen35").output_bytes
    for family in ("mamba", "falcon-h1", "gemma3", "qwen3"):
        assert need(family, num_drafted_tokens=5).kv_bytes == need(family).kv_bytes


def test_chats_with_cells_of_their_own_have_windows_of_their_own(header, wanted):
    shared = wanted("gemma3", n_ctx=16_384, n_seq_max=4)
    own = replace(shared, isolated=True)
    assert estimate(header("gemma3"), shared).kv_bytes == (16_384 + 5 * 512) * 2 * HEAD
    assert estimate(header("gemma3"), own).kv_bytes == (16_384 + 5 * 4 * 512) * 2 * HEAD


def test_fewer_bits_take_less(header, wanted):
    def kv_bytes(kind):
        return estimate(header("qwen3"), wanted(n_ctx=4096, type_k=kind, type_v=kind)).kv_bytes

    # Of 16 numbers, half a block of them is empty.
    sizes = [kv_bytes(kind) for kind in (KvType.Q8_0, KvType.Q5_1, KvType.Q5_0, KvType.Q4_1, KvType.Q4_0)]
    assert sizes == [kv_bytes(KvType.F16) // HEAD * size for size in (34, 24, 22, 20, 18)]
    assert kv_bytes(KvType.BF16) == kv_bytes(KvType.F16)


def test_without_flash_attention_every_head_weighs_every_cell(header, wanted):
    with_it = estimate(header("qwen3"), wanted(n_ctx=16_384))
    without = estimate(header("qwen3"), wanted(n_ctx=16_384, flash_attention=FlashAttention.OFF))
    assert without.compute_bytes - with_it.compute_bytes > 256 * 16_384 * 2 * 4


def test_slots_cost_logits_and_adapters_their_file(header, wanted, tmp_path):
    adapter = tmp_path / "adapter.gguf"
    adapter.write_bytes(bytes(1000))
    few, many = (estimate(header("qwen3"), wanted(n_ctx=512, n_seq_max=count)) for count in (1, 9))
    assert many.output_bytes == 9 * few.output_bytes
    assert estimate(header("qwen3"), wanted(adapters=(LoraAdapter(adapter),))).weights_bytes == (
        few.weights_bytes + 1000
    )


def test_a_header_that_claims_anything_is_taken_at_its_word(header, wanted):
    claims = {"qwen3.block_count": 2**63, "qwen3.attention.head_count": 0, "qwen3.embedding_length": -1}
    odd = replace(header("qwen3"), values=dict(header("qwen3").values) | claims)
    assert estimate(odd, wanted()).total_bytes > 0
    assert estimate(GgufHeader(3, {}, (), 0), wanted()).weights_bytes == 0


# Does it fit?


def test_some_room_is_left_for_others():
    assert [fit_of(needed, 100) for needed in (80, 81, 95, 96)] == [
        Fit.FITS,
        Fit.TIGHT,
        Fit.TIGHT,
        Fit.TOO_LARGE,
    ]


@pytest.mark.parametrize("isolated", [False, True])
def test_the_largest_context_fits_and_the_next_one_does_not(header, wanted, isolated):
    params = wanted(n_seq_max=4, isolated=isolated)
    step = 1024 if isolated else 256
    free = round(estimate(header("qwen3"), replace(params, n_ctx=4 * step)).total_bytes / 0.8) + 1
    assert largest_n_ctx(header("qwen3"), params, Room(free)) == 4 * step
    assert largest_n_ctx(header("qwen3"), params, Room(1000)) == 0


def test_a_context_is_no_larger_than_all_chats_can_use(header, wanted):
    assert largest_n_ctx(header("qwen3"), wanted(n_seq_max=2), Room(1 << 40)) == 2 * 4096
    stretched = wanted(n_seq_max=2, rope_scaling=RopeScaling.YARN, rope_factor=4.0)
    assert largest_n_ctx(header("qwen3"), stretched, Room(1 << 40)) == 4 * 2 * 4096


@pytest.mark.parametrize("free_mib", [8, 64, 1024])
def test_what_is_offered_is_the_largest_context_that_fits(header, wanted, free_mib):
    params, room = wanted(n_ctx=40_000_000), Room(free_mib * MIB)
    offered = largest_n_ctx(header("qwen3"), params, room)
    fits = [plan(header("qwen3"), replace(params, n_ctx=offered + more), room).fit for more in (0, 256)]
    assert fits[0] is Fit.FITS
    assert fits[1] is not Fit.FITS
    assert f"{offered:,} tokens fits" in str(advice(header("qwen3"), params, room))


def test_what_would_fit_is_told(header, wanted):
    params = wanted(n_ctx=16_384)
    assert advice(header("qwen3"), params, Room(1 << 30)) == ""
    assert "fits, 16,384 does not" in advice(header("qwen3"), params, Room(8 * MIB))
    assert "Close other programs" in advice(header("qwen3"), params, Room(100_000))


def test_a_load_takes_the_context_that_fits_unless_one_was_chosen(wanted):
    assert fitted(wanted(), free_bytes=1 << 30).n_ctx == DEFAULT_N_CTX
    assert 256 <= fitted(wanted(), free_bytes=4 * MIB).n_ctx < DEFAULT_N_CTX
    chosen = wanted(n_ctx=512)
    assert fitted(chosen, free_bytes=1 << 30) == chosen


def test_what_would_take_the_machine_down_is_refused_with_what_fits(wanted):
    with pytest.raises(ModelLoadError, match=r"of 1,000,000 tokens needs .* A context of [\d,]+ tokens fits"):
        fitted(wanted(n_ctx=1_000_000), free_bytes=32 * MIB)


def test_what_cannot_be_read_is_left_to_the_library(tmp_path):
    path = tmp_path / "notes.gguf"
    path.write_text("hello")
    assert fitted(LoadParams(path), free_bytes=1) == LoadParams(path)


# GPUs and workers. The tiny model has four layers; the output is a fifth.


def gpu(free_bytes, name="CUDA0", kind=DeviceKind.GPU):
    return Device(name, "", kind, 1 << 40, free_bytes)


def share(need, num_layers):
    """Of a device that has so many layers, as `fitted` allows it to be full."""
    return round((need.compute_bytes + (need.weights_bytes + need.kv_bytes) * num_layers / 4) / 0.8)


def test_as_many_layers_as_fit_go_to_the_gpus(header, wanted):
    params = wanted(n_ctx=4096)
    need = estimate(header("qwen3"), params)

    def num_layers(*gpus, **values):
        return fitted(replace(params, **values), gpus, free_bytes=1 << 30).n_gpu_layers

    half, whole = gpu(share(need, 2)), gpu(1 << 30, "CUDA1")
    assert num_layers(whole) is None
    assert num_layers(half) == 2
    assert num_layers(gpu(1000)) == 0
    assert num_layers(half, whole, devices=("CUDA0",)) == 2
    assert num_layers(half, whole, devices=("CUDA1",)) is None
    assert num_layers(gpu(1000), n_gpu_layers=0) == 0
    with pytest.raises(ModelLoadError, match=r"GiB on CUDA0, but .* free there\. It fits if the number"):
        num_layers(gpu(1000), n_gpu_layers=3)


def test_what_a_gpu_takes_is_not_taken_here_unless_it_has_no_memory_of_its_own(header, wanted):
    params = wanted(n_ctx=65_536, n_gpu_layers=5)
    whole = estimate(header("qwen3"), params)
    here, there = plan(header("qwen3"), params, Room(1 << 30, (gpu(1 << 30),))).needs
    assert here.kv_bytes == 0
    assert here.weights_bytes < whole.weights_bytes / 4
    assert there.kv_bytes == whole.kv_bytes
    little = round(here.total_bytes / 0.5)
    assert plan(header("qwen3"), params, Room(little, (gpu(1 << 30),))).fit is Fit.FITS
    shared = gpu(1 << 30, "Vulkan0", DeviceKind.INTEGRATED)
    assert plan(header("qwen3"), params, Room(little, (shared,))).fit is Fit.TOO_LARGE


def test_a_device_that_does_not_tell_its_memory_gets_all_layers(wanted):
    silent = Device("SYCL0", "", DeviceKind.GPU)
    assert fitted(wanted(n_ctx=512), (silent,), free_bytes=1 << 30).n_gpu_layers is None


def test_workers_get_their_share_of_the_layers_and_a_full_one_is_named(header, wanted):
    params = wanted(n_ctx=4096, workers=("a:1", "b:1"))
    a, b = gpu(1 << 30, "a:1"), gpu(1 << 30, "b:1")
    spread = fitted(params, free_bytes=1 << 30, workers=(a, b))
    assert spread.n_gpu_layers == 3
    needs = plan(header("qwen3"), spread, Room(1 << 30, workers=(a, b))).needs
    whole = estimate(header("qwen3"), params)
    assert [need.kv_bytes * 4 // whole.kv_bytes for need in needs] == [2, 2, 0]
    # It has no weights for its output, which takes a copy of those of the input.
    copied = next(one.size_bytes for one in header("qwen3").tensors if one.name == "token_embd.weight")
    assert sum(need.weights_bytes for need in needs) == whole.weights_bytes + copied
    with pytest.raises(ModelLoadError, match=r"GiB on a:1, but only 0\.0 GiB are free there"):
        fitted(replace(params, n_ctx=65_536), free_bytes=1 << 30, workers=(gpu(3 * MIB, "a:1"), b))


# The model that is still there


def test_what_fits_once_the_model_before_has_gone_waits_for_that(wanted):
    params = wanted(n_ctx=16_384)
    with pytest.raises(NoRoomYetError):
        fitted(params, free_bytes=4 * MIB, reclaimable={"": 100 * MIB})
    with pytest.raises(ModelLoadError, match=r"only 0\.0 GiB are free") as refused:
        fitted(params, free_bytes=4 * MIB, reclaimable={"": MIB})
    assert not isinstance(refused.value, NoRoomYetError)
    assert fitted(params, free_bytes=100 * MIB, reclaimable={"": 100 * MIB}) == params


def test_a_context_that_was_left_open_is_as_large_as_it_can_be_then(wanted):
    with pytest.raises(NoRoomYetError):
        fitted(wanted(), free_bytes=4 * MIB, reclaimable={"": 1 << 30})
    assert fitted(wanted(), free_bytes=60 * MIB, reclaimable={"": 1 << 30}).n_ctx == DEFAULT_N_CTX


def test_a_gpu_that_is_still_full_is_waited_for(header, wanted):
    params = wanted(n_ctx=4096)
    full = (gpu(share(estimate(header("qwen3"), params), 1)),)
    with pytest.raises(NoRoomYetError):
        fitted(params, full, free_bytes=1 << 30, reclaimable={"CUDA0": 1 << 30})
    assert fitted(params, full, free_bytes=1 << 30, reclaimable={"": 1 << 30}).n_gpu_layers == 1


# A draft model


def test_a_draft_model_takes_memory_too(header, wanted, tiny_gguf):
    alone = wanted(n_ctx=4096, num_drafted_tokens=4)
    guessed = replace(alone, draft_model=tiny_gguf("llama"))
    draft = estimate(header("llama"), wanted("llama", n_ctx=4096))
    found = estimate(header("qwen3"), guessed)
    assert found == estimate(header("qwen3"), alone) + draft
    with_gpu = plan(header("qwen3"), guessed, Room(1 << 30, (gpu(1 << 30),)))
    assert with_gpu.needs[1].kv_bytes == found.kv_bytes
