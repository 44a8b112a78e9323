"""The window with a scripted workspace and engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.theme import apply_theme
from app.settings import Settings
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakeWorkspace


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(model_info(name="starter", n_ctx=4096, n_seq_max=4))


@pytest.fixture
def workspace() -> FakeWorkspace:
    return FakeWorkspace()


@pytest.fixture
def window(
    qtbot: QtBot, qapp: QApplication, workspace: FakeWorkspace, engine: FakeEngine, tmp_path: Path
) -> Iterator[MainWindow]:
    """Shown, in the light theme, with one empty chat."""
    apply_theme(qapp, "light")
    settings = Settings.load(tmp_path / "settings.json")
    settings.theme = "light"
    window = MainWindow(workspace, engine, settings)  # type: ignore[arg-type]
    qtbot.addWidget(window, before_close_func=lambda widget: widget.hide())
    workspace.new_chat()
    window.show()
    qtbot.waitExposed(window)
    yield window
    apply_theme(qapp, "light")
