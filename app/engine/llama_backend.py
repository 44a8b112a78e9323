"""The gate to llama.cpp: the only file that imports `llama_cpp`, and only its low-level C API.

Everything that would kill the process or silently spoil the cache is checked on this side of the call, and
return codes become named errors. Facts about the library hold for llama-cpp-python 0.3.36.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import logging
import math
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import llama_cpp as lib
import numpy as np
import numpy.typing as npt
import psutil

from app.engine.batch import Batch
from app.engine.errors import (
    BadLogitsError,
    DecodeError,
    DecodeInterruptedError,
    EngineError,
    InvalidRequestError,
    ModelLoadCancelledError,
    ModelLoadError,
    NoKvCellsError,
    PositionMismatchError,
)
from app.engine.types import LoadParams, ModelInfo, SamplingParams

log = logging.getLogger(__name__)

DEFAULT_N_CTX = 8192
MAX_N_SEQ = 256  # LLAMA_MAX_SEQ
MIN_N_CTX = 256  # a batch is cut to the context, and one smaller than n_seq_max aborts the process
KV_SHARE_OF_RAM = 0.25
SMALL_MODEL_PARAMS = 30_000_000
FULL_TOP_K = 1000  # "off" for top_k: sorting a whole vocabulary of 152,000 costs 22 ms a token
VOCAB_TYPE_NONE = 0
ATTR_UNKNOWN, ATTR_CONTROL = 1, 8  # llama_token_attr

native_objects: Counter[str] = Counter()  # live ones by kind, for the leak tests and the inspector


@contextlib.contextmanager
def open_llama_backend(
    params: LoadParams, on_progress: Callable[[float], bool] = lambda _fraction: True
) -> Iterator[LlamaBackend]:
    """Load a GGUF and make its context; both are freed on leaving.

    `on_progress` gets 0 … 1 on the calling thread and cancels by returning False. Raises ModelLoadError with
    the reason from llama.cpp's own log.
    """
    native_log = _library()
    native_log.recent.clear()
    _check_file(params.path)
    with _load_model(params.path, on_progress) as model:
        _check_can_chat(model, params.path)
        with _make_context(model, params) as context:
            if not lib.llama_get_memory(context.pointer):
                raise ModelLoadError(_not_a_chat_model(params.path))
            yield LlamaBackend(model, context, params.path)


class LlamaBackend:
    """One model, one context with unified KV. Made by `open_llama_backend`."""

    def __init__(self, model: _Native, context: _Native, path: Path) -> None:
        self._model, self._context = model, context
        self._vocab = lib.llama_model_get_vocab(model.pointer)
        self._memory = lib.llama_get_memory(context.pointer)
        self._arrays = _BatchArrays(lib.llama_n_batch(context.pointer))
        self._abort_flag = _AbortFlag(context)
        self._logit_rows: frozenset[int] = frozenset()  # of the last decode, if that succeeded
        self._thread_id: int | None = None
        self.model = _model_info(model, context, path)
        template = lib.llama_model_chat_template(model.pointer, None)
        self.chat_template = template.decode("utf-8", "replace") if template else None
        self.bos_text = self._token_text(lib.llama_vocab_bos(self._vocab))
        self.eos_text = self._token_text(lib.llama_vocab_eos(self._vocab))

    # Any thread.

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")  # bytes that are not UTF-8 abort the process
        capacity = len(data) + 16
        tokens = np.empty(capacity, np.int32)
        count = lib.llama_tokenize(
            self._vocab, data, len(data), _pointer(tokens, ctypes.c_int32), capacity, False, parse_special
        )
        if count < 0:
            raise EngineError(f"llama.cpp wants {-count} tokens for {len(data)} bytes of text.")
        return [int(token) for token in tokens[:count]]

    def token_piece(self, token_id: int) -> bytes:
        return self._piece(token_id, special=False)

    def is_end_of_generation(self, token_id: int) -> bool:
        return bool(lib.llama_vocab_is_eog(self._vocab, token_id))

    def control_texts(self) -> frozenset[str]:
        tokens = [t for t in range(self.model.n_vocab) if self._attributes(t) & (ATTR_CONTROL | ATTR_UNKNOWN)]
        return frozenset(filter(None, map(self._token_text, tokens)))

    def leading_tokens(self) -> list[int]:
        bos = lib.llama_vocab_bos(self._vocab)
        return [bos] if lib.llama_vocab_get_add_bos(self._vocab) and bos >= 0 else []

    def interrupt(self) -> None:
        self._abort_flag.set()

    # The engine thread only.

    def decode(self, batch: Batch) -> None:
        self._check_thread()
        self._logit_rows = frozenset()  # the rows of an earlier step would be sampled silently
        self._check_batch(batch)
        code = lib.llama_decode(self._context.pointer, self._arrays.fill(batch))
        if code == 0:
            self._logit_rows = frozenset(span.last_row for span in batch.spans if span.wants_logits)
        elif code == 1:
            raise NoKvCellsError(f"no room for {batch.num_rows} rows in {self.model.n_ctx} cells")
        elif code == 2:
            raise DecodeInterruptedError("the step was interrupted")
        else:
            raise DecodeError(f"llama.cpp failed to compute a step (code {code}). {_library().reason()}")

    def context_with_logits(self, row: int) -> object:
        """The context, once it is sure that sampling `row` has fresh and sane logits. For LlamaSampler."""
        self._check_thread()
        assert row in self._logit_rows, f"row {row} has no logits"  # llama.cpp would abort the process
        logits = self.logits(row)
        peak = float(logits.max())  # one pass; NaN and +inf come through
        if not math.isfinite(peak) or (peak == 0.0 and not logits.any()):
            kind = "only zeros" if peak == 0.0 else "NaN or infinite"
            raise BadLogitsError(
                f"The model computed {kind} logits, so no word can be chosen. "
                "The file may be damaged: download it again, or open another one."
            )
        return self._context.pointer

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        """Logits of one row, shape (n_vocab,): a view that the next decode overwrites."""
        pointer = lib.llama_get_logits_ith(self._context.pointer, row)
        assert pointer, f"llama.cpp has no logits for row {row}"
        return np.ctypeslib.as_array(pointer, (self.model.n_vocab,))

    def new_sampler(self, params: SamplingParams, prompt_token_ids: Sequence[int]) -> LlamaSampler:
        self._check_thread()
        return LlamaSampler(self, params, prompt_token_ids)

    def truncate(self, seq_id: int, num_tokens: int) -> bool:
        self._check_thread()
        self._check_seq_id(seq_id)
        if num_tokens == 0:
            lib.llama_memory_seq_rm(self._memory, seq_id, -1, -1)
            return True
        if not lib.llama_memory_seq_rm(self._memory, seq_id, num_tokens, -1):
            return False
        # With a sliding window the call succeeds even where the window's cells are gone: only pos_min tells.
        window_start = max(0, num_tokens - self.model.n_swa)
        window_kept = not self.model.n_swa or 0 <= self.pos_min(seq_id) <= window_start
        return window_kept and self.pos_max(seq_id) == num_tokens - 1

    def share_prefix(self, source: int, target: int, num_tokens: int) -> None:
        self._check_thread()
        self._check_seq_id(source)
        self._check_seq_id(target)
        assert self.pos_max(target) == -1, "seq_cp into a sequence that holds cells would merge the two"
        assert num_tokens <= self.pos_max(source) + 1
        lib.llama_memory_seq_cp(self._memory, source, target, 0, num_tokens)

    def pos_min(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_min(self._memory, seq_id))

    def pos_max(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_max(self._memory, seq_id))

    # What the library does not check itself.

    def _check_thread(self) -> None:
        """The first thread that computes owns the context; a second one would corrupt it."""
        self._thread_id = self._thread_id or threading.get_ident()
        assert self._thread_id == threading.get_ident(), "llama.cpp was called from a second thread"

    def _check_seq_id(self, seq_id: int) -> None:
        assert 0 <= seq_id < self.model.n_seq_max, f"seq_id {seq_id} is out of range"

    def _check_batch(self, batch: Batch) -> None:
        """Positions go on where each sequence is in the library; the rest is within the context's limits."""
        assert 0 < batch.num_rows <= self.model.n_batch, f"{batch.num_rows} rows in one batch"
        tokens = batch.token_ids[: batch.num_rows]
        assert tokens.min() >= 0, "token id out of range"
        assert tokens.max() < self.model.n_vocab, "token id out of range"
        assert sum(span.wants_logits for span in batch.spans) <= self.model.n_seq_max
        for span in batch.spans:
            self._check_seq_id(span.seq_id)
            pos_max = self.pos_max(span.seq_id)
            rows = slice(span.first_row, span.first_row + span.num_rows)
            steps = np.diff(batch.positions[rows])
            if batch.positions[span.first_row] != pos_max + 1 or (steps != 1).any():
                raise PositionMismatchError(
                    f"sequence {span.seq_id} is at position {pos_max} in the library, but the batch "
                    f"wants to go on at {batch.positions[span.first_row]}"
                )

    # The vocabulary.

    def _piece(self, token_id: int, special: bool) -> bytes:
        assert 0 <= token_id < self.model.n_vocab  # llama.cpp ends the process for any other
        buffer = ctypes.create_string_buffer(64)
        length = lib.llama_token_to_piece(self._vocab, token_id, buffer, len(buffer), 0, special)
        if length < 0:
            buffer = ctypes.create_string_buffer(-length)
            length = lib.llama_token_to_piece(self._vocab, token_id, buffer, len(buffer), 0, special)
        return buffer.raw[:length]

    def _token_text(self, token_id: int) -> str:
        return self._piece(token_id, special=True).decode("utf-8", "replace") if token_id >= 0 else ""

    def _attributes(self, token_id: int) -> int:
        return int(lib.llama_vocab_get_attr(self._vocab, token_id))


