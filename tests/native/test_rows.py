"""Rows of a table on the real library: what is computed for them, their answers, and what a kill leaves."""

import csv
import io
import json
import re
import subprocess
import sys
from contextlib import closing

import pytest

from app.cli import ask, rows
from app.rows.job import Job
from app.system import paths

pytestmark = pytest.mark.native

BEGINNING = "Say what this is about, in one word and nothing else, as a careful reader would. " * 3
VALUES = [f"{number} boats on the river {'and more ' * (number % 3)}" for number in range(12)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("".join(f'"{value}"\n' for value in ["text", *VALUES]))
    return path


def options(model, *more: str) -> list[str]:
    figures = ["--threads", "1", "--ctx", "4096", "--temperature", "0", "--max-tokens", "6"]
    return ["--model", str(model), *figures, *more]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


@pytest.mark.parametrize("architecture", ["qwen3", "gemma3", "mamba", "lfm2", "qwen35"])
def test_rows_compute_their_own_words_and_answer_as_each_alone(tiny_gguf, table, capfd, architecture) -> None:
    model = tiny_gguf(architecture)
    rows.main([str(table), "--prompt", BEGINNING + "{text}", "--slots", "4", *options(model)])
    out, err = capfd.readouterr()
    computed, total = (int(one.replace(",", "")) for one in re.findall(r"([\d,]+) (?:of|tokens)", err)[:2])
    assert total - computed >= (len(VALUES) - 1) * len(BEGINNING), "a token a letter"
    ask.main([*options(model, "--slots", "1", "--json"), *(BEGINNING + value for value in VALUES)])
    alone = [json.loads(line)["text"].strip() for line in capfd.readouterr().out.splitlines()]
    assert [row[1] for row in read(out)] == alone


def test_no_row_is_twice_or_missing_after_three_kills(tiny_gguf, tmp_path, capfd) -> None:
    table = tmp_path / "table.csv"
    names = [f"row {number}" for number in range(60)]
    table.write_text("\n".join(["name", *names]))
    command = [str(table), "--prompt", BEGINNING + "{name}", *options(tiny_gguf("qwen3"), "--slots", "3")]
    rows.main([*command, "--limit", "60", "--seed", "1"])  # another job
    undisturbed = [row[:2] for row in read(capfd.readouterr().out)]
    before: list[list[str]] = []
    for num_rows in (5, 15, 40):
        before = killed_after(num_rows, command)
        answers = kept(len(names))
        assert [row[1] for row in before] == answers[: len(before)]
    rows.main(command)
    found = read(capfd.readouterr().out)
    assert found[: len(before)] == before
    assert [row[:2] for row in found] == undisturbed
    assert [row[0] for row in found] == names


def killed_after(num_rows: int, command: list[str]) -> list[list[str]]:
    """The whole rows that it had written by then."""
    start = [sys.executable, "-m", "app", "rows", *command]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(num_rows + 1)]
        process.kill()
        lines += process.stdout.readlines()
    return read(b"".join(one for one in lines if one.endswith(b"\n")).decode())


def kept(num_rows: int) -> list[str]:
    """The answers on disk of the job without a seed; none where there is none yet."""
    for path in paths.rows_dir().glob("*.db"):
        with closing(Job(path)) as job:
            if job.settings.seed is None:
                return [str(next(iter(row.values), "")) for row in job.rows(1, num_rows)]
    return []
