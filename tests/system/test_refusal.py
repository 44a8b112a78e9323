import io
import sys
from pathlib import Path

import pytest

from app.system import refusal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def set_streams(monkeypatch: pytest.MonkeyPatch, stream: object) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, stream)


def test_one_stream_on_a_terminal_is_a_terminal(monkeypatch) -> None:
    set_streams(monkeypatch, io.StringIO())
    assert not refusal.has_terminal()
    monkeypatch.setattr(sys, "stdin", Terminal())  # `skein 2>log`
    assert refusal.has_terminal()


def test_a_program_without_streams_has_no_terminal_and_writes_nothing(monkeypatch) -> None:
    """As on Windows, started by a click."""
    set_streams(monkeypatch, None)
    assert not refusal.has_terminal()
    refusal.write("no room")


def test_a_closed_stream_is_no_terminal(monkeypatch) -> None:
    closed = Terminal()
    closed.close()
    set_streams(monkeypatch, closed)
    assert not refusal.has_terminal()


def test_the_first_dialog_there_is_shows_the_text_as_it_is(monkeypatch, tmp_path: Path) -> None:
    for name in ("kdialog", "xmessage"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nprintf "%s|" {name} "$@" >>"{tmp_path}/shown"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    refusal.show_without_qt("<b> $HOME is full")
    assert (tmp_path / "shown").read_text() == "kdialog|--title|Skein|--error|<b> $HOME is full|"


def test_without_any_dialog_nothing_happens(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refusal.show_without_qt("no room")
