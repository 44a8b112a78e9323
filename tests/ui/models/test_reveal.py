from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.ui.models import library_page as module
from app.ui.models.library_page import command_for, reveal


def test_the_file_manager_is_asked_in_each_systems_way() -> None:
    path = Path("/models/a, b?.gguf")
    command = command_for(path, "linux")
    assert command[0] == "dbus-send"
    assert command[-2] == "array:string:file:///models/a%2C%20b%3F.gguf"
    assert command_for(path, "darwin") == ["open", "-R", str(path)]


@pytest.mark.parametrize("command", [["false"], ["no such program"], []])
def test_else_the_folder_is_opened(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(module, "command_for", lambda _path: command)
    monkeypatch.setattr(module, "open_folder", opened.append)
    parent = QObject()
    reveal(Path("/models/a.gguf"), parent)
    qtbot.waitUntil(lambda: opened == [Path("/models")])
    parent.deleteLater()
