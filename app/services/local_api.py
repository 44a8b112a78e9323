"""The API server in the window's process: other programs use the same engine as the chats.

The server and its `WindowModels` run on the I/O thread, everything else on the GUI thread. One slot of each
engine always stays for the window's own chats. What only a server needs is imported when there is to be one.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.io_thread import IoThread
from app.bridge.tasks import spawn
from app.protocol.output import Output
from app.protocol.report import StepReport
from app.services.model_library import ModelLibrary
from app.settings.api_access import words_of
from app.settings.settings import Settings
from app.shelves.shelf import NamedShelves
from app.system.said import said

if TYPE_CHECKING:
    import ssl

    from app.api.server import ApiServer
    from app.engine.prompts.message_reader import MessageReaders
    from app.services.window_models import WindowModels

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
CHANGE_PERIOD_S = 0.1


class LocalApi(QObject):
    """Follows the `api_…` fields of the settings whenever `apply` is called."""

    changed = Signal()  # on or off, or the number of requests
    titles_changed = Signal(object)  # dict of chat_id -> title
    failed = Signal(object)  # one sentence for the user; it is off
    settings_changed = Signal()  # they must be saved
    _noted = Signal(int, object)  # by the I/O thread: the number of requests, and the titles

    def __init__(
        self,
        engine: Engines,
        library: ModelLibrary,
        settings: Settings,
        io: IoThread,
        parent: QObject | None = None,
        shelf_source: NamedShelves | None = None,
        reading: MessageReaders | None = None,
    ) -> None:
        super().__init__(parent)
        self._reading = reading
        self._io = io
        self._shelf_source = shelf_source
        self._engine, self._library = engine, library
        self._settings = settings
        self._models: WindowModels | None = None
        self._server: ApiServer | None = None
        self._served: tuple[object, ...] | None = None  # the settings of the server that runs
        self.fingerprint = ""  # of its certificate, if it has one
        self._turn = asyncio.Lock()
        self._is_closing = False
        self.num_requests = 0  # being answered, or waiting
        self._is_change_due = False  # I/O thread
        self._noted.connect(self._on_noted)
        engine.reports_of.connect(self._on_reported)
        engine.ended.connect(self._on_ended)

    @property
    def is_on(self) -> bool:
        return self._server is not None

    @property
    def address(self) -> str:
        """Where it listens, or would."""
        scheme = "https" if self._settings.api_encrypted else "http"
        return self._server.address if self._server else f"{scheme}://{HOST}:{self._settings.api_port}"

    def switch(self, is_on: bool) -> None:
        self._change(api_enabled=is_on)

    def set_port(self, port: int) -> None:
        self._change(api_port=port)

    def renew_key(self) -> None:
        """Programs with the old key lose access."""
        from app.api.guard import new_key

        self._change(api_key=new_key())

    def apply(self) -> None:
        """Applies the settings. A server that already matches them keeps running."""
        spawn(self._apply())

    async def close(self) -> None:
        """Ends every request, for good."""
        self._is_closing = True
        await self._apply()

    def _change(self, **values: object) -> None:
        for name, value in values.items():
            setattr(self._settings, name, value)
        self.settings_changed.emit()
        self.apply()

    async def _apply(self) -> None:
        async with self._turn:  # one after the other, each with the settings of that moment
            settings = self._settings
            is_wanted = settings.api_enabled and not self._is_closing
            if not is_wanted or self._served != _chosen(settings):
                await self._stop()
            if is_wanted and not self._server:
                await self._start()
        self.changed.emit()

    async def _start(self) -> None:
        from app.api.guard import new_key
        from app.api.server import ApiServer
        from app.api.state import ServedShelves
        from app.services.window_models import EnginePort, WindowModels

        if not self._settings.api_key:
            self._settings.api_key = new_key()
            self.settings_changed.emit()
        chosen = _chosen(self._settings)
        try:
            tls = await self._certified() if self._settings.api_encrypted else None
        except OSError as error:
            reason = said("its certificate cannot be made: {reason}", reason=str(error))
            self._give_up(said("The API could not start: {reason}.", reason=reason))
            return
        shelves = self._shelf_source
        self._library.refresh()
        port = EnginePort(self._engine, self)
        models = WindowModels(port, lambda: self._library.models, self._note_change, self._reading)
        server = ApiServer(
            models,
            host=HOST,
            port=self._settings.api_port,
            key=self._settings.api_key,
            tls=tls,
            shelf_access=ServedShelves(shelves, asyncio.get_running_loop()) if shelves else None,
            allowed_origins=words_of(self._settings.api_origins),
            allowed_hosts=words_of(self._settings.api_hosts),
        )
        self._models = models  # hear of reports before the first request comes
        try:
            await self._io.run(server.start())
        except OSError as error:
            self._models = None
            log.warning("the API cannot listen on port %d: %s", self._settings.api_port, error)
            self._give_up(
                said(
                    "The API could not start: port {port} is used by another program. Choose another port.",
                    port=self._settings.api_port,
                )
            )
            return
        self._server, self._served = server, chosen
        log.info("The API listens on %s.", server.address)

    async def _certified(self) -> ssl.SSLContext:
        """With a certificate of its own. Raises OSError."""
        from app.api.certificate import own_certificate

        certificate = await asyncio.to_thread(own_certificate, [HOST])
        context = certificate.context()
        self.fingerprint = certificate.fingerprint
        return context

    def _give_up(self, reason: str) -> None:
        self._settings.api_enabled = False
        self.settings_changed.emit()
        self.failed.emit(reason)

    async def _stop(self) -> None:
        server, self._server = self._server, None
        self._served = None
        self.fingerprint = ""
        if server:
            await self._io.run(server.stop())
        if self._models:
            self._models.port.deleteLater()
        self._models = None
        self.num_requests = 0
        self.titles_changed.emit({})

    @Slot(int, object)
    def _on_noted(self, num_requests: int, titles: dict[str, str]) -> None:
        if self._server:
            self.num_requests = num_requests
            self.titles_changed.emit(titles)
            self.changed.emit()

    @Slot(str, object)
    def _on_reported(self, address: str, reports: tuple[StepReport, ...]) -> None:
        if self._models:
            self._io.post(self._models.on_reports, address, reports)

    @Slot(object)
    def _on_ended(self, output: Output) -> None:
        if self._models:
            self._io.post(self._models.on_output, output)

    # The I/O thread only.

    def _note_change(self, models: WindowModels) -> None:
        if not self._is_change_due:
            self._is_change_due = True
            asyncio.get_running_loop().call_later(CHANGE_PERIOD_S, self._emit_noted, models)

    def _emit_noted(self, models: WindowModels) -> None:
        self._is_change_due = False
        self._noted.emit(models.num_open, models.titles)


def _chosen(settings: Settings) -> tuple[object, ...]:
    """What a running server cannot change."""
    access = settings.api_key, settings.api_origins, settings.api_hosts
    return settings.api_port, settings.api_encrypted, *access
