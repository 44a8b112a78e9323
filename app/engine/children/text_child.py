"""The child process of `text_models`: embedding models and rerankers, one or two of them.

Answers one question after the other with the shape of an array and its bytes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.engine.embedding import NO_NUMBERS, TextTokenizer
from app.engine.llama.embedder import LlamaEmbedder, Vectors, open_llama_embedder
from app.protocol.errors import EngineError, ModelLoadError, PromptTooLongError, RequestError
from app.protocol.load import LoadParams, Pooling
from app.system import worker
from app.system.said import said
from app.system.worker import Answer, Question

TEXT_TOKENS = 1024  # of the longest passage or pair: memory grows with it
STACK_BYTES = 64 << 20  # the native library is written for the 8 MB of a main thread
Tokens = list[int]


class Models:
    """Those that were asked for, loaded until the process ends. One thread."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._loaded: dict[tuple[str, Pooling], LlamaEmbedder] = {}

    def get(self, path: str, pooling: Pooling) -> LlamaEmbedder:
        """Raises ModelLoadError."""
        known = self._loaded.get((path, pooling))
        if known is None:
            # The chats' model has the GPU.
            params = LoadParams(Path(path), n_ctx=TEXT_TOKENS, embeds=True, pooling=pooling, n_gpu_layers=0)
            known = self._stack.enter_context(open_llama_embedder(params))
            self._loaded[path, pooling] = known
        return known

    def answer(self, asked: Question) -> Answer:
        """Raises EngineError or RequestError."""
        found = answered(self, asked.value)
        return {"shape": found.shape}, found.tobytes()


def answered(models: Models, question: dict[str, Any]) -> Vectors:
    """Shape (number of texts, n). Raises EngineError or RequestError."""
    texts: list[str] = question["texts"]
    if question["do"] == "rank":
        ranker = models.get(question["model"], Pooling.RANK)
        return _computed(ranker, list(_pairs(ranker, question["query"], texts)))
    embedder = models.get(question["model"], Pooling.MODEL)
    if embedder.model.pooling is Pooling.RANK:
        raise ModelLoadError(
            said(
                "{name} is a reranker: it ranks texts and computes no embeddings.",
                name=embedder.model.path.name,
            )
        )
    longest = embedder.model.n_batch
    vectors = _computed(
        embedder, [embedder.tokenize_whole(_cut(text, embedder.tokenize_whole, longest)) for text in texts]
    )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    vectors /= lengths
    return vectors


def _pairs(ranker: LlamaEmbedder, query: str, texts: Sequence[str]) -> Iterator[Tokens]:
    """At least half of each is for the text."""
    tokenizer, longest = TextTokenizer(ranker), ranker.model.n_batch
    query = _cut(query, lambda cut: tokenizer.pair(cut, ""), longest // 2)
    for text in texts:
        yield tokenizer.pair(query, _cut(text, lambda cut: tokenizer.pair(query, cut), longest))


def _cut(text: str, tokenize: Callable[[str], Tokens], longest: int) -> str:
    """Its beginning, which has no more tokens than that."""
    while text:
        with contextlib.suppress(PromptTooLongError):
            if len(tokenize(text)) <= longest:
                return text
        text = text[: len(text) * 3 // 4]
    return text


def _computed(embedder: LlamaEmbedder, texts: Sequence[Tokens]) -> Vectors:
    """A row for each; zeros for one without tokens. Raises EngineError."""
    width = 1 if embedder.model.pooling is Pooling.RANK else embedder.model.n_embd
    rows = np.zeros((len(texts), width), np.float32)
    for batch in _batches(texts, embedder):
        for index, vectors in zip(batch, embedder.embed([texts[index] for index in batch]), strict=True):
            rows[index] = vectors[0]
    if not np.isfinite(rows).all():
        raise EngineError(NO_NUMBERS)
    return rows


def _batches(texts: Sequence[Tokens], embedder: LlamaEmbedder) -> Iterator[list[int]]:
    batch: list[int] = []
    num_rows = 0
    for index, tokens in enumerate(texts):
        if not tokens:
            continue
        is_full = num_rows + len(tokens) > embedder.model.n_batch or len(batch) == embedder.model.n_seq_max
        if batch and is_full:
            yield batch
            batch, num_rows = [], 0
        batch.append(index)
        num_rows += len(tokens)
    if batch:
        yield batch


if __name__ == "__main__":
    worker.stand_back()
    worker.limit()
    serve = partial(worker.Parent().serve, Models().answer, EngineError, RequestError)
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=serve).start()
