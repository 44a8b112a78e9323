"""How much memory a model would take, and whether that is there, before anything is loaded.

Knows files by their headers alone, so it also answers for what is not downloaded yet. Any thread.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from enum import StrEnum

from app.engine.errors import ModelLoadError
from app.engine.types import (
    DEFAULT_N_CTX,
    DEFAULT_N_UBATCH,
    FlashAttention,
    KvType,
    LoadParams,
    MemoryNeed,
    RopeScaling,
)
from app.free_memory import free_memory_bytes
from app.models.compute_buffer import Step, compute_bytes
from app.models.gguf_header import TENSOR_TYPES, GgufHeader, HeaderError, LongArray
from app.models.layers import FLOAT_BYTES, Hyperparameters, Layer, layers_of, sliding_window
from app.models.model_file import read_whole_header
from app.said import said, together

log = logging.getLogger(__name__)

N_CTX_STEP = 256  # llama.cpp rounds up to it
MAX_N_CTX = 1 << 24
FITS_SHARE = 0.8  # of the free memory: the rest is for other programs, and for what is not estimated
LARGEST_SHARE = 0.95

# Of each type how many numbers are a block, and the bytes of that.
_BLOCKS = {name: (length, size) for name, length, size in TENSOR_TYPES.values()}


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"  # it would run, and other programs would have to make room
    TOO_LARGE = "too large"


def fit_of(needed_bytes: int, free_bytes: int) -> Fit:
    if needed_bytes <= FITS_SHARE * free_bytes:
        return Fit.FITS
    return Fit.TIGHT if needed_bytes <= LARGEST_SHARE * free_bytes else Fit.TOO_LARGE


def estimate(header: GgufHeader, params: LoadParams) -> MemoryNeed:
    """Of a split model, `header` must have the weights of all parts."""
    return _Context(header, params).need()


def largest_n_ctx(header: GgufHeader, params: LoadParams, free_bytes: int) -> int:
    """The largest context that fits, with all else as in `params`; 0: none does.

    Not larger than all its chats can ever use.
    """
    step = N_CTX_STEP * (params.n_seq_max if params.isolated else 1)
    low, high = 0, max(_most_tokens(header, params) // step, 1)
    while low < high:
        middle = (low + high + 1) // 2
        needed = estimate(header, replace(params, n_ctx=middle * step)).total_bytes
        low, high = (middle, high) if fit_of(needed, free_bytes) is Fit.FITS else (low, middle - 1)
    return low * step


def advice(header: GgufHeader, params: LoadParams, free_bytes: int) -> str:
    """What would fit where this does not, in a sentence or two. Empty where it fits."""
    if fit_of(estimate(header, params).total_bytes, free_bytes) is Fit.FITS:
        return ""
    wanted = params.n_ctx or DEFAULT_N_CTX
    largest = largest_n_ctx(header, params, free_bytes)
    if 0 < largest < wanted:
        return said(
            "A context of {fitting:,} tokens fits, {wanted:,} does not.", fitting=largest, wanted=wanted
        )
    smaller_cells = replace(params, type_k=KvType.Q8_0, type_v=KvType.Q8_0)
    if params.type_k is KvType.F16 and largest_n_ctx(header, smaller_cells, free_bytes):
        return said("It fits if its keys and values are kept as q8_0, which takes about half.")
    return said("Close other programs, or choose a smaller model or one with fewer bits a weight.")


def fitted(params: LoadParams, gpu_bytes: int = 0, free_bytes: int | None = None) -> LoadParams:
    """As they are, with a context and a number of layers on GPUs that fit where none was chosen.

    `gpu_bytes` are free on all GPUs. Raises ModelLoadError for what would take the machine down. A file that
    cannot be read is left to the library, which says why, and so are workers, whose memory is their own.
    """
    if params.workers:
        return params
    try:
        header = read_whole_header(params.path)
    except (OSError, HeaderError) as error:
        log.info("What %s needs is not known: %s", params.path, error)
        return params
    room = gpu_bytes + (free_memory_bytes() if free_bytes is None else free_bytes)
    if not params.n_ctx:
        largest = largest_n_ctx(header, params, room)
        params = replace(params, n_ctx=min(DEFAULT_N_CTX, max(largest, N_CTX_STEP)))
    need = estimate(header, params)
    if fit_of(need.total_bytes, room) is Fit.TOO_LARGE:
        refusal = said(
            "{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB, but only "
            "{available:.1f} GiB are free.",
            name=params.path.name,
            tokens=params.n_ctx,
            needed=need.total_bytes / 2**30,
            available=room / 2**30,
        )
        raise ModelLoadError(together(refusal, advice(header, params, room)))
    if gpu_bytes and params.n_gpu_layers is None:
        return replace(params, n_gpu_layers=_layers_that_fit(len(layers_of(header)), need, gpu_bytes))
    return params


def _layers_that_fit(num_layers: int, need: MemoryNeed, gpu_bytes: int) -> int | None:
    """None: all. The output counts as a layer, as it does for the library."""
    room = FITS_SHARE * gpu_bytes - need.compute_bytes - need.output_bytes
    share = room / max(need.weights_bytes + need.kv_bytes, 1)
    return None if share >= 1 else max(int(share * (num_layers + 1)), 0)


def _most_tokens(header: GgufHeader, params: LoadParams) -> int:
    hyper = Hyperparameters(header)
    trained = hyper.number("context_length", DEFAULT_N_CTX)
    if params.rope_scaling in (RopeScaling.LINEAR, RopeScaling.YARN) and params.rope_factor:
        original = hyper.number("rope.scaling.original_context_length", trained)
        trained = int(original * params.rope_factor)
    return min(max(trained, N_CTX_STEP) * max(params.n_seq_max, 1), MAX_N_CTX)


class _Context:
    """What llama.cpp would make of a model and the parameters of its load."""

    def __init__(self, header: GgufHeader, params: LoadParams) -> None:
        self._header, self._params = header, params
        self._layers = layers_of(header)
        self._n_seq_max = max(params.n_seq_max, 1)
        n_ctx = max(params.n_ctx or DEFAULT_N_CTX, N_CTX_STEP)
        num_streams = self._n_seq_max if params.isolated else 1
        self._n_ctx_seq = max(-(-(n_ctx // num_streams) // N_CTX_STEP), 1) * N_CTX_STEP
        if not params.isolated:
            self._n_ctx_seq = -(-n_ctx // N_CTX_STEP) * N_CTX_STEP
        self._num_streams = num_streams
        n_batch = min(max(params.n_batch, self._n_seq_max, 32), n_ctx)
        self._n_ubatch = min(n_batch, max(params.n_ubatch or DEFAULT_N_UBATCH, self._n_seq_max))

    def need(self) -> MemoryNeed:
        n_vocab = _n_vocab(self._header)
        return MemoryNeed(
            weights_bytes=self._header.weights_bytes + self._adapters_bytes(),
            kv_bytes=sum(map(self._cache_bytes, self._layers)),
            compute_bytes=compute_bytes(self._header, self._layers, n_vocab, self._step()),
            output_bytes=self._n_seq_max * n_vocab * FLOAT_BYTES,
        )

    def _cache_bytes(self, layer: Layer) -> int:
        num_cells = (self._num_window_cells if layer.has_window else self._n_ctx_seq) * self._num_streams
        cell = _row_bytes(self._params.type_k, layer.keys) + _row_bytes(self._params.type_v, layer.values)
        return num_cells * cell + self._n_seq_max * layer.state * FLOAT_BYTES

    @property
    def _num_window_cells(self) -> int:
        """0: no layer has a window."""
        if not any(layer.has_window for layer in self._layers):
            return 0
        windows = 1 if self._params.isolated else self._n_seq_max
        needed = sliding_window(self._header) * windows + self._n_ubatch
        return -(-min(self._n_ctx_seq, needed) // N_CTX_STEP) * N_CTX_STEP

    def _step(self) -> Step:
        has_state = any(layer.state for layer in self._layers)
        num_drafted = 0 if has_state or self._num_window_cells else self._params.num_drafted_tokens
        num_rows = -(-self._n_ubatch // self._n_seq_max) * self._n_seq_max
        return Step(
            num_rows=num_rows,
            num_outputs=min(num_rows, self._n_seq_max + num_drafted),
            n_seq_max=self._n_seq_max,
            num_cells=self._n_ctx_seq,
            num_window_cells=self._num_window_cells,
            has_flash_attention=self._params.flash_attention is not FlashAttention.OFF
            and self._header.architecture != "grok",
        )

    def _adapters_bytes(self) -> int:
        total = 0
        for adapter in self._params.adapters:
            with contextlib.suppress(OSError):
                total += adapter.path.stat().st_size
        return total


def _n_vocab(header: GgufHeader) -> int:
    for tensor in header.tensors:
        if tensor.name == "token_embd.weight" and len(tensor.shape) > 1:
            return tensor.shape[1]
    tokens = header.values.get("tokenizer.ggml.tokens")
    return len(tokens) if isinstance(tokens, tuple | LongArray) else 0


def _row_bytes(kind: KvType, length: int) -> int:
    block_length, block_bytes = _BLOCKS[kind.name]
    return -(-length // block_length) * block_bytes
