import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QLockFile

from app import paths, window
from app.window import models_to_try
from tests.read_only import foreign_folder, read_only

ROOT = Path(window.__file__).parents[1]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A remembered model and the starter model."""
    remembered, starter = tmp_path / "big.gguf", tmp_path / "starter.gguf"
    remembered.touch()
    starter.touch()
    return remembered, starter


def test_the_model_of_the_last_run_comes_before_the_starter_model(files) -> None:
    remembered, starter = files
    assert models_to_try(None, remembered, starter) == [remembered, starter]
    assert models_to_try(None, None, starter) == [starter]


def test_a_model_that_is_away_is_not_tried(files) -> None:
    remembered, starter = files
    remembered.unlink()
    assert models_to_try(None, remembered, starter) == [starter]


def test_the_file_asked_for_is_tried_even_if_it_is_not_there(files, tmp_path: Path) -> None:
    remembered, starter = files
    asked = tmp_path / "nowhere.gguf"
    assert models_to_try(asked, remembered, starter) == [asked, remembered, starter]


def test_a_file_asked_for_by_a_short_name_is_remembered_by_its_whole_name(
    files, tmp_path, monkeypatch
) -> None:
    _remembered, starter = files
    monkeypatch.chdir(tmp_path)
    assert models_to_try(Path("big.gguf"), None, starter) == [tmp_path / "big.gguf", starter]


def test_without_any_model_the_missing_starter_model_is_named(tmp_path: Path) -> None:
    assert models_to_try(None, None, tmp_path / "starter.gguf") == [tmp_path / "starter.gguf"]


# Runs the window in a home of its own, and stops when it is shown.
UP_TO_THE_WINDOW = """
import os, sys
from app import main, window
show = window.Program._show_window
def show_and_tell(program):
    show(program)
    print(*sys.modules, flush=True)
    os._exit(0)
window.Program._show_window = show_and_tell
main.main([])
"""
HEAVY = {
    "aiohttp",
    "charset_normalizer",
    "httpx2",
    "huggingface_hub",
    "jinja2",
    "keyring",
    "llama_cpp",
    "markdown_it",
    "mdit_py_plugins",
    "numpy",
    "openpyxl",
    "pygments",
    "pypdf",
    "xxhash",
    "ziamath",
}


def test_the_window_is_shown_before_anything_heavy_is_imported() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", UP_TO_THE_WINDOW],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    imported = set(shown.stdout.split())
    assert "app.ui.main_window" in imported
    assert not imported & HEAVY
    assert not imported & {
        "app.api.server",
        "app.chats.imports.read",
        "app.engine.engine",
        "app.engine.prompt",
        "app.inspector.kv_map",
        "app.inspector.recording_file",
        "app.ui.settings.setting_list",
        "app.ui.tabs.chat_view",
    }


# Runs the window, lets the system ask for a model as soon as one is loaded, and then ends the session.
LOGOUT = """
import sys
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFileOpenEvent
from app import main, window
loaded = window.Program._on_loaded
def on_loaded(program, model):
    loaded(program, model)
    application = program._application
    if model.path == window.Path(sys.argv[1]):
        assert application.receivers("2commitDataRequest(QSessionManager&)") == 1
        program._on_session_ending(None)  # only a real session has a manager to emit
    else:
        QCoreApplication.postEvent(application, QFileOpenEvent(sys.argv[1]))
window.Program._on_loaded = on_loaded
sys.exit(main.main([]))
"""


@pytest.mark.native
def test_a_file_opened_by_the_system_is_loaded_and_the_end_of_the_session_is_an_end_in_order(
    tiny_gguf, monkeypatch
) -> None:
    subprocess.run([sys.executable, "-c", LOGOUT, tiny_gguf("qwen3")], cwd=ROOT, timeout=60, check=True)
    log = (paths.log_dir() / "skein.log").read_text()
    assert f"{tiny_gguf('qwen3')} is loaded" in log
    assert "Ended in order." in log
    assert not paths.run_marker_file().exists()


# Ends the program while a load is where nothing can interrupt it.
STUCK = """
import sys, time
from contextlib import contextmanager
from app import main, window
from app.bridge import active_engine
from app.bridge.engine_thread import EngineThread
active_engine.CLOSING_S = 0.1
@contextmanager
def stuck(params, on_progress):
    on_progress(0.5)
    time.sleep(600)
    yield
EngineThread.__init__.__defaults__ = (None, stuck)
connect = window.Program._connect
def connect_and_end(program):
    connect(program)
    program._engine.load_progressed.connect(lambda _fraction: program._quit.set())
window.Program._connect = connect_and_end
sys.exit(main.main([]))
"""


def test_the_program_ends_in_order_beside_a_load_that_cannot_be_interrupted() -> None:
    subprocess.run([sys.executable, "-c", STUCK], cwd=ROOT, timeout=60, check=True)
    log = (paths.log_dir() / "skein.log").read_text()
    assert "Ended in order." in log
    assert "it is left alone" in log
    assert not paths.run_marker_file().exists()
    assert QLockFile(str(paths.data_dir() / "skein.lock")).tryLock(0)


def test_a_restart_is_the_same_command_again_with_the_chats_unlocked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock, commands = QLockFile(str(tmp_path / "lock")), []

    def execv(program: str, command: list[str]) -> None:
        assert QLockFile(str(tmp_path / "lock")).tryLock(0), "the next program would find the chats in use"
        commands.append([program, *command])

    monkeypatch.setattr(os, "execv", execv)
    assert lock.tryLock(0)
    window._start_again(lock)
    assert commands == [[sys.executable, *sys.orig_argv]]


def test_a_data_folder_that_nobody_can_write_to_is_used_as_it_is(monkeypatch) -> None:
    with foreign_folder() as home:
        monkeypatch.setenv("XDG_DATA_HOME", str(home))
        folder = window._data_dir()
        assert not window.is_read_only(folder)
        with read_only(folder):
            assert window._data_dir() == folder
            assert window.is_read_only(folder)


def test_without_any_place_for_a_data_folder_there_is_none(monkeypatch) -> None:
    with foreign_folder() as home:
        monkeypatch.setenv("XDG_DATA_HOME", str(home))
        with read_only(home), pytest.raises(OSError):
            window._data_dir()


def test_where_no_log_can_stay_it_is_kept_for_this_run(monkeypatch) -> None:
    with foreign_folder() as home, foreign_folder() as scratch:
        scratch.chmod(0o777)
        monkeypatch.setattr("tempfile.tempdir", str(scratch))
        monkeypatch.setenv("XDG_STATE_HOME", str(home))
        assert window._log_dir().is_relative_to(home)
        with read_only(window._log_dir()):
            assert window._log_dir().is_relative_to(scratch)
