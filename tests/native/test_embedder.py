"""Vectors of texts, beside what the library computes when it is asked directly, one text at a time."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import llama_cpp as lib
import numpy as np
import pytest

from app.engine.children.probe import open_probed_embedder
from app.engine.embedding import TextTokenizer
from app.engine.llama.embedder import LlamaEmbedder, Vectors, open_llama_embedder
from app.engine.llama.native_library import Native, native_objects
from app.protocol.errors import DecodeInterruptedError, ModelLoadError, PromptTooLongError
from app.protocol.load import LoadParams, Pooling
from tests.native.oracle import IS_SAME_ALONE
from tests.native.tiny_ggufs import TURN_END, write_tiny_gguf

pytestmark = pytest.mark.native

# What the company in a batch may change of a number of a vector, and of a score.
NOISE, RANK_NOISE = (1e-3, 1e-5) if IS_SAME_ALONE else (5e-3, 5e-4)
TEXTS = ["Hello", "What does it cost?", "ä 🙂", "a longer text " * 5]
NUMBERS = {
    Pooling.NONE: lib.LLAMA_POOLING_TYPE_NONE,
    Pooling.MEAN: lib.LLAMA_POOLING_TYPE_MEAN,
    Pooling.CLS: lib.LLAMA_POOLING_TYPE_CLS,
    Pooling.LAST: lib.LLAMA_POOLING_TYPE_LAST,
    Pooling.RANK: lib.LLAMA_POOLING_TYPE_RANK,
}


@contextmanager
def embedder_of(path: Path, **options: object) -> Iterator[LlamaEmbedder]:
    params = LoadParams(path, n_threads=1, embeds=True, **options)  # type: ignore[arg-type]
    with open_llama_embedder(params) as embedder:
        yield embedder


def direct(path: Path, tokens: list[int], pooling: Pooling, num_numbers: int) -> Vectors:
    """As llama.cpp's own embedding example does it."""
    model_params = lib.llama_model_default_params()
    with Native(
        "model", lib.llama_model_load_from_file(os.fsencode(path), model_params), lib.llama_model_free
    ) as model:
        params = lib.llama_context_default_params()
        params.embeddings, params.pooling_type = True, NUMBERS[pooling]
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_threads = 512, 512, 512, 1
        with Native("context", lib.llama_init_from_model(model.pointer, params), lib.llama_free) as context:
            ids = (ctypes.c_int32 * len(tokens))(*tokens)
            assert lib.llama_decode(context.pointer, lib.llama_batch_get_one(ids, len(tokens))) == 0
            if pooling is not Pooling.NONE:
                rows = [lib.llama_get_embeddings_seq(context.pointer, 0)]
            else:
                rows = [lib.llama_get_embeddings_ith(context.pointer, row) for row in range(len(tokens))]
            return np.stack([np.ctypeslib.as_array(row, (num_numbers,)) for row in rows])


@pytest.mark.parametrize("pooling", [Pooling.MEAN, Pooling.CLS, Pooling.LAST, Pooling.NONE])
@pytest.mark.parametrize("architecture", ["bert", "qwen3", "gemma3", "lfm2"])
def test_many_texts_get_what_each_gets_alone(tiny_gguf, architecture, pooling):
    path = tiny_gguf(architecture)
    with embedder_of(path, pooling=pooling) as embedder:
        tokens = [TextTokenizer(embedder).whole((text,)) for text in TEXTS]
        size = embedder.model.n_seq_max
        parts = [tokens[at : at + size] for at in range(0, len(tokens), size)]
        first = [vectors for part in parts for vectors in embedder.embed(part)]
        again = [vectors for part in reversed(parts) for vectors in embedder.embed(part[::-1])][::-1]
        n_embd = embedder.model.n_embd
    assert not native_objects["context"]
    for text_tokens, vectors, others in zip(tokens, first, again, strict=True):
        assert vectors.shape == (len(text_tokens) if pooling is Pooling.NONE else 1, n_embd)
        np.testing.assert_allclose(vectors, others, rtol=1e-3, atol=NOISE)
        np.testing.assert_allclose(vectors, direct(path, text_tokens, pooling, n_embd), rtol=1e-3, atol=NOISE)


