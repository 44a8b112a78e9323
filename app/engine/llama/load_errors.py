"""Explains from llama.cpp's log why it did not load a model, and what to do. Pure functions.

Unknown errors are quoted from llama.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from string import Formatter

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

UNKNOWN_FAMILY = said(
    "{name} has the architecture “{family}”, which this version of llama.cpp does not support."
)
UNKNOWN_TOKENIZER = said(
    "{name} uses the tokenizer “{kind}”, which this version of llama.cpp does not support."
)
UNKNOWN_WEIGHTS = said("{name} has tensors of type {kind}, which this version of llama.cpp does not support.")
NEWER_FORMAT = said("{name} uses a newer version of the GGUF format ({version}).")
BAD_WEIGHTS = said("{name} has weights that are NaN or infinite. The file may be damaged.")
INCOMPLETE = said("{name} is incomplete: it is truncated or still downloading.")
MISSING_PART = said("A part of {name} is missing or cannot be read: {part}.")
LATER_PART = said("{name} is part {number} of a model.")
WRONG_NAMES = said("{name} is part of a model whose parts have been renamed.")
PROJECTOR = said("{name} is a projector: it lets a model see or hear, and answers nothing itself.")
MISSING_WEIGHTS = said("{name} lacks the tensor “{weights}”.")
MISSING_VALUE = said("{name} lacks the metadata “{key}”.")
DAMAGED = said("The header of {name} cannot be read: the file is damaged or incomplete.")
NO_MEMORY = said("There is not enough memory for {name}.")
NO_MEMORY_OF = said("There is not enough memory for {name}: an allocation of {size:.1f} GiB failed.")

# What a pattern has found, as the texts have it. The library counts in MiB with decimals, or in bytes.
READ: dict[str, Callable[[str], object]] = {
    "part": lambda path: path.rsplit("/", 1)[-1],
    "number": lambda index: int(index) + 1,
    "size": lambda size: float(size) / (2**10 if "." in size else 2**30),
}

# The first match counts, so exact causes come before errors that follow from them.
TABLE: tuple[tuple[str, Said, Said], ...] = (
    (r"found tensors with invalid data", BAD_WEIGHTS, AGAIN),
    (r"unknown model architecture: '([^']*)'", UNKNOWN_FAMILY, NEWER),
    (r"unknown pre-tokenizer type: '([^']*)'", UNKNOWN_TOKENIZER, NEWER),
    (r"unknown tokenizer: '([^']*)'", UNKNOWN_TOKENIZER, NEWER),
    (r"has invalid ggml type (\d+)", UNKNOWN_WEIGHTS, NEWER),
    (r"GGUF file is version (\d+) but", NEWER_FORMAT, NEWER),
    (r"attempted to allocate +([\d.]+) MB", NO_MEMORY_OF, SMALLER),
    (r"failed to allocate .*buffer of size (\d+)", NO_MEMORY_OF, SMALLER),
    (r"allocating [\d.]+ MiB on device .*: cudaMalloc failed: out of memory", NO_MEMORY, SMALLER),
    (r"(?:failed|unable) to allocate", NO_MEMORY, SMALLER),
    (r"[Cc]annot allocate memory", NO_MEMORY, SMALLER),
    (r"data is not within the file bounds", INCOMPLETE, AGAIN),
    (r"illegal split file idx: (\d+)", LATER_PART, FIRST),
    (r"invalid split file (?:name|idx):", WRONG_NAMES, RENAMED),
    (r"CLIP cannot be used as main model", PROJECTOR, LANGUAGE),
    (r"failed to load GGUF split from (.+)", MISSING_PART, COMPLETE),
    (r"missing tensor '([^']*)'", MISSING_WEIGHTS, AGAIN),
    (r"tensor '([^']*)' not found", MISSING_WEIGHTS, AGAIN),
    (r"key not found in model: (\S+)", MISSING_VALUE, AGAIN),
    (r"failed to read (?:header|key-value pairs|tensor info|tensor data)", DAMAGED, AGAIN),
)


def refusal(name: str, lines: Iterable[str], reason: str) -> str:
    """For a model. `lines` are the log, `reason` its most telling line."""
    log = "\n".join(lines)
    for pattern, why, what_to_do in TABLE:
        if found := re.search(pattern, log):
            return together(_reason(why, name, found), what_to_do)
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
    for pattern, reason_of, what_to_do in TABLE:
        if what_to_do is SMALLER and (found := re.search(pattern, log)):
            too_large = said("A context of {tokens:,} tokens is too large.", tokens=num_tokens)
            return together(too_large, _reason(reason_of, name, found), SMALLER)
    return together(why, SMALLER)


def _reason(why: Said, name: str, found: re.Match[str]) -> Said:
    fields = (field for _text, field, _spec, _how in Formatter().parse(why.template) if field)
    values = {field: READ.get(field, str)(found[1]) for field in fields if field != "name"}
    return said(why.template, name=name, **values)
