"""A model that turns texts into vectors, or tells how well a document answers a query.

Its context remembers nothing from one batch to the next. Some such models have no memory at all, and abort
the process for more rows than one micro-batch has: so a batch is one micro-batch.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.batch import Batch
from app.engine.llama.loading import (
    check_can_be_run,
    loaded_model,
    make_context,
    metadata,
    metadata_int,
    name_of,
    num_threads,
)
from app.engine.llama.mapped_files import MappedFiles
from app.engine.llama.memory import memory_taken, total
from app.engine.llama.native_batch import NativeBatch
from app.engine.llama.native_library import (
    AbortFlag,
    Native,
    OwningThread,
    array_pointer,
    library,
    library_info,
    printable,
)
from app.engine.llama.vocabulary import Vocabulary, chat_template
from app.protocol.errors import DecodeError, DecodeInterruptedError, ModelLoadError
from app.protocol.load import LoadParams, Pooling
from app.protocol.model import ModelInfo
from app.system.machine import free_memory_bytes
from app.system.said import said

DEFAULT_TEXT_TOKENS = (
    2048  # of the longest text: the buffers grow with it, those of attention with its square
)
MAX_TEXTS = 32  # in one batch
MIN_N_CTX = 256
FLOAT_BYTES = 4

POOLINGS = {
    lib.LLAMA_POOLING_TYPE_NONE: Pooling.NONE,
    lib.LLAMA_POOLING_TYPE_MEAN: Pooling.MEAN,
    lib.LLAMA_POOLING_TYPE_CLS: Pooling.CLS,
    lib.LLAMA_POOLING_TYPE_LAST: Pooling.LAST,
    lib.LLAMA_POOLING_TYPE_RANK: Pooling.RANK,
}
NUMBERS = {pooling: number for number, pooling in POOLINGS.items()}

Vectors = npt.NDArray[np.float32]


@contextlib.contextmanager
def open_llama_embedder(
    params: LoadParams,
    on_progress: Callable[[float], bool] = lambda _fraction: True,
    *,
    check_tensors: bool = False,
) -> Iterator[LlamaEmbedder]:
    """Load a GGUF and make its context; both are freed on leaving.

    `on_progress` gets 0 … 1 on the calling thread and cancels by returning False. `check_tensors` looks at
    every weight. Raises ModelLoadError.
    """
    with loaded_model(params, on_progress, check_tensors) as (model, files):
        check_can_be_run(model, params.path)
        pooling = _pooling(model, params)
        native = _context_params(model, params, pooling)
        _check_output_fits(model, native, params.path)
        with make_context(model, native, params) as context:
            info = _model_info(model, context, params, pooling)
            files.let_go()
            yield LlamaEmbedder(model, context, info, files)


class LlamaEmbedder(Vocabulary):
    """One model in one context. Made by `open_llama_embedder`."""

    def __init__(self, model: Native, context: Native, info: ModelInfo, files: MappedFiles) -> None:
        super().__init__(model)
        self._context, self._files = context, files
        self._memory = lib.llama_get_memory(context.pointer)
        self._batch = Batch(info.n_batch)
        self._native_batch = NativeBatch(self._batch)
        self._abort_flag = AbortFlag(context)
        self._check_thread = OwningThread().check
        self._num_scores = lib.llama_model_n_cls_out(model.pointer)
        self.model = info
        self.chat_template = self.tool_template = None  # nobody chats with it
        self.rank_template = chat_template(model, "rerank") or ""

    # Any thread.

    def tokenize_whole(self, text: str) -> list[int]:
        """With the tokens that begin and end a text, as the model was trained. Control tokens count."""
        data = text.encode("utf-8", "replace")
        tokens = np.empty(len(data) + 16, np.int32)
        pointer = array_pointer(tokens, ctypes.c_int32)
        count = lib.llama_tokenize(self.vocab, data, len(data), pointer, tokens.size, True, True)
        assert count >= 0, "at most a token for each byte, and those around them"
        return [int(token) for token in tokens[:count]]

    def joined(self, query: Sequence[int], document: Sequence[int]) -> list[int]:
        """What a reranker without a template reads, as llama-server joins it."""
        vocab = self.vocab
        start = [lib.llama_vocab_bos(vocab)] if lib.llama_vocab_get_add_bos(vocab) else []
        sep, eos = lib.llama_vocab_sep(vocab), lib.llama_vocab_eos(vocab)
        end = [eos if eos >= 0 else sep] if lib.llama_vocab_get_add_eos(vocab) else []
        between = [*end, sep] if lib.llama_vocab_get_add_sep(vocab) else end
        joined = [*start, *query, *between, *document, *end]
        return [token for token in joined if token >= 0]

    def interrupt(self) -> None:
        self._abort_flag.set()

    def resume(self) -> None:
        self._abort_flag.clear()

    # The engine thread only.

    def embed(self, texts: Sequence[Sequence[int]]) -> list[Vectors]:
        """For each text an array of shape (1, n), or, where nothing is pooled, (number of tokens, n_embd).

        n is `n_embd`, and 1 of a reranker. Raises DecodeInterruptedError and DecodeError.
        """
        self._check_thread()
        self._fill(texts)
        if self._abort_flag.is_set:
            raise DecodeInterruptedError("the step was interrupted before it began")
        if self._memory:
            lib.llama_memory_clear(self._memory, False)
        library().recent.clear()
        self._files.hold()
        code = lib.llama_decode(self._context.pointer, self._native_batch.native)
        self._files.let_go()
        if code == 2:
            raise DecodeInterruptedError("the step was interrupted", has_begun=True)
        if code != 0:
            raise DecodeError(
                said(
                    "llama.cpp failed to compute a step (code {code}). {reason}",
                    code=code,
                    reason=library().reason(),
                ),
                code,
            )
        return self._read(texts)

    def _fill(self, texts: Sequence[Sequence[int]]) -> None:
        batch, row = self._batch, 0
        assert 0 < len(texts) <= self.model.n_seq_max, f"{len(texts)} texts in one batch"
        assert sum(map(len, texts)) <= self.model.n_batch, "more rows than a micro-batch has end the process"
        for seq_id, tokens in enumerate(texts):
            assert tokens, "a text without tokens has no vector"
            for pos, token in enumerate(tokens):
                assert 0 <= token < self.n_vocab, "token id out of range"
                batch.token_ids[row], batch.positions[row] = token, pos
                batch.seq_ids[row], batch.wants_logits[row] = seq_id, True
                row += 1
        batch.num_rows = self._native_batch.native.n_tokens = row

    def _read(self, texts: Sequence[Sequence[int]]) -> list[Vectors]:
        context, model = self._context.pointer, self.model
        if model.pooling is Pooling.NONE:
            rows = [lib.llama_get_embeddings_ith(context, row) for row in range(self._batch.num_rows)]
            vectors = np.stack([_copied(row, model.n_embd) for row in rows])
            return list(np.split(vectors, np.cumsum([len(tokens) for tokens in texts])[:-1]))
        count = self._num_scores if model.pooling is Pooling.RANK else model.n_embd
        every = [lib.llama_get_embeddings_seq(context, seq_id) for seq_id in range(len(texts))]
        wanted = 1 if model.pooling is Pooling.RANK else count
        return [_copied(pointer, count)[None, :wanted] for pointer in every]


def _copied(pointer: object, count: int) -> Vectors:
    if not pointer:
        raise DecodeError("llama.cpp computed no vector for a text.")
    copied: Vectors = np.ctypeslib.as_array(pointer, (count,)).copy()
    return copied


def _pooling(model: Native, params: LoadParams) -> Pooling:
    """As asked for, else as the file says, else the mean. Raises ModelLoadError."""
    stated = POOLINGS.get(metadata_int(model, "pooling_type"), Pooling.NONE)
    if params.pooling is Pooling.RANK and stated is not Pooling.RANK:
        raise ModelLoadError(
            f"{params.path.name} is not a reranker: it cannot rank documents. Open another GGUF."
        )
    if params.pooling is not Pooling.MODEL:
        return params.pooling
    return Pooling.MEAN if stated is Pooling.NONE else stated


def _context_params(model: Native, params: LoadParams, pooling: Pooling) -> lib.llama_context_params:
    pointer = model.pointer
    longest = params.n_ctx or DEFAULT_TEXT_TOKENS
    if n_ctx_train := lib.llama_model_n_ctx_train(pointer):  # there may be no positions behind it
        longest = min(longest, n_ctx_train)
    has_state = lib.llama_model_is_recurrent(pointer) or lib.llama_model_is_hybrid(pointer)
    native = lib.llama_context_default_params()
    native.embeddings = True
    native.pooling_type = NUMBERS[pooling]
    native.n_batch = native.n_ubatch = longest
    native.n_ctx = max(longest, MIN_N_CTX)
    # The library plans for as many rows of each sequence, and aborts if that is more than a micro-batch has.
    native.n_seq_max = 1 if has_state else min(MAX_TEXTS, longest & -longest)
    native.kv_unified = True
    native.no_perf = True
    native.n_threads = native.n_threads_batch = num_threads(
        params.n_threads, lib.llama_model_n_params(pointer)
    )
    return native


def _check_output_fits(model: Native, native: lib.llama_context_params, path: Path) -> None:
    """The library reserves a row of logits for each token, though nothing asks for them."""
    n_vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model.pointer))
    needed = native.n_batch * FLOAT_BYTES * (n_vocab + lib.llama_model_n_embd_out(model.pointer))
    if needed > free_memory_bytes():
        raise ModelLoadError(
            f"{path.name} with texts of up to {native.n_batch:,} tokens needs {needed / 2**30:.1f} GiB, but "
            f"only {free_memory_bytes() / 2**30:.1f} GiB are free. Choose shorter texts (--text-tokens)."
        )


def _model_info(model: Native, context: Native, params: LoadParams, pooling: Pooling) -> ModelInfo:
    pointer, path = model.pointer, params.path
    description = ctypes.create_string_buffer(256)
    lib.llama_model_desc(pointer, description, len(description))
    size_bytes = lib.llama_model_size(pointer)
    return ModelInfo(
        path=path,
        name=name_of(model) or path.stem,
        description=printable(description.value.decode("utf-8", "replace")),
        architecture=printable(metadata(model, "general.architecture")),
        n_vocab=lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(pointer)),
        n_params=lib.llama_model_n_params(pointer),
        size_bytes=size_bytes,
        n_ctx=lib.llama_n_ubatch(context.pointer),
        n_ctx_train=lib.llama_model_n_ctx_train(pointer),
        n_seq_max=lib.llama_n_seq_max(context.pointer),
        n_batch=lib.llama_n_ubatch(context.pointer),
        n_ubatch=lib.llama_n_ubatch(context.pointer),
        can_shift=False,
        library=library_info(),
        memory=total(memory_taken(library().loaded.copy(), size_bytes)),
        n_gpu_layers=params.n_gpu_layers,
        has_template=False,
        pooling=pooling,
        n_embd=lib.llama_model_n_embd_out(pointer),
    )
