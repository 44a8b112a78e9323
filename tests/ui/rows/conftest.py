"""The scripted engine and the workspace on it, as for the bridge."""

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