class LlamaSampler:
    """One request's sampler chain, in C. Order and defaults are llama-server's."""

    def __init__(
        self, backend: LlamaBackend, params: SamplingParams, prompt_token_ids: Sequence[int]
    ) -> None:
        self._backend = backend
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        self._chain = _Native("sampler", chain, lib.llama_sampler_free)
        for sampler in _samplers(params, backend.model.n_vocab):
            if not sampler:  # adding NULL to a chain is a segmentation fault
                self._chain.close()
                raise EngineError("llama.cpp could not create a sampler.")
            lib.llama_sampler_chain_add(chain, sampler)
        for token_id in prompt_token_ids[-params.penalty_last_n :] if params.penalty_last_n else []:
            lib.llama_sampler_accept(chain, token_id)

    def sample(self, row: int) -> int:
        context = self._backend.context_with_logits(row)
        return int(lib.llama_sampler_sample(self._chain.pointer, context, row))  # accepts the token, too

    def close(self) -> None:
        self._chain.close()


def _samplers(params: SamplingParams, n_vocab: int) -> Iterator[object]:
    """The chain, in order; it always ends in one that chooses."""
    if (params.repeat_penalty, params.frequency_penalty, params.presence_penalty) != (1.0, 0.0, 0.0):
        yield lib.llama_sampler_init_penalties(
            n_vocab,
            params.penalty_last_n,
            params.repeat_penalty,
            params.frequency_penalty,
            params.presence_penalty,
        )
    if params.temperature == 0.0:
        yield lib.llama_sampler_init_greedy()
        return
    if params.top_k or params.top_p < 1.0 or params.min_p > 0.0:
        yield lib.llama_sampler_init_top_k(min(params.top_k or FULL_TOP_K, n_vocab))
    if params.top_p < 1.0:
        yield lib.llama_sampler_init_top_p(params.top_p, 1)
    if params.min_p > 0.0:
        yield lib.llama_sampler_init_min_p(params.min_p, 1)
    yield lib.llama_sampler_init_temp(params.temperature)
    yield lib.llama_sampler_init_dist(lib.LLAMA_DEFAULT_SEED if params.seed is None else params.seed)


