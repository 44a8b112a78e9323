"""What the next start knows of a run that hung, or was killed, or ended."""

import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import hang_watch
from app.bridge.hang_watch import MAX_REMEMBERED, HangWatch
from tests.bridge.hanging import HUNG, ShowingWorkspace
from tests.storage.power_cuts import ROOT


def started(folder: Path, workspace: ShowingWorkspace | None = None) -> HangWatch:
    watch = HangWatch(workspace or ShowingWorkspace(), folder)  # type: ignore[arg-type]
    watch.start()
    return watch


def run_and_kill(folder: Path, how: str, qtbot: QtBot) -> None:
    """Once it is known to hang, if it does."""
    command = [sys.executable, "-m", "tests.bridge.hanging", str(folder), how]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        if how != "not":
            qtbot.waitUntil(lambda: "Timeout" in (folder / "shown-chats.log").read_text())
        child.kill()


@pytest.mark.parametrize("how", ["C", "Python"])
def test_a_chat_that_hung_is_known_at_the_next_start_and_those_after_it(
    qapp: object, qtbot: QtBot, tmp_path: Path, how: str
) -> None:
    run_and_kill(tmp_path, how, qtbot)
    for _ in range(2):
        watch = started(tmp_path)
        assert watch.has_hung(HUNG)
        watch.close()


def test_a_chat_that_was_only_shown_when_the_program_was_killed_is_not_taken_for_hung(
    qapp: object, qtbot: QtBot, tmp_path: Path
) -> None:
    run_and_kill(tmp_path, "not", qtbot)
    watch = started(tmp_path)
    assert not watch.has_hung(HUNG)
    watch.close()


def test_a_chat_that_is_forgiven_is_as_any_other(qapp: object, tmp_path: Path) -> None:
    (tmp_path / "hung-chats.json").write_text('["one", "two"]')
    watch = started(tmp_path)
    watch.forgive("one")
    watch.close()
    again = started(tmp_path)
    assert [again.has_hung(name) for name in ("one", "two")] == [False, True]
    again.close()


def test_what_took_long_and_came_back_did_not_hang(
    qapp: object, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hang_watch, "PATIENCE_S", 0.01)
    workspace = ShowingWorkspace()
    watch = started(tmp_path, workspace)
    workspace.show("slow")
    shown = tmp_path / "shown-chats.log"
    while "Timeout" not in shown.read_text():
        pass
    monkeypatch.setattr(hang_watch, "PATIENCE_S", 1_000.0)
    watch._beat()
    assert shown.read_text() == '["slow"]\n'
    watch.close()


def test_an_end_in_order_leaves_nothing(qapp: object, tmp_path: Path) -> None:
    watch = started(tmp_path)
    assert (tmp_path / "shown-chats.log").stat().st_mode & 0o077 == 0
    watch.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", ["", "\n", "nothing\nstack", "{}\nstack", "[" * 100_000 + "\nstack", "\0\n\0"]
)
def test_a_file_that_cannot_be_read_tells_of_no_chat(qapp: object, tmp_path: Path, content: str) -> None:
    for name in ("shown-chats.log", "hung-chats.json"):
        (tmp_path / name).write_text(content)
    watch = started(tmp_path)
    assert not watch.has_hung("nothing")
    watch.close()


def test_only_the_last_are_remembered(qapp: object, tmp_path: Path) -> None:
    (tmp_path / "hung-chats.json").write_text(str([str(n) for n in range(MAX_REMEMBERED)]).replace("'", '"'))
    (tmp_path / "shown-chats.log").write_text('["new"]\nTimeout')
    watch = started(tmp_path)
    assert [watch.has_hung(name) for name in ("0", "1", "new")] == [False, True, True]
    watch.close()


def test_where_nothing_can_be_written_nothing_is_watched(qapp: object, tmp_path: Path) -> None:
    workspace = ShowingWorkspace()
    watch = started(tmp_path / "nowhere", workspace)
    workspace.show("any")
    watch.close()
