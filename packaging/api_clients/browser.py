"""Runs a script in a real browser without a window, in a page that some web server gave out."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

HOST = "page.test"  # what the browser is told is this machine; for the server it is from elsewhere
LINE_TIMEOUT_S = 180


class Page:
    """A web server with one page, which runs `script` and posts its results as lines of JSON."""

    def __init__(self, script: str) -> None:
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script, self._lines))
        self.origin = f"http://{HOST}:{self._server.server_port}"

    @contextmanager
    def served(self) -> Iterator[None]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def lines(self, parameters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Opens the page in chromium. Raises queue.Empty when it says nothing any more."""
        with self.served(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = [
                *("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
                *(f"--user-data-dir={profile}", f"--host-resolver-rules=MAP {HOST} 127.0.0.1"),
                f"{self.origin}/?{urlencode(parameters)}",
            ]
            browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                while not (line := self._lines.get(timeout=LINE_TIMEOUT_S)).get("done"):
                    yield line
            finally:
                browser.terminate()
                browser.wait()


def bundled(environment: Path, script: str) -> str:
    """The script with all that it imports."""
    command = [environment / "node_modules" / ".bin" / "esbuild", script, "--bundle", "--format=esm"]
    return subprocess.run(command, cwd=environment, check=True, capture_output=True, text=True).stdout


def _handler(script: str, lines: queue.Queue[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    page = '<!doctype html><meta charset="utf-8"><script type="module" src="/script.js"></script>'

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_script = self.path == "/script.js"
            self._send("text/javascript" if is_script else "text/html", script if is_script else page)

        def do_POST(self) -> None:
            lines.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._send("text/plain", "")

        def _send(self, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