class _Native:
    """A pointer that is freed exactly once."""

    def __init__(self, kind: str, pointer: object, free: Callable[[object], None]) -> None:
        if not pointer:  # ctypes gives NULL as a falsy pointer object, not as None
            raise EngineError(f"llama.cpp could not create a {kind}: {_library().reason()}")
        self._kind, self._pointer, self._free = kind, pointer, free
        native_objects[kind] += 1

    @property
    def pointer(self) -> object:
        assert self._pointer is not None, f"this {self._kind} was freed"
        return self._pointer

    def close(self) -> None:
        if self._pointer is not None:
            pointer, self._pointer = self._pointer, None
            self._free(pointer)
            native_objects[self._kind] -= 1

    def __enter__(self) -> _Native:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


class _BatchArrays:
    """A `llama_batch` over numpy arrays: nothing for the library to free, one sequence a row."""

    def __init__(self, capacity: int) -> None:
        self._seq_ids = np.zeros(capacity, np.int32)
        self._num_seq_ids = np.ones(capacity, np.int32)
        addresses = self._seq_ids.ctypes.data + self._seq_ids.itemsize * np.arange(capacity, dtype=np.uintp)
        self._seq_id_pointers = addresses.astype(np.uintp)
        self._token_ids = np.zeros(capacity, np.int32)
        self._positions = np.zeros(capacity, np.int32)
        self._wants_logits = np.zeros(capacity, np.int8)
        self._batch = lib.llama_batch(
            n_tokens=0,
            token=_pointer(self._token_ids, ctypes.c_int32),
            embd=None,
            pos=_pointer(self._positions, ctypes.c_int32),
            n_seq_id=_pointer(self._num_seq_ids, ctypes.c_int32),
            seq_id=ctypes.cast(
                self._seq_id_pointers.ctypes.data, ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))
            ),
            logits=_pointer(self._wants_logits, ctypes.c_int8),
        )

    def fill(self, batch: Batch) -> lib.llama_batch:
        rows = slice(batch.num_rows)
        self._token_ids[rows] = batch.token_ids[rows]
        self._positions[rows] = batch.positions[rows]
        self._seq_ids[rows] = batch.seq_ids[rows]
        self._wants_logits[rows] = batch.wants_logits[rows]
        self._batch.n_tokens = batch.num_rows
        return self._batch


