"""What must be right about files: who may read them, and that they are there after a power cut."""

import os
from pathlib import Path
from urllib.parse import quote


def private_file(path: Path) -> None:
    """Makes it empty, or leaves it as it is; nobody else can read it, whatever the umask."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def sync_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def uri(path: Path, options: str) -> str:
    """For sqlite3.connect(…, uri=True)."""
    return f"file:{quote(str(path))}?{options}"
