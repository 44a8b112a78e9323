"""A recording as a file: JSON lines, first a header, then one line for each step report.

A file is untrusted, so everything in it is validated. It contains the tabs' titles and the text of answers.
Knows no widget and no thread of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from app.inspector.event_words import words
from app.inspector.recording import MAX_STEPS, Recording
from app.protocol.events import Told
from app.protocol.model import ModelInfo
from app.protocol.report import Answer, CellMap, StepReport
from app.protocol.wire import CONFIG, MAX_SEQS, MAX_TEXT_BYTES, check_numbers, check_report, check_text
from app.system.files import replacing
from app.system.said import said, together

VERSION = 1
MAX_FILE_BYTES = 2 << 30
MAX_CELL_BYTES = 16 << 20  # a larger map is left out, so that its line can be read again
_WHAT_TO_DO = said("Choose a file made with “Export recording”.")


class RecordingFileError(Exception):
    """This file cannot be read. The message says why, and what to do."""


class _Cells(BaseModel):
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


class _Head(_Format):
    model_config = CONFIG

    num_steps: int
    model: ModelInfo | None
    titles: dict[str, str]
    token_texts: dict[str, bytes]  # by token id; keys in JSON are text
    cell_map: _Cells | None = None


@dataclass(frozen=True, slots=True)
class _Report(StepReport):
    """Its events are in words, which every version can read. Its answers are as they were in version 1."""

    events: tuple[Told, ...] = ()
    answers: tuple[Answer, ...] = ()


class _Step(BaseModel):
    model_config = CONFIG | ConfigDict(extra="ignore")  # of an earlier version

    report: _Report


def save(recording: Recording, path: Path) -> None:
    """Replaces the file in one step. Raises OSError."""
    write_lines(path, _lines(recording))


def load(path: Path, max_steps: int = MAX_STEPS) -> Recording:
    """Reads back what `save` wrote. Raises RecordingFileError."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
                raise _refused(path, said("it is larger than {size} GiB", size=MAX_FILE_BYTES >> 30))
            return _read(file, path, max_steps)
    except OSError as error:
        raise RecordingFileError(
            said("{name} could not be read: {reason}.", name=path.name, reason=error.strerror)
        ) from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Beside the old file, which stays as it is until the new one is complete. Raises OSError."""
    with replacing(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def _lines(recording: Recording) -> Iterator[str]:
    model = recording.model
    head = _Head(
        num_steps=len(recording.steps),
        # Only the file's name, not its folder: recordings are sent to others.
        model=replace(model, path=Path(model.path.name)) if model else None,
        titles=_titles_in(recording),
        token_texts={str(token_id): text for token_id, text in recording.token_texts.items()},
        cell_map=_cells(recording.cell_map),
    )
    yield head.model_dump_json()
    for report in recording.steps:
        events = tuple(Told(one.kind, words(one), one.seq_id, one.chat_id) for one in report.events)
        told = _Report(**_values(report) | {"events": events})
        yield _Step.model_construct(report=told).model_dump_json()


def _titles_in(recording: Recording) -> dict[str, str]:
    """Only titles of chats in these steps: those of other tabs are private."""
    told: set[str | None] = set()
    for report in recording.steps:
        for chats in (report.slots, report.hibernated, report.waiting, report.leases, report.events):
            told.update(chat.chat_id for chat in chats)
    return {chat_id: title for chat_id, title in recording.titles.items() if chat_id in told}


def _cells(cells: CellMap | None) -> _Cells | None:
    if cells is None or cells.pos.nbytes + cells.token_ids.nbytes + cells.holders.nbytes > MAX_CELL_BYTES:
        return None
    arrays = cells.pos.astype("<i4"), cells.token_ids.astype("<i4"), cells.holders.astype("<u8")
    pos, token_ids, holders = (array.tobytes() for array in arrays)
    return _Cells(pos=pos, token_ids=token_ids, holders=holders, high_water=cells.high_water)


def _read(file: BinaryIO, path: Path, max_steps: int) -> Recording:
    recording = Recording(max_steps, name=path.name)
    try:
        head = _head(_line(file))
        check_numbers(head.model)
        if not 0 <= head.num_steps <= max_steps:
            raise ValueError(said("it has more than {limit:,} steps", limit=max_steps))
        recording.start(head.model)
        recording.note_titles(head.titles)
        recording.token_texts = {int(token_id): text for token_id, text in head.token_texts.items()}
        recording.cell_map = head.cell_map.cell_map() if head.cell_map else None
    except ValueError as error:
        why = said("its first line does not fit ({reason})", reason=_short(error))
        raise _refused(path, why) from error
    for number in range(head.num_steps):
        try:
            report = StepReport(**_values(_Step.model_validate_json(_line(file)).report))
            _check_step(report, recording.newest)
        except ValueError as error:
            why = said(
                "line {line:,} of {total:,} is damaged or missing ({reason})",
                line=number + 2,
                total=head.num_steps + 1,
                reason=_short(error),
            )
            raise _refused(path, why) from error
        recording.append((report,))
    if file.read(1):
        why = said("there is data after the last of its {steps:,} steps", steps=head.num_steps)
        raise _refused(path, why)
    return recording


def _line(file: BinaryIO) -> bytes:
    line = file.readline(MAX_TEXT_BYTES)
    if not line.endswith(b"\n"):
        raise ValueError(said("it is truncated"))
    check_text(line)
    return line


def _head(line: bytes) -> _Head:
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
    head = _Head.model_validate_json(line)
    if head.model and head.model.n_seq_max > MAX_SEQS:
        raise ValueError(said("its model has too many sequences"))
    return head


def _check_step(report: StepReport, former: StepReport | None) -> None:
    """Raises ValueError for a step that no engine would report."""
    check_report(report)
    if former and report.step < former.step:
        raise ValueError(said("its steps are not in order"))


def _values(report: StepReport) -> dict[str, Any]:
    return {field.name: getattr(report, field.name) for field in fields(report)}


def _refused(path: Path, why: str) -> RecordingFileError:
    refusal = said("{name} cannot be opened as a recording: {reason}.", name=path.name, reason=why)
    return RecordingFileError(together(refusal, _WHAT_TO_DO))


def _short(error: ValueError) -> str:
    """The first error, without quoting the file."""
    if not isinstance(error, ValidationError):
        return str(error)
    if error.error_count() > 100:  # each would become a dictionary
        return said("it is not a Skein recording")
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
