"""Which models can draft for another one, by their headers: the vocabularies must match. Any thread.

The library checks it again at the load; this is for choosing among many without loading any.
"""

from pathlib import Path

from app.models.gguf_header import TOKENS, GgufHeader, HeaderError, LongArray, read_token_texts
from app.models.load_limits import can_take_back
from app.models.model_file import open_header
from app.system.said import said

# As in llama.cpp's common/speculative.cpp.
MAX_SIZE_DIFFERENCE = 128  # tokens: some files pad the vocabulary
FIRST_COMPARED = 5
MARKS = ("model", "add_bos_token", "add_eos_token", "bos_token_id", "eos_token_id")


def why_not_draft(draft: Path, model: Path) -> str:
    """Why `draft` cannot draft for `model`. Empty if it can."""
    try:
        return _why_not(draft, open_header(draft), model, open_header(model))
    except HeaderError as error:
        return said("{name} cannot be used: {reason}.", name=draft.name, reason=str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        return said("{name} cannot be read: {reason}.", name=draft.name, reason=reason)


def _why_not(draft: Path, theirs: GgufHeader, model: Path, ours: GgufHeader) -> str:
    if not can_take_back(theirs):
        return said("It cannot remove tokens it has computed, so it cannot reject draft tokens.")
    if any(_differs(f"tokenizer.ggml.{mark}", theirs, ours) for mark in MARKS):
        return said("Its vocabulary type or its special tokens differ.")
    num_theirs, num_ours = _num_tokens(theirs), _num_tokens(ours)
    if abs(num_theirs - num_ours) > MAX_SIZE_DIFFERENCE:
        return said(
            "Its vocabulary has {theirs:,} tokens, the model's {ours:,}.", theirs=num_theirs, ours=num_ours
        )
    end = min(num_theirs, num_ours)
    with draft.open("rb") as one, model.open("rb") as other:
        if read_token_texts(one, FIRST_COMPARED, end) != read_token_texts(other, FIRST_COMPARED, end):
            return said("Its tokens differ.")
    return ""


def _differs(key: str, one: GgufHeader, other: GgufHeader) -> bool:
    """A missing value means the default of the vocabulary type."""
    return key in one.values and key in other.values and one.values[key] != other.values[key]


def _num_tokens(header: GgufHeader) -> int:
    tokens = header.values.get(TOKENS)
    return len(tokens) if isinstance(tokens, tuple | LongArray) else 0
