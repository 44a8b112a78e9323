import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from app import main

ROOT = Path(main.__file__).parent.parent

# Stands before everything else on the path and fails as a missing package does.
NO_QT = """
import sys
class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "qasync"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NoQt())
from app.main import main
sys.exit(main(sys.argv[1:]))
"""


def without_qt(*arguments: str, path: Path = Path("/nowhere")) -> subprocess.CompletedProcess[str]:
    """Without a terminal. Programs of the desktop are those in `path`."""
    return subprocess.run(
        [sys.executable, "-c", NO_QT, *arguments],
        cwd=ROOT,
        env={**os.environ, "PATH": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_qt_the_window_says_what_is_missing() -> None:
    done = without_qt()
    assert done.returncode == 1
    assert "The window cannot open: No module named" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_qt_and_without_a_terminal_a_dialog_of_the_desktop_says_it(tmp_path: Path) -> None:
    dialog = tmp_path / "zenity"
    dialog.write_text(f'#!/bin/sh\nfor last; do :; done; echo "$last" >"{tmp_path}/shown"\n')
    dialog.chmod(0o755)
    without_qt(path=tmp_path)
    assert (tmp_path / "shown").read_text().startswith("The window cannot open: No module named")


@pytest.mark.parametrize("command", [["ask", "-"], ["compare", "a.gguf", "b.gguf", "-"]])
def test_ctrl_c_ends_a_command_quietly_that_waits_for_its_input(command, monkeypatch) -> None:
    stdin = Mock(**{"read.side_effect": KeyboardInterrupt, "buffer.read.side_effect": KeyboardInterrupt})
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main.main(command) == 130


@pytest.mark.parametrize(("command", "word"), [("ask", "PROMPT"), ("rows", "--votes")])
def test_without_qt_there_are_answers_in_the_terminal(command, word) -> None:
    done = without_qt(command, "--help")
    assert done.returncode == 0
    assert word in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--slots", "0"], "--slots: Input should be greater than or equal to 1"),
        (["--ctx", "many"], "--ctx: invalid int value"),
        (["--slots", "65"], "--slots: Input should be less than or equal to 64"),
        (["--threads", "-1"], "--threads: Input should be greater than or equal to 0"),
        (["--theme", "purple"], "purple"),
        (["a.gguf", "b.gguf"], "b.gguf"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, complaint, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_command_line_becomes_options() -> None:
    options = main._parse(
        ["--ctx", "4096", "--slots", "3", "--threads", "2", "--theme", "dark", "my model.gguf"]
    )
    assert options.overrides == {"theme": "dark", "n_ctx": 4096, "n_seq_max": 3, "n_threads": 2}
    assert options.model == Path("my model.gguf")


def test_without_a_command_line_the_options_are_those_of_the_parser() -> None:
    without, given = vars(main._parse([])), vars(main._parse(["--theme", "dark"]))
    assert without == {name: given[name] for name in ("model", "debug")} | {"overrides": {}}


@pytest.fixture
def broken_window(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(options: object) -> int:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr("app.window.run", run)


def test_what_nobody_caught_is_told_in_a_dialog_where_there_is_no_terminal(
    broken_window, monkeypatch, capsys
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("app.system.refusal.has_terminal", lambda: False)
    monkeypatch.setattr("app.system.refusal.show_without_qt", shown.append)
    assert main.main([]) == 1
    assert "the disk is on fire" in shown[0]
    assert "the disk is on fire" in capsys.readouterr().err


def test_what_nobody_caught_is_a_traceback_on_a_terminal(broken_window, monkeypatch) -> None:
    monkeypatch.setattr("app.system.refusal.has_terminal", lambda: True)
    with pytest.raises(RuntimeError):
        main.main([])
