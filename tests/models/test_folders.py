import json
import sys
from pathlib import Path

import pytest

from app.models.folders import Folder, folders, other_programs_folders
from app.models.model_file import ModelSource
from app.settings.settings import ModelSettings, Settings

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other places on other systems")


def made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def found(home: Path, **environment: str) -> dict[ModelSource, list[Path]]:
    places: dict[ModelSource, list[Path]] = {}
    for folder in other_programs_folders(home, environment):
        assert not folder.is_ours
        places.setdefault(folder.source, []).append(folder.path)
    return places


@linux_only
def test_the_usual_folders_of_other_programs_are_found_where_they_are(tmp_path: Path) -> None:
    assert found(tmp_path) == {}
    expected = {
        ModelSource.LM_STUDIO: [made(tmp_path / ".lmstudio" / "models")],
        ModelSource.HUGGING_FACE: [made(tmp_path / ".cache" / "huggingface" / "hub")],
        ModelSource.LLAMA_CPP: [made(tmp_path / ".cache" / "llama.cpp")],
        ModelSource.JAN: [made(tmp_path / ".local" / "share" / "Jan" / "data" / "llamacpp" / "models")],
        ModelSource.GPT4ALL: [made(tmp_path / ".local" / "share" / "nomic.ai" / "GPT4All")],
    }
    assert found(tmp_path) == expected


@linux_only
@pytest.mark.parametrize(
    ("variable", "below", "source"),
    [
        ("HF_HUB_CACHE", "", ModelSource.HUGGING_FACE),
        ("HF_HOME", "hub", ModelSource.HUGGING_FACE),
        ("XDG_CACHE_HOME", "huggingface/hub", ModelSource.HUGGING_FACE),
        ("LLAMA_CACHE", "", ModelSource.LLAMA_CPP),
        ("XDG_DATA_HOME", "nomic.ai/GPT4All", ModelSource.GPT4ALL),
    ],
)
def test_variables_say_where_the_folders_are(
    tmp_path: Path, variable: str, below: str, source: ModelSource
) -> None:
    place = made(tmp_path / "elsewhere" / below)
    assert found(tmp_path, **{variable: str(tmp_path / "elsewhere")}) == {source: [place]}


def test_lm_studio_says_in_files_where_its_models_are(tmp_path: Path) -> None:
    home, models = made(tmp_path / "moved"), made(tmp_path / "many models")
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{home}\n")
    (home / "settings.json").write_text(json.dumps({"downloadsFolder": str(models)}))
    assert found(tmp_path) == {ModelSource.LM_STUDIO: [models]}


@pytest.mark.parametrize(
    "settings", ["", "[]", "{", "[" * 100_000, '{"downloadsFolder": 3}', '{"downloadsFolder": "\\u0000"}']
)
def test_settings_of_others_that_make_no_sense_are_passed_over(tmp_path: Path, settings: str) -> None:
    models = made(tmp_path / ".lmstudio" / "models")
    (models.parent / "settings.json").write_text(settings)
    (tmp_path / ".lmstudio-home-pointer").write_bytes(b"\xff\0relative")
    assert found(tmp_path) == {ModelSource.LM_STUDIO: [models]}


def without_starter(settings: Settings) -> list[Folder]:
    return [folder for folder in folders(settings) if folder.source is not ModelSource.STARTER]


def test_ours_theirs_and_what_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads, chosen, theirs = (made(tmp_path / name) for name in ("downloads", "chosen", "theirs"))
    opened, recent = tmp_path / "opened.gguf", tmp_path / "recent.gguf"
    opened.touch()
    recent.touch()
    monkeypatch.setenv("LLAMA_CACHE", str(theirs))
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings(
        download_folder=downloads,
        model_folders=[chosen, tmp_path / "gone"],
        recent_models=[recent],
        models={str(opened): ModelSettings(), str(tmp_path / "gone.gguf"): ModelSettings()},
    )
    expected = [
        Folder(downloads, ModelSource.DOWNLOADS),
        Folder(chosen, ModelSource.FOLDER),
        Folder(theirs, ModelSource.LLAMA_CPP),
        Folder(recent, ModelSource.OPENED),
        Folder(opened, ModelSource.OPENED),
    ]
    assert without_starter(settings) == expected
    assert [folder.is_ours for folder in expected] == [True, True, False, False, False]
    settings.uses_other_programs_models = False
    assert Folder(theirs, ModelSource.LLAMA_CPP) not in folders(settings)


def test_what_is_theirs_stays_theirs_also_within_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = made(tmp_path / "disk" / "llama")
    inner = made(theirs / "inner")
    monkeypatch.setenv("LLAMA_CACHE", str(theirs))
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings(model_folders=[theirs.parent, inner], uses_other_programs_models=False)
    assert without_starter(settings) == [
        Folder(inner, ModelSource.LLAMA_CPP),
        Folder(theirs, ModelSource.LLAMA_CPP),
        Folder(theirs.parent, ModelSource.FOLDER),
    ]
