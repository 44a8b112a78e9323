"""What only llama.cpp can show of its memory: logits, separate streams, families, and what would kill it."""

import os

import llama_cpp
import numpy as np
import pytest

from app.engine.llama.cell_reader import read_cells
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.native_library import library
from app.protocol.errors import DecodeInterruptedError, NoKvCellsError
from app.protocol.load import LoadParams
from tests.driver import rows
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

FAMILIES = ["llama", "qwen3", "qwen3moe", "qwen2vl", "gemma3", "gpt-oss", "lfm2", "qwen35", "mamba"]
TOLERANCE = 0.01  # results of a unified cache depend on where its cells lie


@pytest.fixture
def load(tiny_gguf):
    def load_tiny(architecture="qwen3", **params):
        values = {"n_ctx": 512, "n_seq_max": 4, "n_batch": 64, "n_threads": 1} | params
        return open_llama_backend(LoadParams(tiny_gguf(architecture), **values))

    return load_tiny


def fill(backend, seq_id, num_tokens, first_token=3):
    token_ids = [first_token + index % 50 for index in range(num_tokens)]
    for pos in range(0, num_tokens, 64):
        backend.decode(rows(backend, (seq_id, pos, token_ids[pos : pos + 64])))


def next_logits(backend, seq_id, token_id=60):
    """Of one token more, which stays."""
    backend.decode(rows(backend, (seq_id, backend.pos_max(seq_id) + 1, [token_id])))
    return backend.logits[0].copy()


# Saving and restoring


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_restored_sequence_computes_the_same_logits(load, family, isolated):
    with load(family, n_ctx=2048, isolated=isolated) as backend:
        fill(backend, 0, 100)
        fill(backend, 1, 20, first_token=9)
        state = backend.save_state(0)
        expected = [next_logits(backend, 0, token_id) for token_id in (60, 61, 62)]
        backend.truncate(0, 0)
        fill(backend, 3, 50, first_token=5)
        assert backend.restore_state(2, state)
        assert backend.pos_max(2) == 99
        for token_id, logits in zip((60, 61, 62), expected, strict=True):
            np.testing.assert_allclose(next_logits(backend, 2, token_id), logits, atol=TOLERANCE)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_damage_never_ends_the_process(load, family):
    """Much of it is not noticed, which is why states are hashed. What is noticed leaves nothing behind."""
    random = np.random.default_rng(0)
    with load(family) as backend:
        fill(backend, 0, 70)
        state = backend.save_state(0)
        for _ in range(60):
            damaged = state.copy()
            head = random.integers(8, 400 if random.random() < 0.5 else state.size)
            damaged[random.integers(8, head + 1, size=4) % state.size] = random.integers(0, 256, size=4)
            if not backend.restore_state(1, damaged[: random.integers(0, 2 * state.size)]):
                assert backend.pos_max(1) == -1
            backend.truncate(1, 0)
        before = backend.pos_max(0)
        fill(backend, 1, 5)
        assert (before, backend.pos_max(1)) == (69, 4)


def test_a_state_of_a_unified_cache_does_not_fit_separate_streams(load):
    with load() as backend:
        fill(backend, 0, 20)
        state = backend.save_state(0)
    with load(isolated=True) as backend:
        assert not backend.restore_state(0, state)
        assert backend.pos_max(0) == -1


# Fingerprints


def fingerprint(path, **params):
    values = {"n_ctx": 256, "n_seq_max": 2, "n_threads": 1} | params
    with open_llama_backend(LoadParams(path, **values)) as backend:
        return backend.fingerprint


def test_the_same_model_has_the_same_fingerprint_in_a_context_of_any_size(tiny_gguf):
    path = tiny_gguf("qwen3")
    assert fingerprint(path) == fingerprint(path, n_ctx=1024, n_seq_max=5, n_batch=128)


def test_another_file_of_the_same_shape_has_another_fingerprint(tmp_path, tiny_gguf):
    """llama.cpp itself would take its states."""
    other = write_tiny_gguf(tmp_path / "tiny-qwen3.gguf", "qwen3", seed=1)
    assert fingerprint(other) != fingerprint(tiny_gguf("qwen3"))


def test_a_file_that_was_written_again_has_another_fingerprint(tmp_path):
    path = write_tiny_gguf(tmp_path / "model.gguf", "qwen3")
    before = fingerprint(path)
    os.utime(path, ns=(0, 0))
    assert fingerprint(path) != before


@pytest.mark.parametrize("name", ["LLAMA_ATTN_ROT_DISABLE", "GGML_VK_DISABLE_F16"])
def test_what_the_environment_says_about_the_computation_has_another_fingerprint(
    tiny_gguf, monkeypatch, name
):
    before = fingerprint(tiny_gguf("qwen3"))
    monkeypatch.setenv(name, "1")
    assert fingerprint(tiny_gguf("qwen3")) != before


def test_separate_streams_have_a_fingerprint_for_each_number_of_them(tiny_gguf):
    path = tiny_gguf("qwen3")
    unified = fingerprint(path)
    assert (
        len({unified, fingerprint(path, isolated=True), fingerprint(path, isolated=True, n_seq_max=3)}) == 3
    )


# Moving positions


