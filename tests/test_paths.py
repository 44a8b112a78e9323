import stat
from pathlib import Path

import pytest

from app import paths


def test_xdg_variables_decide_where_things_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    monkeypatch.setenv("XDG_STATE_HOME", "/s")
    monkeypatch.setenv("XDG_CACHE_HOME", "/k")
    assert paths.chats_file() == Path("/d/skein/chats.db")
    assert paths.settings_file() == Path("/c/skein/settings.json")
    assert paths.probed_models_file() == Path("/k/skein/probed-models.json")
    assert paths.log_dir().is_relative_to("/s/skein")


def test_a_private_folder_is_closed_to_others_even_if_it_was_open(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True, mode=0o777)
    assert paths.private_dir(folder) == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_starter_model_lies_with_the_resources() -> None:
    assert paths.starter_model().is_relative_to(paths.resources_dir())
    assert paths.resources_dir().is_dir()
