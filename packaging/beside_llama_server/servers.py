"""Asks two servers the same."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TIMEOUT_S = 120
Body = dict[str, Any]


class RefusedError(Exception):
    """With what the server said."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    key: str

    def post(self, path: str, body: Body) -> Any:
        """Raises RefusedError."""
        with self._open(path, body) as response:
            return json.load(response)

    def stream(self, path: str, body: Body) -> Iterator[Any]:
        """Each chunk. Raises RefusedError, also for an error within the stream."""
        with self._open(path, {**body, "stream": True}) as response:
            for line in response:
                if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
                    chunk = json.loads(line.removeprefix(b"data: "))
                    if "error" in chunk:
                        raise RefusedError(chunk["error"].get("code", 0), str(chunk["error"]))
                    yield chunk

    def _open(self, path: str, body: Body) -> Any:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        asked = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            return urllib.request.urlopen(asked, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            raise RefusedError(error.code, error.read().decode()[:500]) from error
