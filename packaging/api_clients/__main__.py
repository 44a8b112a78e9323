"""Drives real client libraries against `skein serve` and prints which of their features work.

    packaging/api_clients/run [CLIENT…] [--newest] [--llama-server PATH]

They are installed into the cache folder when they are missing; node and chromium are the machine's own.
Exit code 0: all that was tried works.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from api_clients.browser import Page, bundled
from api_clients.features import FEATURES
from api_clients.install import (
    NODE_PACKAGES,
    PYTHON_PACKAGES,
    node_folder,
    node_version,
    python_of,
    require_programs,
)
from api_clients.model import write_babbler, write_caller
from api_clients.server import ROOT, llama_server, running, skein

IN_A_PAGE = "openai_browser"
WIDTH = 52


@dataclass
class Outcome:
    """`reasons` by feature: None where it works."""

    version: str = ""
    reasons: dict[str, str | None] = field(default_factory=dict)
    said: str = ""

    @property
    def failures(self) -> dict[str, str]:
        failures = {feature: reason for feature, reason in self.reasons.items() if reason}
        return failures if self.reasons else {"start": self.said}

    @property
    def words(self) -> list[str]:
        def word(feature: str) -> str:
            return ("FAILED" if self.reasons[feature] else "ok") if feature in self.reasons else "-"

        return [word(feature) for feature in FEATURES]


def main() -> int:
    options = _parse()
    require_programs()
    folder = Path(platformdirs.user_cache_dir("skein")) / "api_clients"
    if options.newest:
        shutil.rmtree(folder, ignore_errors=True)
    outcomes = {}
    print(_row("", list(FEATURES)))
    for client in options.clients or [*PYTHON_PACKAGES, *NODE_PACKAGES]:
        outcome = outcomes[client] = _drive(folder, client, options.llama_server)
        print(_row(f"{client} ({outcome.version})", outcome.words), flush=True)
        for feature, reason in outcome.failures.items():
            print(f"    {feature}: {reason}", flush=True)
    return 1 if any(outcome.failures for outcome in outcomes.values()) else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="packaging/api_clients/run", description=__doc__)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help="such as openai_python")
    parser.add_argument("--newest", action="store_true", help="install all of them anew")
    parser.add_argument(
        "--llama-server", type=Path, metavar="PATH", help="drive this program instead of Skein"
    )
    options = parser.parse_args()
    if unknown := set(options.clients) - {*PYTHON_PACKAGES, *NODE_PACKAGES}:
        parser.error(f"no such client: {', '.join(unknown)}")
    return options


def _drive(folder: Path, client: str, program: Path | None) -> Outcome:
    """All features of one client, against servers of its own: one model babbles, one calls a tool twice."""
    outcome = Outcome()
    key = secrets.token_hex(8)
    page = Page(bundled(node_folder(folder, client), f"{client}.js")) if client == IN_A_PAGE else None
    allowed = ["--allow-origin", page.origin] if page and not program else []
    with tempfile.TemporaryDirectory() as models:
        babbler, caller = Path(models) / "babbler.gguf", Path(models) / "caller.gguf"
        write_babbler(babbler)
        write_caller(caller)
        first, second = (
            llama_server(program, model, key) if program else skein(model, key, *allowed)
            for model in (babbler, caller)
        )
        with running(first) as url, running(second) as caller_url:
            names = ("SKEIN_CLIENTS_URL", "SKEIN_CLIENTS_CALLER_URL", "SKEIN_CLIENTS_KEY")
            given = dict(zip(names, (url, caller_url, key), strict=True))
            for line in _lines(folder, client, given, page):
                if "feature" in line:
                    outcome.reasons[line["feature"]] = line["reason"]
                else:
                    vars(outcome).update(line)
    return outcome


def _lines(
    folder: Path, client: str, given: Mapping[str, str], page: Page | None
) -> Iterator[dict[str, Any]]:
    """What the client's script says: its version, one line for each feature, and what it said besides."""
    if client in PYTHON_PACKAGES:
        command = [str(python_of(folder, client)), "-m", f"api_clients.clients.{client}"]
        more = {"PYTHONPATH": str(ROOT / "packaging")}
        cwd = folder
    else:
        command = ["node", f"{client}.js"]
        cwd = node_folder(folder, client)
        more = {"SKEIN_CLIENTS_VERSION": node_version(cwd, NODE_PACKAGES[client][0])}
    if page:
        yield from page.lines({**given, **more})
        return
    with tempfile.TemporaryFile("w+") as errors:
        environment = {**os.environ, **given, **more}
        script = subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert script.stdout
        for line in script.stdout:
            if line.startswith("{"):  # some clients print, too
                yield json.loads(line)
        script.wait()
        errors.seek(0)
        yield {"said": errors.read()[-2000:]}


def _row(name: str, words: Sequence[str]) -> str:
    cells = (f"{word:>{max(len(feature), 6) + 2}}" for feature, word in zip(FEATURES, words, strict=True))
    return f"{name:{WIDTH}}{''.join(cells)}"


if __name__ == "__main__":
    sys.exit(main())
