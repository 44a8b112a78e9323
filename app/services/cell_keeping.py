"""Keeps the cells of open chats between runs, if the user wants that.

They are encrypted with a key in the user's keyring; without a keyring nothing is kept, nor for closed tabs.
GUI thread; keyring and files are accessed on others.
"""

import asyncio
import base64
import logging
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.models.off_loop import off_loop
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore
from app.services.preferences import Preferences
from app.system import paths
from app.system.said import said

logger = logging.getLogger(__name__)

SERVICE, NAME = "Skein", "cells"
KEY_BYTES = 32


class KeyringError(Exception):
    """Its text tells the user what to do."""


class CellKeeping(QObject):
    refused = Signal(object)  # why it was switched off again

    def __init__(
        self,
        engine: Engines,
        workspace: Workspace,
        preferences: Preferences,
        folder: Path,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._workspace = workspace
        self._preferences = preferences
        self._folder = folder
        self.also_wanted: Callable[[], Iterable[str]] = tuple  # whose cells are kept besides open chats'
        self.why_not = ""  # why keeping cells failed the last time
        self._asking: asyncio.Task[None] | None = None  # the newest request for the key
        preferences.changed.connect(self._on_setting_changed)
        workspace.closed.connect(self._on_closed)

    @property
    def _is_wanted(self) -> bool:
        return self._preferences.settings.keeps_cells

    def size_of(self, chat_id: str) -> int:
        """Bytes that are kept of a chat or a shelf, for whatever model."""
        if not self._folder.is_dir():
            return 0
        from app.engine.cells.kept_cells import size_of  # imports numpy

        return size_of(self._folder, chat_id)

    def start(self) -> None:
        """To be called once the tabs are open again."""
        spawn(self._delete_what_is_not_wanted())
        if self._is_wanted:
            self._asking = spawn(self._keep())

    async def close(self) -> None:
        """To be called once the engine has ended."""
        self._stop_asking()
        await self._delete_what_is_not_wanted()

    async def _keep(self) -> None:
        """Keeps cells from now on. If that fails, the setting is switched off, and the user is told why."""
        self.why_not = ""
        try:
            key = await off_loop(key_of_user)  # it may show a prompt, which the user may ignore
            folder = await asyncio.to_thread(paths.private_dir, self._folder)
        except KeyringError as error:
            self._refuse(str(error))
        except OSError as error:
            reason = error.strerror or str(error)
            self._refuse(
                said("The folder {folder} cannot be used: {reason}.", folder=self._folder, reason=reason)
            )
        else:
            self._engine.post(KeepCells(CellStore(folder, key)))

    def _refuse(self, reason: str) -> None:
        self._asking, self.why_not = None, reason
        self._preferences.set("keeps_cells", False)
        self.refused.emit(reason)

    def _stop_asking(self) -> None:
        if self._asking:
            self._asking.cancel()

    async def _delete_what_is_not_wanted(self) -> None:
        open_chats = [*(session.chat.id for session in self._workspace.sessions), *self.also_wanted()]
        try:
            await asyncio.to_thread(_delete_all_but, self._folder, open_chats if self._is_wanted else [])
        except OSError as error:
            logger.warning("What was kept of chats could not be deleted: %s", error)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name != "keeps_cells":
            return
        self._stop_asking()
        if self._is_wanted:
            self._asking = spawn(self._keep())
        else:
            self._engine.post(KeepCells(None))
            spawn(self._delete_what_is_not_wanted())

    @Slot()
    def _on_closed(self) -> None:
        if self._is_wanted:
            spawn(self._delete_what_is_not_wanted())


def key_of_user() -> bytes:
    """The key from the user's keyring, created when first needed. Raises KeyringError. Any thread."""
    import keyring
    from keyring.errors import NoKeyringError

    try:
        if key := _decoded(keyring.get_password(SERVICE, NAME)):
            return key
        keyring.set_password(SERVICE, NAME, base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode())
        key = _decoded(keyring.get_password(SERVICE, NAME))
    except NoKeyringError:
        key = None
    except Exception as error:  # each keyring has errors of its own
        raise KeyringError(
            said(
                "Cells are not kept between starts because the keyring cannot be used: {reason} Unlock "
                "the keyring, then turn this on again in Settings.",
                reason=f"{str(error) or type(error).__name__}.",
            )
        ) from error
    if key is None:
        raise KeyringError(
            said(
                "Cells are not kept between starts because there is no keyring for the encryption key. "
                "Install one, such as GNOME Keyring or KWallet, then turn this on again in Settings."
            )
        )
    return key


def _decoded(text: str | None) -> bytes | None:
    """None also for an entry that is not our key."""
    try:
        key = base64.b64decode(text or "", validate=True)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


def _delete_all_but(folder: Path, chat_ids: list[str]) -> None:
    if folder.is_dir():
        from app.engine.cells.kept_cells import delete_all_but  # imports numpy

        delete_all_but(folder, chat_ids)
