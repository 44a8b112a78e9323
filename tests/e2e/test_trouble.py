"""What a user sees after crashes."""

import signal
from pathlib import Path

import pytest

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
    report = "Skein ended unexpectedly the last time"
    until(lambda: any(report in text for text in skein.state()["notices"]), "the offer of a report")
    crash(skein)

    skein.start(waits_for="is complete")
    until(lambda: any("its last 2 starts" in text for text in skein.state()["notices"]), "the notice")
    assert skein.state()["composers"] == [""]
    assert "is loaded" not in skein.log()
    assert skein.open_tabs() != []
    desktop.photograph(tmp_path / "safe.png")

    desktop.click(skein.state()["offers"]["Open them now"])
    until(lambda: skein.state()["composers"] == ["half a thou"], "the tab to come back")
    until(lambda: "is loaded" in skein.log(), "the model")
    desktop.keys("ctrl+q")
    assert skein.wait_for_end()[0] == 0
    skein.start()
    assert skein.state()["composers"] == ["half a thou"]
    assert skein.state()["notices"] == []


def crash(skein: Skein) -> None:
    """As a fault of the native library does: Python's handler writes the stacks, and the process is gone."""
    assert skein.process
    skein.process.send_signal(signal.SIGABRT)
    skein.process.wait()
