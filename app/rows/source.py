"""Tables as rows of text: CSV, TSV, XLSX, JSONL, or the files of a folder. Blocks.

Read row by row, but for XLSX, which a child process reads as a whole within its limits. What is wrong with
one row is told with that row; the others go on.
"""

import codecs
import csv
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from app.attachments.file_reading import FileReading
from app.attachments.plain import guessed_encoding
from app.attachments.refusal import RefusedError
from app.chats.attachment import valid_unicode
from app.protocol.errors import InvalidRequestError
from app.system.files import stamp_of
from app.system.said import said

MAX_COLUMNS = 1_000
MAX_ROW_CHARS = 1 << 20
MAX_NAME_CHARS = 200  # of a column
NUM_SAMPLED = 1_000  # lines of JSON that are searched for columns
FOLDER_COLUMNS = ("name", "text")  # the text is read when it is needed
MANY = 4  # times as many wrong letters of UTF-8 as right ones: it is none
_HEAD_BYTES = 1 << 16
_DELIMITERS = ",;\t|"
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class SourceRow:
    """`version` stands for what is read later: it changes with that."""

    values: tuple[str, ...]
    error: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """`stamp` changes with the content. Each call of `rows` begins anew."""

    columns: tuple[str, ...]
    stamp: str
    rows: Callable[[], Iterator[SourceRow]]


def open_source(path: Path) -> Source:
    """Reads as much as it takes to know the columns. Raises InvalidRequestError."""
    try:
        return _opened(path)
    except OSError as error:
        raise InvalidRequestError(
            said("“{name}” cannot be read: {reason}.", name=path.name, reason=error.strerror or str(error))
        ) from error


def with_text(path: Path, values: tuple[str, ...], columns: tuple[str, ...]) -> tuple[str, ...]:
    """The values of a row, with the text of its file where `path` is a folder. Raises InvalidRequestError."""
    if len(values) == len(columns):
        return values
    text = _text_of(path / values[0])
    if len(text) > MAX_ROW_CHARS:
        raise InvalidRequestError(_too_long())
    return (*values, text)


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once; empty ones are numbered."""
    found: dict[str, None] = {}
    for number, name in enumerate(names, 1):
        first = valid_unicode(name.strip())[:MAX_NAME_CHARS] or f"column {number}"
        unique, count = first, 1
        while unique in found:
            count += 1
            unique = f"{first} ({count})"
        found[unique] = None
    return tuple(found)


def _opened(path: Path) -> Source:
    suffix = path.suffix.lower()
    if path.is_dir():
        files = tuple(_files(path))
        listed = hashlib.sha256("\0".join(f"{row.values} {row.version}" for row in files).encode())
        return Source(FOLDER_COLUMNS, listed.hexdigest(), lambda: iter(files))
    if not path.exists():
        raise InvalidRequestError(said("“{name}” no longer exists.", name=path.name))
    if not path.is_file():
        raise InvalidRequestError(said("“{name}” is a pipe or a device, not a file.", name=path.name))
    if suffix in (".xlsx", ".xlsm"):
        text = _text_of(path)
        _sheet, _, text = text.partition("\n\n")
        return _of_csv(path, lambda: StringIO(text, newline=""), ",", ends_at_blank=True)
    if suffix in (".jsonl", ".ndjson", ".json"):
        columns = dict.fromkeys(key for row in islice(_objects(path), NUM_SAMPLED) for key in row[0])
        _check_columns(path, len(columns))
        return Source(unique_names(columns), str(stamp_of(path)), lambda: _json_rows(path, tuple(columns)))
    return _of_csv(path, lambda: _text_file(path), "\t" if suffix in (".tsv", ".tab") else "")


def _of_csv(path: Path, open_: Callable[[], TextIO], delimiter: str, ends_at_blank: bool = False) -> Source:
    csv.field_size_limit(MAX_ROW_CHARS + 1)  # of all readers in this process
    if not delimiter:
        with open_() as file:
            line = file.readline(MAX_ROW_CHARS)
        delimiter = max(_DELIMITERS, key=lambda one: len(next(csv.reader([line], delimiter=one), [])))

    def cells() -> Iterator[tuple[list[str], str]]:
        return _cells(open_, delimiter, ends_at_blank)

    header, error = next(cells(), ([], ""))
    if error:
        raise InvalidRequestError(said("The first row of “{name}” is too long.", name=path.name))
    _check_columns(path, len(header))
    columns = unique_names(header)
    return Source(columns, str(stamp_of(path)), lambda: _padded(islice(cells(), 1, None), len(columns)))


def _check_columns(path: Path, number: int) -> None:
    if not number:
        raise InvalidRequestError(
            said("“{name}” has no columns. A table's first row names them.", name=path.name)
        )
    if number > MAX_COLUMNS:
        raise InvalidRequestError(
            said(
                "“{name}” has {number:,} columns, and {limit:,} are the most. Leave some out.",
                name=path.name,
                number=number,
                limit=MAX_COLUMNS,
            )
        )


class _RowTooLongError(Exception):
    pass


class _Lines:
    """The lines of a file, as many for one row as it may have characters."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._num_chars = 0

    def begin_row(self) -> None:
        self._num_chars = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._file.readline(MAX_ROW_CHARS + 1)
        if not line:
            raise StopIteration
        self._num_chars += len(line)
        if self._num_chars > MAX_ROW_CHARS:
            while line and not line.endswith(("\n", "\r")):
                line = self._file.readline(MAX_ROW_CHARS)
            raise _RowTooLongError
        return line


