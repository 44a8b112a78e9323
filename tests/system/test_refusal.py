import io
import sys
from pathlib import Path

import PySide6
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


@pytest.fixture
def qt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of Qt's part for X11 that needs a library which no system has."""
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    name = "Qt/plugins/platforms/libqxcb.so"
    real = Path(PySide6.__file__).parent / name
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(real.read_bytes().replace(b"libQt6XcbQpa.so.6", b"libxcb-nowhere.so"))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux leaves these libraries to the user")
def test_libraries_that_the_window_lacks_are_named_with_their_packages(qt: Path, monkeypatch) -> None:
    told = refusal.missing_for_window(qt)
    assert "libxcb-nowhere.so" in told
    assert "sudo apt install " in told
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert refusal.missing_for_window(qt) == ""
    monkeypatch.delenv("QT_QPA_PLATFORM")
    assert refusal.missing_for_window(Path(PySide6.__file__).parent) == ""


def test_packages_are_named_as_debian_names_them() -> None:
    libraries = (
        "libEGL.so.1",
        "libX11.so.6",
        "libxcb-cursor.so.0",
        "libglib-2.0.so.0",
        "libgthread-2.0.so.0",
    )
    assert refusal.debian_packages(libraries) == ["libegl1", "libglib2.0-0", "libx11-6", "libxcb-cursor0"]
