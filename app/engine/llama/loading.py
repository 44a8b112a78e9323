"""Loads a GGUF and makes its context, with a clear error where that fails."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import llama_cpp as lib

from app.engine.cells.checkpoints import usual_checkpoint_bytes
from app.engine.llama import load_errors
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.cell_reader import M_ROPE_TYPES, has_one_kind_of_cells
from app.engine.llama.draft import draft_beside, has_heads, heads_beside, share_of_progress
from app.engine.llama.fingerprint import file_digest, projector_fingerprint, state_fingerprint
from app.engine.llama.kv_types import (
    FLASH_ATTENTION,
    NATIVE_TYPES,
    can_rotate_again,
    check_types,
    row_bytes,
)
from app.engine.llama.lens import NUM_OUTPUTS, LlamaLens
from app.engine.llama.mapped_files import MappedFiles
from app.engine.llama.memory import HERE, context_need, memory_taken, total
from app.engine.llama.native_library import (
    Native,
    described_device,
    device_pointers,
    gpus,
    library,
    library_info,
    printable,
)
from app.engine.llama.rpc import worker_bytes, worker_devices
from app.engine.llama.vocabulary import chat_template
from app.engine.llama.weights import has_long_tail, is_same_alone, loaded_adapters, use_adapters
from app.engine.media.encoder import MediaEncoder
from app.protocol.errors import InvalidRequestError, ModelLoadCancelledError, ModelLoadError
from app.protocol.load import DEFAULT_N_CTX, DEFAULT_N_UBATCH, MAX_DRAFTED_TOKENS, LoadParams, RopeScaling
from app.protocol.media import NO_SENSES, Senses
from app.protocol.model import DeviceKind, FimTokens, MemoryNeed, ModelInfo
from app.protocol.model_names import NAME_KEYS, model_name, quantisation_name
from app.protocol.sampling import SamplingParams
from app.protocol.states import most_snapshots
from app.system.machine import free_memory_bytes, num_physical_cores
from app.system.said import said

log = logging.getLogger(__name__)

LIBRARY_VERSION: str = lib.__version__
MAX_N_SEQ = 256  # LLAMA_MAX_SEQ
MIN_N_CTX = 256  # a batch is cut to the context, and one smaller than n_seq_max aborts the process
N_CTX_STEP = 256  # llama.cpp rounds up to it
KV_SHARE_OF_RAM = 0.25
SHARE_NOT_ASKED = 0.25  # of the free memory: up to this, no exact figure is needed
MAX_PLANNED_CELLS = 1 << 21  # our books take some 60 bytes for each, even for a plan
SMALL_MODEL_PARAMS = 30_000_000
VOCAB_TYPE_NONE = 0
FOR_EMBEDDINGS = said("it is an embedding model, which generates no text")
# The keys of general.sampling.* that llama.cpp knows, except the order of the samplers.
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
ROPE_SCALING = {
    RopeScaling.NONE: lib.LLAMA_ROPE_SCALING_TYPE_NONE,
    RopeScaling.LINEAR: lib.LLAMA_ROPE_SCALING_TYPE_LINEAR,
    RopeScaling.YARN: lib.LLAMA_ROPE_SCALING_TYPE_YARN,
}
# What a chat template mentions that knows of them.
TOOLS, THINKING = "tools", ("enable_thinking", "<think>", "[THINK]", "reasoning_content", "<|channel|>")


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
    share = share_of_progress(params)
    with contextlib.ExitStack() as stack:
        loaded = loaded_model(params, lambda done: on_progress(share * done), check_tensors)
        model, files = stack.enter_context(loaded)
        _check_can_chat(model, params.path)
        adapters = stack.enter_context(loaded_adapters(model, params.adapters))
        encoder, senses = _opened_encoder(model, params)
        if encoder:
            stack.callback(encoder.close)
            params = replace(params, n_ubatch=_n_ubatch_for(encoder.max_rows_at_once, params))
        context_params = _context_params(model, params)
        n_ctx_train = lib.llama_model_n_ctx_train(model.pointer)  # a context with YaRN changes it
        context = stack.enter_context(make_context(model, context_params, params))
        _check_has_memory(context, params.path)
        use_adapters(context, adapters, params.adapters)
        info = _model_info(model, context, context_params, params, n_ctx_train, senses)
        # Models with two RoPE factors use those for long texts in a long context.
        n_ctx_seq = info.n_ctx_seq if metadata_int(model, "rope.scaling.original_context_length") else None
        fingerprint = state_fingerprint(params.path, context_params, n_ctx_seq, params.adapters)
        backend = LlamaBackend(model, context, info, fingerprint, files)
        backend.media_encoder = encoder
        files.let_go()
        backend.lens = stack.enter_context(_lens_of(model, context_params, params, info, adapters))
        if info.num_drafted_tokens and lib.llama_model_n_layer_nextn(model.pointer) and has_heads(params):
            stack.enter_context(heads_beside(backend, model, context, context_params))
        draft_params = replace(params, n_ctx=info.n_ctx).of_draft_model
        if draft_params and info.num_drafted_tokens:
            opened = open_llama_backend(draft_params, lambda done: on_progress(share + (1 - share) * done))
            stack.enter_context(draft_beside(backend, opened, draft_params.path))
        elif draft_params:
            log.warning("%s cannot take back a guess: its draft model is not loaded.", params.path.name)
        yield backend


def _opened_encoder(model: Native, params: LoadParams) -> tuple[MediaEncoder | None, Senses]:
    """A projector that cannot be used leaves the model as it is: its senses say why."""
    if params.projector is None:
        return None, NO_SENSES
    n_threads = num_threads(params.n_threads, lib.llama_model_n_params(model.pointer))
    try:
        check_file(params.projector)
        fingerprint = projector_fingerprint(params.projector)
        encoder = MediaEncoder(params.projector, params.path, n_threads, fingerprint)
    except ModelLoadError as error:
        log.warning("The projector is not used: %s", error)
        return None, Senses(projector=params.projector, reason=str(error))
    return encoder, encoder.senses


def _n_ubatch_for(num_rows: int, params: LoadParams) -> int:
    """Where nothing was chosen, as many rows at once as a picture has that cannot be split."""
    return params.n_ubatch or max(num_rows, DEFAULT_N_UBATCH)


@contextlib.contextmanager
def loaded_model(
    params: LoadParams, on_progress: Callable[[float], bool], check_tensors: bool
) -> Iterator[tuple[Native, MappedFiles]]:
    """A model and the files that its weights are in, which are held until they are let go.

    Raises ModelLoadError.
    """
    native_log = library()
    native_log.recent.clear()
    native_log.loaded.clear()
    for path in (params.path, *(adapter.path for adapter in params.adapters)):
        check_file(path)
    if params.use_mmap and has_long_tail(params.path):
        params = replace(params, use_mmap=False)
    with MappedFiles(params.path if params.use_mmap else None) as files:
        files.hold()
        with _load_model(params, on_progress, check_tensors) as model:
            yield model, files


def check_file(path: Path) -> None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a pipe would wait for its writer
            raise ModelLoadError(
                said("{name} is not a file. Skein opens models in the GGUF format only.", name=path.name)
            )
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError as error:
        raise ModelLoadError(
            said("{name} is not in {folder}.", name=path.name, folder=str(path.parent))
        ) from error
    except OSError as error:
        raise ModelLoadError(
            said("{name} cannot be read: {reason}. Check the path.", name=path.name, reason=error.strerror)
        ) from error
    if magic != b"GGUF":
        raise ModelLoadError(
            said("{name} is not a GGUF file. Skein opens models in the GGUF format only.", name=path.name)
        )


def _load_model(params: LoadParams, on_progress: Callable[[float], bool], check_tensors: bool) -> Native:
    path = params.path
    cancelled = False

    def on_native_progress(fraction: float, _user_data: object) -> bool:
        nonlocal cancelled
        cancelled = not on_progress(fraction)
        return not cancelled

    devices = _chosen_devices(params)
    native = _model_params(params, devices)
    callback = lib.llama_progress_callback(on_native_progress)
    native.progress_callback = callback
    native.check_tensors = check_tensors
    pointer = lib.llama_model_load_from_file(os.fsencode(path), native)
    if cancelled:
        raise ModelLoadCancelledError(said("Loading {name} was cancelled.", name=path.name))
    if not pointer:
        native_log = library()
        raise ModelLoadError(load_errors.refusal(path.name, native_log.recent, native_log.reason()))
    return Native("model", pointer, lib.llama_model_free)


def _model_params(
    params: LoadParams, devices: ctypes.Array[ctypes.c_void_p] | None
) -> lib.llama_model_params:
    """`devices` must live as long as what is returned."""
    native = lib.llama_model_default_params()
    if devices:
        native.devices = ctypes.cast(devices, ctypes.c_void_p)
    if params.n_gpu_layers is not None:
        native.n_gpu_layers = params.n_gpu_layers
    if not params.use_mmap:
        native.load_mode = lib.LLAMA_LOAD_MODE_NONE
    native.load_mtp = has_heads(params)
    return native


def _chosen_devices(params: LoadParams) -> ctypes.Array[ctypes.c_void_p] | None:
    """As a NULL-terminated array for the library. None: all devices."""
    if not params.devices and not params.workers:
        return None
    elsewhere = worker_devices(params.workers) if params.workers else []
    if not params.devices:
        usual = {gpu.name for gpu in gpus()}
        here = [pointer for pointer in device_pointers() if described_device(pointer).name in usual]
        return _ending_in_null((*elsewhere, *here))
    pointers = {described_device(pointer).name: pointer for pointer in device_pointers()}
    if missing := [name for name in params.devices if name not in pointers]:
        raise ModelLoadError(
            said(
                "The device {name} is gone. Choose another in the model's settings. Available: {devices}.",
                name=missing[0],
                devices=", ".join(pointers),
            )
        )
    return _ending_in_null((*elsewhere, *(pointers[name] for name in params.devices)))


def _ending_in_null(devices: Sequence[ctypes.c_void_p]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * (len(devices) + 1))(*devices, None)


def check_can_be_run(model: Native, path: Path) -> None:
    """By a decoder or an encoder alone. Raises ModelLoadError."""
    pointer = model.pointer
    if lib.llama_vocab_type(lib.llama_model_get_vocab(pointer)) == VOCAB_TYPE_NONE:
        raise _cannot_chat(path, said("it has no vocabulary"))
    if lib.llama_model_has_encoder(pointer):
        raise _cannot_chat(path, said("it is an encoder-decoder model"))
    if lib.llama_model_is_diffusion(pointer):
        raise _cannot_chat(path, said("it is a diffusion model"))


def _check_can_chat(model: Native, path: Path) -> None:
    check_can_be_run(model, path)
    if architecture_metadata(model, "attention.causal") == "false":
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
    _check_types(model, params)
    n_ctx = max(params.n_ctx or _default_n_ctx(model, params), MIN_N_CTX)
    if params.isolated:  # llama.cpp would do the same, but after our check of the memory
        n_ctx = n_seq_max * _round_up(n_ctx // n_seq_max)
    n_threads = num_threads(params.n_threads, lib.llama_model_n_params(model.pointer))
    native = lib.llama_context_default_params()
    native.n_ctx = n_ctx
    native.n_batch = max(params.n_batch, n_seq_max, 32)  # n_seq_max > n_batch aborts
    if params.projector:  # it may need larger steps
        native.n_batch = max(native.n_batch, params.n_ubatch)
    native.n_ubatch = min(native.n_batch, max(params.n_ubatch or DEFAULT_N_UBATCH, n_seq_max))
    if lib.llama_model_n_swa(model.pointer):
        # The library plans all micro-batches of a decode before it computes the first. To plan one it drops
        # cells behind the window, and those that the one before still needs are not put back.
        native.n_batch = native.n_ubatch
    native.n_seq_max = n_seq_max
    # One row a sequence, and the draft tokens of all together. Each row costs twice the vocabulary's size in
    # floats (1.2 MiB for 152,000 tokens); the default would reserve 297 MiB.
    num_drafted = _num_drafted_tokens(model, params)
    native.n_outputs_max = n_seq_max + num_drafted
    native.n_rs_seq = num_drafted if _has_states(model) else 0
    native.n_ubatch = max(native.n_ubatch, native.n_rs_seq + 2)  # fewer abort the process
    native.n_threads = native.n_threads_batch = n_threads
    native.kv_unified = not params.isolated
    native.swa_full = params.swa_full
    native.no_perf = True
    native.type_k = NATIVE_TYPES[params.type_k].number
    native.type_v = NATIVE_TYPES[params.type_v].number
    native.flash_attn_type = FLASH_ATTENTION[params.flash_attention]
    if params.rope_scaling is not RopeScaling.MODEL:
        native.rope_scaling_type = ROPE_SCALING[params.rope_scaling]
        if params.rope_scaling is not RopeScaling.NONE and params.rope_factor:
            native.rope_freq_scale = 1.0 / params.rope_factor
    return native


def _num_drafted_tokens(model: Native, params: LoadParams) -> int:
    """At most for one sequence: no more than it can reject at once."""
    wanted = min(max(params.num_drafted_tokens, 0), MAX_DRAFTED_TOKENS)
    if not _has_states(model):
        return wanted
    architecture, number = metadata(model, "general.architecture"), partial(metadata_int, model)
    size_bytes = lib.llama_model_size(model.pointer)
    return min(wanted, most_snapshots(architecture, number, size_bytes, params.n_seq_max))


def _has_states(model: Native) -> bool:
    return bool(lib.llama_model_is_recurrent(model.pointer) or lib.llama_model_is_hybrid(model.pointer))


def _check_types(model: Native, params: LoadParams) -> None:
    """Layers with a sliding window may have heads of another length."""
    key_length, value_length = _head_lengths(model)
    check_types(params, key_length, value_length)
    check_types(
        params,
        metadata_int(model, "attention.key_length_swa"),
        metadata_int(model, "attention.value_length_swa"),
    )


def _head_lengths(model: Native) -> tuple[int, int]:
    n_head = lib.llama_model_n_head(model.pointer)
    usual = lib.llama_model_n_embd(model.pointer) // n_head if n_head else 0
    key_length, value_length = (metadata_int(model, f"attention.{one}_length") for one in ("key", "value"))
    return key_length or usual, value_length or usual


def _round_up(n_ctx: int) -> int:
    return max(-(-n_ctx // N_CTX_STEP), 1) * N_CTX_STEP


def make_context(model: Native, native: lib.llama_context_params, params: LoadParams) -> Native:
    path = params.path
    _check_memory(model, native, params)
    pointer = lib.llama_init_from_model(model.pointer, native)
    if not pointer:
        log_lines, reason = library().recent, library().reason()
        raise ModelLoadError(load_errors.context_refusal(path.name, native.n_ctx, log_lines, reason))
    return Native("context", pointer, lib.llama_free)


def num_threads(wanted: int, n_params: int) -> int:
    """As requested, else the physical cores, minus one for the window if there are more than two.

    A small model gets one: threads synchronise after every operation and spin until all are done. With the
    starter model two are a quarter faster on a quiet machine, and nine times slower beside a busy process
    (measured).
    """
    cores = num_physical_cores()
    if wanted > 0:
        return min(wanted, cores)
    return 1 if n_params < SMALL_MODEL_PARAMS else max(cores - 1, min(cores, 2))


@contextlib.contextmanager
def _lens_of(
    model: Native,
    shared: lib.llama_context_params,
    params: LoadParams,
    info: ModelInfo,
    adapters: Sequence[Native],
) -> Iterator[LlamaLens]:
    """It makes contexts as it needs them."""
    num_layers = int(lib.llama_model_n_layer(model.pointer))

    def context_of(num_tokens: int, callback: object) -> tuple[Native, ModelInfo]:
        native = lib.llama_context_params.from_buffer_copy(shared)
        native.n_ctx = _round_up(num_tokens)
        native.n_seq_max = 2  # a chat's, and one for what the layers say
        native.n_rs_seq = 0
        native.n_outputs_max = max(num_layers, NUM_OUTPUTS)
        native.n_batch = native.n_ubatch = max(native.n_outputs_max, min(DEFAULT_N_UBATCH, native.n_ctx))
        native.kv_unified = native.swa_full = True
        native.cb_eval = callback
        context = make_context(model, native, params)
        use_adapters(context, adapters, params.adapters)
        lens_info = replace(
            info,
            n_ctx=lib.llama_n_ctx(context.pointer),
            n_seq_max=native.n_seq_max,
            n_batch=lib.llama_n_batch(context.pointer),
            n_ubatch=lib.llama_n_ubatch(context.pointer),
            num_drafted_tokens=native.n_outputs_max - native.n_seq_max,
            is_unified=True,
        )
        return context, lens_info

    with MappedFiles(params.path if params.use_mmap else None) as files:
        lens = LlamaLens(context_of, model, files, can_copy=info.is_unified and info.has_plain_attention)
        try:
            yield lens
        finally:
            lens.close()


def _default_n_ctx(model: Native, params: LoadParams) -> int:
    affordable = int(free_memory_bytes() * KV_SHARE_OF_RAM) // _max_cell_bytes(model, params)
    return min(DEFAULT_N_CTX, affordable)


def _check_memory(model: Native, native: lib.llama_context_params, params: LoadParams) -> None:
    """The KV cache is written at once: one too large would not fail, the system would kill the process."""
    available = free_memory_bytes() + (worker_bytes(params.workers) if params.workers else 0)
    available += sum(gpu.free_bytes for gpu in gpus() if gpu.kind is DeviceKind.GPU)
    needed = native.n_ctx * _max_cell_bytes(model, params)
    if needed <= available * SHARE_NOT_ASKED:
        return
    if native.n_ctx <= MAX_PLANNED_CELLS and not params.workers:
        devices = _chosen_devices(params)
        needed = total(context_need(params.path, _model_params(params, devices), native)).total_bytes
    if needed > available:
        raise ModelLoadError(
            said(
                "{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB, but only "
                "{available:.1f} GiB are free. Choose a smaller context (--ctx).",
                tokens=native.n_ctx,
                name=params.path.name,
                needed=needed / 2**30,
                available=available / 2**30,
            )
        )


def _max_cell_bytes(model: Native, params: LoadParams) -> int:
    """An upper bound: keys and values as if all layers were equal; some keep less, or nothing."""
    # The library reports the heads of the first layer, which may have none.
    num_heads = metadata_int(model, "attention.head_count_kv") or lib.llama_model_n_head(model.pointer)
    key_length, value_length = _head_lengths(model)
    row = row_bytes(params.type_k, num_heads * key_length) + row_bytes(
        params.type_v, num_heads * value_length
    )
    return max(int(lib.llama_model_n_layer(model.pointer)) * row, 1)


def _n_ctx_scaled(model: Native, params: LoadParams, n_ctx_train: int) -> int:
    """The context length with the chosen RoPE scaling; 0 with the model's own."""
    if lib.llama_model_rope_type(model.pointer) == lib.LLAMA_ROPE_TYPE_NONE:
        return 0
    original = metadata_int(model, "rope.scaling.original_context_length") or n_ctx_train
    if params.rope_scaling is RopeScaling.NONE:
        return original
    is_chosen = params.rope_scaling is not RopeScaling.MODEL and params.rope_factor
    return int(original * params.rope_factor) if is_chosen else 0