def _cells(
    open_: Callable[[], TextIO], delimiter: str, ends_at_blank: bool
) -> Iterator[tuple[list[str], str]]:
    """Of each row its cells, or what is wrong with it."""
    with open_() as file:
        lines = _Lines(file)
        reader = csv.reader(lines, delimiter=delimiter)
        while True:
            lines.begin_row()
            try:
                row = next(reader)
            except StopIteration:
                return
            except _RowTooLongError:
                yield [], _too_long()
            except csv.Error as error:
                yield [], said("This row cannot be read: {reason}.", reason=str(error))
            else:
                if row:
                    yield row, ""
                elif ends_at_blank:
                    return


def _padded(rows: Iterable[tuple[list[str], str]], num_columns: int) -> Iterator[SourceRow]:
    for row, error in rows:
        while len(row) > num_columns and not row[-1]:
            row.pop()
        if len(row) > num_columns:
            error = said(
                "This row has {number:,} cells, and the table {limit:,} columns.",
                number=len(row),
                limit=num_columns,
            )
        yield SourceRow((*row[:num_columns], *[""] * (num_columns - len(row))), error)


def _objects(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Of each line its object, or what is wrong with it."""
    with _text_file(path) as file:
        lines = _Lines(file)
        while True:
            lines.begin_row()
            try:
                line = next(lines)
                found = json.loads(line) if line.strip() else None
            except StopIteration:
                return
            except _RowTooLongError:
                yield {}, _too_long()
            except (ValueError, RecursionError):
                yield {}, said("This line is no JSON.")
            else:
                if isinstance(found, dict):
                    yield found, ""
                elif line.strip():
                    yield {}, said("This line is no JSON object.")


def _json_rows(path: Path, columns: tuple[str, ...]) -> Iterator[SourceRow]:
    for found, error in _objects(path):
        yield SourceRow(tuple(cell_text(found.get(column)) for column in columns), error)


def cell_text(value: object) -> str:
    """A JSON value in a table's cell."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return valid_unicode(text)


def _text_file(path: Path) -> TextIO:
    """In UTF-8, UTF-16, or the code page that it seems to have. Raises InvalidRequestError.

    Some bytes that are no UTF-8 among many that are one are read as Windows' cp1252.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    encoding = next((name for bom, name in _BOMS if head.startswith(bom)), "")
    if not encoding and b"\0" in head:
        raise InvalidRequestError(
            said(
                "“{name}” is no table. Choose CSV, TSV, XLSX, JSONL, or a folder.",
                name=path.name,
            )
        )
    encoding = encoding or _code_page(head)
    if encoding:
        return path.open(encoding=encoding, errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors=_AS_CP1252, newline="")


def _code_page(head: bytes) -> str:
    """Empty for UTF-8, also where some of its bytes are none."""
    lines = head[: head.rfind(b"\n") + 1] or head
    beyond = [letter for letter in lines.decode("utf-8", "replace") if letter > "\x7f"]
    num_wrong = beyond.count("\ufffd")
    return guessed_encoding(lines) if num_wrong > MANY * (len(beyond) - num_wrong) else ""


_AS_CP1252 = "as-cp1252"


def _decoded(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(_AS_CP1252, _decoded)


def _files(folder: Path) -> Iterator[SourceRow]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith("."):
                inside = valid_unicode(path.relative_to(folder).as_posix())
                yield SourceRow((inside,), version=str(stamp_of(path)))


def _text_of(path: Path) -> str:
    try:
        return FileReading(path).run().text
    except RefusedError as refusal:
        raise InvalidRequestError(
            said("“{name}” cannot be read ({reason}).", name=path.name, reason=refusal.reason.value)
        ) from None


def _too_long() -> str:
    return said(
        "This row is longer than {limit:,} characters, or a quote in it has no end.", limit=MAX_ROW_CHARS
    )
