"""A recording as lines of JSON: first a header, then one for each report. In a page they are packed.

A folded line has what is new since the one before: a third of the size, and two thirds of it when packed.

A file is untrusted, so everything in it is validated. It may have the tabs' titles, prompts and answers. Any
thread.
"""

from __future__ import annotations

import binascii
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, count, pairwise
from operator import ne
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from app.protocol.events import Told
from app.protocol.model import ModelInfo
from app.protocol.output import NO_USAGE
from app.protocol.report import Answer, CellMap, StepReport
from app.protocol.wire import (
    CONFIG,
    MAX_SEQS,
    MAX_STEPS,
    MAX_TEXT_BYTES,
    check_numbers,
    check_report,
    check_text,
)
from app.system.said import said, together

VERSION = 1
MAX_FILE_BYTES = 2 << 30  # also of what is packed in it
PAGE = b"<!doctype html>"
PACKED = '<script type="application/gzip" id="recording">\n'  # then lines of base64
# With the end of its name, which it is found by. That of a text in a text is as good as any.
_VALUES = re.compile(r'(":(?:"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|\[[\d,-]+\]))', re.ASCII)
_WHOLE = re.compile(r'":-?\d+').fullmatch
_WHAT_TO_DO = said("Choose a file made with “Export recording”.")


class RecordingFileError(Exception):
    """This file cannot be read. The message says why, and what to do."""


class Cells(BaseModel):
    """A `CellMap`: its arrays as in memory, little-endian."""

    model_config = CONFIG

    pos: bytes
    token_ids: bytes
    holders: bytes
    high_water: int

    def cell_map(self) -> CellMap:
        """Raises ValueError where the arrays do not fit each other."""
        import numpy as np  # the window is shown without

        pos, token_ids = np.frombuffer(self.pos, "<i4"), np.frombuffer(self.token_ids, "<i4")
        if len(pos) != len(token_ids):
            raise ValueError(said("the cell map does not have one token per cell"))
        holders = np.frombuffer(self.holders, "<u8").reshape(len(pos), -1)
        if holders.shape[1] > MAX_SEQS // 64:
            raise ValueError(said("the cell map has too many sequences"))
        return CellMap(pos, token_ids, holders, self.high_water)


class _Format(BaseModel):
    """The fields that the first line has in every version."""

    model_config = ConfigDict(strict=True)

    format: Literal["skein recording"] = "skein recording"
    version: int = VERSION


class Head(_Format):
    model_config = CONFIG

    num_steps: int  # reports, also those that came between two steps
    model: ModelInfo | None
    titles: dict[str, str]
    token_texts: dict[str, bytes]  # by token id; keys in JSON are text
    cell_map: Cells | None = None
    skein: str = ""  # the version that wrote it
    is_told: bool = True  # False: without prompts, answers and titles


@dataclass(frozen=True, slots=True)
class ToldReport(StepReport):
    """Its events are in words, which every version can read. Its answers are as they were in version 1."""

    events: tuple[Told, ...] = ()
    answers: tuple[Answer, ...] = ()


class Step(BaseModel):
    model_config = CONFIG | ConfigDict(extra="ignore")  # of an earlier version

    report: ToldReport


class RecordingReader:
    """Iterate once for the reports, in order. Raises RecordingFileError."""

    def __init__(self, file: BinaryIO, name: str, max_steps: int = MAX_STEPS) -> None:
        self._name, self._num_bytes = name, 0
        is_page = file.read(len(PAGE)) == PAGE
        file.seek(0)
        try:
            self._lines = _unpacked(file) if is_page else file
            self.head = _head(self._line())
            check_numbers(self.head.model)
            if not 0 <= self.head.num_steps <= max_steps:
                raise ValueError(said("it has more than {limit:,} steps", limit=max_steps))
            self.token_texts = {int(one): text for one, text in self.head.token_texts.items()}
            self.cell_map = self.head.cell_map.cell_map() if self.head.cell_map else None
        except ValueError as error:
            raise self._refused(
                said("its first line does not fit ({reason})", reason=_short(error))
            ) from error

    def __iter__(self) -> Iterator[StepReport]:
        former, folding, total = 0, Folding(), self.head.num_steps
        for number in range(total):
            try:
                text = self._checked(_unfolded(self._line(), folding))
                told = Step.model_validate_json(text).report
                report = StepReport(**{name: getattr(told, name) for name in StepReport.__slots__})
                report = _with_usages(report)
                check_report(report, text)
                if number and report.step < former:
                    raise ValueError(said("its steps are not in order"))
            except ValueError as error:
                why = said(
                    "line {line:,} of {total:,} is damaged or missing ({reason})",
                    line=number + 2,
                    total=total + 1,
                    reason=_short(error),
                )
                raise self._refused(why) from error
            former = report.step
            yield report
        if self._lines.read(1):
            raise self._refused(said("there is data after the last of its {steps:,} steps", steps=total))

    def _line(self) -> bytes:
        try:
            line = self._lines.readline(MAX_TEXT_BYTES)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(said("it is truncated, or what is packed in it is damaged")) from error
        if not line.endswith(b"\n"):
            self._checked(line)
            raise ValueError(said("it is truncated"))
        return self._checked(line)

    def _checked(self, line: bytes) -> bytes:
        self._num_bytes += len(line)
        if self._num_bytes > MAX_FILE_BYTES:
            raise ValueError(said("it is larger than {size} GiB", size=MAX_FILE_BYTES >> 30))
        check_text(line)
        return line

    def _refused(self, why: str) -> RecordingFileError:
        refusal = said("{name} cannot be opened as a recording: {reason}.", name=self._name, reason=why)
        return RecordingFileError(together(refusal, _WHAT_TO_DO))


