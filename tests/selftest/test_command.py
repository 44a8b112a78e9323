import json
import signal

import pytest

from app.main import main
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.selftest import command
from app.selftest.report import Outcome, Report, ReportLine
from app.selftest.run import run_checks
from app.system.worker import Child
from tests.fakes import CountingBackend


@pytest.mark.native
def test_the_starter_model_passes_on_the_command_line(capsys):
    assert main(["selftest", "--threads", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["architecture"], told["n_ctx"]) == (True, "qwen3", 1024)
    assert {line["outcome"] for line in told["lines"]} == {"passed"}


def test_a_failure_is_the_exit_code(monkeypatch, capsys):
    line = ReportLine("a", "Ten in a row", "asked", "the costs differ", Outcome.FAILED, 0.5)
    monkeypatch.setattr(command, "self_test", lambda *_: Report("m", "qwen3", 512, 4, "0.3.36", (line,)))
    assert command.main([]) == 1
    assert "failed  (a) Ten in a row" in capsys.readouterr().out


def test_a_model_that_cannot_be_loaded_is_a_clear_error(tmp_path, capsys):
    assert command.main(["--model", str(tmp_path / "none.gguf")]) == 1
    assert "none.gguf" in capsys.readouterr().err


def test_ctrl_c_ends_it(monkeypatch):
    def interrupted(*_values):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "self_test", interrupted)
    assert command.main([]) == 130


@pytest.fixture
def tested(monkeypatch, capfdbinary):
    """Runs the command on the fake backend, or whatever else stands in; returns exit code and messages."""

    def on_fake(_params, on_progress, is_cancelled, on_line):
        return run_checks(CountingBackend(), on_progress, is_cancelled, on_line=on_line)

    def run(stand_in=on_fake):
        monkeypatch.setattr(command, "self_test", stand_in)
        monkeypatch.setattr(command, "_hear_parent", lambda _calls: None)
        exit_code = command.main(["--progress"])
        return exit_code, [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]

    return run


def test_progress_and_lines_come_as_they_are_and_the_report_last(tested):
    exit_code, messages = tested()
    assert exit_code == 0
    report = Report.of(messages[-1]["report"])
    assert report.passed
    line_messages = [message for message in messages if "line" in message]
    lines = [message["line"] for message in line_messages]
    assert lines == [line.as_json() for line in report.lines]
    assert [ReportLine.of(message["line"] | message["packed"]) for message in line_messages] == list(
        report.lines
    )
    assert "text" in line_messages[0]["packed"]["seen"], "so that it can be said in other languages"
    steps = [(message["progress"], message["doing"]) for message in messages if "progress" in message]
    assert steps == sorted(steps, key=lambda one: one[0])
    assert len(steps) == len(set(steps))
    assert list(dict.fromkeys(doing for _, doing in steps if doing)) == [line.title for line in report.lines]
    first_line = next(index for index, message in enumerate(messages) if "line" in message)
    assert messages[first_line - 1]["doing"] == lines[0]["title"]


def test_sigterm_calls_it_off_in_order(tested):
    def terminated(_params, on_progress, is_cancelled, on_line):
        signal.raise_signal(signal.SIGTERM)
        return run_checks(CountingBackend(), on_progress, is_cancelled, on_line=on_line)

    former = signal.getsignal(signal.SIGTERM)
    exit_code, messages = tested(terminated)
    assert exit_code == 130
    assert messages[-1]["report"]["was_cancelled"]
    assert signal.getsignal(signal.SIGTERM) is former


def test_a_load_that_is_called_off_leaves_no_report(tested):
    def called_off(*_values):
        raise ModelLoadCancelledError("called off")

    assert tested(called_off) == (130, [])


def test_a_model_that_cannot_be_loaded_is_told(tested):
    def refused(*_values):
        raise ModelLoadError("big.gguf is damaged. Download it again.")

    assert tested(refused) == (1, [{"error": "big.gguf is damaged. Download it again."}])


@pytest.mark.native
def test_it_ends_when_its_stdin_is_closed():
    child = Child("app", ["selftest", "--progress", "--threads", "1"])
    try:
        while "line" not in child.receive()[0]:
            pass
        child.hang_up()
        while "report" not in (last := child.receive()[0]):
            pass
        assert last["report"]["was_cancelled"]
        child.await_end(30)
        assert child.exit_code == 130
    finally:
        child.reap()