def _model_info(
    model: Native,
    context: Native,
    native: lib.llama_context_params,
    params: LoadParams,
    n_ctx_train: int,
    senses: Senses,
) -> ModelInfo:
    pointer, path = model.pointer, params.path
    description = ctypes.create_string_buffer(256)
    lib.llama_model_desc(pointer, description, len(description))
    n_swa, is_recurrent = lib.llama_model_n_swa(pointer), lib.llama_model_is_recurrent(pointer)
    num_streams = 1 if native.kv_unified else native.n_seq_max
    is_plain = has_one_kind_of_cells(context, num_streams)
    can_take_back = is_plain or n_swa or native.n_rs_seq
    template = (chat_template(model) or "") + (chat_template(model, "tool_use") or "")
    lines, native_library = library().loaded.copy(), library_info()
    taken = memory_taken(lines, lib.llama_model_size(pointer))
    file_type = metadata(model, "general.file_type")
    info = ModelInfo(
        path=path,
        name=name_of(model) or path.stem,
        quantisation=quantisation_name(int(file_type) if file_type.isdigit() else -1),
        description=printable(description.value.decode("utf-8", "replace")),
        architecture=printable(metadata(model, "general.architecture")),
        n_vocab=lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(pointer)),
        n_params=lib.llama_model_n_params(pointer),
        size_bytes=lib.llama_model_size(pointer),
        n_ctx=lib.llama_n_ctx(context.pointer),
        n_ctx_train=n_ctx_train,
        n_seq_max=lib.llama_n_seq_max(context.pointer),
        n_batch=lib.llama_n_batch(context.pointer),
        n_ubatch=lib.llama_n_ubatch(context.pointer),
        num_drafted_tokens=native.n_outputs_max - native.n_seq_max if can_take_back else 0,
        n_swa=n_swa,
        is_recurrent=is_recurrent,
        # Some composite memories are not flagged as such.
        is_hybrid=lib.llama_model_is_hybrid(pointer) or not (is_plain or n_swa or is_recurrent),
        takes_checkpoints=bool(n_swa or is_recurrent or lib.llama_model_is_hybrid(pointer)),
        max_checkpoint_bytes=params.checkpoint_mib * 2**20 or usual_checkpoint_bytes(),
        is_unified=native.kv_unified,
        # The library reports that for recurrent states, too, where only a position would change.
        can_shift=is_plain
        and can_rotate_again(params.type_k, _head_lengths(model)[0])
        and lib.llama_memory_can_shift(lib.llama_get_memory(context.pointer)),
        cell_bytes=_cell_bytes(model, context) if is_plain else 0,
        library=native_library,
        sampling=_recommended_sampling(model),
        n_ctx_scaled=_n_ctx_scaled(model, params, n_ctx_train),
        memory=total(taken) + MemoryNeed(weights_bytes=senses.size_bytes),
        memory_elsewhere=tuple((name, need) for name, need in taken.items() if name != HERE),
        n_gpu_layers=params.n_gpu_layers,
        has_template=bool(template),
        takes_tools=TOOLS in template,
        thinks=any(sign in template for sign in THINKING),
        is_same_alone=is_same_alone(lines, native_library, params),
        fim=_fim_tokens(model),
        adapters=params.adapters,
        senses=senses,
        loaded_as=_without_places(replace(params, n_ctx=lib.llama_n_ctx(context.pointer))),
        digest=file_digest(path),
    )
    assert info.n_ctx_seq == lib.llama_n_ctx_seq(context.pointer)
    return info


