"""`skein ask` with a tiny random model: what goes where, in which order, with which exit code."""

import io
import json
import subprocess
import sys

import pytest

from app.cli import ask

pytestmark = pytest.mark.native


@pytest.fixture
def model(tiny_gguf):
    return ["--model", str(tiny_gguf("qwen3")), "--threads", "1", "--ctx", "512", "--temperature", "0"]


def test_answers_go_to_stdout_and_figures_to_stderr(model, capfd):
    assert ask.main([*model, "--max-tokens", "4", "one", "two"]) == 0
    out, err = capfd.readouterr()
    assert "tokens/s" in err
    assert "tokens/s" not in out
    assert out.endswith("\n")
    assert "ask-0: " in err
    assert "ask-1: " in err


def test_json_is_one_object_a_line_in_the_order_asked(model, capfd):
    assert ask.main([*model, "--json", "--max-tokens", "4", "one", "two", "three"]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line["prompt"] for line in lines] == ["one", "two", "three"]
    assert {line["usage"]["num_generated_tokens"] for line in lines} <= {1, 2, 3, 4}
    assert {line["finish_reason"] for line in lines} <= {"stop", "length"}


def test_answers_are_the_same_side_by_side_or_one_by_one_and_with_guesses(model, capfd):
    def answers(*options: str) -> list[str]:
        ask.main([*model, "--max-tokens", "8", "--json", *options, "one", "two", "three"])
        return [json.loads(line)["text"] for line in capfd.readouterr().out.splitlines()]

    assert answers("--slots", "3") == answers("--slots", "1") == answers("--draft", "4")
    with pytest.raises(SystemExit):
        answers("--draft", "65")


def test_a_prompt_can_come_from_stdin(model, capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbffrom a pipe")))
    assert ask.main([*model, "--json", "--max-tokens", "1", "-"]) == 0
    assert json.loads(capfd.readouterr().out)["prompt"] == "from a pipe"


def test_stdin_that_is_no_text_is_refused(model, capfd, monkeypatch):
    pipe = io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), "utf-8", "surrogateescape")
    monkeypatch.setattr(sys, "stdin", pipe)
    with pytest.raises(SystemExit, match="2"):
        ask.main([*model, "-"])
    assert "- cannot be read" in capfd.readouterr().err


def test_a_file_that_is_no_model_is_said_so_without_a_traceback(tmp_path, capfd):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"hello")
    assert ask.main(["--model", str(path), "hi"]) == 1
    assert capfd.readouterr().err == (
        "skein ask: x.gguf is not a GGUF file. Skein opens models in the GGUF format only.\n"
    )


def test_a_value_out_of_range_is_said_so(model, capfd):
    assert ask.main([*model, "--temperature", "nan", "hi"]) == 1
    assert "temperature must be between" in capfd.readouterr().err


def test_answers_follow_a_grammar(model, capfd, tmp_path):
    path = tmp_path / "digits.gbnf"
    path.write_text("root ::= [0-9]{4}")
    assert ask.main([*model, "--grammar", str(path), "--json", "one", "two"]) == 0
    texts = [json.loads(line)["text"] for line in capfd.readouterr().out.splitlines()]
    assert [len(text) for text in texts] == [4, 4]
    assert all(text.isdecimal() for text in texts)


def test_answers_follow_a_json_schema(model, capfd, tmp_path):
    path = tmp_path / "schema.json"
    path.write_text('{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}')
    assert ask.main([*model, "--json-schema", str(path), "one"]) == 0
    assert json.loads(capfd.readouterr().out)["ok"] in (True, False)


def test_json_is_all_that_is_printed_whatever_the_template_writes_around_it(capfd, tmp_path):
    path = tmp_path / "schema.json"
    path.write_text('{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}')
    assert ask.main(["--threads", "1", "--json-schema", str(path), "Are you ok?"]) == 0  # the starter
    out = capfd.readouterr().out
    assert out.strip() == out.strip("\n")
    assert out.startswith("{")


def test_a_reader_that_has_enough_ends_it_quietly(model):
    command = [sys.executable, "-m", "app", "ask", *model, "--max-tokens", "99", "hi"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--grammar", 'root ::= "a', "The grammar cannot be used: line 1: "),
        ("--json-schema", '{"type": "thing"}', "The JSON schema cannot be used: "),
    ],
)
def test_what_cannot_be_followed_is_said_so(model, capfd, tmp_path, option, text, message):
    path = tmp_path / "wrong"
    path.write_text(text)
    assert ask.main([*model, option, str(path), "hi"]) == 1
    assert message in capfd.readouterr().err


def test_a_grammar_that_cannot_be_read_is_said_so(model, capfd, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        ask.main([*model, "--grammar", str(tmp_path / "none.gbnf"), "hi"])
    assert "none.gbnf cannot be read" in capfd.readouterr().err


def test_one_prompt_that_cannot_be_answered_leaves_the_others(model, capfd):
    assert ask.main([*model, "--json", "--max-tokens", "2", "word " * 300, "short"]) == 1
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line["finish_reason"] == "error" for line in lines] == [True, False]
    assert "the context holds 512" in lines[0]["notice"]


def test_asking_works_where_qt_is_not_installed(model):
    program = (
        "import sys\n"
        "sys.modules['PySide6'] = sys.modules['qasync'] = None\n"
        "from app.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", program, "ask", *model, "--max-tokens", "2", "hi"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert (done.returncode, "tokens/s" in done.stderr) == (0, True), done.stderr