class _AbortFlag:
    """Interrupts a decode from any thread without the GIL.

    llama.cpp asks its abort callback after each graph node. A Python function there would wait for the GIL
    hundreds of times a step, so the callback is C's `atoi` and the flag is the text it reads.
    """

    def __init__(self, context: _Native) -> None:
        self._text = ctypes.create_string_buffer(b"0", 8)
        libc = ctypes.CDLL(ctypes.util.find_library("msvcrt" if os.name == "nt" else "c"))
        self._callback = ctypes.cast(libc.atoi, lib.ggml_abort_callback)
        lib.llama_set_abort_callback(context.pointer, self._callback, ctypes.addressof(self._text))

    def set(self) -> None:
        self._text.value = b"1"


def _pointer(array: npt.NDArray[np.generic], c_type: type[ctypes._SimpleCData[int]]) -> object:
    return array.ctypes.data_as(ctypes.POINTER(c_type))


class _NativeLog:
    """llama.cpp's log, line by line. Its callback may run on any thread, so it only appends."""

    def __init__(self) -> None:
        self.recent: deque[str] = deque(maxlen=50)  # warnings and errors, for messages to the user
        self._callback = lib.llama_log_callback(self._on_log)  # a collected callback would crash the process
        lib.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _on_log(self, level: int, text: bytes | None, _user_data: object) -> None:
        line = _printable((text or b"").decode("utf-8", "replace"))
        if not line:
            return
        if level >= 3 and level != 5:
            self.recent.append(line)
        log.debug("%s", line)

    def reason(self) -> str:
        """The most telling line since the last `recent.clear()`."""
        errors = [line for line in self.recent if "error" in line.lower() or "fail" in line.lower()]
        lines = errors or list(self.recent)
        return lines[0].split(": ", 1)[-1] if lines else ""


