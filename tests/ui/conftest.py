"""The window with a scripted workspace and engine."""

import itertools
import math
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.theme import apply_theme
from app.settings.settings import Settings
from app.ui.frame import Frame
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakeWorkspace
from tests.ui.windows import scripted_window


@pytest.fixture(autouse=True)
def widgets_go_with_their_test(qapp: QApplication) -> Iterator[None]:
    """What was told to delete itself later waits for a loop, and a theme dresses all windows there are."""
    yield
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture(autouse=True)
def frames_have_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is drawn at once does not depend on what else runs here."""
    monkeypatch.setattr("app.ui.base.frame_budget.FRAME_S", math.inf)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Opening it for reading blocks for ever."""
    path = tmp_path / "pipe.png"
    os.mkfifo(path)
    return path


@pytest.fixture
def short_frames(frames_have_all_the_time: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One piece is drawn in a frame."""
    ticks = itertools.count()
    monkeypatch.setattr("app.ui.base.frame_budget.FRAME_S", 1.5)
    monkeypatch.setattr("app.ui.base.frame_budget.monotonic", lambda: next(ticks))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(model_info(name="starter", n_ctx=4096, n_seq_max=4))


@pytest.fixture
def workspace() -> FakeWorkspace:
    return FakeWorkspace()


@pytest.fixture
def services() -> dict[str, object]:
    """What a module's tests put in the place of the window's services, by name."""
    return {}


@pytest.fixture
def window(
    qtbot: QtBot,
    qapp: QApplication,
    workspace: FakeWorkspace,
    engine: FakeEngine,
    services: dict[str, object],
    tmp_path: Path,
) -> Iterator[MainWindow]:
    """Shown, in the light theme, with one empty chat."""
    apply_theme(qapp, "light")
    settings = Settings.load(tmp_path / "settings.json")
    settings.theme = "light"
    window = scripted_window(engine, workspace, settings, **services)
    qtbot.addWidget(window.frame, before_close_func=lambda widget: widget.hide())
    workspace.new_chat()
    window.frame.show()
    qtbot.waitExposed(window.frame)
    yield window
    apply_theme(qapp, "light")


@pytest.fixture(scope="module")
def whole_window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    """The window of the program with all its parts, as it is made before it runs: nothing loaded, no chat."""
    from app.program import Program, Start
    from app.system.crashes import RunMarker
    from app.ui.window_state import WindowState

    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name))
        start = Start(Path("none.gguf"), StringIO(), RunMarker(home / "marker"), None)
        frame, state = Frame(), WindowState(home / "window.ini")
        program = Program(qapp, frame, state, Settings(theme="light"), start)  # type: ignore[arg-type]
        frame.show()
        yield program._window
        frame.hide()
        frame.deleteLater()
        program.deleteLater()
        qapp.processEvents()
