"""Identifies everything but the tokens that a saved state depends on. Any thread.

The library compares types and sizes only: it accepts the state of another model of the same shape, and the
answers are nonsense.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

import llama_cpp as lib

from app.protocol.load import LoraAdapter
from app.system.llama_library import lender, llama_patches

FORMAT = 1  # increase it when our own format of states changes
HEAD_BYTES = 1 << 20  # metadata; the weights after it are identified by the file's size and time

# Fields of `llama_context_params` that change keys, values, or how they are laid out.
CONTEXT_FIELDS = (
    "rope_scaling_type",
    "rope_freq_base",
    "rope_freq_scale",
    "yarn_ext_factor",
    "yarn_attn_factor",
    "yarn_beta_fast",
    "yarn_beta_slow",
    "yarn_orig_ctx",
    "flash_attn_type",
    "type_k",
    "type_v",
    "swa_full",
    "kv_unified",
)
# The library reads some sixty variables, among them LLAMA_ATTN_ROT_DISABLE: it changes each quantised key.
ENVIRONMENT = ("LLAMA_", "GGML_")


def state_fingerprint(
    path: Path,
    params: lib.llama_context_params,
    n_ctx_seq: int | None,
    adapters: Sequence[LoraAdapter] = (),
) -> str:
    """`n_ctx_seq` only where it matters: the rotation of some models depends on the length of the context."""
    facts: dict[str, object] = {
        "format": FORMAT,
        "library": [lib.__version__, lib.llama_version().decode(), lender(), *llama_patches()],
        "file": _identity(path),
        "adapters": [[*_identity(adapter.path), adapter.scale] for adapter in adapters],
        "context": {name: getattr(params, name) for name in CONTEXT_FIELDS},
        "environment": {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT)},
        "n_seq_max": None if params.kv_unified else params.n_seq_max,
        "n_ctx_seq": n_ctx_seq,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def projector_fingerprint(path: Path) -> str:
    """What the rows of a picture depend on, besides the picture."""
    facts = [lib.llama_version().decode(), lender(), *_identity(path)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """The same wherever the file is, and whenever it was copied."""
    _place, size, _time, head = _identity(path)
    return f"{size} {head}"


def _identity(path: Path) -> list[object]:
    stat = path.stat()
    with path.open("rb") as file:
        head = hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()
    return [str(path.resolve()), stat.st_size, stat.st_mtime_ns, head]
