"""The logits of the last decode, and the tokens that samplers choose among. Engine thread only.

llama.cpp aborts the process for a row that has none, and a sampler takes any numbers: so rows are checked
before they are sampled.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from functools import cached_property

import llama_cpp as lib
import numpy as np
import numpy.typing as npt
import xxhash

from app.engine.llama.native_library import Native
from app.protocol.errors import BadLogitsError
from app.system.said import said

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Candidates:
    """llama.cpp's `llama_token_data_array`: the whole vocabulary in one buffer.

    It is refilled for each token and narrowed down in place.
    """

    def __init__(self, n_vocab: int) -> None:
        self._ids = np.arange(n_vocab, dtype=np.int32)
        self._data = np.zeros(n_vocab, TOKEN_DATA)
        self._array = lib.llama_token_data_array()

    def fill(self, logits: npt.NDArray[np.float32]) -> None:
        self._data["id"] = self._ids
        self._data["logit"] = logits
        self._data["p"] = 0.0
        self._point_at(len(self._data))

    def apply(self, sampler: object) -> None:
        lib.llama_sampler_apply(sampler, ctypes.byref(self._array))

    def apply_in_parts(self, sampler: object, size: int) -> Iterator[None]:
        """As `apply` of a sampler that looks at each token by itself. Yields after so many tokens."""
        for start in range(0, len(self._data), size):
            part = self._data[start : start + size]
            array = lib.llama_token_data_array(
                data=part.ctypes.data_as(lib.llama_token_data_p), size=len(part), selected=-1, sorted=False
            )
            lib.llama_sampler_apply(sampler, ctypes.byref(array))
            yield

    def keep_only(self, token_id: int) -> None:
        self._data[0] = (token_id, 0.0, 1.0)
        self._point_at(1)
        self._array.selected = 0

    @property
    def left(self) -> npt.NDArray[np.void]:
        """A view of the remaining tokens: ids, logits and, after a sampler that draws, probabilities."""
        # XTC drops the first ones.
        moved = ctypes.addressof(self._array.data.contents) - self._data.ctypes.data
        start = moved // TOKEN_DATA.itemsize
        return self._data[start : start + self._array.size]

    @property
    def selected(self) -> int:
        """The id of the token that was chosen."""
        assert 0 <= self._array.selected < self._array.size, "the chain chose nothing"
        return int(self.left[self._array.selected]["id"])

    def _point_at(self, size: int) -> None:
        self._array.data = self._data.ctypes.data_as(lib.llama_token_data_p)
        self._array.size = size
        self._array.selected = -1
        self._array.sorted = False


LOOK_EVERY = 16  # decodes: every so many, all logits of a row are checked, else the first few
NUM_FEW = 8


class Logits:
    """By the row of the batch."""

    def __init__(self, context: Native, n_vocab: int, check_thread: Callable[[], None]) -> None:
        self._context, self._n_vocab, self._check_thread = context, n_vocab, check_thread
        self._views: dict[int, npt.NDArray[np.float32]] = {}
        self._rows: list[int] = []  # of the last decode, if that succeeded
        self._bad_rows: set[int] = set()  # of those
        self._num_decodes = 0

    def forget(self) -> None:
        """Before every decode: the rows of an earlier one would be sampled silently."""
        self._rows = []

    def note_decoded(self, rows: list[int]) -> None:
        self._num_decodes += 1
        self._rows, self._bad_rows = rows, self._rows_of_bad_logits(rows)

    def checked_context(self, row: int, *, looks_at_all: bool = False) -> object:
        """The context, after checking that `row` has fresh and valid logits. Raises BadLogitsError.

        Sure as far as `_rows_of_bad_logits` looks, and with `looks_at_all` entirely.
        """
        self._check_thread()
        assert row in self._rows, f"row {row} has no logits"  # llama.cpp would abort the process
        if row in self._bad_rows or (looks_at_all and not _are_sane(self[row])):
            kind = said("NaN or infinite") if self[row].any() else said("only zeros")
            raise BadLogitsError(
                said(
                    "The model's logits are {kind}, so no token can be sampled. The file may be damaged: "
                    "download it again, or open another one.",
                    kind=kind,
                )
            )
        return self._context.pointer

    def likeliest(self, row: int) -> tuple[int, float]:
        """The likeliest token of `row`, and its probability. Raises BadLogitsError."""
        self.checked_context(row)
        logits = self[row]
        token_id = int(logits.argmax())
        return token_id, float(1.0 / np.exp(logits - logits[token_id]).sum())

    def hash_of(self, row: int) -> int:
        """Of all bits of the row, which takes as long as to read it: 0.5% of a step of eight chats."""
        return xxhash.xxh3_64_intdigest(self[row].data) & 0xFFFFFFFF

    def __getitem__(self, row: int) -> npt.NDArray[np.float32]:
        """Logits of one row, shape (n_vocab,): a view that the next decode overwrites."""
        address = ctypes.addressof(self._pointer(row).contents)
        view = self._views.get(address)
        if view is None:  # one for each place in llama.cpp's output buffer, which moves only when it grows
            values = (ctypes.c_float * self._n_vocab).from_address(address)
            view = self._views[address] = np.ctypeslib.as_array(values)
        return view

    def _pointer(self, row: int) -> ctypes._Pointer[ctypes.c_float]:
        pointer = lib.llama_get_logits_ith(self._context.pointer, row)
        assert pointer, f"llama.cpp has no logits for row {row}"
        first: ctypes._Pointer[ctypes.c_float] = pointer
        return first

    @cached_property
    def candidates(self) -> Candidates:
        """One buffer for all samplers: 12 bytes a token of the vocabulary."""
        return Candidates(self._n_vocab)

    def _rows_of_bad_logits(self, rows: list[int]) -> set[int]:
        """The rows with invalid logits.

        A state that is no numbers leaves none in its row, so the first few tell. A weight of the output that
        is none spoils one logit, but in every row, so each is read whole now and then, and by a sampler with
        the first token of an answer and the one that ends it: to do that always takes as long as all else
        between two decodes, for they are not in the caches any more.
        """
        return {row for row in rows if self._must_look(row) and not _are_sane(self[row])}

    def _must_look(self, row: int) -> bool:
        few = self._pointer(row)[: min(NUM_FEW, self._n_vocab)]
        is_its_turn = (self._num_decodes + row) % LOOK_EVERY == 0
        return is_its_turn or not any(few) or not math.isfinite(sum(few))


def _are_sane(logits: npt.NDArray[np.float32]) -> bool:
    peak: float = logits.item(logits.argmax())  # propagates NaN and +inf; `max` is slower in numpy
    return math.isfinite(peak) and (peak != 0.0 or bool(logits.any()))
