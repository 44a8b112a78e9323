"""The values of this folder as bytes and back: between processes, and between machines.

One value is JSON text and, beside it, parts: bytes that need not be read. All that comes is checked by the
types, strictly and within limits; what does not fit raises WireError, and nothing of it is run. Any thread,
but each writer and reader of reports has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any, Generic, TypeVar

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from app.protocol import errors
from app.protocol.commands import Command
from app.protocol.comparison import Compare, Comparison
from app.protocol.errors import EngineError, PromptTooLongError, RequestError
from app.protocol.json_object import map_strings, outside_texts
from app.protocol.load import LoadParams
from app.protocol.model import ModelInfo
from app.protocol.output import TokenLogprob
from app.protocol.report import CellMap, StepReport
from app.protocol.travel import NAMED
from app.system.said import from_text, said, to_text
from app.system.worker import Message, encoded

T = TypeVar("T")

MAX_TEXT_BYTES = 32 << 20
MAX_VALUES = 400_000  # in one text: each invalid one costs some 600 bytes for its error
MAX_SEQS = 1_024
MAX_ROWS = 1 << 20  # of one sequence in one batch
MAX_STEPS = 10_000  # of a recording
MAX_NUMBER = 2**53  # beyond it a float is no exact integer, and Qt can draw neither
# JSON has no bytes, and the logarithm of probability 0 is minus infinity.
CONFIG: ConfigDict = {
    "strict": True,
    "extra": "forbid",
    "defer_build": True,  # slow
    "ser_json_bytes": "base64",
    "val_json_bytes": "base64",
    "ser_json_inf_nan": "constants",
}


class WireError(ValueError):
    """What came is none of our values."""


class Kind(Generic[T]):
    """The values of one type. Its first use takes some milliseconds, in which pydantic reads the types."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation

    @cached_property
    def _adapter(self) -> TypeAdapter[tuple[T]]:
        config: ConfigDict = {**CONFIG, "defer_build": False}
        return TypeAdapter(tuple[self._annotation], config=config)  # type: ignore[name-defined]

    def prepare(self) -> None:
        """Take the time now, on a thread that has it."""
        _ = self._adapter

    def packed(self, value: T) -> list[bytes]:
        """The text, then the parts."""
        parts: list[bytes] = []
        try:
            text = self._adapter.dump_json((value,), context=parts, exclude_defaults=True)
        except PydanticSerializationError:  # half a character that a template or a page contained
            parts.clear()
            plain = self._adapter.dump_python((value,), mode="json", context=parts)
            text = json.dumps(map_strings(plain, _whole)).encode()
        return [text, *parts]

    def unpacked(self, packed: Sequence[bytes]) -> T:
        """Raises WireError, and what the values themselves refuse: InvalidRequestError."""
        if not packed:
            raise WireError("there is no value")
        text, *parts = packed
        check_text(text)
        try:
            return self._adapter.validate_json(text, context=parts)[0]
        except ValueError as error:
            raise WireError(f"this is no {self._annotation}") from error


def check_text(text: bytes) -> None:
    """Raises WireError for JSON that would take too much memory to read, or to refuse."""
    if len(text) <= MAX_TEXT_BYTES and text.count(b",") <= MAX_VALUES:
        return
    if len(text) > MAX_TEXT_BYTES or outside_texts(text).count(b",") > MAX_VALUES:
        raise WireError(said("it has too many values"))


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


COMMAND: Kind[Command] = Kind(Annotated[Command, NAMED])
COMPARE: Kind[Compare] = Kind(Compare)
COMPARISON: Kind[Comparison] = Kind(Comparison)
LOAD_PARAMS: Kind[LoadParams] = Kind(LoadParams)
MODEL: Kind[ModelInfo] = Kind(ModelInfo)
REPORT: Kind[StepReport] = Kind(StepReport)


# A message and the parts behind it as one piece, as it stands in the pipe of a `Worker`.


def frame(message: dict[str, Any], *parts: bytes) -> bytes:
    return b"".join((encoded(message | {"parts": [len(part) for part in parts]}), *parts))


def message_in(frame: bytes) -> Message:
    """Raises WireError."""
    head, _, rest = frame.partition(b"\n")
    check_text(head)
    try:
        message = json.loads(head)
        lengths = message.pop("parts", ())
        if any(type(length) is not int or length < 0 for length in lengths) or sum(lengths) != len(rest):
            raise WireError("its parts are not as long as it says")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise WireError("this is no message") from error
    ends = list(accumulate(lengths))
    return message, [rest[end - length : end] for end, length in zip(ends, lengths, strict=True)]


# Errors.

_ERRORS = {kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type)}


def packed_error(error: BaseException) -> list[Any]:
    """For JSON. An error that is none of ours is told as one of the engine, without its words."""
    if not isinstance(error, EngineError | RequestError):
        error = EngineError(said("The engine stopped because of an error in Skein itself."))
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
    return [name, to_text(str(error)), getattr(error, "num_prompt_tokens", 0)]


def unpacked_error(packed: Any) -> Exception:
    """Raises WireError."""
    try:
        name, text, num_prompt_tokens = packed
        kind, text = _ERRORS[name], from_text(text)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise WireError("this is no error") from error
    return kind(text, num_prompt_tokens) if kind is PromptTooLongError else kind(text)


