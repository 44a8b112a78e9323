from pathlib import Path

import pytest

from app.services.text_file import write_text_file


def test_a_text_is_written_as_it_is(tmp_path: Path) -> None:
    write_text_file(tmp_path / "x.txt", "ä\r\nb\n\ud800")
    assert (tmp_path / "x.txt").read_bytes() == "ä\r\nb\n?".encode()


def test_what_was_there_stays_if_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before", encoding="utf-8")

    def full(*_arguments: object, **_named: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write_text_file(path, "after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
