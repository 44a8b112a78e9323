"""The scripted engine and the workspace on it, as for the bridge; a keyring in memory."""

from collections.abc import Iterator

import keyring
import pytest

from tests.bridge.conftest import (
    asks_at_once,
    engine,
    load,
    make_thread,
    settings,
    store,
    thread,
    threads,
    workspace,
)
from tests.services.keyrings import MemoryKeyring

__all__ = [
    "asks_at_once",
    "engine",
    "load",
    "make_thread",
    "settings",
    "store",
    "thread",
    "threads",
    "workspace",
]


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before, ring = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)
