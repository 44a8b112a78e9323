"""One prompt over the rows of one table, and all answers so far, in an SQLite file of its own.

A row belongs to a prompt: rows with the same values share the answer, and a table that has changed keeps the
answers of all rows that it still has. Each call but `rows` is for one thread at a time; any call may raise
sqlite3.Error, such as for a full disk, and nothing has changed then.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from app.protocol.errors import InvalidRequestError
from app.protocol.grammar import check_grammar
from app.protocol.sampling import SamplingParams
from app.rows.answer_form import TEXT, AnswerForm, Kind
from app.rows.source import Source, SourceRow, open_source, unique_names, with_text
from app.rows.template import Sharing, Template
from app.system.files import private_dir, private_file
from app.system.folder_lock import FolderLock
from app.system.said import from_text, said, to_text

ROWS_AT_ONCE = 1_000
TAKEN = said("Another process works on these rows already. Wait for it, or stop it.")
SHARE, ERROR = "share", "error"  # columns beside the answer's
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS job (name TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE IF NOT EXISTS prompts (
        id INTEGER PRIMARY KEY, hash BLOB UNIQUE, state INTEGER DEFAULT 0, answer TEXT DEFAULT '[]',
        share REAL DEFAULT 0, error TEXT DEFAULT '', texts TEXT DEFAULT '[]'
    );
    CREATE TABLE IF NOT EXISTS rows (
        number INTEGER PRIMARY KEY, prompt INTEGER, cells TEXT, error TEXT DEFAULT ''
    );
    CREATE INDEX IF NOT EXISTS rows_of ON rows (prompt);
"""


class State(IntEnum):
    WAITING = 0
    DONE = 1
    FAILED = 2