def _printable(text: str) -> str:
    """Names from model files reach the log; control characters in them must not reach a terminal."""
    return "".join(char if char.isprintable() else " " for char in text).strip()


@cache
def _library() -> _NativeLog:
    """Start llama.cpp once per process, and keep what it calls back."""
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # else an abort forks a debugger
    native_log = _NativeLog()
    lib.llama_backend_init()
    return native_log


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelLoadError(f"{path.name} cannot be read: {error.strerror}. Check the path.") from error
    if magic != b"GGUF":
        raise ModelLoadError(f"{path.name} is not a GGUF file. Skein opens models in the GGUF format only.")


def _load_model(path: Path, on_progress: Callable[[float], bool]) -> _Native:
    cancelled = False

    def on_native_progress(fraction: float, _user_data: object) -> bool:
        nonlocal cancelled
        cancelled = not on_progress(fraction)
        return not cancelled

    params = lib.llama_model_default_params()
    callback = lib.llama_progress_callback(on_native_progress)
    params.progress_callback = callback
    pointer = lib.llama_model_load_from_file(os.fsencode(path), params)
    if cancelled:
        raise ModelLoadCancelledError(f"Loading {path.name} was cancelled.")
    if not pointer:
        reason = _library().reason() or "the file is damaged or of an unknown kind"
        raise ModelLoadError(f"llama.cpp cannot load {path.name}: {reason}.")
    return _Native("model", pointer, lib.llama_model_free)


def _check_can_chat(model: _Native, path: Path) -> None:
    vocab = lib.llama_model_get_vocab(model.pointer)
    has_tokenizer = lib.llama_vocab_type(vocab) != VOCAB_TYPE_NONE
    one_way = lib.llama_model_has_encoder(model.pointer) or lib.llama_model_is_diffusion(model.pointer)
    if one_way or not has_tokenizer:
        raise ModelLoadError(_not_a_chat_model(path))


def _not_a_chat_model(path: Path) -> str:
    return f"{path.name} is not a chat model (it only encodes text, or has no tokenizer). Open another GGUF."


def _make_context(model: _Native, params: LoadParams) -> _Native:
    n_seq_max = min(max(params.n_seq_max, 1), MAX_N_SEQ)
    n_ctx = max(params.n_ctx or _default_n_ctx(model), MIN_N_CTX)
    _check_memory(model, n_ctx, params.path)
    n_threads = num_threads(params.n_threads, lib.llama_model_n_params(model.pointer))
    native = lib.llama_context_default_params()
    native.n_ctx = n_ctx
    native.n_batch = max(params.n_batch, n_seq_max, 32)  # n_seq_max > n_batch aborts
    native.n_ubatch = min(native.n_batch, 256)
    native.n_seq_max = n_seq_max
    native.n_outputs_max = n_seq_max  # one a sequence; the default reserves 297 MiB for a big vocabulary
    native.n_threads = native.n_threads_batch = n_threads
    native.kv_unified = True
    native.swa_full = False
    native.no_perf = True
    pointer = lib.llama_init_from_model(model.pointer, native)
    if not pointer:
        raise ModelLoadError(
            f"llama.cpp cannot make a context of {n_ctx:,} tokens for {params.path.name}: "
            f"{_library().reason()}. Try a smaller one (--ctx)."
        )
    return _Native("context", pointer, lib.llama_free)


