"""Loads a draft model beside the main model, if both have the same vocabulary.

The thread that loads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import llama_cpp as lib

from app.engine.llama.native_library import printable
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.system.said import said, together

if TYPE_CHECKING:
    from app.engine.llama.backend import LlamaBackend
    from app.protocol.load import LoadParams

# As in llama.cpp's common/speculative.cpp.
MAX_SIZE_DIFFERENCE = 128  # tokens: some files pad the vocabulary
FIRST_COMPARED = 5  # earlier tokens may have different names in models of one family


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
