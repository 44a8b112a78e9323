"""Finds the library's models that can draft for one of them, in a thread. GUI thread."""

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.models.gguf_header import TOKENS, GgufHeader, HeaderError, LongArray, read_token_texts
from app.models.load_limits import can_take_back
from app.models.model_file import ModelFile, open_header
from app.services.model_library import ModelLibrary
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


class DraftCandidates(QObject):
    changed = Signal()

    def __init__(self, path: Path, library: ModelLibrary, parent: QObject) -> None:
        super().__init__(parent)
        self._path = path
        self._library = library
        self._reasons: dict[ModelFile, str] = {}  # why one cannot; empty if it can
        self._is_looking = False
        library.changed.connect(self.look)

    @property
    def fitting(self) -> tuple[ModelFile, ...]:
        """The smallest first."""
        found = [model for model in self._smaller if self._reasons.get(model) == ""]
        return tuple(sorted(found, key=lambda model: model.size_bytes))

    @Slot()
    def look(self) -> None:
        """`changed` follows."""
        if not self._is_looking:
            self._is_looking = True
            spawn(self._look())

    async def _look(self) -> None:
        try:
            while unknown := [model for model in self._smaller if model not in self._reasons]:
                reason = await asyncio.to_thread(why_not_draft, unknown[0].path, self._path)
                if not isValid(self):  # the dialog was closed
                    return
                self._reasons[unknown[0]] = reason
            if isValid(self):
                self.changed.emit()
        finally:
            self._is_looking = False

    @property
    def _smaller(self) -> list[ModelFile]:
        """Only smaller models: a larger one would take as long to draft as this one to decode."""
        model = self._library.model_at(self._path)
        return [
            other
            for other in self._library.models
            if other.can_chat and model and other.size_bytes < model.size_bytes
        ]
