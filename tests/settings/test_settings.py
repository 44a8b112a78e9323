import json
import os
import stat
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from app.protocol.load import Speed
from app.protocol.request import Overflow
from app.settings.appearance import AppearanceSettings, read_appearance
from app.settings.settings import Overflow as OverflowChoice
from app.settings.settings import Settings
from app.settings.settings import Speed as SpeedChoice


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def values(settings: Settings) -> dict[str, object]:
    return settings.model_dump()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_without_a_file_there_are_defaults(path) -> None:
    assert values(Settings.load(path)) == values(Settings())


def test_what_is_saved_comes_back(path) -> None:
    settings = Settings.load(path)
    settings.theme, settings.n_ctx, settings.model_path = "dark", 4096, Path("/models/ünï code.gguf")
    settings.save()
    again = Settings.load(path)
    assert (again.theme, again.n_ctx, again.model_path) == ("dark", 4096, Path("/models/ünï code.gguf"))


def test_settings_that_came_from_no_file_are_kept_nowhere(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = list(tmp_path.rglob("*"))
    Settings(theme="dark").save()
    assert list(tmp_path.rglob("*")) == before


def test_one_bad_value_does_not_lose_the_others(path) -> None:
    write(path, json.dumps({"theme": "purple", "n_ctx": -5, "temperature": 0.2, "from_the_future": 1}))
    settings = Settings.load(path)
    assert values(settings) == values(Settings(temperature=0.2))


@pytest.mark.parametrize(
    ("stored", "number"),
    [
        ({"num_drafted_tokens": 0}, 16),  # the default of those days
        ({"num_drafted_tokens": 8}, 8),
        ({"num_drafted_tokens": 0, "format": 1}, 0),
    ],
)
def test_draft_tokens_are_off_only_where_they_were_switched_off(path, stored, number: int) -> None:
    write(path, json.dumps(stored))
    settings = Settings.load(path)
    assert settings.num_drafted_tokens == number
    settings.save()
    assert Settings.load(path).num_drafted_tokens == number


@pytest.mark.parametrize("text", ["{", "[]", "null", "\x00", "[" * 100_000, '{"temperature": NaN'])
def test_a_file_that_cannot_be_read_is_kept_and_replaced_by_defaults(path, text: str) -> None:
    write(path, text)
    settings = Settings.load(path)
    assert values(settings) == values(Settings())
    assert path.with_suffix(".unreadable.json").read_text() == text
    settings.save()
    assert values(Settings.load(path)) == values(Settings())


def test_bytes_that_are_not_text_are_kept_too(path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    assert values(Settings.load(path)) == values(Settings())
    assert path.with_suffix(".unreadable.json").exists()


def test_values_are_checked_when_they_are_set() -> None:
    settings = Settings()
    for name, value in (
        ("theme", "purple"),
        ("temperature", float("nan")),
        ("n_seq_max", 0),
        ("max_tokens", 0),
        ("speed", "fast"),
        ("overflow", "forget"),
        ("max_chat_tokens", -1),
    ):
        with pytest.raises(ValidationError):
            setattr(settings, name, value)
    assert values(settings) == values(Settings())


def test_an_override_is_for_this_run_only(path) -> None:
    settings = Settings.load(path)
    settings.n_ctx = 2048
    settings.save()
    settings.override(n_ctx=512, theme="dark")
    settings.temperature = 0.1
    settings.save()
    assert (settings.n_ctx, settings.theme) == (512, "dark")
    again = Settings.load(path)
    assert (again.n_ctx, again.theme, again.temperature) == (2048, "system", 0.1)


def test_what_is_chosen_after_an_override_counts(path) -> None:
    settings = Settings.load(path)
    settings.override(theme="dark")
    settings.theme = "light"
    settings.save()
    assert Settings.load(path).theme == "light"


def test_a_crash_while_saving_leaves_the_old_file(path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.load(path)
    settings.theme = "dark"
    settings.save()

    def fail(_handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    settings.theme = "light"
    with pytest.raises(OSError, match="disk full"):
        settings.save()
    assert Settings.load(path).theme == "dark"
    assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


def test_nobody_else_can_read_the_settings(path) -> None:
    former = os.umask(0)
    try:
        settings = Settings.load(path)
        settings.save()
    finally:
        os.umask(former)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_words_for_speed_and_overflow_are_the_engines() -> None:
    """Settings know nothing of the engine, so nothing but this holds the two together."""
    assert get_args(SpeedChoice) == tuple(Speed)
    assert get_args(OverflowChoice) == tuple(Overflow)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"theme": "dark", "zoom": 3, "reading_font": "Serif", "code_font": "Mono", "motion": "reduced"},
        {"language": "de", "enter_sends": False, "n_ctx": 4096, "of another version": 1},
        {"theme": "purple", "zoom": 99, "reading_font": 7, "motion": None, "language": "de"},
        {"theme": ["dark"], "zoom": "big", "enter_sends": "perhaps", "code_font": {}},
    ],
)
def test_the_window_looks_as_the_settings_will_say(stored: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(stored))
    settings = Settings.load(file)
    assert read_appearance(file) == AppearanceSettings(
        **{name: getattr(settings, name) for name in AppearanceSettings._fields}
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\x00"])
def test_a_file_that_is_no_settings_gives_the_usual_looks(text: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)
    assert read_appearance(file) == AppearanceSettings()
    assert read_appearance(tmp_path / "none.json") == AppearanceSettings()
