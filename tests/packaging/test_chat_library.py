"""llama.cpp's chat layer is made of few of its sources."""

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
