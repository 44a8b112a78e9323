"""Writes a job's rows, with the answer's columns behind the table's, as CSV, TSV, JSONL or XLSX. Blocks."""

import csv
import json
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from app.chats.attachment import valid_unicode
from app.protocol.errors import InvalidRequestError
from app.rows.job import ROWS_AT_ONCE, Job
from app.rows.source import cell_text
from app.system.files import replacing
from app.system.said import said

SUFFIXES = (".csv", ".tsv", ".jsonl", ".xlsx")
MAX_SHEET_ROWS, MAX_SHEET_CELL_CHARS = 1_048_576, 32_767  # as Excel has them
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run a cell for that begins with it


def export(job: Job, path: Path, limit: int = 0) -> None:
    """Replaces `path` once all is written. Raises InvalidRequestError, or OSError."""
    check_name(path)
    if path.suffix.lower() == ".xlsx":
        _write_sheet(job, path, limit)
        return
    with replacing(path) as file:
        write = line_writer(job, path.suffix.lower())
        file.write(write(None))
        file.writelines(write(record) for record in _records(job, limit))


def check_name(path: Path) -> None:
    """Raises InvalidRequestError for what cannot be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidRequestError(
            said("“{name}” must end in {suffixes}.", name=path.name, suffixes=", ".join(SUFFIXES))
        )
    if not path.parent.is_dir():
        raise InvalidRequestError(said("There is no folder “{name}” to write to.", name=path.parent.name))


def line_writer(job: Job, suffix: str) -> Callable[[list[Any] | None], str]:
    """What makes a record a line; without one, the line that comes before all."""
    columns = [*job.columns, *job.added_columns]
    if suffix == ".jsonl":
        return lambda record: _json_line(columns, record) if record else ""
    delimiter = "\t" if suffix == ".tsv" else ","

    def line(record: list[Any] | None) -> str:
        text = StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(map(_safe, columns if record is None else record))
        return text.getvalue()

    return line


def _records(job: Job, limit: int) -> Iterator[list[Any]]:
    first, last = 1, job.counts(limit).num_rows
    while first <= last:
        for row in job.rows(first, min(ROWS_AT_ONCE, last + 1 - first)):
            yield job.record(row)
        first += ROWS_AT_ONCE


def _json_line(columns: list[str], record: list[Any]) -> str:
    return valid_unicode(json.dumps(dict(zip(columns, record, strict=True)), ensure_ascii=False)) + "\n"


def _safe(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula. A negative number is none."""
    text = cell_text(value)
    if not text.startswith(_FORMULA) or isinstance(value, int | float) or _is_number(text):
        return text
    return f"'{text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _write_sheet(job: Job, path: Path, limit: int) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    except ImportError as error:
        raise InvalidRequestError(said("XLSX needs the extra “gui”. Choose .csv instead.")) from error
    if job.counts(limit).num_rows >= MAX_SHEET_ROWS:
        raise InvalidRequestError(
            said("A sheet holds {limit:,} rows. Choose a name that ends in .csv.", limit=MAX_SHEET_ROWS)
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet()

    def cell(value: Any) -> Any:
        if value is None or isinstance(value, int | float):
            return value
        made = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("", cell_text(value))[:MAX_SHEET_CELL_CHARS])
        made.data_type = "s"  # also what begins with =
        return made

    for record in chain([[*job.columns, *job.added_columns]], _records(job, limit)):
        sheet.append([cell(value) for value in record])
    with replacing(path) as file:
        book.save(file.buffer)