@dataclass(frozen=True, slots=True)
class JobSettings:
    """What tells jobs apart. `source` is a path, `model` what answers."""

    source: str
    prompt: str
    form: AnswerForm = TEXT
    num_votes: int = 1
    model: str = ""
    temperature: float | None = None
    seed: int | None = None

    @property
    def id(self) -> str:
        return hashlib.sha256(self.as_json.encode("utf-8", "replace")).hexdigest()[:16]

    def sampling(self, usual: SamplingParams) -> SamplingParams:
        """`usual` is the model's. Raises InvalidRequestError."""
        own: dict[str, Any] = {"temperature": self.temperature, "seed": self.seed} | self.form.sampling
        sampling = replace(usual, **{name: value for name, value in own.items() if value is not None})
        if self.num_votes > 1 and sampling.is_greedy:
            raise InvalidRequestError(
                said("At temperature 0 all answers of a row are the same. Raise it, or ask for one answer.")
            )
        return sampling

    @property
    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Self:
        fields = json.loads(text)
        form = fields.pop("form")
        form = AnswerForm(Kind(form["kind"]), tuple(form["choices"]), form["schema"])
        return cls(**fields, form=form)


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a prompt: values by the form's columns, or an error; both of a text that was cut off.

    `texts` are all its answers.
    """

    prompt: int
    values: tuple[Any, ...] = ()
    share: float = 0.0
    error: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobRow:
    """One row of the table, from 1. `cells` are those that are kept: not the text of a file."""

    number: int
    cells: tuple[str, ...]
    state: State
    values: tuple[Any, ...]
    share: float
    error: str
    texts: tuple[str, ...]


class Asked(NamedTuple):
    """A row that waits for an answer."""

    number: int
    prompt: int
    cells: tuple[str, ...]


class Counts(NamedTuple):
    num_rows: int
    num_done: int
    num_failed: int


class Job:
    def __init__(self, path: Path, settings: JobSettings | None = None) -> None:
        """Without settings, the file's own. Raises OSError, sqlite3.Error."""
        private_dir(path.parent)
        private_file(path)
        self.path = path
        self._lock = FolderLock(path.with_suffix(".lock"))
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_SCHEMA}")
        if settings:
            with self._connection:
                self._note("settings", settings.as_json)
        self.settings = settings or JobSettings.of_json(self._noted("settings"))

    @classmethod
    def at(cls, folder: Path, settings: JobSettings) -> Self:
        """The job with these settings, as far as it has come."""
        return cls(folder / f"{settings.id}.db", settings)

    @classmethod
    def claimed(cls, folder: Path, settings: JobSettings, source: Source | None = None) -> Self:
        """The same, to be worked on by this process alone. Raises InvalidRequestError; nonsense makes no job.

        `source` is the table, if it is opened already. What is kept of one that is gone needs none.
        """
        if source or not (folder / f"{settings.id}.db").exists():
            Template(settings.prompt, (source or open_source(Path(settings.source))).columns)
        if grammar := settings.sampling(SamplingParams()).grammar:
            check_grammar(grammar)
        job = cls.at(folder, settings)
        if not job.claim():
            job.close()
            raise InvalidRequestError(TAKEN)
        return job

    def claim(self) -> bool:
        """Before it is worked on. False: another process does."""
        return self._lock.try_lock()

    def close(self) -> None:
        self._connection.close()
        self._lock.unlock()

    # The table.

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table, once it is being read."""
        return tuple(json.loads(self._noted("columns") or "[]"))

    @property
    def template(self) -> Template:
        """Once the table is being read."""
        return Template(self.settings.prompt, self.columns)

    @property
    def added_columns(self) -> tuple[str, ...]:
        """What an export puts behind them."""
        own = (*self.settings.form.columns, *([SHARE] if self.settings.num_votes > 1 else []), ERROR)
        return unique_names((*self.columns, *own))[len(self.columns) :]

    def read(self, source: Source | None = None) -> Iterator[int]:
        """Reads the table unless it is known, and tells how many rows there are so far.

        Where the caller stops asking, the next call reads it again. Raises InvalidRequestError.
        """
        source = source or open_source(Path(self.settings.source))
        if self._noted("stamp") == source.stamp:
            return
        used = Template(self.settings.prompt, source.columns).used
        with self._connection as connection:
            connection.execute("DELETE FROM rows")
            self._note("stamp", "")
            self._note("columns", json.dumps(source.columns))
        rows, num_read = source.rows(), 0
        while some := list(islice(rows, ROWS_AT_ONCE)):
            with self._connection:
                self._add(num_read + 1, some, [source.columns.index(column) for column in used])
            num_read += len(some)
            yield num_read
        with self._connection:
            self._note("stamp", source.stamp)

    def rows(self, first: int, count: int) -> list[JobRow]:
        """`count` rows from number `first` on. Any thread, on a job of its own that is opened for it."""
        found = self._connection.execute(
            "SELECT number, cells, coalesce(state, 2), answer, share, "
            "rows.error || coalesce(prompts.error, ''), texts "
            "FROM rows LEFT JOIN prompts ON id = prompt WHERE number >= ? AND number < ?",
            (first, first + count),
        )
        return [
            JobRow(one, _list(cells), State(state), _list(answer), share or 0, from_text(error), _list(texts))
            for one, cells, state, answer, share, error, texts in found
        ]

    def counts(self, limit: int = 0) -> Counts:
        """Of all rows, or of the first ones."""
        found = self._connection.execute(
            "SELECT coalesce(state, 2), count(*) FROM rows LEFT JOIN prompts ON id = prompt "
            "WHERE number <= ? OR ? = 0 GROUP BY 1",
            (limit, limit),
        )
        by_state = dict(found.fetchall())
        return Counts(sum(by_state.values()), by_state.get(State.DONE, 0), by_state.get(State.FAILED, 0))

    def prompt_of(self, cells: tuple[str, ...]) -> str:
        """What is asked about a row. Blocks where that is a file. Raises InvalidRequestError."""
        values = with_text(Path(self.settings.source), cells, self.columns)
        return self.template.filled(values)

    @property
    def sharing(self) -> Sharing | None:
        """Of the first row's prompt. None: there is no row, or nobody knows how long a file is."""
        row = next(iter(self.rows(1, 1)), None)
        if row is None or len(row.cells) < len(self.columns):
            return None
        return self.template.sharing(row.cells)

    # The answers.

    def waiting(self, after: int, count: int, limit: int = 0) -> list[Asked]:
        """The next rows behind number `after` that have no answer, up to number `limit` if there is one."""
        found = self._connection.execute(
            "SELECT number, prompt, cells FROM rows JOIN prompts ON id = prompt "
            "WHERE state = 0 AND number > ? AND (number <= ? OR ? = 0) ORDER BY number LIMIT ?",
            (after, limit, limit, count),
        )
        return [Asked(number, prompt, _list(cells)) for number, prompt, cells in found]

    def put(self, answered: Iterable[Answered]) -> int:
        """All of them are on disk when it returns how many rows have these answers."""
        answered = list(answered)
        with self._connection as connection:
            connection.executemany(
                "UPDATE prompts SET state = ?, answer = ?, share = ?, error = ?, texts = ? WHERE id = ?",
                (
                    (
                        State.DONE if one.values else State.FAILED,
                        json.dumps(one.values),
                        one.share,
                        to_text(one.error),
                        json.dumps(one.texts),
                        one.prompt,
                    )
                    for one in answered
                ),
            )
        ids = json.dumps([one.prompt for one in answered])
        counted = "SELECT count(*) FROM rows WHERE prompt IN (SELECT value FROM json_each(?))"
        return int(self._connection.execute(counted, (ids,)).fetchone()[0])

    def again(self) -> None:
        """What failed, or was cut off, waits for an answer again."""
        with self._connection as connection:
            connection.execute("UPDATE prompts SET state = 0, error = '' WHERE error <> ''")

    def record(self, row: JobRow) -> list[Any]:
        """A row by the table's columns and those that are added. Values as JSON has them."""
        columns = self.settings.form.columns
        values = row.values or (None,) * len(columns)
        share = [row.share or None] if self.settings.num_votes > 1 else []
        cells = (*row.cells, *[None] * (len(self.columns) - len(row.cells)))
        return [*cells, *values, *share, row.error]

    def _add(self, first: int, rows: Sequence[SourceRow], used: Sequence[int]) -> None:
        hashes = [_hash(row, used) for row in rows]
        known = [(one,) for one, row in zip(hashes, rows, strict=True) if not row.error]
        self._connection.executemany("INSERT OR IGNORE INTO prompts (hash) VALUES (?)", known)
        self._connection.executemany(
            "INSERT INTO rows SELECT ?, (SELECT id FROM prompts WHERE hash = ? AND ? = ''), ?, ?",
            (
                (number, one, row.error, json.dumps(row.values), to_text(row.error))
                for number, (one, row) in enumerate(zip(hashes, rows, strict=True), first)
            ),
        )

    def _noted(self, name: str) -> str:
        found = self._connection.execute("SELECT value FROM job WHERE name = ?", (name,)).fetchone()
        return found[0] if found else ""

    def _note(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO job VALUES (?, ?)", (name, value))


def _hash(row: SourceRow, used: Sequence[int]) -> bytes:
    values = [row.values[index] for index in used if index < len(row.values)]
    return hashlib.sha256(json.dumps([values, row.version]).encode()).digest()


def _list(text: str | None) -> tuple[Any, ...]:
    return tuple(json.loads(text or "[]"))
