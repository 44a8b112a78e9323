from pathlib import Path

import pytest

from app.window import models_to_try


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
