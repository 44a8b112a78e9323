"""`skein rows` with a tiny random model: what goes where, with which exit code, and how it goes on."""

import csv
import io
import json
import signal
import subprocess
import sys

import pytest

from app.cli import rows

pytestmark = pytest.mark.native


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1,red\n2,green\n3,blue\n")
    return path


@pytest.fixture
def command(tiny_gguf, table):
    figures = ["--threads", "1", "--ctx", "512", "--temperature", "0", "--max-tokens", "9"]
    return [str(table), "--model", str(tiny_gguf("qwen3")), *figures, "--prompt", "Is {text} good?"]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_answers_are_a_column_and_figures_go_to_stderr(command, capfd) -> None:
    assert rows.main([*command, "--choices", "yes, no"]) == 0
    out, err = capfd.readouterr()
    header, *found = read(out)
    assert header == ["id", "text", "answer", "error"]
    assert [row[:2] for row in found] == [["1", "red"], ["2", "green"], ["3", "blue"]]
    assert {row[2] for row in found} <= {"yes", "no"}
    assert "3 rows: 3 answered." in err
    assert " tokens computed, " in err


def test_the_same_command_computes_new_rows_only(command, table, capfd) -> None:
    assert rows.main([*command, "--choices", "yes,no", "--limit", "2"]) == 0
    first = read(capfd.readouterr().out)
    assert len(first) == 3
    assert rows.main([*command, "--choices", "yes,no", "--limit", "2"]) == 0
    out, err = capfd.readouterr()
    assert read(out) == first
    assert "computed" not in err
    table.write_text("text,id\nblack,0\ngreen,2\nred,1\n")
    assert rows.main([*command, "--choices", "yes,no"]) == 0
    again = read(capfd.readouterr().out)
    assert [row[2] for row in again[2:]] == [first[2][2], first[1][2]]


def test_a_schema_has_columns_and_goes_to_a_file(command, tmp_path, capfd) -> None:
    schema = {"type": "object", "properties": {"good": {"type": "boolean"}}, "required": ["good"]}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    out = tmp_path / "out.jsonl"
    command = [*command, "--json-schema", str(tmp_path / "schema.json"), "--max-tokens", "400"]
    assert rows.main([*command, "--output", str(out)]) == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in found] == ["1", "2", "3"]
    assert all(row["good"] in (True, False) and row["error"] == "" for row in found)
    assert capfd.readouterr().out == ""


def test_votes_have_a_share(command, capfd) -> None:
    votes = ["--choices", "yes,no", "--votes", "3", "--temperature", "2", "--seed", "1"]
    assert rows.main([*command, *votes]) == 0
    header, *found = read(capfd.readouterr().out)
    assert header == ["id", "text", "answer", "share", "error"]
    assert {row[3] for row in found} <= {"0.6666666666666666", "1.0"}


def test_what_failed_is_asked_again_when_told_so(command, capfd) -> None:
    assert rows.main([*command, "--number", "--max-tokens", "1"]) == 1
    out, err = capfd.readouterr()
    assert {row[3] for row in read(out)[1:]} == {"The answer was cut off at its limit of tokens."}
    assert "0 answered, 3 failed; --again asks them again." in err
    more = ["--number", "--max-tokens", "40"]
    assert rows.main([*command, *more]) == 1
    assert rows.main([*command, *more, "--again"]) == 0


def test_a_prompt_can_come_from_a_file(command, tmp_path, capfd) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("Is {text} good? {yes}")
    assert rows.main([*command, "--choices", "yes,no", "--prompt", f"@{path}"]) == 0
    with pytest.raises(SystemExit, match="2"):
        rows.main([*command, "--prompt", "@none.txt"])
    assert "none.txt cannot be read" in capfd.readouterr().err


def test_a_prompt_that_shares_little_is_told_the_other_order(command, capfd) -> None:
    choices = ["--choices", "yes,no", "--prompt"]
    rows.main([*command, *choices, "{text}: is this a colour, or is it anything else?"])
    err = capfd.readouterr().err
    assert "0% of the first row's prompt is shared with other rows." in err
    assert "“text”: is this a colour, or is it anything else?\n\ntext: {text}\n" in err
    rows.main([*command, *choices, "Is this a colour? {text}"])
    assert "shared with" not in capfd.readouterr().err


def test_a_row_that_does_not_fit_fails_alone(command, table, capfd) -> None:
    table.write_text("text\nred\n" + "x " * 5_000 + "\nblue\n")
    assert rows.main([*command, "--choices", "yes,no"]) == 1
    errors = [row[2] for row in read(capfd.readouterr().out)[1:]]
    assert [bool(error) for error in errors] == [False, True, False]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--prompt", "Is it good?"], "Write {id} where its value belongs"),
        (["--choices", "one"], "There must be 2 to"),
        (["--output", "out.doc"], "must end in .csv"),
        (["--output", "none/out.csv"], "There is no folder “none” to write to."),
        (["--votes", "3"], "At temperature 0 all answers of a row are the same"),
        (["--temperature", "nan"], "temperature must be between"),
        (["--model", "none.gguf"], "none.gguf"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(command, more, message, capfd) -> None:
    assert rows.main([*command, *more]) == 1
    err = capfd.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_a_table_that_is_missing_is_said_so(command, table, capfd) -> None:
    table.unlink()
    assert rows.main(command) == 1
    assert capfd.readouterr().err == "skein rows: “table.csv” no longer exists.\n"


def test_a_reader_that_has_enough_ends_it_quietly(command, table) -> None:
    table.write_text("text\n" + "".join(f"row {number}\n" for number in range(500)))
    start = [sys.executable, "-m", "app", "rows", *command]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 141


def test_a_reader_that_has_enough_fails_no_row(command, table, monkeypatch, capfd) -> None:
    table.write_text("text\n" + "".join(f"row {number}\n" for number in range(40)))
    choices = [*command, "--choices", "yes,no"]
    written = rows._Stdout.write

    def write(stdout: rows._Stdout) -> None:
        written(stdout)
        if stdout._next > 3:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(rows._Stdout, "write", write)
        assert rows.main(choices) == 1
    assert "No space left on device. What was answered is kept" in capfd.readouterr().err
    assert rows.main(choices) == 0
    assert "40 rows: 40 answered." in capfd.readouterr().err


def test_an_interrupt_says_how_to_go_on(command, table) -> None:
    table.write_text("text\n" + "".join(f"row {number}\n" for number in range(2_000)))
    start = [sys.executable, "-m", "app", "rows", *command]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "text,answer,error\n"
        assert process.stdout.readline().startswith("row 0,")
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.stderr.read().endswith(
            "skein rows: what was answered is kept. The same command goes on from there.\n"
        )
    assert process.returncode == 130
