import os
from pathlib import Path

import pytest
from pydantic import ValidationError
from pytestqt.qtbot import QtBot

from app.services.preferences import Preferences
from app.settings.settings import Settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


@pytest.fixture
def preferences(qapp, path) -> Preferences:
    return Preferences(Settings.load(path))


@pytest.fixture
def heard(preferences) -> list[str]:
    heard: list[str] = []
    preferences.changed.connect(heard.append)
    return heard


def test_a_change_counts_at_once_is_told_and_soon_saved(preferences, heard, path, qtbot: QtBot) -> None:
    preferences.set("theme", "dark")
    assert preferences.settings.theme == "dark"
    assert heard == ["theme"]
    qtbot.waitUntil(path.exists)
    assert Settings.load(path).theme == "dark"


def test_the_same_value_again_is_no_news(preferences, heard, path) -> None:
    preferences.set("theme", "system")
    assert heard == []
    preferences.flush()
    assert not path.exists()


def test_a_value_that_cannot_be_changes_nothing(preferences, heard) -> None:
    with pytest.raises(ValidationError):
        preferences.set("n_seq_max", 0)
    assert preferences.settings.n_seq_max == 8
    assert heard == []


def test_what_somebody_else_has_changed_is_told_and_saved_too(preferences, heard, path) -> None:
    preferences.settings.api_enabled = True
    preferences.settings.api_key = "secret"
    preferences.note_changes()
    assert sorted(heard) == ["api_enabled", "api_key"]
    preferences.flush()
    assert Settings.load(path).api_key == "secret"


def test_a_setting_goes_back_to_its_default(preferences, heard) -> None:
    preferences.set("temperature", 0.2)
    preferences.reset("temperature")
    assert preferences.settings.temperature is None
    assert heard == ["temperature", "temperature"]


def test_many_changes_are_written_once(preferences, path, monkeypatch: pytest.MonkeyPatch) -> None:
    saves: list[int] = []
    monkeypatch.setattr(Settings, "save", lambda settings: saves.append(settings.zoom))
    for zoom in range(1, 6):
        preferences.set("zoom", zoom)
    preferences.flush()
    preferences.flush()
    assert saves == [5]


def test_a_disk_that_refuses_is_told_of_and_asked_again(
    preferences, path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons: list[str] = []
    preferences.save_failed.connect(reasons.append)

    def refuse(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        preferences.set("theme", "dark")
        preferences.flush()
    assert reasons == ["No space left on device"]
    assert not path.exists()
    preferences.flush()
    assert Settings.load(path).theme == "dark"
