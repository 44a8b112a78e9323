"""From a GGUF to a running context, with a clear reason where that cannot be."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llama_cpp as lib
import psutil

from app.engine.errors import InvalidRequestError, ModelLoadCancelledError, ModelLoadError
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.cell_reader import M_ROPE_TYPES, has_one_kind_of_cells
from app.engine.llama.fingerprint import state_fingerprint
from app.engine.llama.library import Native, library, library_info, printable
from app.engine.sampling import SamplingParams
from app.engine.types import LoadParams, ModelInfo
from app.said import said

log = logging.getLogger(__name__)

LIBRARY_VERSION: str = lib.__version__
DEFAULT_N_CTX = 8192
MAX_N_SEQ = 256  # LLAMA_MAX_SEQ
MIN_N_CTX = 256  # a batch is cut to the context, and one smaller than n_seq_max aborts the process
N_CTX_STEP = 256  # llama.cpp rounds up to it
KV_SHARE_OF_RAM = 0.25
SMALL_MODEL_PARAMS = 30_000_000
VOCAB_TYPE_NONE = 0
FOR_EMBEDDINGS = said("it turns texts into numbers for search, and writes none")
# Of general.sampling.*, all that llama.cpp knows but the order of the samplers.
SAMPLING_KEYS = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "penalty_repeat": "repeat_penalty",
    "penalty_last_n": "penalty_last_n",
    "mirostat": "mirostat",
    "mirostat_tau": "mirostat_tau",
    "mirostat_eta": "mirostat_eta",
}
INVALID_WEIGHTS = "found tensors with invalid data"


@contextlib.contextmanager
def open_llama_backend(
    params: LoadParams,
    on_progress: Callable[[float], bool] = lambda _fraction: True,
    *,
    check_tensors: bool = False,
) -> Iterator[LlamaBackend]:
    """Load a GGUF and make its context; both are freed on leaving.

    `on_progress` gets 0 … 1 on the calling thread and cancels by returning False. `check_tensors` looks at
    every weight. Raises ModelLoadError with the reason from llama.cpp's own log.
    """
    native_log = library()
    native_log.recent.clear()
    _check_file(params.path)
    with _load_model(params.path, on_progress, check_tensors) as model:
        _check_can_chat(model, params.path)
        context_params = _context_params(model, params)
        with _make_context(model, context_params, params.path) as context:
            _check_has_memory(context, params.path)
            info = _model_info(model, context, context_params, params.path)
            # Models of two rotations take the one for long texts in a long context.
            n_ctx_seq = (
                info.n_ctx_seq if _metadata_int(model, "rope.scaling.original_context_length") else None
            )
            yield LlamaBackend(
                model, context, info, state_fingerprint(params.path, context_params, n_ctx_seq)
            )


def _check_file(path: Path) -> None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a pipe would wait for its writer
            raise ModelLoadError(
                said("{name} is not a file. Skein opens models in the GGUF format only.", name=path.name)
            )
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelLoadError(
            said("{name} cannot be read: {reason}. Check the path.", name=path.name, reason=error.strerror)
        ) from error
    if magic != b"GGUF":
        raise ModelLoadError(
            said("{name} is not a GGUF file. Skein opens models in the GGUF format only.", name=path.name)
        )


def _load_model(path: Path, on_progress: Callable[[float], bool], check_tensors: bool) -> Native:
    cancelled = False

    def on_native_progress(fraction: float, _user_data: object) -> bool:
        nonlocal cancelled
        cancelled = not on_progress(fraction)
        return not cancelled

    params = lib.llama_model_default_params()
    callback = lib.llama_progress_callback(on_native_progress)
    params.progress_callback = callback
    params.check_tensors = check_tensors
    pointer = lib.llama_model_load_from_file(os.fsencode(path), params)
    if cancelled:
        raise ModelLoadCancelledError(said("Loading {name} was cancelled.", name=path.name))
    if not pointer:
        reason = library().reason() or said("the file is damaged or of an unknown kind")
        if INVALID_WEIGHTS in reason:
            raise ModelLoadError(
                said(
                    "{name} has weights that are NaN or infinite. "
                    "The file may be damaged: download it again, or open another one.",
                    name=path.name,
                )
            )
        raise ModelLoadError(
            said(
                "llama.cpp cannot load {name}: {reason}. Download it again, or open another GGUF.",
                name=path.name,
                reason=reason,
            )
        )
    return Native("model", pointer, lib.llama_model_free)


def _check_can_chat(model: Native, path: Path) -> None:
    pointer = model.pointer
    if lib.llama_vocab_type(lib.llama_model_get_vocab(pointer)) == VOCAB_TYPE_NONE:
        raise _cannot_chat(path, said("it has no vocabulary, so it cannot read text"))
    if lib.llama_model_has_encoder(pointer):
        raise _cannot_chat(path, said("it has an encoder, as models that translate or search have"))
    if lib.llama_model_is_diffusion(pointer):
        raise _cannot_chat(path, said("it writes by diffusion, not word by word"))
    if _architecture_metadata(model, "attention.causal") == "false":
        raise _cannot_chat(path, FOR_EMBEDDINGS)


def _check_has_memory(context: Native, path: Path) -> None:
    if not lib.llama_get_memory(context.pointer) or lib.llama_pooling_type(context.pointer) > 0:
        raise _cannot_chat(path, FOR_EMBEDDINGS)


def _cannot_chat(path: Path, reason: str) -> ModelLoadError:
    return ModelLoadError(
        said("{name} is not a chat model: {reason}. Open another GGUF.", name=path.name, reason=reason)
    )


def _context_params(model: Native, params: LoadParams) -> lib.llama_context_params:
    n_seq_max = min(max(params.n_seq_max, 1), MAX_N_SEQ)
    n_ctx = max(params.n_ctx or _default_n_ctx(model), MIN_N_CTX)
    if params.isolated:  # llama.cpp would make it as large, but after we have looked at the memory
        n_ctx = n_seq_max * _round_up(n_ctx // n_seq_max)
    n_threads = num_threads(params.n_threads, lib.llama_model_n_params(model.pointer))
    native = lib.llama_context_default_params()
    native.n_ctx = n_ctx
    native.n_batch = max(params.n_batch, n_seq_max, 32)  # n_seq_max > n_batch aborts
    native.n_ubatch = min(native.n_batch, 256)
    native.n_seq_max = n_seq_max
    native.n_outputs_max = n_seq_max  # one a sequence; the default reserves 297 MiB for a big vocabulary
    native.n_threads = native.n_threads_batch = n_threads
    native.kv_unified = not params.isolated
    native.swa_full = False
    native.no_perf = True
    return native


def _round_up(n_ctx: int) -> int:
    return max(-(-n_ctx // N_CTX_STEP), 1) * N_CTX_STEP


def _make_context(model: Native, native: lib.llama_context_params, path: Path) -> Native:
    _check_memory(model, native.n_ctx, path)
    pointer = lib.llama_init_from_model(model.pointer, native)
    if not pointer:
        raise ModelLoadError(
            said(
                "llama.cpp cannot make a context of {tokens:,} tokens for {name}: {reason}. "
                "Try a smaller one (--ctx).",
                tokens=native.n_ctx,
                name=path.name,
                reason=library().reason(),
            )
        )
    return Native("context", pointer, lib.llama_free)


def num_threads(wanted: int, n_params: int) -> int:
    """As wanted, else the physical cores, one left for the window where there are more than two.

    A small model gets one: threads meet after every operation and spin until all are there. With the starter
    model two are a quarter faster on a quiet machine, and nine times slower beside a busy process (measured).
    """
    cores = psutil.cpu_count(logical=False) or 1
    if wanted > 0:
        return min(wanted, cores)
    return 1 if n_params < SMALL_MODEL_PARAMS else max(cores - 1, min(cores, 2))


def _default_n_ctx(model: Native) -> int:
    affordable = int(psutil.virtual_memory().available * KV_SHARE_OF_RAM) // _kv_bytes_per_token(model)
    return min(DEFAULT_N_CTX, affordable)


def _check_memory(model: Native, n_ctx: int, path: Path) -> None:
    """The KV cache is written to at once, so too large a one would not fail: the system would kill us."""
    needed = n_ctx * _kv_bytes_per_token(model)
    available = psutil.virtual_memory().available
    if needed > available:
        raise ModelLoadError(
            said(
                "A context of {tokens:,} tokens of {name} needs {needed:.1f} GiB, but only "
                "{available:.1f} GiB are free. Choose a smaller one (--ctx).",
                tokens=n_ctx,
                name=path.name,
                needed=needed / 2**30,
                available=available / 2**30,
            )
        )


def _kv_bytes_per_token(model: Native) -> int:
    """f16 keys and values of all layers; an upper bound where some layers keep less."""
    pointer = model.pointer
    n_head = max(lib.llama_model_n_head(pointer), 1)
    n_head_kv = max(lib.llama_model_n_head_kv(pointer), 1)
    head_dim = _metadata_int(model, "attention.key_length") or lib.llama_model_n_embd(pointer) // n_head
    return int(max(lib.llama_model_n_layer(pointer), 1) * n_head_kv * head_dim * 2 * 2)


def _model_info(model: Native, context: Native, native: lib.llama_context_params, path: Path) -> ModelInfo:
    pointer = model.pointer
    description = ctypes.create_string_buffer(256)
    lib.llama_model_desc(pointer, description, len(description))
    n_swa, is_recurrent = lib.llama_model_n_swa(pointer), lib.llama_model_is_recurrent(pointer)
    num_streams = 1 if native.kv_unified else native.n_seq_max
    is_plain = has_one_kind_of_cells(context, num_streams)
    info = ModelInfo(
        path=path,
        name=printable(_metadata(model, "general.name")) or path.stem,
        description=printable(description.value.decode("utf-8", "replace")),
        architecture=printable(_metadata(model, "general.architecture")),
        n_vocab=lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(pointer)),
        n_params=lib.llama_model_n_params(pointer),
        size_bytes=lib.llama_model_size(pointer),
        n_ctx=lib.llama_n_ctx(context.pointer),
        n_ctx_train=lib.llama_model_n_ctx_train(pointer),
        n_seq_max=lib.llama_n_seq_max(context.pointer),
        n_batch=lib.llama_n_batch(context.pointer),
        n_ubatch=lib.llama_n_ubatch(context.pointer),
        n_swa=n_swa,
        is_recurrent=is_recurrent,
        # Some memories of several parts come without any flag.
        is_hybrid=lib.llama_model_is_hybrid(pointer) or not (is_plain or n_swa or is_recurrent),
        is_unified=native.kv_unified,
        # The library says so of recurrent states, too, where only a number would change.
        can_shift=is_plain and lib.llama_memory_can_shift(lib.llama_get_memory(context.pointer)),
        cell_bytes=_cell_bytes(model, context) if is_plain else 0,
        library=library_info(),
        sampling=_recommended_sampling(model),
    )
    assert info.n_ctx_seq == lib.llama_n_ctx_seq(context.pointer)
    return info


def _cell_bytes(model: Native, context: Native) -> int:
    """Keys and values of one cell, by the states of two tokens and of one. 0 if they cannot be computed.

    No function of the library tells, and layers may differ. The decode also warms the model up.
    """
    memory = lib.llama_get_memory(context.pointer)
    tokens = (ctypes.c_int32 * 2)()
    if lib.llama_decode(context.pointer, lib.llama_batch_get_one(tokens, len(tokens))) != 0:
        return 0
    two_cells = lib.llama_state_seq_get_size(context.pointer, 0)
    lib.llama_memory_seq_rm(memory, 0, 1, -1)
    one_cell = lib.llama_state_seq_get_size(context.pointer, 0)
    lib.llama_memory_clear(memory, False)  # the next cell is again looked for from the first one on
    num_words = 6 if lib.llama_model_rope_type(model.pointer) in M_ROPE_TYPES else 3  # see `cell_reader`
    return int(two_cells - one_cell - 4 * num_words)


def _recommended_sampling(model: Native) -> SamplingParams:
    """What the file's maker says, where it makes sense."""
    try:
        return SamplingParams(**dict(_sampling_metadata(model)))
    except (ValueError, OverflowError, InvalidRequestError) as error:
        log.warning("The model's recommended sampling is ignored: %s", error)
        return SamplingParams()


def _sampling_metadata(model: Native) -> Iterator[tuple[str, Any]]:
    usual = SamplingParams()
    for key, name in SAMPLING_KEYS.items():
        if text := _metadata(model, f"general.sampling.{key}"):
            yield name, type(getattr(usual, name))(float(text))


def _metadata(model: Native, key: str) -> str:
    buffer = ctypes.create_string_buffer(1024)
    length = lib.llama_model_meta_val_str(model.pointer, key.encode(), buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace") if length >= 0 else ""


def _architecture_metadata(model: Native, key: str) -> str:
    return _metadata(model, f"{_metadata(model, 'general.architecture')}.{key}")


def _metadata_int(model: Native, key: str) -> int:
    text = _architecture_metadata(model, key)
    return int(text) if text.isdigit() else 0