def test_shifted_cells_are_those_of_the_new_positions(tmp_path):
    """With one layer, keys and values depend on token and position alone, so the result is known."""
    path = write_tiny_gguf(tmp_path / "one-layer.gguf", "llama", n_layer=1)
    with open_llama_backend(LoadParams(path, n_ctx=256, n_seq_max=2, n_threads=1)) as backend:
        token_ids = list(range(20, 80))
        backend.decode(rows(backend, (0, 0, token_ids)))
        backend.remove_and_shift(0, 10, 40)
        backend.decode(rows(backend, (1, 0, token_ids[:10] + token_ids[40:])))
        np.testing.assert_allclose(next_logits(backend, 0), next_logits(backend, 1), atol=TOLERANCE)


@pytest.mark.parametrize("family", ["qwen2vl", "gemma3", "gpt-oss", "lfm2", "qwen35", "mamba"])
def test_where_positions_cannot_be_moved_nobody_tries(load, family):
    with load(family) as backend:
        assert not backend.model.can_shift
        fill(backend, 0, 40)
        with pytest.raises(AssertionError, match="cannot be moved"):
            backend.remove_and_shift(0, 5, 10)


def test_a_rotation_is_not_interrupted(load, monkeypatch):
    """llama.cpp would begin it again with the next decode, on keys that are rotated in part."""
    with load() as backend, load() as undisturbed:
        for one in (backend, undisturbed):
            fill(one, 0, 100)
            one.remove_and_shift(0, 10, 40)
        expected = next_logits(undisturbed, 0)

        decode = llama_cpp.llama_decode
        monkeypatch.setattr(
            llama_cpp, "llama_decode", lambda *arguments: (backend.interrupt(), decode(*arguments))[1]
        )
        np.testing.assert_allclose(next_logits(backend, 0), expected, atol=TOLERANCE)
        with pytest.raises(DecodeInterruptedError):
            next_logits(backend, 0)


# Separate streams


@pytest.mark.parametrize(("n_ctx", "n_seq_max", "n_ctx_seq"), [(1024, 4, 256), (1000, 3, 512), (1, 2, 256)])
def test_isolated_sequences_share_the_context_evenly(load, n_ctx, n_seq_max, n_ctx_seq):
    with load(n_ctx=n_ctx, n_seq_max=n_seq_max, isolated=True) as backend:
        model = backend.model
        assert (model.n_ctx_seq, model.n_ctx, model.n_seq_max) == (
            n_ctx_seq,
            n_ctx_seq * n_seq_max,
            n_seq_max,
        )
        assert not model.is_unified
        fill(backend, 0, n_ctx_seq)
        with pytest.raises(NoKvCellsError):
            next_logits(backend, 0)
        fill(backend, 1, n_ctx_seq)


def test_isolated_sequences_share_no_cells(load):
    """llama.cpp would end the process."""
    with load(isolated=True) as backend:
        fill(backend, 0, 20)
        with pytest.raises(AssertionError, match="stream"):
            backend.share_prefix(0, 1, 10)


def test_what_others_do_changes_nothing_in_an_isolated_sequence(load):
    with load(n_ctx=1024, isolated=True) as backend:
        fill(backend, 1, 50)
        alone = next_logits(backend, 1)
        backend.truncate(1, 0)
        fill(backend, 0, 90, first_token=5)
        fill(backend, 1, 50)
        np.testing.assert_array_equal(next_logits(backend, 1), alone)


# Reading the cells


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "mamba"])
def test_the_cells_of_every_family_can_be_read(load, family, isolated):
    with load(family, n_ctx=1024, isolated=isolated) as backend:
        fill(backend, 1, 100)
        fill(backend, 3, 40)
        expected = [(pos, (1,)) for pos in range(100)] + [(pos, (3,)) for pos in range(40)]
        assert sorted(backend.used_cells().listed()) == sorted(expected)


def test_a_recurrent_memory_has_no_cell_for_each_token(load):
    with load("mamba") as backend:
        fill(backend, 0, 10)
        assert backend.used_cells() is None


def test_reading_the_cells_leaves_no_trace_in_the_log(load):
    """It makes the library fail on purpose, and `reason` is shown to the user."""
    with load() as backend:
        fill(backend, 0, 10)
        library().recent.clear()
        backend.used_cells()
        assert not library().recent


def test_reading_the_cells_changes_no_logits(load):
    with load() as backend, load() as undisturbed:
        for one in (backend, undisturbed):
            fill(one, 0, 10)
        backend.used_cells()
        np.testing.assert_array_equal(next_logits(backend, 0), next_logits(undisturbed, 0))


words = [1, 3, 0, 2, 5, 7, 1, 2, 5, 7, 2, 1, 7]  # one stream of three cells, two of them shared


def test_cells_with_any_number_of_holders_are_read():
    assert read_cells(np.array(words, np.int32), 0, 8).listed() == [(0, (5, 7)), (1, (5, 7)), (2, (7,))]


@pytest.mark.parametrize("num_words", range(2, len(words)))
def test_words_that_end_too_early_are_noticed(num_words):
    assert read_cells(np.array(words[:num_words], np.int32), 0, 8) is None
    unwritten = [-1] * (len(words) - num_words)
    assert read_cells(np.array(words[:num_words] + unwritten, np.int32), 0, 8) is None
