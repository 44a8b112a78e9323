"""What every run of the engine is compared with: the same tokens in one sequence, and nothing else.

Lets a decode break off, too, which is what such runs must withstand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.batch import Batch, BatchSpan
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.sampler import LlamaSampler
from app.engine.llama.weights import has_patches
from app.protocol.load import LoadParams

# A row's numbers are the same, to the last bit, alone and among others. Without the patches, or with other
# kernels, attention sums in the order of the cells, and a close choice among experts may tip. Then this is
# of a standard deviation of the row's logits; a token that is missing changes most rows by 0.1 to 1.3.
IS_SAME_ALONE = has_patches() and b"AVX2 = 1" in lib.llama_print_system_info()
NOISE = 0.0 if IS_SAME_ALONE else 0.1
ROWS_ALONE = 32

Logits = npt.NDArray[np.float32]
Tokens = tuple[int, ...]


@dataclass
class Comparison:
    num_rows: int = 0
    worst: float = 0.0  # in standard deviations
    wrong: list[float] = field(default_factory=list)  # of each wrong row

    def add(self, distances: list[float]) -> None:
        self.num_rows += len(distances)
        self.worst = max(self.worst, *distances)
        self.wrong += [off for off in distances if not off <= NOISE]


class Recorder:
    """Keeps the logits of each row that `engine` samples, by all tokens of its sequence up to there."""

    def __init__(self, backend: LlamaBackend) -> None:
        self._backend = backend
        self.engine: Engine | None = None
        self.sampled: dict[Tokens, list[Logits]] = {}
        backend.new_sampler = self._new_sampler  # type: ignore[method-assign]

    def keep(self, row: int) -> None:
        assert self.engine
        batch = self.engine._batch
        span = next(span for span in batch.spans if span.first_row <= row <= span.last_row)
        token_ids = tuple(span.seq.token_ids)
        assert len(token_ids) == batch.positions[row] + 1
        self.sampled.setdefault(token_ids, []).append(self._backend.logits[row].copy())

    def _new_sampler(self, *values: Any) -> _RecordedSampler:
        return _RecordedSampler(LlamaBackend.new_sampler(self._backend, *values), self.keep)


class _RecordedSampler:
    def __init__(self, sampler: LlamaSampler, keep: Callable[[int], None]) -> None:
        self._sampler, self._keep = sampler, keep
        self.close = sampler.close

    @property
    def waits_for_trigger(self) -> bool:
        return self._sampler.waits_for_trigger

    def sample(self, row: int) -> int:
        self._keep(row)
        return self._sampler.sample(row)


def compare(sampled: dict[Tokens, list[Logits]], params: LoadParams) -> Comparison:
    """Each row with that behind the same tokens in a sequence of their own."""
    found, left = Comparison(), sampled.copy()
    n_ctx = max(2048, *map(len, sampled))
    alone = replace(params, n_ctx=n_ctx, n_seq_max=ROWS_ALONE, n_batch=ROWS_ALONE, n_ubatch=0)
    with open_llama_backend(replace(alone, isolated=False, draft_model=None)) as backend:
        for token_ids in _longest(list(sampled)):
            lengths = [number for number in range(1, len(token_ids) + 1) if token_ids[:number] in left]
            for number, expected in logits_alone(backend, token_ids, lengths):
                found.add(_distances(left.pop(token_ids[:number]), expected))
    return found


def _distances(sampled: list[Logits], expected: Logits) -> list[float]:
    """In standard deviations."""
    return [float(np.abs(logits - expected).max() / expected.std()) for logits in sampled]


def logits_alone(
    backend: LlamaBackend, token_ids: Tokens, lengths: Sequence[int]
) -> Iterator[tuple[int, Logits]]:
    """The logits behind beginnings of `token_ids` of these lengths, in order. A view each."""
    backend.truncate(0, 0)
    for start in range(0, len(token_ids), ROWS_ALONE):
        part = token_ids[start : start + ROWS_ALONE]
        batch = Batch(ROWS_ALONE)
        for row, token_id in enumerate(part):
            batch.token_ids[row], batch.positions[row] = token_id, start + row
            batch.seq_ids[row], batch.wants_logits[row] = 0, True
        span = BatchSpan(None, 0, 0, start, len(part), True, True, len(part) - 1)  # type: ignore[arg-type]
        batch.spans.append(span)
        batch.num_rows = len(part)
        backend.decode(batch)
        for number in lengths:
            if start < number <= start + len(part):
                yield number, backend.logits[number - 1 - start]


def _longest(lists: list[Tokens]) -> list[Tokens]:
    """Those that are not the beginning of another one."""
    lists.sort()
    pairs = pairwise([*lists, ()])
    return [one for one, following in pairs if following[: len(one)] != one]


@contextmanager
def broken_off(backend: LlamaBackend, num_nodes: int) -> Iterator[Callable[[], bool]]:
    """The first decode inside ends after so many nodes of its graph, if it has as many."""
    left = num_nodes

    def count(_data: object) -> bool:
        nonlocal left
        left -= 1
        return left == 0

    callback = lib.ggml_abort_callback(count)
    lib.llama_set_abort_callback(backend._context.pointer, callback, None)
    yield lambda: left <= 0
    backend._abort_flag._connect(backend._abort_flag._text)
