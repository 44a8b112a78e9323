"""Many step reports in little memory: the newest as objects, older ones packed by the dozen.

A report of eight running sequences is forty Python objects and 10 KB. Packed it is some hundred bytes and no
object of its own, so that ten thousand of them burden neither memory nor garbage collector. Knows no widget.
"""

import pickle
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, islice
from math import ceil
from operator import attrgetter
from typing import Any, Generic, TypeVar, overload

from app.protocol.output import Output, Usage
from app.protocol.report import CellUsage, SlotSnapshot, Span, StepReport

PER_PACK = 32
NUM_UNPACKED = 64  # of the newest, which panels ask for again and again

T = TypeVar("T")
Flat = tuple[Any, ...]


class _Row(Generic[T]):
    """One kind of value as a flat tuple, and back. The fields of its `usage`, if it has one, come last."""

    def __init__(self, kind: type[T]) -> None:
        names = _names(kind)
        outer = [name for name in names if name != "usage"]
        inner = [f"usage.{name}" for name in _names(Usage)] if "usage" in names else []
        self._kind: Callable[..., T] = kind
        self._num_outer = len(outer)
        self._usage_at = names.index("usage") if inner else None
        self.flat = attrgetter(*outer, *inner)

    def value(self, flat: Flat) -> T:
        if self._usage_at is None:
            return self._kind(*flat)
        usage = Usage(*flat[self._num_outer :])
        return self._kind(*flat[: self._usage_at], usage, *flat[self._usage_at : self._num_outer])


def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


_OUTPUT, _SPAN, _SLOT, _CELLS = _Row(Output), _Row(Span), _Row(SlotSnapshot), _Row(CellUsage)
_REST = tuple(name for name in _names(StepReport) if name not in ("outputs", "spans", "slots", "cells"))
_rest_of = attrgetter(*_REST)


def pack(reports: Sequence[StepReport]) -> bytes:
    """Repeated values, such as names, are stored once."""
    flat = [
        (
            _rest_of(report),
            [_OUTPUT.flat(output) for output in report.outputs],
            [_SPAN.flat(span) for span in report.spans],
            [_SLOT.flat(slot) for slot in report.slots],
            _CELLS.flat(report.cells),
        )
        for report in reports
    ]
    return zlib.compress(pickle.dumps(flat, pickle.HIGHEST_PROTOCOL), 1)


def unpack(packed: bytes) -> list[StepReport]:
    return [
        StepReport(
            **dict(zip(_REST, rest, strict=True)),
            outputs=tuple(map(_OUTPUT.value, outputs)),
            spans=tuple(map(_SPAN.value, spans)),
            slots=tuple(map(_SLOT.value, slots)),
            cells=_CELLS.value(cells),
        )
        for rest, outputs, spans, slots, cells in pickle.loads(zlib.decompress(packed))
    ]


@dataclass(frozen=True, slots=True)
class StepsSoFar:
    """The reports that were kept at one moment, oldest first. Any thread."""

    packs: tuple[bytes, ...]
    num_left_out: int  # of the first pack
    newest: tuple[StepReport, ...]

    def __len__(self) -> int:
        return len(self.packs) * PER_PACK - self.num_left_out + len(self.newest)

    def __iter__(self) -> Iterator[StepReport]:
        older = chain.from_iterable(map(unpack, self.packs))
        return chain(islice(older, self.num_left_out, None), self.newest)


class PackedSteps(Sequence[StepReport]):
    """The newest `max_steps` reports, oldest first. One thread."""

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        self._packs: deque[bytes] = deque()
        self._num_left_out = 0  # of the first pack: too old
        self._newest: deque[StepReport] = deque()
        self._open: tuple[bytes, list[StepReport]] = (b"", [])  # the pack that was unpacked last

    @property
    def so_far(self) -> StepsSoFar:
        return StepsSoFar(tuple(self._packs), self._num_left_out, tuple(self._newest))

    def append(self, report: StepReport) -> None:
        self._newest.append(report)
        if len(self._newest) == NUM_UNPACKED + PER_PACK:
            self._packs.append(pack([self._newest.popleft() for _ in range(PER_PACK)]))
        if len(self) > self._max_steps:
            self._forget_oldest()

    def newest(self, number: int) -> list[StepReport]:
        """So many of them, oldest first."""
        if number <= len(self._newest):
            return list(islice(self._newest, len(self._newest) - number, None))
        packs = list(self._packs)[-ceil((number - len(self._newest)) / PER_PACK) :]
        found = [*chain.from_iterable(map(unpack, packs)), *self._newest]
        return found[len(found) - number :]

    def __len__(self) -> int:
        return self._num_packed + len(self._newest)

    def __iter__(self) -> Iterator[StepReport]:
        return iter(self.so_far)

    @overload
    def __getitem__(self, index: int) -> StepReport: ...
    @overload
    def __getitem__(self, index: slice) -> list[StepReport]: ...
    def __getitem__(self, index: int | slice) -> StepReport | list[StepReport]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        if at >= self._num_packed:
            return self._newest[at - self._num_packed]
        place, in_pack = divmod(at + self._num_left_out, PER_PACK)
        return self._look_into(self._packs[place])[in_pack]

    @property
    def _num_packed(self) -> int:
        return len(self._packs) * PER_PACK - self._num_left_out

    def _look_into(self, packed: bytes) -> list[StepReport]:
        if self._open[0] is not packed:
            self._open = (packed, unpack(packed))
        return self._open[1]

    def _forget_oldest(self) -> None:
        if not self._packs:
            self._newest.popleft()
            return
        self._num_left_out += 1
        if self._num_left_out == PER_PACK:
            self._packs.popleft()
            self._num_left_out = 0
