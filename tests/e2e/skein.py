"""One home and the Skein that lives in it: starts it, reads its window, its log and its database."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.desktop import Desktop, until

ROOT = Path(__file__).resolve().parents[2]
NUM_STATES_TO_SETTLE = 4
_STEP = re.compile(r"engine: step \d+ \| .* rows, ")
_REQUEST_IN_STEP = re.compile(r"seq \d+ decode [^|]*request=(\w+)")


@dataclass
class Skein:
    home: Path
    desktop: Desktop
    process: subprocess.Popen[bytes] | None = None
    window: str = ""

    @property
    def output_file(self) -> Path:
        """What it wrote to the terminal, in all its runs."""
        return self.home / "output.txt"

    @property
    def database_file(self) -> Path:
        return self.home / "data" / "skein" / "chats.db"

    @property
    def folders(self) -> dict[str, str]:
        """The variables by which a program finds its home."""
        names = ("data", "config", "state", "cache")
        return {
            "HOME": str(self.home),
            **{f"XDG_{name.upper()}_HOME": str(self.home / name) for name in names},
        }

    @property
    def _state_file(self) -> Path:
        return self.home / "window.json"

    @property
    def _log_files(self) -> list[Path]:
        """Oldest first: a long run begins a new one now and then."""
        return sorted((self.home / "state").rglob("skein.log*"), reverse=True)

    def start(
        self,
        *arguments: str,
        observed: bool = True,
        program: Sequence[str] = ("-m", "app"),
        waits_for: str = "is loaded",
        observer: str = "tests.e2e.observed",
    ) -> None:
        """Returns when the window is there, the model is loaded and the keyboard is the window's.

        `program` is what runs when it is not observed; `waits_for` is what it logs when it is ready.
        """
        self.home.mkdir(exist_ok=True)
        self._state_file.unlink(missing_ok=True)
        for file in self._log_files:
            file.unlink()
        if observed:
            program = ("-m", observer, str(self._state_file))
        self.process = self.run(*program, "--debug", *arguments)
        pid = self.process.pid
        self.window = until(lambda: self._running() and self.desktop.window_of(pid), "the window")
        self.desktop.activate(self.window)
        tabs = "open again" if waits_for == "is loaded" else ""
        until(lambda: waits_for in self.log() and tabs in self.log(), "the model and the tabs")
        if observed:
            until(lambda: self.state()["has_focus"], "the keyboard focus")

    def run(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.output_file.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**self.desktop.environment, **self.folders},
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_hear_signals,
            )

    def configure(self, **settings: object) -> None:
        file = self.home / "config" / "skein" / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))

    def wait_for_end(self, timeout_s: float = 60) -> tuple[int, float]:
        """Exit code and the seconds it took."""
        assert self.process
        started = time.monotonic()
        self.process.wait(timeout=timeout_s)
        return self.process.returncode, time.monotonic() - started

    def clean_up(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    # What can be seen of it.

    def state(self) -> dict[str, Any]:
        """What the window showed a moment ago."""
        return until(self._read_state, "the window's first sign of life")

    def log(self) -> str:
        """What this run has logged."""
        text = ""
        for file in self._log_files:
            with suppress(FileNotFoundError):  # they are being renamed
                text += file.read_text(encoding="utf-8", errors="replace")  # or being written
        return text

    def crashes(self) -> list[str]:
        """What Python's handler wrote as the process died: the stacks of all threads."""
        return [file.read_text(errors="replace") for file in (self.home / "state").rglob("crash*.log")]

    def click(self, name: str, times: int = 1) -> None:
        """On one of the `places`, once it stays where it is: what is above it may be going just now.

        The mouse is there before, so that no tip of where it was covers it.
        """
        seen: dict[int, list[int]] = {}  # by the number of the state, its place in it

        def settled() -> list[int]:
            state = self.state()
            place: list[int] = state["places"].get(name, [])
            if place not in seen.values():
                seen.clear()
                if place:
                    self.desktop.point_at(place)
            seen[state["number"]] = place
            return place if len(seen) == NUM_STATES_TO_SETTLE else []

        self.desktop.click(until(settled, f"a place to click: {name}"), times)

    def take_offer(self, name: str) -> None:
        """Clicks on a button of a notice until it is gone: a load that ends moves all notices."""
        self.click(f"offer {name}")

        def is_gone() -> bool:
            place = self.state()["places"].get(f"offer {name}")
            if place:
                self.desktop.click(place)
            return not place

        until(is_gone, f"the offer {name!r} to go")

    def show_inspector(self) -> None:
        """At the first start it is hidden."""
        self.desktop.keys("F12")
        until(lambda: self.state()["inspector"] is not None, "the inspector")

    def requests_per_step(self) -> list[set[str]]:
        """For each step: whose next token it computed."""
        return [set(_REQUEST_IN_STEP.findall(line)) for line in self.log().splitlines() if _STEP.search(line)]

    def turns(self) -> list[tuple[str, str, str, str]]:
        """Of all chats in the database: chat id, role, state, text."""
        return self._query(
            "SELECT chat_id, role, state, text FROM turns JOIN chats ON chats.id = chat_id "
            "ORDER BY chats.rowid, number"
        )

    def drafts(self) -> list[str]:
        return [row[0] for row in self._query("SELECT draft FROM chats ORDER BY rowid")]

    def open_tabs(self) -> list[str]:
        return [row[0] for row in self._query("SELECT chat_id FROM open_tabs ORDER BY position")]

    def _query(self, sql: str) -> list[Any]:
        connection = sqlite3.connect(f"file:{self.database_file}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def _read_state(self) -> dict[str, Any] | None:
        self._running()
        return json.loads(self._state_file.read_text()) if self._state_file.exists() else None

    def _running(self) -> bool:
        assert self.process
        assert "Nobody caught this" not in self.log(), self.log().partition("Nobody caught this")[2][:3000]
        if self.process.poll() is not None:
            code, output = self.process.returncode, self.output_file.read_text()
            raise AssertionError(f"skein ended with code {code}:\n{output}\n{self.log()[-3000:]}")
        return True


def _hear_signals() -> None:
    """In the new process: what a shell runs in its background ignores Ctrl+C, and children inherit that."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