# Reports, most of which is as in the one before.

STATES = ("slots", "cells", "hibernated", "waiting", "last_check", "pause", "encodings", "trouble")
_NOTHING: dict[str, Any] = {"slots": (), "hibernated": (), "waiting": (), "encodings": (), "trouble": ""}


# Each report with the names of the fields that are as in the one before.
_Told = tuple[StepReport, tuple[str, ...]]
_TOLD: Kind[tuple[_Told, ...]] = Kind(tuple[_Told, ...])


class ReportWriter:
    """What it has packed must be unpacked in this order, all of it."""

    def __init__(self) -> None:
        self._former: StepReport | None = None
        self._map: CellMap | None = None

    def packed(self, reports: Iterable[StepReport]) -> list[bytes]:
        return _TOLD.packed(tuple(map(self._told, reports)))

    def _told(self, report: StepReport) -> _Told:
        former, self._former = self._former, report
        same = tuple(name for name in STATES if former and getattr(report, name) == getattr(former, name))
        blank: dict[str, Any] = {name: _NOTHING.get(name) for name in same if name != "cells"}
        if report.cell_map:
            blank["cell_map"], self._map = _changes(report.cell_map, self._map), report.cell_map
        return replace(report, **blank), same


class ReportReader:
    def __init__(self) -> None:
        self._former: StepReport | None = None
        self._map: CellMap | None = None

    def unpacked(self, packed: Sequence[bytes]) -> list[StepReport]:
        """Raises WireError and InvalidRequestError."""
        return [self._report(*told) for told in _TOLD.unpacked(packed)]

    def _report(self, told: StepReport, same: tuple[str, ...]) -> StepReport:
        if (same and not self._former) or not set(same) <= set(STATES):
            raise WireError("there is no report before it")
        found = {name: getattr(self._former, name) for name in same}
        if told.cell_map:
            found["cell_map"] = self._map = _changes(told.cell_map, self._map)
        self._former = replace(told, **found)
        return self._former


def _changes(cells: CellMap, former: CellMap | None) -> CellMap:
    """The bits that changed; with these for `cells`, the cells. Compression takes nearly all of them away.

    A map of other shapes than the former one is told whole.
    """
    if former is None or _shapes(former) != _shapes(cells):
        return cells
    arrays = (
        cells.pos ^ former.pos,
        cells.token_ids ^ former.token_ids,
        cells.holders ^ former.holders,
    )
    for array in arrays:
        array.flags.writeable = False
    return CellMap(*arrays, cells.high_water)


def _shapes(cells: CellMap) -> tuple[tuple[int, ...], ...]:
    return cells.pos.shape, cells.token_ids.shape, cells.holders.shape


# What types do not say.

_MAY_BE_LARGE = re.compile(rb"[:,[\s]-?(?:\d{16}|[\d.]+[eE]|[IN])").search


def check_report(report: StepReport, text: bytes = b"") -> None:
    """Raises ValueError for a step that no engine would report. Its `text` makes that faster."""
    if not text or _MAY_BE_LARGE(text):
        check_numbers(report)
    times = (report.schedule_ms, report.decode_ms, report.update_ms, report.sample_ms, report.draft_ms)
    if min(*times, report.started_at) < 0:
        raise ValueError(said("a time is negative"))
    if cells := report.cell_map:
        num_cells, _num_words = cells.holders.shape
        if not cells.pos.shape == cells.token_ids.shape == (num_cells,):
            raise ValueError(said("the cell map does not have one token per cell"))
    planned = report.pause.planned if report.pause else ()
    for span in (*report.spans, *planned):
        if not 0 <= span.num_kept <= span.num_drafted < max(span.num_rows, 1):
            raise ValueError(said("a step has more draft tokens than rows"))
        if len(span.token_bytes) not in (0, 4 * span.num_rows) or not 0 < span.num_rows <= MAX_ROWS:
            raise ValueError(said("the rows of a sequence do not match its tokens"))
        if len(span.logits_hashes) not in range(0, 4 * span.num_kept + 5, 4):
            raise ValueError(said("the hashes of a sequence do not match its tokens"))
    if any(len(lease.prompt_bytes) % 4 for lease in report.leases):
        raise ValueError(said("the tokens of a prompt are damaged"))
    named = (*report.spans, *planned, *report.slots, *report.leases, *report.events)
    if not all(one.seq_id is None or 0 <= one.seq_id < MAX_SEQS for one in named):
        raise ValueError(said("it has an invalid sequence id"))


def check_numbers(value: object) -> None:
    """Raises ValueError for a number beyond the limits for arithmetic and drawing."""
    if isinstance(value, int | float):
        if not -MAX_NUMBER <= value <= MAX_NUMBER:  # no NaN is
            raise ValueError(said("a number is out of range"))
    elif isinstance(value, tuple):
        for one in value:
            check_numbers(one)
    elif is_dataclass(value) and not isinstance(value, TokenLogprob | CellMap):
        for field in fields(value):
            check_numbers(getattr(value, field.name))
