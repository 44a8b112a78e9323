"""The lens against llama.cpp itself: a context without flash attention has the weights as a node."""

from collections.abc import Iterator
from contextlib import contextmanager

import gguf
import numpy as np
import pytest

from app.engine.engine import Engine
from app.engine.lens import answers_to
from app.engine.llama.graph_nodes import SOFT_MAX
from app.engine.llama.lens import LlamaLens
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import LensInterruptedError, LensRefusedError
from app.protocol.lens import ReadAttention
from app.protocol.load import FlashAttention, KvType, LoadParams
from app.protocol.report import SavedState
from tests.driver import request as ask
from tests.driver import rows

pytestmark = pytest.mark.native

WITH_ATTENTION = ["llama", "qwen3", "qwen3moe", "gemma2", "gemma3", "gpt-oss", "qwen2vl", "lfm2"]
TOKENS = [5 + n * 7 % 90 for n in range(90)]  # longer than a window of 32
PART = (70, 90)


@contextmanager
def opened(path, **load: object) -> Iterator[LlamaLens]:
    params = LoadParams(path, n_ctx=512, n_seq_max=4, n_batch=64, n_threads=1, **load)
    with open_llama_backend(params) as backend:
        assert backend.lens
        yield backend.lens


@pytest.mark.parametrize("family", WITH_ATTENTION)
def test_weights_equal_those_of_a_context_without_flash_attention(family: str, tiny_gguf) -> None:
    path = tiny_gguf(family)
    with opened(path, flash_attention=FlashAttention.ON) as lens:
        weights, layers = lens.attention(TOKENS, PART)
    with opened(path, flash_attention=FlashAttention.OFF) as lens:
        expected, same_layers = lens.attention(TOKENS, PART)
        node_ops = []
        with lens._watching(
            lambda node: node.name.startswith(b"kq_soft_max"), lambda n: node_ops.append(n.op)
        ):
            lens._decode([7])
        assert set(node_ops) == {SOFT_MAX}, "the library has computed what is compared with"
    assert layers == same_layers
    assert np.abs(weights - expected).max() < 6e-5
    sums = weights.sum(axis=-1)
    assert (sums <= 1.0001).all()
    assert family == "gpt-oss" or np.allclose(sums, 1, atol=1e-3), "but where a sink takes a share"


