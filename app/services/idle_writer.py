"""Has the model write something about a chat, only while it is idle. GUI thread.

It is asked in a fork of the chat, which shares the chat's cells and leaves none behind. Gives way to every
answer at once, also to the API's, and to the user who types: what was interrupted is begun again later.
Knows no widgets.
"""

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.chats.chat import Turn
from app.chats.thinking import split_thinking
from app.protocol.commands import Abort, Submit
from app.protocol.output import FinishReason, Output
from app.protocol.report import SlotState, StepReport
from app.protocol.request import FACTS, TITLE, Request

IDLE_MS = 1_500  # without any answer being written
_WRITTEN = (FinishReason.STOP, FinishReason.LENGTH)
_RUNNING = (SlotState.PREFILL, SlotState.DECODE)


class IdleWriter(QObject):
    """A subclass says after which answers what is asked, and takes what the model writes."""

    def __init__(self, engine: Engines, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._workspace = workspace
        self._wanting: list[str] = []  # chat ids, the one that has waited longest first
        self._request: Request | None = None
        self._asked_by = ""  # the chat
        self._text = ""
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._ask)
        workspace.opened.connect(self._on_opened)
        engine.reported.connect(self._on_reported)
        engine.ended.connect(self._on_output)

    def _is_wanted(self, session: ChatSession, answer: Turn) -> bool:
        """Whether to ask after this answer, which has just ended."""
        raise NotImplementedError

    def _request_for(self, session: ChatSession) -> Request | None:
        """None: it is not to be asked any more."""
        raise NotImplementedError

    def _take(self, session: ChatSession, text: str) -> None:
        """What the model has written, without its thinking."""
        raise NotImplementedError

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, _index: int) -> None:
        session.finished.connect(self._on_finished)
        session.changed.connect(self._on_changed)
        session.draft_changed.connect(self._on_draft_changed)

    @Slot(object)
    def _on_finished(self, answer: Turn) -> None:
        session = self.sender()
        assert isinstance(session, ChatSession)
        if session.chat.id not in self._wanting and self._is_wanted(session, answer):
            self._wanting.append(session.chat.id)
        self._wait()

    @Slot()
    def _on_changed(self) -> None:
        if self._is_busy():
            self._give_way()

    @Slot()
    def _on_draft_changed(self) -> None:
        self._give_way()
        self._wait()

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        if self._request is None:
            return
        for report in reports:
            for output in report.outputs:
                self._on_output(output)
        running = (slot.chat_id or "" for slot in reports[-1].slots if slot.state in _RUNNING)
        if not all(chat_id.endswith((TITLE, FACTS)) for chat_id in running):
            self._give_way()

    @Slot(object)
    def _on_output(self, output: Output) -> None:
        if self._request is None or output.request_id != self._request.request_id:
            return
        self._text += output.text
        if output.finish_reason:
            self._request = None
            session = self._workspace.session_of(self._asked_by)
            answer, is_whole = split_thinking(self._text), output.finish_reason in _WRITTEN
            if session and is_whole and not answer.is_thinking:
                self._take(session, answer.answer)
            self._wait()

    @Slot()
    def _ask(self) -> None:
        if self._request or self._is_busy() or self._engine.model is None:
            return
        while self._wanting and not self._request:
            self._asked_by, self._text = self._wanting.pop(0), ""
            session = self._workspace.session_of(self._asked_by)
            self._request = self._request_for(session) if session and session.chat.turns else None
        if self._request:
            spawn(self._submit(self._request))

    async def _submit(self, request: Request) -> None:
        filled = await self._workspace.media.filled(request)
        if self._request is request:  # nothing has come in between
            self._engine.post(Submit(filled))

    def _give_way(self) -> None:
        if self._request:
            request, self._request = self._request, None
            self._wanting.insert(0, self._asked_by)
            self._engine.post(Abort(request.request_id))
            self._wait()

    def _wait(self) -> None:
        if self._wanting:
            self._idle.start()

    def _is_busy(self) -> bool:
        return any(session.is_busy for session in self._workspace.sessions)
