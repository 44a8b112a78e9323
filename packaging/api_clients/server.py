"""Starts `skein serve`, or llama-server in its place."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
START_TIMEOUT_S = 60


def skein(model: Path, key: str, *more: str) -> list[str]:
    """The command, but for its port. Each answer may be as long as the model can."""
    command = [sys.executable, "-m", "app", "serve", "--no-settings", "--threads", "1"]
    return [*command, "--model", str(model), "--api-key", key, "--ctx", "65536", *more]


def llama_server(program: Path, model: Path, key: str, *more: str) -> list[str]:
    command = [str(program), "--jinja", "--metrics", "--threads", "1", "-c", "65536", "-np", "2"]
    return [*command, "--model", str(model), "--api-key", key, *more]


@contextmanager
def running(command: Sequence[str]) -> Iterator[str]:
    """The address at which it answers. Raises SystemExit with what it said when it does not start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with tempfile.NamedTemporaryFile("w+") as log:
        process = subprocess.Popen([*command, "--port", port], cwd=ROOT, stdout=log, stderr=log)
        try:
            yield _when_ready(f"http://127.0.0.1:{port}", process, Path(log.name))
        finally:
            process.terminate()
            process.wait()


def _when_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health"):
                return url
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"The server did not start:\n{log.read_text()[-2000:]}")