def _without_places(params: LoadParams) -> LoadParams:
    """It is told to others, who have other folders and machines."""
    adapters = tuple(replace(adapter, path=Path(adapter.path.name)) for adapter in params.adapters)
    return replace(
        params, path=Path(params.path.name), adapters=adapters, workers=(), draft_model=None, projector=None
    )


def _fim_tokens(model: Native) -> FimTokens:
    vocab = lib.llama_model_get_vocab(model.pointer)
    return FimTokens(
        prefix=lib.llama_vocab_fim_pre(vocab),
        suffix=lib.llama_vocab_fim_suf(vocab),
        middle=lib.llama_vocab_fim_mid(vocab),
        repository=lib.llama_vocab_fim_rep(vocab),
        file=lib.llama_vocab_fim_sep(vocab),
    )


def _cell_bytes(model: Native, context: Native) -> int:
    """The size of a cell: the state of two tokens minus that of one. 0 if they cannot be computed.

    The library has no call for it, and layers may differ. The decode also warms up the model.
    """
    memory = lib.llama_get_memory(context.pointer)
    tokens = (ctypes.c_int32 * 2)()
    if lib.llama_decode(context.pointer, lib.llama_batch_get_one(tokens, len(tokens))) != 0:
        return 0
    two_cells = lib.llama_state_seq_get_size(context.pointer, 0)
    lib.llama_memory_seq_rm(memory, 0, 1, -1)
    one_cell = lib.llama_state_seq_get_size(context.pointer, 0)
    lib.llama_memory_clear(memory, False)  # the search for free cells starts from the first one again
    num_words = 6 if lib.llama_model_rope_type(model.pointer) in M_ROPE_TYPES else 3  # see `cell_reader`
    return int(two_cells - one_cell - 4 * num_words)