def has_usages_twice(report: StepReport) -> bool:
    """What a slot says of its request is not written again with each output of it."""
    usages = {slot.request_id: slot.usage for slot in report.slots}
    return all(one.usage == usages.get(one.request_id) for one in report.outputs)


def _with_usages(report: StepReport) -> StepReport:
    usages = {slot.request_id: slot.usage for slot in report.slots}
    outputs = tuple(
        replace(one, usage=usages.get(one.request_id, NO_USAGE)) if one.usage == NO_USAGE else one
        for one in report.outputs
    )
    return replace(report, outputs=outputs)


@contextmanager
def opened(path: Path, max_steps: int = MAX_STEPS) -> Iterator[RecordingReader]:
    """Raises RecordingFileError, also within."""
    try:
        with path.open("rb") as file:
            yield RecordingReader(file, path.name, max_steps)
    except OSError as error:
        raise RecordingFileError(
            said("{name} could not be read: {reason}.", name=path.name, reason=error.strerror)
        ) from error


class _Packed(io.RawIOBase):
    """The bytes of a page that are packed in it, a line of base64 at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._lines, self._left = iter(partial(file.readline, MAX_TEXT_BYTES), b"</script>\n"), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = binascii.a2b_base64(next(self._lines, b""))
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _unpacked(file: BinaryIO) -> BinaryIO:
    """Raises ValueError."""
    while line := file.readline(MAX_TEXT_BYTES):
        if line == PACKED.encode():
            return cast(BinaryIO, gzip.GzipFile(fileobj=io.BufferedReader(_Packed(file))))
    raise ValueError(said("it is not a Skein recording"))


class Folding:
    """Lines that are alike but for their values: each as the values that are new since the one before.

    Before each is how many parts of the line further it stands, and of a whole number only the difference
    is written. A line of another form stays as it is.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []  # of the newest line: every second one is a value

    def folded(self, line: str) -> str:
        former, self._parts = self._parts, _VALUES.split(line)
        if former[::2] != self._parts[::2]:
            return line
        new = tuple(compress(count(), map(ne, self._parts, former)))
        pairs = pairwise((0, *new))
        return "".join(f",{at - before}{_sum(self._parts[at], former[at], -1)}" for before, at in pairs)

    def unfolded(self, line: str) -> str:
        """Raises LookupError and ValueError where it does not follow the one before."""
        if line.startswith("{"):
            self._parts = _VALUES.split(line)
        else:
            *news, end = _VALUES.split(line)
            at = 0
            if end.strip():
                raise ValueError(end)
            for gap, value in zip(news[::2], news[1::2], strict=True):
                at += int(gap[1:])
                self._parts[at] = _sum(value, self._parts[at], 1)
        return "".join(self._parts)


def _unfolded(line: bytes, folding: Folding) -> bytes:
    try:
        return folding.unfolded(line.decode()).encode()
    except (LookupError, ValueError) as error:
        raise ValueError(said("it does not follow the one before")) from error


def _sum(value: str, former: str, sign: int) -> str:
    if _WHOLE(value) and _WHOLE(former):
        return f'":{int(value[2:]) + sign * int(former[2:])}'
    return value


def _head(line: bytes) -> Head:
    """Distinguishes a file of a later version from a foreign one."""
    version = _Format.model_validate_json(line).version
    if version != VERSION:
        raise ValueError(
            said(
                "it has format {version}, and this Skein reads format {known}",
                version=version,
                known=VERSION,
            )
        )
    head = Head.model_validate_json(line)
    if head.model and head.model.n_seq_max > MAX_SEQS:
        raise ValueError(said("its model has too many sequences"))
    return head


def _short(error: ValueError) -> str:
    """The first error, without quoting the file."""
    if not isinstance(error, ValidationError):
        return str(error)
    if error.error_count() > 100:  # each would become a dictionary
        return said("it is not a Skein recording")
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
