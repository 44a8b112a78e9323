"""Explains from llama.cpp's log why it did not load a model, and what to do. Pure functions.

Unknown errors are quoted from llama.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from app.system.said import Said, said, together

NEWER = said("A newer Skein may open it: update Skein, or open another model.")
AGAIN = said("Download it again, or open another one.")
COMPLETE = said("Put all its parts into one folder, or download them again.")
FIRST = said("Open its first part, the file with “-00001-of-” in its name.")
RENAMED = said("Give its parts the names that they had, or download them again.")
LANGUAGE = said("Open the model that it belongs to.")
SMALLER = said(
    "Choose a smaller context in the model's settings, close other programs, or open a smaller model."
)

Reason = Callable[[str, str], Said]  # the name of the model, what the pattern has found


def _unknown_family(name: str, family: str) -> Said:
    return said(
        "{name} has the architecture “{family}”, which this version of llama.cpp does not support.",
        name=name,
        family=family,
    )


def _unknown_tokenizer(name: str, kind: str) -> Said:
    return said(
        "{name} uses the tokenizer “{kind}”, which this version of llama.cpp does not support.",
        name=name,
        kind=kind,
    )


def _unknown_weights(name: str, kind: str) -> Said:
    return said(
        "{name} has tensors of type {kind}, which this version of llama.cpp does not support.",
        name=name,
        kind=kind,
    )


def _newer_format(name: str, version: str) -> Said:
    return said("{name} uses a newer version of the GGUF format ({version}).", name=name, version=version)


def _bad_weights(name: str, _found: str) -> Said:
    return said("{name} has weights that are NaN or infinite. The file may be damaged.", name=name)


def _incomplete(name: str, _found: str) -> Said:
    return said("{name} is incomplete: it is truncated or still downloading.", name=name)


def _missing_part(name: str, part: str) -> Said:
    return said(
        "A part of {name} is missing or cannot be read: {part}.", name=name, part=part.rsplit("/", 1)[-1]
    )


def _later_part(name: str, index: str) -> Said:
    return said("{name} is part {number} of a model.", name=name, number=int(index) + 1)


def _wrong_names(name: str, _found: str) -> Said:
    return said("{name} is part of a model whose parts have been renamed.", name=name)


def _projector(name: str, _found: str) -> Said:
    return said("{name} is a projector: it lets a model see or hear, and answers nothing itself.", name=name)


def _missing_weights(name: str, weights: str) -> Said:
    return said("{name} lacks the tensor “{weights}”.", name=name, weights=weights)


def _missing_value(name: str, key: str) -> Said:
    return said("{name} lacks the metadata “{key}”.", name=name, key=key)


def _damaged(name: str, _found: str) -> Said:
    return said("The header of {name} cannot be read: the file is damaged or incomplete.", name=name)


def _no_memory(name: str, mib: str) -> Said:
    if not mib:
        return said("There is not enough memory for {name}.", name=name)
    return said(
        "There is not enough memory for {name}: an allocation of {size:.1f} GiB failed.",
        name=name,
        size=float(mib) / 1024,
    )


def _no_memory_bytes(name: str, num_bytes: str) -> Said:
    return _no_memory(name, str(int(num_bytes) / 2**20))


# The first match counts, so exact causes come before errors that follow from them.
TABLE: tuple[tuple[str, Reason, Said], ...] = (
    (r"found tensors with invalid data()", _bad_weights, AGAIN),
    (r"unknown model architecture: '([^']*)'", _unknown_family, NEWER),
    (r"unknown pre-tokenizer type: '([^']*)'", _unknown_tokenizer, NEWER),
    (r"unknown tokenizer: '([^']*)'", _unknown_tokenizer, NEWER),
    (r"has invalid ggml type (\d+)", _unknown_weights, NEWER),
    (r"GGUF file is version (\d+) but", _newer_format, NEWER),
    (r"attempted to allocate +([\d.]+) MB", _no_memory, SMALLER),
    (r"failed to allocate .*buffer of size (\d+)", _no_memory_bytes, SMALLER),
    (r"allocating [\d.]+ MiB on device .*: cudaMalloc failed: out of memory()", _no_memory, SMALLER),
    (r"(?:failed|unable) to allocate()", _no_memory, SMALLER),
    (r"[Cc]annot allocate memory()", _no_memory, SMALLER),
    (r"data is not within the file bounds()", _incomplete, AGAIN),
    (r"illegal split file idx: (\d+)", _later_part, FIRST),
    (r"invalid split file (?:name|idx):()", _wrong_names, RENAMED),
    (r"CLIP cannot be used as main model()", _projector, LANGUAGE),
    (r"failed to load GGUF split from (.+)", _missing_part, COMPLETE),
    (r"missing tensor '([^']*)'", _missing_weights, AGAIN),
    (r"tensor '([^']*)' not found", _missing_weights, AGAIN),
    (r"key not found in model: (\S+)", _missing_value, AGAIN),
    (r"failed to read (?:header|key-value pairs|tensor info|tensor data)()", _damaged, AGAIN),
)


def refusal(name: str, lines: Iterable[str], reason: str) -> str:
    """For a model. `lines` are the log, `reason` its most telling line."""
    log = "\n".join(lines)
    for pattern, why, what_to_do in TABLE:
        if found := re.search(pattern, log):
            return together(why(name, found[1]), what_to_do)
    return together(
        said(
            "llama.cpp cannot load {name}: {reason}.",
            name=name,
            reason=reason or said("the file is damaged or of an unknown kind"),
        ),
        AGAIN,
    )


def context_refusal(name: str, num_tokens: int, lines: Iterable[str], reason: str) -> str:
    """For the context of a model that was loaded."""
    why: str = said(
        "llama.cpp cannot create a context of {tokens:,} tokens for {name}: {reason}.",
        tokens=num_tokens,
        name=name,
        reason=reason or said("no reason given"),
    )
    log = "\n".join(lines)
    memory = next((row for row in TABLE if row[2] is SMALLER and re.search(row[0], log)), None)
    if memory:
        found = re.search(memory[0], log)
        assert found
        why = together(
            said("A context of {tokens:,} tokens is too large.", tokens=num_tokens), memory[1](name, found[1])
        )
    return together(why, SMALLER)
