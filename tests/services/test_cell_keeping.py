"""What was computed for chats stays on disk only where the user wants it and has a keyring."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from app.bridge import tasks
from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.engine.cells.kept_cells import path_of
from app.services.cell_keeping import NAME, SERVICE, CellKeeping
from app.services.preferences import Preferences
from app.settings.settings import Settings
from tests.bridge.conftest import ScriptedThread
from tests.services.keyrings import MemoryKeyring


class LockedKeyring(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("the prompt was dismissed")


class ForgetfulKeyring(MemoryKeyring):
    def set_password(self, service: str, username: str, password: str) -> None: ...


class WaitingKeyring(MemoryKeyring):
    """Asks for a password that is never entered."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.is_over.wait()
        return None


@pytest.fixture
def use() -> Iterator[Callable[[KeyringBackend], KeyringBackend]]:
    former = keyring.get_keyring()

    def use_now(ring: KeyringBackend) -> KeyringBackend:
        keyring.set_keyring(ring)
        return ring

    yield use_now
    keyring.set_keyring(former)


@pytest.fixture
def preferences(qloop, settings: Settings, tmp_path: Path) -> Iterator[Preferences]:
    settings._path = tmp_path / "settings.json"
    preferences = Preferences(settings)
    yield preferences
    preferences.flush()
    preferences.deleteLater()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cells"


@pytest.fixture
def refusals() -> list[str]:
    return []


@pytest.fixture
def keeping(
    engine: Engines, workspace: Workspace, preferences: Preferences, folder: Path, refusals: list[str]
) -> CellKeeping:
    keeping = CellKeeping(engine, workspace, preferences, folder, workspace)
    keeping.refused.connect(lambda: refusals.append(keeping.why_not))
    return keeping


async def test_the_key_is_made_once_and_stays_in_the_keyring(
    qloop, keeping, preferences, load: Callable[..., ScriptedThread], use, folder
) -> None:
    ring = use(MemoryKeyring())
    first = load()
    preferences.set("keeps_cells", True)
    await tasks.finish_all()
    store = first.cell_store
    assert store is not None
    assert store.folder == folder
    assert folder.stat().st_mode & 0o077 == 0
    assert len(store.key) == 32
    assert list(ring.kept) == [(SERVICE, NAME)]
    assert repr(store.key) not in repr(store)
    keeping.start()
    await tasks.finish_all()
    assert load("b.gguf").cell_store == store


@pytest.mark.parametrize(
    ("ring", "reason"),
    [
        (NoKeyring(), "there is no keyring"),
        (ForgetfulKeyring(), "there is no keyring"),
        (LockedKeyring(), "the prompt was dismissed. Unlock the keyring"),
    ],
)
async def test_without_a_keyring_it_cannot_be_switched_on_and_says_why(
    qloop, keeping, preferences, load, use, refusals, ring, reason
) -> None:
    use(ring)
    thread = load()
    preferences.set("keeps_cells", True)
    await tasks.finish_all()
    assert not preferences.settings.keeps_cells
    assert thread.cell_store is None
    assert len(refusals) == 1
    assert reason in refusals[0]
    use(MemoryKeyring())
    preferences.set("keeps_cells", True)
    await tasks.finish_all()
    assert preferences.settings.keeps_cells
    assert keeping.why_not == ""
    assert thread.cell_store is not None


async def test_without_a_folder_neither(qloop, keeping, preferences, use, refusals, folder) -> None:
    use(MemoryKeyring())
    folder.write_text("in the way")
    preferences.set("keeps_cells", True)
    await tasks.finish_all()
    assert not preferences.settings.keeps_cells
    assert refusals == [f"The folder {folder} cannot be used: File exists."]


async def test_a_keyring_that_waits_for_the_user_keeps_nothing_from_ending(
    qloop, keeping, preferences, use, load
) -> None:
    ring = use(WaitingKeyring())
    thread = load()
    preferences.set("keeps_cells", True)
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await keeping.close()
        await tasks.finish_all()
    ring.is_over.set()
    await asyncio.sleep(0)
    assert thread.cell_store is None


async def test_what_was_kept_goes_when_it_is_switched_off(
    qloop, keeping, preferences, workspace, load, use, folder
) -> None:
    use(MemoryKeyring())
    thread = load()
    preferences.set("keeps_cells", True)
    await tasks.finish_all()
    file = path_of(folder, workspace.new_chat().chat.id)
    file.write_bytes(b"cells")
    preferences.set("keeps_cells", False)
    await tasks.finish_all()
    assert thread.cell_store is None
    assert not file.exists()


async def test_what_was_kept_goes_with_its_tab(qloop, keeping, preferences, workspace, use, folder) -> None:
    use(MemoryKeyring())
    preferences.set("keeps_cells", True)
    await tasks.finish_all()
    ann, bob = (workspace.new_chat() for _ in range(2))
    files = [path_of(folder, session.chat.id) for session in (ann, bob)]
    for file in files:
        file.write_bytes(b"cells")
    workspace.close(ann)
    await tasks.finish_all()
    assert list(folder.iterdir()) == files[1:]


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_nothing_is_left_of_chats_that_are_not_open(
    qloop, keeping, settings, workspace, use, folder, is_wanted
) -> None:
    """At the start and at the end: a run may have ended too soon to tidy up."""
    use(MemoryKeyring())
    settings.keeps_cells = is_wanted
    folder.mkdir()
    file = path_of(folder, workspace.new_chat().chat.id)
    for tidy_up in (keeping.start, lambda: tasks.spawn(keeping.close())):
        for one in (file, path_of(folder, "a chat that was deleted"), folder / "half-written"):
            one.write_bytes(b"cells")
        tidy_up()
        await tasks.finish_all()
        assert list(folder.iterdir()) == ([file] if is_wanted else [])
