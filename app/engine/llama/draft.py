"""Loads what drafts beside the main model: its own heads, or a draft model of the same vocabulary.

The thread that loads.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import llama_cpp as lib

from app.engine.llama.heads import LlamaHeads
from app.engine.llama.memory import HERE, memory_taken, total
from app.engine.llama.native_library import Native, library, printable
from app.engine.llama.weights import tensors_of
from app.protocol.errors import EngineError, ModelLoadCancelledError, ModelLoadError
from app.system.said import said, together

if TYPE_CHECKING:
    from app.engine.llama.backend import LlamaBackend
    from app.protocol.load import LoadParams

log = logging.getLogger(__name__)

# As in llama.cpp's common/speculative.cpp.
MAX_SIZE_DIFFERENCE = 128  # tokens: some files pad the vocabulary
FIRST_COMPARED = 5  # earlier tokens may have different names in models of one family

END = ".nextn.eh_proj.weight"  # each head has one
# Architectures whose heads llama.cpp computes; where these may be several, each is for one further token.
CHAINED = {"hy_v3", "mimo2", "step35"}
SINGLE = {"bailingmoe3", "cohere2moe", "deepseek2", "glm4moe", "nemotron_h_moe", "qwen35", "qwen35moe"}


def has_heads(params: LoadParams) -> bool:
    """Whether to load those in the file: no other model drafts."""
    is_asked = params.num_drafted_tokens > 0 and params.draft_model is None
    return is_asked and any(name.endswith(END) for name in tensors_of(params.path))


def _are_computed(backend: LlamaBackend, number: int) -> bool:
    """Whether llama.cpp can compute so many heads: it ends the process where it cannot."""
    architecture, names = backend.model.architecture, tensors_of(backend.model.path)
    heads = [name.removesuffix(END) for name in names if name.endswith(END)]
    is_small = architecture == "deepseek2" and not {f"{head}.attn_q_a.weight" for head in heads} <= names
    is_known = architecture in CHAINED or (architecture in SINGLE and number == 1)
    return is_known and number == len(heads) and not is_small


@contextlib.contextmanager
def heads_beside(backend: LlamaBackend, model: Native, main: Native, shared: object) -> Iterator[None]:
    """Its heads, which are freed on leaving. Where they cannot be used, the log says why.

    `shared` are the parameters of the main context.
    """
    if not _are_computed(backend, lib.llama_model_n_layer_nextn(model.pointer)):
        yield
        return
    params = lib.llama_context_params.from_buffer_copy(shared)
    params.ctx_type, params.ctx_other = lib.LLAMA_CONTEXT_TYPE_MTP, main.pointer
    params.n_outputs_max, params.n_rs_seq = params.n_seq_max, 0
    library().loaded.clear()
    with contextlib.ExitStack() as stack:
        try:
            # Its functions have the names that a C++ compiler gave them; without them it is not imported.
            native = importlib.import_module("llama_cpp.llama_cpp_ext")
            pointer = lib.llama_init_from_model(model.pointer, params)
            context = stack.enter_context(Native("context", pointer, lib.llama_free))
        except (AttributeError, EngineError) as error:
            log.warning("%s: its heads are not used: %s", backend.model.path.name, error)
        else:
            backend.heads = LlamaHeads(model, main, context, native, backend.model)
            taken = memory_taken(library().loaded.copy(), 0)
            elsewhere = tuple((name, need) for name, need in taken.items() if name != HERE)
            backend.model = replace(
                backend.model,
                has_heads=True,
                memory=backend.model.memory + total(taken),
                memory_elsewhere=backend.model.memory_elsewhere + elsewhere,
            )
        yield
        backend.heads = None


@contextlib.contextmanager
def draft_beside(
    backend: LlamaBackend, opened: AbstractContextManager[LlamaBackend], path: Path
) -> Iterator[None]:
    """`opened` loads the model at `path`, which is freed on leaving. Raises ModelLoadError."""
    with contextlib.ExitStack() as stack:
        try:
            draft = stack.enter_context(opened)
            _check(backend, draft)
        except ModelLoadCancelledError:
            raise
        except ModelLoadError as error:
            refusal = said(
                "{draft} cannot be a draft model for {model}.", draft=path.name, model=backend.model.path.name
            )
            what_to_do = said("Choose another draft model, or none, in the model's settings.")
            raise ModelLoadError(together(refusal, str(error), what_to_do)) from error
        backend.draft = draft
        backend.model = replace(
            backend.model,
            draft_model=draft.model.name,
            memory=backend.model.memory + draft.model.memory,
            memory_elsewhere=backend.model.memory_elsewhere + draft.model.memory_elsewhere,
        )
        yield


def share_of_progress(params: LoadParams) -> float:
    """The main model's share of the progress, next to its draft model."""
    draft = params.of_draft_model
    if draft is None:
        return 1.0
    size, draft_size = _size_bytes(params.path), _size_bytes(draft.path)
    return size / max(size + draft_size, 1)


def _size_bytes(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _check(model: LlamaBackend, draft: LlamaBackend) -> None:
    """As llama-server does. Raises ModelLoadError."""
    if draft.model.has_states:
        raise ModelLoadError(
            said("It cannot remove tokens it has computed, so it cannot reject draft tokens.")
        )
    if _marks_of(model) != _marks_of(draft):
        raise ModelLoadError(said("Its vocabulary type or its special tokens differ."))
    n_vocab, n_draft = model.model.n_vocab, draft.model.n_vocab
    if abs(n_vocab - n_draft) > MAX_SIZE_DIFFERENCE:
        raise ModelLoadError(
            said("Its vocabulary has {theirs:,} tokens, the model's {ours:,}.", theirs=n_draft, ours=n_vocab)
        )
    for token_id in range(FIRST_COMPARED, min(n_vocab, n_draft)):
        ours, theirs = (lib.llama_vocab_get_text(one.vocab, token_id) for one in (model, draft))
        if ours != theirs:
            raise ModelLoadError(
                said(
                    "Token {number} is “{theirs}” in its vocabulary and “{ours}” in the model's.",
                    number=token_id,
                    theirs=_shown(theirs),
                    ours=_shown(ours),
                )
            )


def _marks_of(backend: LlamaBackend) -> tuple[object, ...]:
    """The vocabulary's type, and its begin and end tokens where it adds them."""
    vocab = backend.vocab
    bos, eos = lib.llama_vocab_bos(vocab), lib.llama_vocab_eos(vocab)
    adds_bos, adds_eos = lib.llama_vocab_get_add_bos(vocab), lib.llama_vocab_get_add_eos(vocab)
    return lib.llama_vocab_type(vocab), adds_bos, adds_bos and bos, adds_eos, adds_eos and eos


def _shown(text: bytes) -> str:
    return printable(text.decode("utf-8", "replace"))[:40]
