import json
from pathlib import Path

import pytest

from app.settings.appearance import AppearanceSettings, read_appearance
from app.settings.settings import Settings


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
