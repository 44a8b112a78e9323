import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app import program
from app.program import model_to_load
from app.system import paths
from app.system.folder_lock import FolderLock
from tests.read_only import foreign_folder, read_only

ROOT = Path(program.__file__).parents[1]


def test_the_model_of_the_last_run_comes_before_the_starter_model(tmp_path: Path) -> None:
    remembered, starter = tmp_path / "big.gguf", tmp_path / "starter.gguf"
    remembered.touch()
    starter.touch()
    assert model_to_load(None, remembered, starter) == remembered
    assert model_to_load(None, None, starter) == starter


def test_the_starter_stands_in_for_nothing_that_is_missing(tmp_path: Path) -> None:
    starter = tmp_path / "starter.gguf"
    starter.touch()
    assert model_to_load(None, tmp_path / "away.gguf", starter) == tmp_path / "away.gguf"
    asked = tmp_path / "nowhere.gguf"
    assert model_to_load(asked, tmp_path / "away.gguf", starter) == asked


def test_a_file_asked_for_by_a_short_name_is_remembered_by_its_whole_name(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert model_to_load(Path("big.gguf"), None, tmp_path / "starter.gguf") == tmp_path / "big.gguf"


def test_without_any_model_the_missing_starter_model_is_named(tmp_path: Path) -> None:
    assert model_to_load(None, None, tmp_path / "starter.gguf") == tmp_path / "starter.gguf"


# Runs the window, lets the system ask for a model, and then ends the session.
LOGOUT = """
import sys
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFileOpenEvent
from app import main, program as programs, window
is_early = sys.argv[2] == "early"
show = window._show_painted
def show_and_ask(shown):
    show(shown)
    if is_early:
        QCoreApplication.postEvent(QCoreApplication.instance(), QFileOpenEvent(sys.argv[1]))
window._show_painted = show_and_ask
loaded = programs.Program._on_loaded
def on_loaded(program, model):
    loaded(program, model)
    application = program._application
    if model.path == programs.Path(sys.argv[1]):
        assert application.receivers("2commitDataRequest(QSessionManager&)") == 1
        program._on_session_ending(None)  # only a real session has a manager to emit
    elif not is_early:
        QCoreApplication.postEvent(application, QFileOpenEvent(sys.argv[1]))
programs.Program._on_loaded = on_loaded
sys.exit(main.main([]))
"""


@pytest.mark.native
@pytest.mark.parametrize("when", ["early", "late"])
def test_a_file_opened_by_the_system_is_loaded_and_the_end_of_the_session_is_an_end_in_order(
    when: str, tiny_gguf
) -> None:
    """Early is before there is more than the first paint."""
    command = [sys.executable, "-c", LOGOUT, tiny_gguf("qwen3"), when]
    subprocess.run(command, cwd=ROOT, timeout=60, check=True)
    log = (paths.log_dir() / "skein.log").read_text()
    assert f"{tiny_gguf('qwen3')} is loaded" in log
    assert "Ended in order." in log
    assert not paths.run_marker_file().exists()


# Ends the program while a load is where nothing can interrupt it.
STUCK = """
import sys, time
from contextlib import contextmanager
from app import main, program as programs
from app.bridge import engine_threads
from app.bridge.engine_thread import EngineThread
engine_threads.CLOSING_S = 0.1
@contextmanager
def stuck(params, on_progress, *others):
    on_progress(0.5)
    time.sleep(600)
    yield
EngineThread.__init__.__defaults__ = (None, stuck, None)
connect = programs.Program._connect
def connect_and_end(program):
    connect(program)
    program._engine.load_progressed.connect(lambda _fraction: program._quit.set())
programs.Program._connect = connect_and_end
sys.exit(main.main([]))
"""


def test_the_program_ends_in_order_beside_a_load_that_cannot_be_interrupted() -> None:
    subprocess.run([sys.executable, "-c", STUCK], cwd=ROOT, timeout=60, check=True)
    log = (paths.log_dir() / "skein.log").read_text()
    assert "Ended in order." in log
    assert "it is left alone" in log
    assert not paths.run_marker_file().exists()
    assert not (paths.data_dir() / "skein.lock").exists()


def test_a_restart_is_the_same_command_again_with_the_chats_unlocked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock, commands = FolderLock(tmp_path / "lock"), []

    def execv(program: str, command: list[str]) -> None:
        assert FolderLock(tmp_path / "lock").try_lock(), "the next program would find the chats in use"
        commands.append([program, *command])

    monkeypatch.setattr(os, "execv", execv)
    assert lock.try_lock()
    program._start_again(lock)
    assert commands == [[sys.executable, *sys.orig_argv]]


def test_nobody_else_can_read_what_a_run_leaves(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "skein").mkdir()
    (tmp_path / "skein").chmod(0o777)
    folder = program._log_dir()
    (folder / program.CRASH_FILE).touch(mode=0o644)
    with program._crash_file(folder):
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {tmp_path / "skein": 0o700, folder: 0o700, folder / program.CRASH_FILE: 0o600}


def test_a_cache_that_cannot_be_written_where_it_belongs_is_told(monkeypatch, tmp_path: Path) -> None:
    assert program.cache_notice() == ""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert f"{tmp_path / 'file' / 'skein'} is not writable" in program.cache_notice()
    assert str(paths.data_dir() / "cache") in program.cache_notice()


def test_where_no_log_can_stay_it_is_kept_for_this_run(monkeypatch) -> None:
    with foreign_folder() as home, foreign_folder() as scratch:
        scratch.chmod(0o777)
        monkeypatch.setattr("tempfile.tempdir", str(scratch))
        monkeypatch.setenv("XDG_STATE_HOME", str(home))
        assert program._log_dir().is_relative_to(home)
        with read_only(program._log_dir()):
            assert program._log_dir().is_relative_to(scratch)
