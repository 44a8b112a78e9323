"""A container's limit counts where it is lower than what the machine has."""

import psutil
import pytest

from app.system import machine as free_memory

GIB = 1 << 30


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Control groups as they would be shown, in a folder."""
    own = tmp_path / "own"
    monkeypatch.setattr(free_memory, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(free_memory, "OWN_CGROUP", own)

    def write(own_groups, **folders):
        own.write_text(own_groups)
        for folder, files in folders.items():
            path = tmp_path / "cgroup" / folder.replace("__", "/")
            path.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (path / name).write_text(str(text))

    return write


def limited(limit, used, pages):
    stat = f"anon 5\ninactive_file {pages // 2}\nactive_file {pages // 2}\n"
    return {"memory.max": limit, "memory.current": used, "memory.stat": stat}


def test_without_limits_it_is_what_the_system_has(groups):
    groups("0::/user\n", user=limited("max\n", 5, 0))
    available = psutil.virtual_memory().available
    assert abs(free_memory.free_memory_bytes() - available) < GIB


def test_the_tightest_group_above_counts(groups):
    groups(
        "0::/pod/box\n",
        pod=limited(400_000, 250_000, 50_000),  # pages of files make room
        pod__box=limited(900_000, 100_000, 0),
    )
    assert free_memory.free_memory_bytes() == 200_000


def test_a_full_group_has_nothing_left(groups):
    groups("0::/box\n", box=limited(1000, 2000, 0))
    assert free_memory.free_memory_bytes() == 0


def test_groups_of_version_1_are_known(groups):
    files = {
        "memory.limit_in_bytes": 300_000,
        "memory.usage_in_bytes": 200_000,
        "memory.stat": "total_inactive_file 6000\ntotal_active_file 4000\n",
    }
    groups("4:cpu,memory:/box\n1:cpuset:/\n", memory__box=files)
    assert free_memory.free_memory_bytes() == 110_000
