"""Has the engine compute what a chat's next message begins with, while nothing else runs. GUI thread.

After an answer that is the end of its turn, after a summary that is what now stands before it, and later the
draft as far as it was typed. Knows no widgets: the draft comes from the session, which has it from the
composer.
"""

import psutil
from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.protocol.commands import ReadAhead
from app.settings.settings import Settings

WAIT_MS = 300  # from the first of several keys: one prompt for all of them
MIN_NEW_CHARS = 8  # fewer are computed with the next ones


class AheadReader(QObject):
    """For the chat whose draft changed last, or that was answered last."""

    def __init__(
        self, engine: Engines, workspace: Workspace, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._workspace = workspace
        self._settings = settings
        self._session: ChatSession | None = None
        self._read = ""  # of its draft
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._timer.timeout.connect(self._post)
        workspace.opened.connect(self._on_opened)
        workspace.closed.connect(self._on_closed)

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, _index: int) -> None:
        session.finished.connect(self._on_finished)
        session.summed_up.connect(self._on_finished)
        session.draft_changed.connect(self._on_draft_changed)

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        if session is self._session:
            self._session = None

    @Slot()
    def _on_finished(self) -> None:
        self._want(self.sender(), is_new=True)

    @Slot()
    def _on_draft_changed(self) -> None:
        session = self.sender()
        assert isinstance(session, ChatSession)
        is_new = session is not self._session or not session.draft.startswith(self._read)
        if is_new or len(session.draft) >= len(self._read) + MIN_NEW_CHARS:
            self._want(session, is_new=is_new)

    def _want(self, session: QObject | None, *, is_new: bool) -> None:
        assert isinstance(session, ChatSession)
        self._session = session
        if is_new:
            self._read = ""
        if not self._timer.isActive():  # not anew with each key: there would be no pause to wait for
            self._timer.start()

    @Slot()
    def _post(self) -> None:
        session, engine = self._session, self._engine
        is_free = session and engine.is_idle and not any(one.is_busy for one in self._workspace.sessions)
        if not (session and is_free and self._settings.reads_ahead and is_on_mains()):
            return
        request = session.reading_ahead()
        if request and not any(message.media for message in request.messages):
            self._read = session.draft
            engine.post(ReadAhead(request))


def is_on_mains() -> bool:
    """Also where there is no battery, or none that the system tells of."""
    try:
        battery = psutil.sensors_battery()
    except OSError:  # a Linux without /sys/class/power_supply, such as a container's
        return True
    return battery is None or battery.power_plugged is not False
