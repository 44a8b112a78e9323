import json

import pytest

from app.main import main
from app.selftest import command
from app.selftest.report import Outcome, Report, ReportLine


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
