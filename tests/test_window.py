import subprocess
import sys
from pathlib import Path

import pytest

from app import paths, window
from tests.read_only import foreign_folder, read_only

ROOT = Path(window.__file__).parents[1]

# Runs the window in a home of its own, and stops when it is painted, and when it is complete.
UP_TO_THE_WINDOW = """
import os, sys
from app import main, window
show = window._show_painted
def show_and_tell(shown):
    show(shown)
    print(*sys.modules, flush=True)
    from app.program import Program
    complete = Program._complete_window
    def complete_and_tell(program):
        complete(program)
        print(*sys.modules, flush=True)
        os._exit(0)
    Program._complete_window = complete_and_tell
window._show_painted = show_and_tell
main.main([])
"""
# It would take longer to import these than to paint a window.
NOT_LIGHT = {
    "PySide6.QtNetwork",
    "PySide6.QtSvg",
    "asyncio",
    "dataclasses",
    "logging.handlers",
    "psutil",
    "pydantic",
    "qasync",
    "sqlite3",
    "subprocess",
    "app.engine.types",
    "app.program",
    "app.settings",
}
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


def test_the_window_is_painted_before_anything_heavy_is_imported() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", UP_TO_THE_WINDOW],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    painted, complete = shown.stdout.splitlines()
    assert "app.ui.main_window" in painted.split()
    assert not set(painted.split()) & NOT_LIGHT
    imported = set(complete.split())
    assert "app.ui.tabs.chat_tabs" in imported
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


def test_a_data_folder_that_nobody_can_write_to_is_used_as_it_is(monkeypatch) -> None:
    with foreign_folder() as home:
        monkeypatch.setenv("XDG_DATA_HOME", str(home))
        folder = window._data_dir()
        assert not paths.is_read_only(folder)
        with read_only(folder):
            assert window._data_dir() == folder
            assert paths.is_read_only(folder)


def test_without_any_place_for_a_data_folder_there_is_none(monkeypatch) -> None:
    with foreign_folder() as home:
        monkeypatch.setenv("XDG_DATA_HOME", str(home))
        with read_only(home), pytest.raises(OSError):
            window._data_dir()
