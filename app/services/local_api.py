"""The API server in the window's process: other programs use the same engine as the chats. GUI thread.

One slot always stays for the window's own chats. What only a server needs is imported
when there is to be one.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.active_engine import ActiveEngine
from app.bridge.rounds import PatientTimer
from app.bridge.tasks import spawn
from app.protocol.output import Output
from app.protocol.report import StepReport
from app.settings.api_access import words_of
from app.settings.settings import Settings
from app.shelves.source import NamedShelves
from app.system.said import said

if TYPE_CHECKING:
    import ssl

    from app.api.engine_client import EngineClient
    from app.api.server import ApiServer
    from app.engine.message_reader import MessageReaders

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
CHANGE_PERIOD_MS = 100


class LocalApi(QObject):
    """Follows the `api_…` fields of the settings whenever `apply` is called."""

    changed = Signal()  # on or off, or the number of requests
    titles_changed = Signal(object)  # dict of chat_id -> title
    failed = Signal(object)  # one sentence for the user; it is off
    settings_changed = Signal()  # they must be saved

    def __init__(
        self,
        engine: ActiveEngine,
        settings: Settings,
        parent: QObject | None = None,
        shelf_source: NamedShelves | None = None,
        reading: MessageReaders | None = None,
    ) -> None:
        super().__init__(parent)
        self._reading = reading
        self._shelf_source = shelf_source
        self._engine = engine
        self._settings = settings
        self._client: EngineClient | None = None
        self._server: ApiServer | None = None
        self._served: tuple[object, ...] | None = None  # the settings of the server that runs
        self.fingerprint = ""  # of its certificate, if it has one
        self._turn = asyncio.Lock()
        self._is_closing = False
        self._change_timer = PatientTimer(self)
        self._change_timer.due.connect(self._emit_changed)
        engine.reported.connect(self._on_reported)
        engine.ended.connect(self._on_ended)

    @property
    def is_on(self) -> bool:
        return self._server is not None

    @property
    def address(self) -> str:
        """Where it listens, or would."""
        scheme = "https" if self._settings.api_encrypted else "http"
        return self._server.address if self._server else f"{scheme}://{HOST}:{self._settings.api_port}"

    @property
    def num_requests(self) -> int:
        """Being answered, or waiting."""
        return self._client.num_open if self._client else 0

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
        self._emit_changed()

    async def _start(self) -> None:
        from app.api.engine_client import EngineClient
        from app.api.guard import new_key
        from app.api.server import ApiServer

        if not self._settings.api_key:
            self._settings.api_key = new_key()
            self.settings_changed.emit()
        client = EngineClient(self._engine, num_spare_slots=1, reading=self._reading)
        client.on_changed = self._note_change
        chosen, port = _chosen(self._settings), self._settings.api_port
        try:
            tls = await self._certified() if self._settings.api_encrypted else None
        except OSError as error:
            reason = said("its certificate cannot be made: {reason}", reason=str(error))
            self._give_up(said("The API could not start: {reason}.", reason=reason))
            return
        server = ApiServer(
            client,
            host=HOST,
            port=port,
            key=self._settings.api_key,
            tls=tls,
            shelf_source=self._shelf_source,
            allowed_origins=words_of(self._settings.api_origins),
            allowed_hosts=words_of(self._settings.api_hosts),
        )
        try:
            await server.start()
        except OSError as error:
            log.warning("the API cannot listen on port %d: %s", port, error)
            self._give_up(
                said(
                    "The API could not start: port {port} is used by another program. Choose another port.",
                    port=port,
                )
            )
            return
        self._client, self._server = client, server
        self._served = chosen
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
            await server.stop()
        self._client = None

    def _note_change(self) -> None:
        if not self._change_timer.isActive():
            self._change_timer.start(CHANGE_PERIOD_MS)

    @Slot()
    def _emit_changed(self) -> None:
        self.titles_changed.emit(self._client.titles if self._client else {})
        self.changed.emit()

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        if self._client:
            self._client.on_reports(reports)

    @Slot(object)
    def _on_ended(self, output: Output) -> None:
        if self._client:
            self._client.on_output(output)


def _chosen(settings: Settings) -> tuple[object, ...]:
    """What a running server cannot change."""
    access = settings.api_key, settings.api_origins, settings.api_hosts
    return settings.api_port, settings.api_encrypted, *access