def _recommended_sampling(model: Native) -> SamplingParams:
    """The sampling that the model file recommends, if valid."""
    try:
        return SamplingParams(**dict(_sampling_metadata(model)))
    except (ValueError, OverflowError, InvalidRequestError) as error:
        log.warning("The model's recommended sampling is ignored: %s", error)
        return SamplingParams()


def _sampling_metadata(model: Native) -> Iterator[tuple[str, Any]]:
    usual = SamplingParams()
    for key, name in SAMPLING_KEYS.items():
        if text := metadata(model, f"general.sampling.{key}"):
            yield name, type(getattr(usual, name))(float(text))


def metadata(model: Native, key: str) -> str:
    buffer = ctypes.create_string_buffer(1024)
    length = lib.llama_model_meta_val_str(model.pointer, key.encode(), buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace") if length >= 0 else ""


def name_of(model: Native) -> str:
    """As people call it. Empty if the file has no name."""
    return model_name(*(printable(metadata(model, key)) for key in NAME_KEYS))


def architecture_metadata(model: Native, key: str) -> str:
    return metadata(model, f"{metadata(model, 'general.architecture')}.{key}")


def metadata_int(model: Native, key: str) -> int:
    text = architecture_metadata(model, key)
    return int(text) if text.isdigit() else 0