def saved_state(backend, token_ids: list[int]) -> SavedState:
    """Of a sequence that shares the cache with others, with cells in another order than their positions."""
    for first in range(0, len(token_ids), 30):
        backend.decode(rows(backend, (0, first, token_ids[first : first + 30]), (1, first // 30, [3])))
    backend.truncate(1, 0)
    backend.truncate(0, 40)
    backend.decode(rows(backend, (0, 40, token_ids[40:60])))
    backend.decode(rows(backend, (0, 60, token_ids[60:])))
    return SavedState(tuple(token_ids), backend.save_state(0), backend.fingerprint)


@pytest.mark.parametrize("kind", [KvType.F16, KvType.BF16])
def test_a_copied_state_gives_what_computing_it_gives(kind: KvType, tiny_gguf) -> None:
    params = LoadParams(
        tiny_gguf("llama"), n_ctx=512, n_seq_max=4, n_batch=64, n_threads=1, type_k=kind, type_v=kind
    )
    with open_llama_backend(params) as backend:
        lens = backend.lens
        assert lens
        computed, _ = lens.attention(TOKENS, PART)
        lens.close()
        before = lens.num_computed_tokens
        copied, _ = lens.attention(TOKENS, PART, saved_state(backend, TOKENS))
        assert lens.num_computed_tokens - before == PART[1] - PART[0], "the rest was copied"
        assert np.abs(copied - computed).max() < 2e-2, "the cells lie elsewhere"
        later, _ = lens.attention(TOKENS, (60, 64))
        assert np.abs(later.sum(axis=-1) - 1).max() < 1e-3


def test_a_model_without_attention_says_so(tiny_gguf) -> None:
    with opened(tiny_gguf("mamba")) as lens, pytest.raises(LensRefusedError, match="no attention"):
        lens.attention(TOKENS, PART)


@pytest.mark.parametrize("family", ["llama", "gemma3", "lfm2", "mamba"])
def test_log_probabilities_are_those_of_one_pass_over_all(family: str, tiny_gguf) -> None:
    with opened(tiny_gguf(family)) as lens:
        part = lens.logprobs(TOKENS, 70)
        lens.close()
        everything = lens.logprobs(TOKENS, 1)
        assert np.allclose(part, everything[69:], atol=2e-2)
        shorter = lens.logprobs([*TOKENS[:20], *TOKENS[40:]], 50)
        assert not np.allclose(part, shorter, atol=1e-3), "it depends on what was left out"


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3", "lfm2"])
def test_the_last_layer_says_what_the_model_says(family: str, tiny_gguf) -> None:
    with opened(tiny_gguf(family)) as lens:
        logits = lens.layer_logits(TOKENS)
        assert logits.shape[0] == lens.num_layers
        logprobs = lens.logprobs([*TOKENS, 9], len(TOKENS))
        last = logits[-1].astype(np.float64)
        expected = last[9] - last.max() - np.log(np.exp(last - last.max()).sum())
        assert abs(logprobs[0] - expected) < 1e-2
        assert np.abs(logits[0] - logits[-1]).max() > 1e-3


def test_a_layer_says_what_norm_and_head_make_of_its_output(tiny_gguf) -> None:
    path = tiny_gguf("llama")
    with opened(path) as lens:
        logits = lens.layer_logits(TOKENS)
        outputs: dict[int | None, np.ndarray] = {}
        with lens._watching(
            lambda node: node.name.startswith(b"l_out-"),
            lambda node: outputs.update({node.layer: node.array().reshape(-1, node.shape[0])[-1]}),
        ):
            lens._cut_back(len(TOKENS) - 1)
            lens._decode(TOKENS[-1:], num_outputs=1)
    weights = {tensor.name: tensor.data for tensor in gguf.GGUFReader(path).tensors}
    head = weights.get("output.weight", weights["token_embd.weight"]).astype(np.float32)
    for layer, output in outputs.items():
        normed = output / np.sqrt((output**2).mean() + 1e-6) * weights["output_norm.weight"]
        assert np.allclose(logits[layer], head @ normed, atol=1e-2)


def test_an_interrupted_question_ends_and_the_next_one_is_answered(tiny_gguf) -> None:
    with opened(tiny_gguf("llama")) as lens:
        lens.interrupt()
        with pytest.raises(LensInterruptedError):
            lens.logprobs(TOKENS, 10)
        lens.resume()
        assert len(lens.logprobs(TOKENS, 10)) == 80


def batches_of(path, *, with_lens: bool) -> tuple[list[tuple[object, ...]], list[str]]:
    """What two chats had in each step, and what they were answered."""
    params = LoadParams(path, n_ctx=512, n_seq_max=4, n_batch=64, n_threads=1)
    with open_llama_backend(params) as backend:
        engine = Engine(backend)
        for one in (ask("one chat", "first"), ask("another chat, which is longer", "second")):
            engine.add_request(one)
        spans: list[tuple[object, ...]] = []
        answers = {"first": "", "second": ""}
        while engine.has_work:
            report = engine.step()
            spans += [(report.step, one.seq_id, one.first_pos, one.token_bytes) for one in report.spans]
            for output in report.outputs:
                answers[output.chat_id] += output.text
            saved = engine.slots.copied_state("first") if with_lens else None
            if saved and len(saved.token_ids) > 10:
                part = (len(saved.token_ids) - 3, len(saved.token_ids))
                question = ReadAttention("q", "first", saved.token_ids, part)
                assert backend.lens
                assert next(answers_to(question, backend.lens, saved)).query_id == "q"
        engine.close()
        return spans, list(answers.values())


def test_the_batches_of_running_chats_are_the_same_with_the_lens(tiny_gguf) -> None:
    path = tiny_gguf("llama")
    assert batches_of(path, with_lens=True) == batches_of(path, with_lens=False)
