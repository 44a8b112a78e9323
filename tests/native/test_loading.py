"""Every wish about how a model is loaded reaches the library, or is refused in words."""

import math

import numpy as np
import pytest

from app.engine.children import probe
from app.engine.llama import loading
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.native_library import native_objects
from app.models.memory_fit import estimate
from app.models.model_file import read_whole_header
from app.protocol.errors import ModelLoadError
from app.protocol.load import FlashAttention, KvType, LoadParams, LoraAdapter, RopeScaling
from tests.driver import rows
from tests.native.tiny_ggufs import Shape, write_tiny_adapter, write_tiny_gguf

pytestmark = pytest.mark.native

WIDE = Shape(n_embd=64, n_head=2, head_dim=32)  # heads as long as a block of quantised numbers
TOKENS = [5, 9, 2, 7, 3] * 12


@pytest.fixture(scope="module")
def wide_gguf(tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / "wide.gguf"
    return write_tiny_gguf(path, "qwen3", shape=WIDE, n_ctx_train=512)


def params(path, **values):
    return LoadParams(path, **({"n_ctx": 512, "n_seq_max": 2, "n_batch": 64, "n_threads": 1} | values))


def logits(path, **values):
    """After some tokens, and how the state that was computed there is told from others."""
    with open_llama_backend(params(path, **values)) as backend:
        backend.decode(rows(backend, (0, 0, TOKENS)))
        return backend.logits[len(TOKENS) - 1].copy(), backend.fingerprint


def refusal(path, **values):
    with pytest.raises(ModelLoadError) as refused, open_llama_backend(params(path, **values)):
        pass
    return str(refused.value)


@pytest.mark.parametrize(
    ("type_k", "type_v", "flash_attention", "tolerance"),
    [
        ("bf16", "bf16", "auto", 0.02),
        ("f16", "f16", "off", 0.02),
        ("q8_0", "q8_0", "on", 0.05),
        ("q8_0", "f16", "off", 0.05),
        ("q5_1", "q5_0", "auto", 0.5),
        ("q4_1", "q4_0", "auto", 1.0),
    ],
)
def test_keys_and_values_are_kept_as_wished(wide_gguf, type_k, type_v, flash_attention, tolerance):
    usual, fingerprint = logits(wide_gguf)
    kinds = {"type_k": KvType(type_k), "type_v": KvType(type_v)}
    found, other = logits(wide_gguf, flash_attention=FlashAttention(flash_attention), **kinds)
    assert 0 < np.abs(found - usual).max() < tolerance
    assert fingerprint != other


def test_values_in_blocks_need_flash_attention(wide_gguf):
    said = refusal(wide_gguf, type_v=KvType.Q8_0, flash_attention=FlashAttention.OFF)
    assert "only with flash attention" in said


@pytest.mark.parametrize("flash_attention", list(FlashAttention))
@pytest.mark.parametrize("name", ["type_k", "type_v"])
def test_heads_that_no_block_fits_into_are_refused(tiny_gguf, name, flash_attention):
    """Without flash attention the library would end the process."""
    said = refusal(tiny_gguf("qwen3"), flash_attention=flash_attention, **{name: KvType.Q4_0})
    assert "heads have 16" in said or "only with flash attention" in said


@pytest.mark.parametrize(
    ("type_k", "head_dim", "can_shift"),
    [("f16", 32, True), ("bf16", 32, False), ("q8_0", 32, False), ("q8_0", 64, True), ("q4_0", 64, True)],
)
def test_positions_move_only_where_keys_can_be_rotated_again(tmp_path, type_k, head_dim, can_shift):
    """The process would end in the next step."""
    shape = Shape(n_embd=2 * head_dim, head_dim=head_dim)
    path = write_tiny_gguf(tmp_path / "model.gguf", "llama", shape=shape)
    with open_llama_backend(params(path, type_k=KvType(type_k))) as backend:
        assert backend.model.can_shift == can_shift
        if can_shift:
            backend.decode(rows(backend, (0, 0, TOKENS)))
            backend.remove_and_shift(0, 10, 20)
            backend.decode(rows(backend, (0, len(TOKENS) - 10, [4])))
            assert np.isfinite(backend.logits[0]).all()


def test_batches_are_as_large_as_wished(wide_gguf):
    with open_llama_backend(params(wide_gguf, n_batch=128, n_ubatch=48)) as backend:
        assert (backend.model.n_batch, backend.model.n_ubatch) == (128, 48)
    with open_llama_backend(params(wide_gguf, n_seq_max=40, n_ubatch=32)) as backend:
        assert backend.model.n_ubatch == 40  # one row of each sequence goes through at once


@pytest.mark.parametrize("family", ["gemma3", "gemma4", "gpt-oss"])
def test_a_model_with_a_window_computes_its_batches_at_once(tiny_gguf, family):
    """See `test_windows`."""
    with open_llama_backend(params(tiny_gguf(family), n_batch=128, n_ubatch=48)) as backend:
        assert (backend.model.n_batch, backend.model.n_ubatch) == (48, 48)


def test_weights_are_copied_into_memory_if_wished(wide_gguf):
    mapped, copied = logits(wide_gguf), logits(wide_gguf, use_mmap=False)
    assert (mapped[0] == copied[0]).all()
    assert mapped[1] == copied[1]
    with open_llama_backend(params(wide_gguf, use_mmap=False)) as backend:
        assert math.isclose(backend.model.memory.weights_bytes, backend.model.size_bytes, rel_tol=0.05)


@pytest.mark.parametrize("scaling", [RopeScaling.LINEAR, RopeScaling.YARN])
def test_positions_can_be_stretched(wide_gguf, scaling):
    usual, fingerprint = logits(wide_gguf)
    found, other = logits(wide_gguf, rope_scaling=scaling, rope_factor=4.0)
    assert np.abs(found - usual).max() > 0.01
    assert fingerprint != other
    wished = params(wide_gguf, n_ctx=4096, rope_scaling=scaling, rope_factor=4.0)
    with open_llama_backend(wished) as backend:
        assert (backend.model.max_sequence_tokens, backend.model.n_ctx_train) == (4 * 512, 512)
    with open_llama_backend(params(wide_gguf, n_ctx=4096)) as backend:
        assert backend.model.max_sequence_tokens == 512


# Adapters


def test_an_adapter_changes_the_answer_by_its_strength(tiny_gguf, tmp_path):
    model, path = tiny_gguf("qwen3"), write_tiny_adapter(tmp_path / "pirate.gguf", "qwen3")
    found = {scale: logits(model, adapters=(LoraAdapter(path, scale),)) for scale in (0.0, 0.5, 1.0)}
    usual, fingerprint = logits(model)
    assert (found[0.0][0] == usual).all()
    assert 0.01 < np.abs(found[0.5][0] - usual).max() < np.abs(found[1.0][0] - usual).max()
    assert len({fingerprint, *(told for _, told in found.values())}) == 4


def test_a_model_with_an_adapter_leaves_nothing_behind(tiny_gguf, tmp_path):
    before = dict(+native_objects)
    path = write_tiny_adapter(tmp_path / "pirate.gguf", "lfm2", weights="blk.1.attn_v.weight")
    for _ in range(2):
        logits(tiny_gguf("lfm2"), adapters=(LoraAdapter(path),))
    assert dict(+native_objects) == before


def test_what_is_no_adapter_of_this_model_is_refused_with_its_name(tiny_gguf, tmp_path):
    model = tiny_gguf("qwen3")
    notes = tmp_path / "notes.txt"
    notes.write_text("hello")
    others = {
        notes: "is not a GGUF file",
        tmp_path / "gone.gguf": "is not in",
        tiny_gguf("llama"): "expect general.type to be 'adapter'",
        write_tiny_adapter(tmp_path / "llama.gguf", "llama"): "arch mismatch",
        write_tiny_adapter(tmp_path / "other.gguf", "qwen3", weights="blk.9.attn_v.weight"): "does not exist",
        write_tiny_adapter(tmp_path / "cut.gguf", "qwen3"): "corrupted or incomplete",
    }
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(cut.read_bytes()[:-400])
    for path, reason in others.items():
        said = refusal(model, adapters=(LoraAdapter(path),))
        assert path.name in said
        assert reason in said


def test_an_adapter_is_tried_in_a_child_once_for_each_model(tiny_gguf, tmp_path):
    good = write_tiny_adapter(tmp_path / "good.gguf", "qwen3")
    assert probe.probe_adapter(tiny_gguf("qwen3"), good)
    assert not probe.probe_adapter(tiny_gguf("qwen3"), good)
    with pytest.raises(ModelLoadError, match=r"good\.gguf cannot be used as an adapter"):
        probe.probe_adapter(tiny_gguf("llama"), good)


# Memory


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize(
    "family", ["llama", "qwen3moe", "gemma3", "gpt-oss", "lfm2", "qwen35", "nemotron_h", "mamba", "qwen2vl"]
)
@pytest.mark.parametrize("num_drafted", [0, 8])
def test_what_is_taken_was_estimated(tiny_gguf, family, isolated, num_drafted):
    wished = params(tiny_gguf(family), n_ctx=16_384, isolated=isolated, num_drafted_tokens=num_drafted)
    expected = estimate(read_whole_header(wished.path), wished)
    with open_llama_backend(wished) as backend:
        taken = backend.model.memory
    for name in ("weights_bytes", "kv_bytes", "output_bytes"):
        # The library tells hundredths of a MiB, of some devices and kinds of cells each.
        assert abs(getattr(expected, name) - getattr(taken, name)) < max(
            0.1 * getattr(taken, name), 25_000
        ), name


def test_a_context_is_planned_before_it_is_refused(tiny_gguf, monkeypatch):
    """Of a sliding window most layers keep little: what all layers together could take says nothing."""
    wished = params(tiny_gguf("gemma3"), n_ctx=262_144, n_seq_max=1)
    monkeypatch.setattr(loading, "free_memory_bytes", lambda: 60 << 20)
    with open_llama_backend(wished) as backend:
        assert backend.model.n_ctx == 262_144
    monkeypatch.setattr(loading, "free_memory_bytes", lambda: 40 << 20)
    assert "GiB are free" in refusal(wished.path, n_ctx=262_144, n_seq_max=1)
