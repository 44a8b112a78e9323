import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import desktop_entry
from app.system import paths


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data home"))
    return tmp_path / "data home"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed `skein` in a folder with characters that mean something to a shell."""
    program = tmp_path / 'a "big" $folder 100%' / "skein"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "--install-desktop"])
    return program


def files(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


WRITTEN = {
    "applications/skein.desktop",
    "mime/packages/skein.xml",
    "icons/hicolor/scalable/apps/skein.svg",
    "icons/hicolor/scalable/mimetypes/application-x-gguf.svg",
}


def test_what_is_installed_is_removed_again_and_nothing_else(home, program, monkeypatch) -> None:
    monkeypatch.setattr(desktop_entry, "_REFRESH", ())  # the desktop's own tools leave caches
    other = home / "applications" / "other.desktop"
    other.parent.mkdir(parents=True)
    other.touch()
    assert desktop_entry.install() == 0
    assert files(home) == {*WRITTEN, "applications/other.desktop"}
    assert desktop_entry.remove() == desktop_entry.remove() == 0
    assert files(home) == {"applications/other.desktop"}


def test_the_entry_starts_this_installation_whatever_its_folder_is_called(home, program) -> None:
    assert desktop_entry.install() == 0
    entry = configparser.RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(home / "applications" / "skein.desktop")
    value = entry["Desktop Entry"]["Exec"].replace("\\\\", "\\")  # what every string value goes through
    # The rules for quoting are a shell's.
    parts = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {value}"], capture_output=True, text=True, check=True
    )
    assert [part.replace("%%", "%") for part in parts.stdout.splitlines()] == [str(program), "%f"]


def test_a_checkout_is_started_by_what_sets_it_up(tmp_path, monkeypatch) -> None:
    program, starter = tmp_path / ".venv" / "bin" / "skein", tmp_path / "packaging" / "run"
    for path in (program, starter):
        path.parent.mkdir(parents=True)
        path.touch(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    assert desktop_entry.command() == f'"{starter}"'


def test_without_an_installed_program_the_module_is_started(monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/app/__main__.py"])
    assert desktop_entry.command() == f'"{sys.executable}" -m app'


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, program, monkeypatch, capsys) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert desktop_entry.install() == 1
    assert str(tmp_path / "file") in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_entry_is_valid(home, program) -> None:
    desktop_entry.install()
    for entry in (
        home / "applications" / "skein.desktop",
        paths.resources_dir() / "desktop" / "skein.desktop",
    ):
        subprocess.run(["desktop-file-validate", str(entry)], check=True)
