import json
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.services import other_starts
from app.services.other_starts import (
    HEARD,
    MAX_CALLERS,
    MAX_MESSAGE_BYTES,
    OtherStarts,
    StartMessage,
    decoded,
    encoded,
    hand_over,
    socket_name,
)


@pytest.fixture
def name(tmp_path: Path) -> str:
    return str(tmp_path / "skein.socket")


@pytest.fixture
def first(qapp, name: str) -> Iterator[OtherStarts]:
    first = OtherStarts(name)
    assert first.listen()
    yield first
    first.close()
    first.deleteLater()


@pytest.fixture
def asked(first: OtherStarts) -> list[StartMessage]:
    asked: list[StartMessage] = []
    first.asked.connect(asked.append)
    return asked


def call(name: str) -> bytes:
    """What the first one answers `hand_over`: Qt's sockets cannot wait on a thread of Python's."""
    return say(name, encoded(StartMessage()))


class Calls:
    """Made beside the loop that must answer them."""

    def __init__(self, *calls: Callable[[], object]) -> None:
        self._pool = ThreadPoolExecutor(len(calls))
        self._futures = [self._pool.submit(one) for one in calls]

    def answers(self, qtbot: QtBot) -> list[object]:
        qtbot.waitUntil(lambda: all(one.done() for one in self._futures))
        self._pool.shutdown()
        return [one.result() for one in self._futures]


def test_a_second_skein_is_heard_with_its_model(name, asked, qtbot: QtBot, tmp_path) -> None:
    program = (
        "import sys; from pathlib import Path; from app.services.other_starts import StartMessage, hand_over;"
        "sys.exit(hand_over(sys.argv[1], StartMessage(Path(sys.argv[2]))))"
    )
    model = tmp_path / "é big.gguf"
    second = subprocess.Popen([sys.executable, "-c", program, name, str(model)])
    qtbot.waitUntil(lambda: second.poll() is not None)
    assert second.returncode == 1  # True
    assert asked == [StartMessage(model)]


def test_many_starts_at_once_are_all_heard(name, asked, qtbot: QtBot) -> None:
    assert Calls(*[lambda: call(name)] * 5).answers(qtbot) == [HEARD] * 5
    assert len(asked) == 5


def test_nobody_hears_when_there_is_no_first(name) -> None:
    assert not hand_over(name, StartMessage(), patience_ms=50)


def test_one_that_hangs_is_not_waited_for(name) -> None:
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(name)
        deaf.listen()
        assert not hand_over(name, StartMessage(), patience_ms=50)


def test_what_a_dead_one_has_left_is_no_hindrance(qapp, name, qtbot: QtBot) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(name)
    first = OtherStarts(name)
    assert first.listen()
    assert Calls(lambda: call(name)).answers(qtbot) == [HEARD]
    first.close()
    first.deleteLater()


def test_only_its_owner_can_call(first, name) -> None:
    assert stat.S_IMODE(Path(name).stat().st_mode) & 0o077 == 0


def test_a_folder_without_room_for_a_socket_is_no_trouble(qapp, tmp_path, caplog) -> None:
    first = OtherStarts(str(tmp_path / ("x" * 120) / "skein"))
    assert not first.listen()
    assert "will not be heard" in caplog.text
    first.deleteLater()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\xff\xfe\n",
        b"[]\n",
        b"[" * 10_000 + b"\n",
        b'{"argv": ["skein"]}\n',
        b'{"model": 7}\n',
        b'{"model": "relative.gguf"}\n',
        b'{"model": "/a\\u0000b"}\n',
        b"x" * (MAX_MESSAGE_BYTES + 1),
        b"x" * 5_000_000,
    ],
)
def test_garbage_is_ignored_and_the_next_is_heard(name, asked, qtbot: QtBot, caplog, garbage: bytes) -> None:
    assert Calls(lambda: say(name, garbage)).answers(qtbot) == [b""]
    assert Calls(lambda: call(name)).answers(qtbot) == [HEARD]
    assert asked == [StartMessage()]


def test_who_says_nothing_is_hung_up_on(name, first, qtbot: QtBot, monkeypatch) -> None:
    monkeypatch.setattr(other_starts, "PATIENCE_MS", 10)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.settimeout(5)
        assert Calls(lambda: (silent.connect(name), silent.recv(10))[1]).answers(qtbot) == [b""]
    qtbot.waitUntil(lambda: not first._callers)


def test_many_silent_ones_do_not_keep_others_out(name, first, asked, qtbot: QtBot) -> None:
    silent = [socket.socket(socket.AF_UNIX) for _ in range(MAX_CALLERS)]
    for one in silent:
        one.connect(name)
    qtbot.waitUntil(lambda: len(first._callers) == MAX_CALLERS)
    assert Calls(lambda: call(name)).answers(qtbot) == [HEARD]
    assert asked == [StartMessage()]
    for one in silent:
        one.close()
    qtbot.waitUntil(lambda: not first._callers)


def test_the_socket_is_in_the_runtime_folder_and_of_these_chats_alone(tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir()
    environment = {"XDG_RUNTIME_DIR": str(runtime)}
    names = {socket_name(tmp_path / folder, environment) for folder in ("a", "b", "a")}
    assert len(names) == 2
    assert {Path(name).parent for name in names} == {runtime}
    assert Path(socket_name(tmp_path, {})).parent == tmp_path
    assert Path(socket_name(tmp_path, {"XDG_RUNTIME_DIR": str(tmp_path / "gone")})).parent == tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="the names of its sockets are no paths")
def test_where_the_path_would_be_too_long_the_socket_is_in_a_folder_of_its_own(
    qapp, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(other_starts.tempfile, "gettempdir", lambda: str(tmp_path))
    far = tmp_path / "a long way to go" / ("x" * 60)
    name = socket_name(far, {})
    folder = Path(name).parent
    assert folder.parent == tmp_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert socket_name(far, {}) == name != socket_name(far / "other", {})
    first = OtherStarts(name)
    assert first.listen()
    first.close()
    folder.chmod(0o777)
    assert Path(socket_name(far, {})).parent == far, "it may be somebody else's"


def test_a_models_name_is_told_in_full(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert json.loads(encoded(StartMessage(Path("big.gguf")))) == {"model": str(tmp_path / "big.gguf")}
    assert decoded(encoded(StartMessage(Path("big.gguf")))) == StartMessage(tmp_path / "big.gguf")


def say(name: str, data: bytes) -> bytes:
    """What is answered."""
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(5)
        stranger.connect(name)
        try:
            stranger.sendall(data)
            return stranger.recv(100)
        except (BrokenPipeError, ConnectionResetError):
            return b""