def num_threads(wanted: int, n_params: int) -> int:
    """As wanted, else the physical cores, one left for the window where there are more than two.

    A small model gets one: threads meet after every operation and spin until all are there. With the starter
    model two are a quarter faster on a quiet machine, and nine times slower beside a busy process (measured).
    """
    cores = psutil.cpu_count(logical=False) or 1
    if wanted > 0:
        return min(wanted, cores)
    return 1 if n_params < SMALL_MODEL_PARAMS else max(cores - 1, min(cores, 2))


def _default_n_ctx(model: _Native) -> int:
    affordable = int(psutil.virtual_memory().available * KV_SHARE_OF_RAM) // _kv_bytes_per_token(model)
    return min(DEFAULT_N_CTX, affordable)


def _check_memory(model: _Native, n_ctx: int, path: Path) -> None:
    """The KV cache is written to at once, so too large a one would not fail: the system would kill us."""
    needed = n_ctx * _kv_bytes_per_token(model)
    available = psutil.virtual_memory().available
    if needed > available:
        raise ModelLoadError(
            f"A context of {n_ctx:,} tokens of {path.name} needs {needed / 2**30:.1f} GiB, but only "
            f"{available / 2**30:.1f} GiB are free. Choose a smaller one (--ctx)."
        )


def _kv_bytes_per_token(model: _Native) -> int:
    """f16 keys and values of all layers; an upper bound where some layers keep less."""
    pointer = model.pointer
    n_head = max(lib.llama_model_n_head(pointer), 1)
    n_head_kv = max(lib.llama_model_n_head_kv(pointer), 1)
    head_dim = _metadata_int(model, "attention.key_length") or lib.llama_model_n_embd(pointer) // n_head
    return int(max(lib.llama_model_n_layer(pointer), 1) * n_head_kv * head_dim * 2 * 2)


def _model_info(model: _Native, context: _Native, path: Path) -> ModelInfo:
    pointer = model.pointer
    description = ctypes.create_string_buffer(256)
    lib.llama_model_desc(pointer, description, len(description))
    return ModelInfo(
        path=path,
        name=_printable(_metadata(model, "general.name")) or path.stem,
        description=_printable(description.value.decode("utf-8", "replace")),
        architecture=_printable(_metadata(model, "general.architecture")),
        n_vocab=lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(pointer)),
        n_params=lib.llama_model_n_params(pointer),
        size_bytes=lib.llama_model_size(pointer),
        n_ctx=lib.llama_n_ctx(context.pointer),
        n_ctx_train=lib.llama_model_n_ctx_train(pointer),
        n_seq_max=lib.llama_n_seq_max(context.pointer),
        n_batch=lib.llama_n_batch(context.pointer),
        n_swa=lib.llama_model_n_swa(pointer),
        is_recurrent=lib.llama_model_is_recurrent(pointer),
        is_hybrid=lib.llama_model_is_hybrid(pointer),
        sampling=_recommended_sampling(model),
    )


def _recommended_sampling(model: _Native) -> SamplingParams:
    """What the file's maker says, where it makes sense."""
    usual = SamplingParams()

    def number(key: str, default: float) -> float:
        return float(_metadata(model, f"general.sampling.{key}") or default)

    try:
        return SamplingParams(
            temperature=number("temp", usual.temperature),
            top_k=int(number("top_k", usual.top_k)),
            top_p=number("top_p", usual.top_p),
            min_p=number("min_p", usual.min_p),
            repeat_penalty=number("penalty_repeat", usual.repeat_penalty),
        )
    except (ValueError, InvalidRequestError) as error:
        log.warning("The model's recommended sampling is ignored: %s", error)
        return usual


def _metadata(model: _Native, key: str) -> str:
    buffer = ctypes.create_string_buffer(1024)
    length = lib.llama_model_meta_val_str(model.pointer, key.encode(), buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace") if length >= 0 else ""


def _metadata_int(model: _Native, key: str) -> int:
    text = _metadata(model, f"{_metadata(model, 'general.architecture')}.{key}")
    return int(text) if text.isdigit() else 0
