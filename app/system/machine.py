"""What this machine has: its cores, and the memory within our control groups' limits. Any thread."""

from collections.abc import Iterator
from pathlib import Path

import psutil

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def free_memory_bytes() -> int:
    """Includes what the system can reclaim, such as cached pages of files."""
    return max(0, min((psutil.virtual_memory().available, *_rooms_in_groups())))


def _rooms_in_groups() -> Iterator[int]:
    """A limit applies to all groups below it, so every level is checked. None outside Linux."""
    try:
        lines = OWN_CGROUP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":  # version 2
            yield from _rooms_above(CGROUPS, path, "memory.max", "memory.current", "")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
            yield from _rooms_above(CGROUPS / "memory", path, *names)


def _rooms_above(root: Path, path: str, limit: str, usage: str, prefix: str) -> Iterator[int]:
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(root):
            return
        try:
            max_bytes = int((folder / limit).read_text())  # "max": no limit
            used = int((folder / usage).read_text())
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):
            continue
        # Pages of files are reclaimed when memory is short, even those in use, such as a loaded model's.
        pages = (int(stat.get(f"{prefix}{kind}_file", 0)) for kind in ("inactive", "active"))
        yield max_bytes - used + sum(pages)


def num_physical_cores() -> int:
    """Hardware threads of one core share its arithmetic units."""
    return psutil.cpu_count(logical=False) or 1
