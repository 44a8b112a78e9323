from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.system import paths
from app.system.log import recent_lines
from app.ui.base import help_commands
from app.ui.base.help_commands import About, HelpCommands, LogViewer


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    opened: list[Path] = []
    monkeypatch.setattr(help_commands, "open_folder", opened.append)
    return opened


def test_about_says_what_is_so_when_it_is_asked_for(
    window: QWidget, opened: list[Path], qtbot: QtBot
) -> None:
    told = ["no model", "a model"]
    help_ = HelpCommands(lambda: told.pop(0), window)
    for expected in ("no model", "a model"):
        help_.show_about()
        about = window.findChild(About)
        assert about
        assert about.diagnostics.toPlainText() == expected
        assert "llama.cpp" in about.licences.toPlainText()
        buttons = {button.text(): button for button in about.findChildren(QPushButton)}
        buttons["Open data folder"].click()
        with qtbot.waitSignal(about.destroyed):
            buttons["Close"].click()
    assert opened == [paths.data_dir()] * 2


def test_there_is_one_log_window(window: QWidget, opened: list[Path]) -> None:
    help_ = HelpCommands(lambda: "", window)
    for _ in range(2):
        help_.show_log()
    [viewer] = window.findChildren(LogViewer)
    assert viewer.isVisible()
    assert viewer._lines_since == recent_lines.since
    viewer.close()
