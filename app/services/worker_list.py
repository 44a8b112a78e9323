"""The user's list of workers, and the state of each. GUI thread; other threads query them."""

import asyncio
from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.engine.children.workers import RemoteWorker, ask, checked_address
from app.services.preferences import Preferences


class WorkerList(QObject):
    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._in_use: frozenset[str] = frozenset()
        self._others: tuple[str, ...] = ()
        self._found: dict[str, RemoteWorker] = {}
        self._asked: set[str] = set()

    def show(self, others: Iterable[str], in_use: Iterable[str]) -> None:
        """`others` are listed, too, as if the user had added them.

        Workers `in_use` are not queried: they serve our engine, and only one client at a time.
        """
        self._others, self._in_use = tuple(others), frozenset(in_use)
        unknown = [address for address in self.addresses if address not in self._found]
        if unknown:
            self.refresh(*unknown)
        self.changed.emit()

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._preferences.settings.workers, *self._others)))

    def is_in_use(self, address: str) -> bool:
        return address in self._in_use

    def found(self, address: str) -> RemoteWorker | None:
        """None: it is being asked."""
        return self._found.get(address)

    def add(self, text: str) -> str:
        """The address as it is listed. Raises InvalidRequestError."""
        address = checked_address(text)
        self._keep((*self.addresses, address))
        self.refresh(address)
        return address

    def remove(self, address: str) -> None:
        self._keep(one for one in self.addresses if one != address)
        self._found.pop(address, None)
        self.changed.emit()

    def refresh(self, *addresses: str) -> None:
        """Queries these workers, or all."""
        for address in addresses or self.addresses:
            if address not in self._in_use | self._asked:
                self._asked.add(address)
                self._found.pop(address, None)
                spawn(self._ask(address))
        self.changed.emit()

    def _keep(self, addresses: Iterable[str]) -> None:
        self._others = ()
        self._preferences.set("workers", list(dict.fromkeys(addresses)))

    async def _ask(self, address: str) -> None:
        found = await asyncio.to_thread(ask, address)
        if not isValid(self):  # the dialog was closed
            return
        self._asked.discard(address)
        if address in self.addresses:
            self._found[address] = found
            self.changed.emit()
