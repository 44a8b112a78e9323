"""`skein rows`: one prompt over all rows of a table, without a window and without Qt.

What was answered is on disk at once: the same command goes on where it was, whatever has ended it.
"""

import argparse
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from app.cli import headless
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.running import RunningEngine
from app.protocol.commands import Resume, Submit
from app.protocol.errors import EngineError, RequestError
from app.rows.answer_form import AnswerForm, Kind
from app.rows.export import SUFFIXES, check_name, export, line_writer
from app.rows.job import ROWS_AT_ONCE, Job, JobSettings, State
from app.rows.runner import Runner, shared_tokens
from app.rows.source import open_source
from app.system import paths

ROWS_SIDE_BY_SIDE = 8
NUM_AHEAD = 2  # rows whose prompts are made while all slots answer
TELL_EVERY_S = 1.0


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when every row was answered, 1 when one was not, 130 after Ctrl+C."""
    options = _parse(argv)
    try:
        return _work(options)
    except EngineError as error:
        return _refuse(headless.reason_of(error))
    except RequestError as error:
        return _refuse(str(error))
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, BrokenPipeError):
            return headless.reader_gone()
        return _refuse(f"{error}. What was answered is kept: run the same command once that is mended.")
    except KeyboardInterrupt:
        _refuse("what was answered is kept. The same command goes on from there.")
        return 128 + signal.SIGINT


def _refuse(reason: str) -> int:
    headless.tell("")
    print(f"skein rows: {reason}", file=sys.stderr)
    return 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein rows",
        description="Ask a local model the same about each row of a table, many rows at the same time. What "
        "all prompts begin with is computed once. The same command goes on where it was.",
    )
    parser.add_argument(
        "table", type=Path, metavar="FILE", help="CSV, TSV, XLSX, JSONL, or a folder of files: {name}, {text}"
    )
    parser.add_argument(
        "--prompt",
        required=True,
        type=_prompt,
        metavar="TEXT|@FILE",
        help="what is asked, with {column} where a row's value belongs, best at the end",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--choices", metavar="A,B,…", help="each answer is one of these")
    forms.add_argument("--number", action="store_true", help="each answer is a number")
    forms.add_argument(
        "--json-schema", type=headless.text_of, metavar="FILE", help="a column for each property of answers"
    )
    parser.add_argument(
        "--votes",
        type=headless.at_least(1),
        default=1,
        metavar="N",
        help="ask so many times, and take what most answers say; their share is a column",
    )
    parser.add_argument(
        "--output",
        default="-",
        metavar="FILE",
        help=f"all columns and the answers, by its name as {', '.join(SUFFIXES)}; - writes CSV to stdout, "
        "row by row (default)",
    )
    parser.add_argument("--again", action="store_true", help="ask again for rows that failed")
    parser.add_argument("--limit", type=headless.at_least(1), default=0, metavar="N", help="the first N rows")
    headless.add_model_options(parser, slots_help="rows answered at the same time")
    parser.add_argument(
        "--max-tokens", type=headless.at_least(1), metavar="N", help="most tokens of an answer"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="0 picks the most likely token (default: the model's)"
    )
    headless.add_seed_options(parser)
    return parser.parse_args(argv)


def _prompt(text: str) -> str:
    return headless.text_of(text[1:]) if text.startswith("@") else text


def _form(options: argparse.Namespace) -> AnswerForm:
    if options.choices is not None:
        return AnswerForm(Kind.CHOICE, tuple(one.strip() for one in options.choices.split(",")))
    if options.json_schema is not None:
        return AnswerForm(Kind.SCHEMA, schema=options.json_schema)
    return AnswerForm(Kind.NUMBER if options.number else Kind.TEXT)


def _work(options: argparse.Namespace) -> int:
    settings = JobSettings(
        os.path.realpath(options.table),
        options.prompt,
        _form(options),
        options.votes,
        os.path.realpath(options.model),
        options.temperature,
        options.seed,
    )
    if options.output != "-":
        check_name(Path(options.output))
    source = open_source(options.table)
    job = Job.claimed(paths.rows_dir(), settings, source)  # before a large model is loaded
    try:
        for num_rows in job.read(source):
            headless.tell(f"{num_rows:,} rows read")
        if advice := _advice(job):
            print(f"skein rows: {advice}", file=sys.stderr)
        if options.again:
            job.again()
        stdout = _Stdout(job, options.limit) if options.output == "-" else None
        if job.waiting(0, 1, options.limit):
            _answer(job, options, stdout.write if stdout else lambda: None)
        if stdout:
            stdout.write()
        else:
            export(job, Path(options.output), options.limit)
        counts = job.counts(options.limit)
        failed = f", {counts.num_failed:,} failed; --again asks them again" if counts.num_failed else ""
        rows = "1 row" if counts.num_rows == 1 else f"{counts.num_rows:,} rows"
        print(f"{rows}: {counts.num_done:,} answered{failed}.", file=sys.stderr)
        return 1 if counts.num_failed else 0
    finally:
        job.close()


def _advice(job: Job) -> str:
    """On a prompt in which little is shared, though much could be."""
    sharing = job.sharing
    if not (sharing and sharing.is_better):
        return ""
    return (
        f"{sharing.now:.0%} of the first row's prompt is shared with other rows. With its values at the end "
        f"it would be {sharing.could_be:.0%}:\n\n{sharing.other}\n"
    )


def _answer(job: Job, options: argparse.Namespace, write: Callable[[], None]) -> None:
    params = headless.load_params_of(options, ROWS_SIDE_BY_SIDE)
    if warning := headless.warning_of(params):
        print(f"skein rows: {warning}", file=sys.stderr)

    def on_reports_ready() -> None:
        work.take()

    chat_layer = ChatWorker()
    try:
        with headless.open_engine(params, lambda _fraction: True, on_reports_ready) as (model, loop):
            runner = Runner(job, model.sampling, chat_layer, options.max_tokens, options.limit)
            work = _Work(runner, loop, params.n_seq_max + NUM_AHEAD, job, options.limit, write)
            work.begin()
            loop.run()
    finally:
        chat_layer.close()
    if work.error:
        raise work.error
    work.print_statistics()


class _Work:
    """Keeps the engine busy. Its thread."""

    def __init__(
        self,
        runner: Runner,
        loop: RunningEngine,
        num_at_once: int,
        job: Job,
        limit: int,
        write: Callable[[], None],
    ) -> None:
        self._runner, self._loop, self._num_at_once, self._write = runner, loop, num_at_once, write
        self._num_rows, num_done, num_failed = job.counts(limit)
        self._num_before = self._num_ended = num_done + num_failed
        self._has_begun = False
        self.error: Exception | None = None  # of whoever reads, or of the disk: the rows wait then
        self._began_at = self._told_at = time.monotonic()

    def begin(self) -> None:
        """Before the engine runs: nothing is tokenized until then."""
        self._loop.use_prompts(lambda prompts: self._begin(shared_tokens(prompts, self._runner.beginning)))

    def _begin(self, token_ids: tuple[int, ...]) -> None:
        beginning = self._runner.begin(token_ids)
        self._has_begun = True
        self._loop.post(Submit(beginning) if beginning else Resume())  # which is reported at once

    def take(self) -> None:
        if self.error:
            return
        try:
            self._take()
        except (OSError, sqlite3.Error) as error:
            self.error = error
            self._loop.stop()

    def _take(self) -> None:
        for report in self._loop.take_reports():
            for output in report.outputs:
                self._runner.take(output)
        if num_rows := self._runner.save():
            self._num_ended += num_rows
            self._write()
        if self._has_begun:
            self._post()
        if time.monotonic() - self._told_at >= TELL_EVERY_S:
            self._told_at = time.monotonic()
            headless.tell(self._progress())

    def print_statistics(self) -> None:
        runner, seconds = self._runner, time.monotonic() - self._began_at
        rate = 60 * (self._num_ended - self._num_before) / seconds
        headless.tell("")
        print(
            f"Prompts: {runner.num_computed_tokens:,} of {runner.num_prompt_tokens:,} tokens computed, "
            f"{runner.num_shared_tokens:,} once for all rows. {seconds:.1f} s, {rate:,.1f} rows a minute.",
            file=sys.stderr,
        )

    def _post(self) -> None:
        for request in self._runner.next_requests(self._num_at_once - self._runner.num_running):
            self._loop.post(Submit(request))
        if not self._runner.num_running:
            self._num_ended += self._runner.save()  # rows that could not even be asked
            self._loop.stop()

    def _progress(self) -> str:
        text = f"{self._num_ended:,} of {self._num_rows:,} rows"
        rate = (self._num_ended - self._num_before) / (self._told_at - self._began_at)
        if not rate:
            return text
        left = timedelta(seconds=round((self._num_rows - self._num_ended) / rate))
        return f"{text}, {60 * rate:,.0f} a minute, {left} left"


class _Stdout:
    """Writes the rows that are answered, in their order, as far as no answer is missing before them."""

    def __init__(self, job: Job, limit: int) -> None:
        self._job, self._line = job, line_writer(job, ".csv")
        self._next, self._last = 1, job.counts(limit).num_rows
        sys.stdout.write(self._line(None))

    def write(self) -> None:
        while self._next <= self._last:
            for row in self._job.rows(self._next, min(ROWS_AT_ONCE, self._last + 1 - self._next)):
                if row.state is State.WAITING:
                    sys.stdout.flush()
                    return
                sys.stdout.write(self._line(self._job.record(row)))
                self._next += 1
        sys.stdout.flush()
