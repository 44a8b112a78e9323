"""Tools in the real window, by keys and mouse, with a real MCP server; the model says what a script has."""

import json
import sys
from pathlib import Path

import pytest

from app.tools.server_config import ListedServer, ServerConfig, write_list
from tests.e2e.desktop import Desktop, until
from tests.e2e.skein import ROOT, Skein

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SERVER = ROOT / "tests" / "tools" / "sdk_server.py"
SCRIPT = [
    ("echo: hello", "The tool said hello."),
    ("no luck", "It did not work."),
    ("did not allow", "Then I shall not."),
    ("Say hello", 'Let me ask.\n«echo {"message": "hello"}»'),
    ("Fail", "I try.\n«fail {}»"),
]


@pytest.fixture(autouse=True)
def scripted(skein: Skein, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    monkeypatch.setitem(skein.desktop.environment, "SKEIN_SCRIPT", str(script))
    config = ServerConfig("sdk", sys.executable, (str(SERVER),))
    write_list(skein.home / "config" / "skein" / "mcp-servers.json", [ListedServer(config)])
    skein.configure(hub_endpoint="http://127.0.0.1:9")


def test_a_server_is_confirmed_its_tools_are_turned_on_and_called(skein: Skein, desktop: Desktop) -> None:
    skein.start(observer="tests.e2e.scripted")

    # 1. Its command is confirmed in the settings, where it is shown whole.
    desktop.keys("ctrl+shift+p")
    desktop.type("MCP servers")
    desktop.keys("Return")
    until(lambda: says(skein, "not confirmed yet", str(SERVER)), "the command line, and a question")
    skein.click("dialog Start it")
    until(lambda: says(skein, "ready · 7 tools"), "the server to be ready")
    desktop.keys("Escape")
    until(lambda: skein.state()["has_focus"], "the keyboard back in the chat")

    # 2. All of its tools are turned on for this chat, by keys.
    desktop.keys("ctrl+shift+p")
    desktop.type("Tools: sdk")
    desktop.keys("Return")
    until(lambda: skein.state()["has_focus"], "the keyboard back in the chat")

    # 3. A call asks, is allowed by mouse, runs, and the answer goes on.
    desktop.type("Say hello")
    desktop.keys("Return")
    skein.click("card 1 Allow once")
    until(lambda: "The tool said hello." in transcript(skein), "the answer")
    assert skein.state()["cards"][0].startswith("Say it again sdk hello")
    skein.click("card 1")
    until(lambda: "echo: hello" in panes(skein), "the result in the card")

    # 4. Another is refused by a key, and one that fails says so.
    desktop.type("Fail")
    desktop.keys("Return")
    until(
        lambda: len(skein.state()["cards"]) == 2 and any("waiting" in card for card in cards(skein)),
        "a question",
    )
    desktop.keys("ctrl+shift+r")
    until(lambda: "Then I shall not." in transcript(skein), "the answer")
    assert "refused" in cards(skein)[1]
    desktop.type("Fail")
    desktop.keys("Return")
    until(lambda: any("waiting" in card for card in cards(skein)), "a question")
    desktop.keys("ctrl+shift+y")
    until(lambda: "It did not work." in transcript(skein), "the answer")
    assert any("failed" in card and "no luck" in card for card in cards(skein))

    # 5. All of it is there at the next start, and no process of the server is left meanwhile.
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    skein.start(observer="tests.e2e.scripted")
    until(lambda: any("hello" in card for card in cards(skein)), "the cards")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0


def cards(skein: Skein) -> list[str]:
    found: list[str] = skein.state()["cards"]
    return found


def transcript(skein: Skein) -> str:
    text: str = skein.state()["transcripts"][0]
    return text


def panes(skein: Skein) -> str:
    text: str = skein.state()["panes"]
    return text


def says(skein: Skein, *words: str) -> bool:
    said = "\n".join(skein.state()["says"])
    return all(each in said for each in words)
