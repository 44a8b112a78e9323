"""What a user sees after crashes."""

import asyncio
import signal
from pathlib import Path

import pytest

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.list_rows import Tabs
from app.system import paths
from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def test_after_two_crashes_it_starts_with_nothing_and_all_can_be_had_back(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    skein.start()
    desktop.type("half a thou")
    until(lambda: skein.drafts() == ["half a thou"] and skein.open_tabs(), "the draft on disk")
    crash(skein)
    skein.start()
    report = "Skein ended unexpectedly last time"
    until(lambda: any(report in text for text in skein.state()["notices"]), "the offer of a report")
    crash(skein)

    skein.start(waits_for="is complete")
    until(lambda: any("its last 2 starts" in text for text in skein.state()["notices"]), "the notice")
    assert skein.state()["composers"] == [""]
    assert "is loaded" not in skein.log()
    assert skein.open_tabs() != []
    desktop.photograph(tmp_path / "safe.png")

    skein.take_offer("Open them now")
    until(lambda: skein.state()["composers"] == ["half a thou"], "the tab to come back")
    until(lambda: "is loaded" in skein.log(), "the model")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    assert not list(skein.home.rglob(paths.run_marker_file().name))


def test_a_file_that_was_cut_short_under_it_is_told_at_the_next_start(skein: Skein) -> None:
    skein.start()
    crash(skein, signal.SIGBUS)
    skein.start()
    until(lambda: any("starter.gguf" in text for text in skein.state()["notices"]), "the model's name")
    assert any("was truncated or its disk failed" in text for text in skein.state()["notices"])
    skein.desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


# Reads Markdown for ever where it says so, as a fault of ours would.
HANGING = """
import sys
from app import main
from app.ui.message import growing_markdown
parse_blocks = growing_markdown.parse_blocks
def parse_or_hang(source, *others):
    while "without an end" in source:
        pass
    return parse_blocks(source, *others)
growing_markdown.parse_blocks = parse_or_hang
sys.exit(main.main(sys.argv[1:]))
"""


def test_a_chat_that_hung_is_plain_text_at_the_next_start_until_it_is_formatted_again(
    skein: Skein, desktop: Desktop, tmp_path: Path
) -> None:
    asyncio.run(save(skein, Turn(Role.USER, "Count"), Turn(Role.ASSISTANT, "**1**, 2 without an end")))
    hung = skein.database_file.with_name("shown-chats.log")
    skein.process = skein.run("-c", HANGING)
    until(lambda: hung.exists() and "parse_or_hang" in hung.read_text(), "the stack of the hang")
    skein.process.kill()
    skein.process.wait()

    skein.start()
    until(lambda: skein.state()["transcripts"] == ["Count\n**1**, 2 without an end"], "the plain text")
    assert any("hung last time" in text for text in skein.state()["notices"])
    desktop.photograph(tmp_path / "plain.png")
    skein.take_offer("Show formatted")
    until(lambda: skein.state()["transcripts"] == ["Count\n1, 2 without an end"], "the formatted text")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    skein.start()
    until(lambda: skein.state()["transcripts"] == ["Count\n1, 2 without an end"], "the formatted text")


async def save(skein: Skein, *turns: Turn) -> None:
    """As the only chat, in the only tab."""
    chat = Chat(turns=list(turns))
    skein.database_file.parent.mkdir(parents=True)
    store = ChatStore(skein.database_file)
    await store.open()
    await store.save([ChatChange.of(chat)], Tabs(open=(chat.id,), current=chat.id))
    await store.close()


def crash(skein: Skein, number: signal.Signals = signal.SIGABRT) -> None:
    """As a fault of the native library does: Python's handler writes the stacks, and the process is gone."""
    assert skein.process
    skein.process.send_signal(number)
    skein.process.wait()


def test_a_kill_loses_little_of_the_layout(skein: Skein, desktop: Desktop) -> None:
    layout = skein.home / "config" / "skein" / "window.ini"
    skein.start()
    assert skein.state()["inspector"] is None
    desktop.keys("F12")
    until(lambda: layout.exists() and "is_shown=true" in layout.read_text(), "the saved layout")
    assert skein.process
    skein.process.kill()
    skein.process.wait()
    skein.start()
    assert skein.state()["inspector"] is not None
