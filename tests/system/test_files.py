from pathlib import Path

import pytest

from app.system.files import replacing


def test_the_new_file_takes_the_place_of_the_old_one_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / f"{'long' * 60}.json"
    for text in ("old", "new"):
        with replacing(path) as file:
            file.write(text)
            file.flush()
            assert not path.exists() or path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_what_could_not_be_written_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as file:
        file.write("half, and half of a character: \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
