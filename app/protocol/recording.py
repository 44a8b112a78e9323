"""A recording as lines of JSON: first a header, then one for each report. In a page they are packed.

A folded line has what is new since the one before: a fifth of the size, and half of it when it is packed.

A file is untrusted, so everything in it is validated. It may have the tabs' titles, prompts and answers. Any
thread.
"""

from __future__ import annotations

import binascii
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
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
    is_folded: bool = False  # the lines after it


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
        former, line, total = 0, dict[str, Any](), self.head.num_steps
        for number in range(total):
            try:
                text = self._line()
                if self.head.is_folded:
                    line = _unfolded_line(text, line)
                    check_text(text := json.dumps(line).encode())
                told = Step.model_validate_json(text).report
                report = StepReport(**{name: getattr(told, name) for name in StepReport.__slots__})
                report = with_usages(report, written=False)
                check_report(report)
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
        self._num_bytes += len(line)
        if self._num_bytes > MAX_FILE_BYTES:
            raise ValueError(said("it is larger than {size} GiB", size=MAX_FILE_BYTES >> 30))
        if not line.endswith(b"\n"):
            raise ValueError(said("it is truncated"))
        check_text(line)
        return line

    def _refused(self, why: str) -> RecordingFileError:
        refusal = said("{name} cannot be opened as a recording: {reason}.", name=self._name, reason=why)
        return RecordingFileError(together(refusal, _WHAT_TO_DO))


def with_usages(report: StepReport, *, written: bool) -> StepReport:
    """What a slot says of its request is not written again with each output of it."""
    usages = {slot.request_id: slot.usage for slot in report.slots}
    known = ((one, usages.get(one.request_id, NO_USAGE)) for one in report.outputs)
    outputs = tuple(
        replace(one, usage=NO_USAGE if written else usage)
        if one.usage == (usage if written else NO_USAGE)
        else one
        for one, usage in known
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


def folded(value: Any, former: Any) -> Any:
    """What is new in a value of JSON. A list of one is a value as it is."""
    if type(value) is int and type(former) is int:
        return {"+": value - former}
    if isinstance(value, dict) and isinstance(former, dict):
        new = [at for at, one in value.items() if at not in former or former[at] != one]
        news = {at: folded(value[at], former.get(at)) for at in new}
        gone = [key for key in former if key not in value]
        return news | {"-": gone} if gone else news
    if isinstance(value, list) and isinstance(former, list):
        known = len(former)
        new_at = [at for at, one in enumerate(value) if at >= known or former[at] != one]
        news = {str(at): folded(value[at], former[at] if at < known else None) for at in new_at}
        return {"#": len(value)} | news
    return [value] if isinstance(value, dict | list) else value


def _unfolded_line(text: bytes, former: dict[str, Any]) -> dict[str, Any]:
    try:
        line = _unfolded(json.loads(text), former)
    except (LookupError, TypeError, RecursionError) as error:
        raise ValueError(said("it does not follow the one before")) from error
    if not isinstance(line, dict):
        raise ValueError(said("it does not follow the one before"))
    return line


def _unfolded(news: Any, former: Any) -> Any:
    if not isinstance(news, dict):
        return news[0] if isinstance(news, list) else news
    if isinstance(former, int):
        return former + news["+"]
    if isinstance(former, dict):
        whole = former | {at: _unfolded(one, former.get(at)) for at, one in news.items() if at != "-"}
        return {key: one for key, one in whole.items() if key not in news.get("-", ())}
    whole = former[: news["#"]]
    whole += [None] * (min(news["#"], len(whole) + len(news)) - len(whole))
    for at, one in news.items():
        if at != "#":
            whole[int(at)] = _unfolded(one, whole[int(at)])
    return whole


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
