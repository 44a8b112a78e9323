"""What must be right about files: that they are there after a power cut, and how SQLite is told of them."""

import os
from pathlib import Path
from urllib.parse import quote


def sync_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def uri(path: Path, options: str) -> str:
    """For sqlite3.connect(…, uri=True)."""
    return f"file:{quote(str(path))}?{options}"
