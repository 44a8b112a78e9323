"""What a model would take, by its header alone, and what is said when that is too much.

That the library really takes so much is shown in tests/native/test_loading.py and the benchmark `fit`.
"""

from dataclasses import replace

import pytest

from app.engine.errors import ModelLoadError
from app.engine.types import DEFAULT_N_CTX, FlashAttention, KvType, LoadParams, LoraAdapter, RopeScaling
from app.models.gguf_header import GgufHeader
from app.models.memory_fit import Fit, advice, estimate, fit_of, fitted, largest_n_ctx
from app.models.model_file import read_whole_header

HEAD = 2 * 16  # bytes of 16 numbers as f16: the only head for keys, or for values
MIB = 1 << 20


@pytest.fixture
def header(tiny_gguf):
    return lambda family: read_whole_header(tiny_gguf(family))


@pytest.fixture
def wanted(tiny_gguf):
    return lambda family="qwen3", **values: LoadParams(tiny_gguf(family), **values)


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
    assert largest_n_ctx(header("qwen3"), params, free) == 4 * step
    assert largest_n_ctx(header("qwen3"), params, 1000) == 0


def test_a_context_is_no_larger_than_all_chats_can_use(header, wanted):
    assert largest_n_ctx(header("qwen3"), wanted(n_seq_max=2), 1 << 40) == 2 * 4096
    stretched = wanted(n_seq_max=2, rope_scaling=RopeScaling.YARN, rope_factor=4.0)
    assert largest_n_ctx(header("qwen3"), stretched, 1 << 40) == 4 * 2 * 4096


def test_what_would_fit_is_told(header, wanted):
    params = wanted(n_ctx=16_384)
    assert advice(header("qwen3"), params, 1 << 30) == ""
    assert "fits, 16,384 does not" in advice(header("qwen3"), params, 8 * MIB)
    assert "Close other programs" in advice(header("qwen3"), params, 100_000)


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


def test_as_many_layers_as_fit_go_to_the_gpus(header, wanted):
    params = wanted(n_ctx=4096)
    need = estimate(header("qwen3"), params)

    def num_layers(gpu_bytes):
        return fitted(params, gpu_bytes, free_bytes=1 << 30).n_gpu_layers

    half = need.compute_bytes + need.output_bytes + (need.weights_bytes + need.kv_bytes) / 2
    assert num_layers(1 << 30) is None
    assert num_layers(round(half / 0.8)) == 2
    assert num_layers(1000) == 0
    chosen = replace(params, n_gpu_layers=3)
    assert fitted(chosen, 1000, free_bytes=1 << 30) == chosen
