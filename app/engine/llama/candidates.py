"""The tokens that samplers choose among, as llama.cpp's `llama_token_data_array`. Engine thread only."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Candidates:
    """The whole vocabulary in one buffer, which is refilled for each token and narrowed down in place."""

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
        moved = (
            ctypes.addressof(self._array.data.contents) - self._data.ctypes.data
        )  # XTC drops the first ones
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
