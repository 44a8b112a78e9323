from collections.abc import Iterator

import pytest

from app.tools import mcp_process
from tests.tools.ready_hosts import ReadyHosts


@pytest.fixture(scope="session")
def hosts() -> Iterator[ReadyHosts]:
    hosts = ReadyHosts()
    yield hosts
    hosts.close()


@pytest.fixture
def ready_hosts(hosts: ReadyHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that ask for it start no host of their own."""
    monkeypatch.setattr(mcp_process, "start_host", hosts.start)
