"""What counts as the same file, and that a damaged or missing list costs no more than a probe."""

import json
import os
from pathlib import Path

import pytest

from app.engine.children.probe import MAX_REMEMBERED, KnownFile, KnownFiles


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    return path


@pytest.fixture
def stored(tmp_path):
    return tmp_path / "cache" / "good.json"


def test_a_file_is_known_once_it_was_added(model, stored):
    assert KnownFile.at(model) not in KnownFiles(stored, "1")
    KnownFiles(stored, "1").add(KnownFile.at(model))
    assert KnownFile.at(model) in KnownFiles(stored, "1")


def test_it_is_known_by_every_name_it_has(model, stored, tmp_path, monkeypatch):
    KnownFiles(stored, "1").add(KnownFile.at(model))
    link = tmp_path / "link.gguf"
    link.symlink_to(model)
    monkeypatch.chdir(tmp_path)
    assert KnownFile.at(link) in KnownFiles(stored, "1")
    assert KnownFile.at(Path("model.gguf")) in KnownFiles(stored, "1")


def touch(path):
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def append(path):
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes() + b"!")
    os.utime(path, ns=times)


def replace(path):
    """The same size and times: as an archive would unpack it."""
    other = path.with_suffix(".new")
    other.write_bytes(b"FUGG")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


def move(path):
    path.rename(path.with_name("moved.gguf"))
    path.symlink_to("moved.gguf")


@pytest.mark.parametrize("change", [touch, append, replace, move])
def test_a_file_that_changed_is_another_file(model, change):
    before = KnownFile.at(model)
    change(model)
    assert KnownFile.at(model) != before


def test_a_split_model_is_all_its_parts(tmp_path):
    parts = [tmp_path / f"a[b]-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    for part in parts:
        part.write_bytes(b"GGUF")
    (tmp_path / "other-00002-of-00003.gguf").write_bytes(b"GGUF")
    before = KnownFile.at(parts[0])
    assert before.size_bytes == 12

    touch(parts[2])
    assert KnownFile.at(parts[0]) != before
    parts[1].unlink()
    assert KnownFile.at(parts[0]).size_bytes == 8


def test_a_missing_file_has_no_size(tmp_path):
    assert KnownFile.at(tmp_path / "none.gguf").size_bytes == 0


def test_what_another_version_let_pass_is_unknown(model, stored):
    KnownFiles(stored, "1").add(KnownFile.at(model))
    assert KnownFile.at(model) not in KnownFiles(stored, "2")


def test_only_the_latest_are_kept(stored):
    files = [KnownFile(f"file {number}", 1) for number in range(MAX_REMEMBERED + 3)]
    for file in files:
        KnownFiles(stored, "1").add(file)
    assert files[2] not in KnownFiles(stored, "1")
    assert all(file in KnownFiles(stored, "1") for file in files[3:])


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\xff\x00",
        b"null",
        b"[]",
        b"7",
        b"[" * 100_000,
        b'{"judge": "1"}',
        b'{"judge": "1", "files": 7}',
    ],
)
def test_a_damaged_list_is_ignored_and_written_anew(model, stored, damaged, caplog):
    stored.parent.mkdir()
    stored.write_bytes(damaged)
    assert KnownFile.at(model) not in KnownFiles(stored, "1")
    assert "is ignored" in caplog.text

    KnownFiles(stored, "1").add(KnownFile.at(model))
    assert KnownFile.at(model) in KnownFiles(stored, "1")


def test_the_list_is_replaced_in_one_step_and_nothing_else_is_left(model, stored):
    KnownFiles(stored, "1").add(KnownFile.at(model))
    inode = stored.stat().st_ino
    KnownFiles(stored, "1").add(KnownFile("another", 1))
    assert stored.stat().st_ino != inode
    assert list(stored.parent.iterdir()) == [stored]
    assert len(json.loads(stored.read_text())["files"]) == 2


def test_a_cache_that_cannot_be_written_is_a_line_in_the_log(model, tmp_path, caplog):
    (tmp_path / "cache").write_text("in the way")
    KnownFiles(tmp_path / "cache" / "good.json", "1").add(KnownFile.at(model))
    assert "will be tested again" in caplog.text


def test_what_was_found_out_about_two_files_is_known_as_long_as_both_stay(model, stored, tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF")
    KnownFiles(stored, "1").add(KnownFile.at(model, other), [2.5, 1.0])
    assert KnownFiles(stored, "1").get(KnownFile.at(model, other)) == [2.5, 1.0]
    assert KnownFiles(stored, "1").get(KnownFile.at(other, model)) is None
    append(other)
    assert KnownFiles(stored, "1").get(KnownFile.at(model, other)) is None


def test_a_list_of_an_older_skein_still_counts(model, stored):
    stored.parent.mkdir()
    stored.write_text(json.dumps({"judge": "1", "files": [KnownFile.at(model).key]}))
    assert KnownFile.at(model) in KnownFiles(stored, "1")
