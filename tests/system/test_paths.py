import stat
from pathlib import Path

import pytest

from app.system import paths
from tests.read_only import foreign_folder, read_only


def test_xdg_variables_decide_where_things_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    assert paths.chats_file() == tmp_path / "DATA" / "skein" / "chats.db"
    assert paths.settings_file() == tmp_path / "CONFIG" / "skein" / "settings.json"
    assert paths.probed_models_file() == tmp_path / "CACHE" / "skein" / "probed-models.json"
    assert paths.log_dir().is_relative_to(tmp_path / "STATE" / "skein")


def test_a_private_folder_is_closed_to_others_even_if_it_was_open(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True, mode=0o777)
    assert paths.private_dir(folder) == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_state_folder_is_ours_alone() -> None:
    """No other program's: it is closed to other users."""
    assert paths.state_dir().name == "skein"


def test_the_starter_model_lies_with_the_resources() -> None:
    assert paths.starter_model().is_relative_to(paths.resources_dir())
    assert paths.resources_dir().is_dir()


@pytest.mark.parametrize("usual", ["file", "file/inside", "closed/inside"])
def test_what_can_be_made_anew_lies_with_the_chats_where_its_place_cannot_be_written_to(
    monkeypatch: pytest.MonkeyPatch, usual: str
) -> None:
    with foreign_folder() as home:
        (home / "file").touch()
        (home / "closed").mkdir()
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / usual))
        monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
        with read_only(home / "closed"):
            assert paths.cache_dir() == home / "data" / "skein" / "cache"
            assert paths.probed_models_file().parent == paths.cache_dir()


def test_a_cache_folder_that_is_not_there_yet_is_made_where_it_belongs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "yet"))
    assert paths.cache_dir() == tmp_path / "not" / "yet" / "skein"