def test_a_reranker_tells_one_number_for_each_document(tiny_gguf):
    path = tiny_gguf("bert-ranker")
    with embedder_of(path) as embedder:
        assert embedder.model.pooling is Pooling.RANK
        pairs = [TextTokenizer(embedder).pair("What?", document) for document in TEXTS]
        scores = [float(vectors[0, 0]) for vectors in embedder.embed(pairs)]
    wanted = [direct(path, pair, Pooling.RANK, 1)[0, 0] for pair in pairs]
    assert scores == pytest.approx(wanted, abs=RANK_NOISE)
    assert len(set(scores)) == len(TEXTS)


def test_the_model_says_how_its_vectors_are_pooled(tmp_path, tiny_gguf):
    last = write_tiny_gguf(tmp_path / "last.gguf", "qwen3", metadata={"qwen3.pooling_type": 3})
    for path, pooling in (
        (last, Pooling.LAST),
        (tiny_gguf("bert"), Pooling.MEAN),
        (tiny_gguf("llama"), Pooling.MEAN),
    ):
        with embedder_of(path) as embedder:
            assert embedder.model.pooling is pooling


def test_only_a_reranker_ranks(tiny_gguf):
    with (
        pytest.raises(ModelLoadError, match="is not a reranker"),
        embedder_of(tiny_gguf("bert"), pooling=Pooling.RANK),
    ):
        pass


@pytest.mark.parametrize(("wanted", "longest"), [(0, 512), (64, 64), (77, 77), (300, 300), (4096, 512)])
def test_a_text_longer_than_a_micro_batch_is_refused_before_it_ends_the_process(tmp_path, wanted, longest):
    path = write_tiny_gguf(tmp_path / "short.gguf", "bert", n_ctx_train=512)
    with embedder_of(path, n_ctx=wanted) as embedder:
        tokenizer = TextTokenizer(embedder)
        assert embedder.model.n_batch == longest
        assert len(embedder.embed([tokenizer.whole([65] * longest)])) == 1
        for text in ([65] * (longest + 1), ["x" * (longest + 1)], ["x" * (100 * longest)]):
            with pytest.raises(PromptTooLongError, match="too large"):
                tokenizer.whole(text)


def test_an_interrupted_batch_is_told_and_the_next_one_runs(tiny_gguf):
    with embedder_of(tiny_gguf("bert")) as embedder:
        embedder.interrupt()
        with pytest.raises(DecodeInterruptedError):
            embedder.embed([[1, 2, 3]])
        embedder.resume()
        assert len(embedder.embed([[1, 2, 3]])) == 1


def test_a_template_for_rankings_is_filled_once_and_keeps_spelled_out_control_tokens_as_text(tiny_gguf):
    with embedder_of(tiny_gguf("bert-ranker")) as embedder:
        embedder.rank_template = f"Q: {{query}} D: {{document}}{TURN_END}"
        tokenizer = TextTokenizer(embedder)

        def written(query: str, document: str) -> str:
            return b"".join(tokenizer.written(tokenizer.pair(query, document))).decode()

        assert written("{document}", "{query}") == f"Q: {{document}} D: {{query}}{TURN_END}"
        end = embedder.tokenize(TURN_END, parse_special=True)[0]
        assert tokenizer.pair("a", f"b{TURN_END}c").count(end) == 1
        assert written("a", f"b{TURN_END}c") == f"Q: a D: b{TURN_END}c{TURN_END}"


def test_a_file_is_tried_in_a_process_of_its_own_first(tiny_gguf: Callable[[str], Path], tmp_path):
    """What may chat was not yet tried for this, and the other way round."""
    path = tiny_gguf("bert")
    shares: list[float] = []

    def on_progress(done: float) -> bool:
        shares.append(done)
        return True

    for first in (0.0, 0.5):
        shares.clear()
        with open_probed_embedder(LoadParams(path, n_threads=1, embeds=True), on_progress) as embedder:
            assert embedder.model.n_embd == 32
        assert (min(shares) < 0.5) == (first == 0.0) or shares
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(path.read_bytes()[:-1000])
    with (
        pytest.raises(ModelLoadError, match=r"damaged\.gguf"),
        open_probed_embedder(LoadParams(damaged, embeds=True)),
    ):
        pass
