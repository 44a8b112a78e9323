"""llama.cpp's chat layer is made of few of its sources."""

import _ctypes
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import chat_library
import pytest


@pytest.mark.parametrize(
    ("path", "is_needed"),
    [
        ("common/chat.cpp", True),
        ("common/chat-peg-parser.cpp", True),
        ("common/jinja/value.cpp", True),
        ("common/parsers/gpt-oss.cpp", True),
        ("common/common.h", True),
        ("vendor/nlohmann/json.hpp", True),
        ("licenses/LICENSE-jsonhpp", True),
        ("common/common.cpp", False),
        ("common/sampling.cpp", False),
        ("src/llama.cpp", False),
        ("tools/server/server-chat.cpp", False),
    ],
)
def test_what_it_is_made_of(path: str, is_needed: bool) -> None:
    assert chat_library.is_needed(PurePosixPath(path)) is is_needed


def test_a_compiler_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / chat_library.NAME).write_text("older")

    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError

    monkeypatch.setattr(chat_library.subprocess, "run", fail)
    with pytest.raises(OSError):
        chat_library.build(tmp_path, tmp_path)
    assert (tmp_path / chat_library.NAME).read_text() == "older"


def test_what_was_made_for_another_checkout_is_taken(tmp_path: Path, monkeypatch) -> None:
    kept, damaged, libraries = (tmp_path / name for name in ("kept", "damaged", "lib"))
    made = []

    def make(_is_needed: object, build: Callable[[Path, Path], None]) -> int:
        build(tmp_path, libraries)
        return 0

    def build(_llama: Path, folder: Path) -> None:
        made.append(folder)
        shutil.copy(_ctypes.__file__, folder / chat_library.NAME)
        (folder / chat_library.LICENCE_NAME).touch()

    for name, value in (("libraries", lambda: libraries), ("make", make), ("build", build)):
        monkeypatch.setattr(chat_library, name, value)
    for folder in (libraries, damaged):
        folder.mkdir()
    (damaged / chat_library.NAME).write_text("of another machine")
    for folder in (kept, kept, damaged):
        assert chat_library.install(folder) == 0
    assert made == [kept, damaged]
    assert {path.name for path in libraries.iterdir()} == {chat_library.NAME, chat_library.LICENCE_NAME}
