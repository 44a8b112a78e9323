"""Has the model write a chat's title, only while it is idle. GUI thread.

Off by default. Yields to every answer at once, also to the API's: an interrupted title is begun again later,
and its cells are freed with its last token. Knows no widgets.
"""

import re
import uuid

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.chats.chat import Turn, TurnState
from app.chats.thinking import split_thinking
from app.chats.titles import title_from
from app.protocol.commands import Abort, Submit
from app.protocol.output import FinishReason, Output
from app.protocol.report import SlotState, StepReport
from app.protocol.request import TITLE, Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.settings.settings import Settings

IDLE_MS = 1_500  # without any answer being written
MAX_TOKENS = 32
MAX_READ_CHARS = 20_000
WISH = (
    "Write a title for this chat: at most six words, in its language. Answer with the title and nothing else."
)
_RUNNING = (SlotState.PREFILL, SlotState.DECODE)
_PREAMBLE = re.compile(r"^\s*(?:title|titel|titre|título|标题)\s*[:：]\s*", re.IGNORECASE)
_QUOTES = "\"'“”„«»「」『』《》*# "


class TitleWriter(QObject):
    def __init__(
        self, engine: Engines, workspace: Workspace, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._workspace = workspace
        self._settings = settings
        self._wanting: list[str] = []  # chat ids, the one that has waited longest first
        self._request: Request | None = None
        self._asked_by = ""  # the chat
        self._text = ""
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._ask)
        workspace.opened.connect(self._on_opened)
        engine.reported.connect(self._on_reported)
        engine.ended.connect(self._on_output)

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, _index: int) -> None:
        session.finished.connect(self._on_finished)
        session.changed.connect(self._on_changed)

    @Slot(object)
    def _on_finished(self, answer: Turn) -> None:
        """The first answer shows what the chat is about."""
        session = self.sender()
        assert isinstance(session, ChatSession)
        is_first = (
            len(session.chat.turns) == 2 and not session.chat.is_notebook and answer.state is TurnState.DONE
        )
        if is_first and not session.chat.title and self._settings.model_titles:
            self._wanting.append(session.chat.id)
        self._wait()

    @Slot()
    def _on_changed(self) -> None:
        if self._is_busy():
            self._give_way()

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        if self._request is None:
            return
        for report in reports:
            for output in report.outputs:
                self._on_output(output)
        others = (slot for slot in reports[-1].slots if slot.chat_id != self._request_chat_id)
        if any(slot.state in _RUNNING for slot in others):
            self._give_way()

    @Slot(object)
    def _on_output(self, output: Output) -> None:
        if self._request is None or output.request_id != self._request.request_id:
            return
        self._text += output.text
        if output.finish_reason:
            self._request = None
            if output.finish_reason in (FinishReason.STOP, FinishReason.LENGTH):
                self._name(self._asked_by, written_title(self._text))
            self._wait()

    @Slot()
    def _ask(self) -> None:
        if self._request or self._is_busy() or self._engine.model is None:
            return
        while self._wanting:
            chat_id = self._wanting.pop(0)
            session = self._workspace.session_of(chat_id)
            if session and session.chat.turns and not session.chat.title and _is_short(session):
                self._asked_by, self._text = chat_id, ""
                self._request = request_for(session)
                self._submit(self._request)
                return

    def _submit(self, request: Request) -> None:
        if any(message.media for message in request.messages):
            spawn(self._submit_with_files(request))
        else:
            self._engine.post(Submit(request))

    async def _submit_with_files(self, request: Request) -> None:
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

    def _name(self, chat_id: str, title: str) -> None:
        session = self._workspace.session_of(chat_id)
        if session and title:
            session.suggest_title(title)

    @property
    def _request_chat_id(self) -> str:
        return self._request.chat_id if self._request else ""

    def _is_busy(self) -> bool:
        return any(session.is_busy for session in self._workspace.sessions)


def _is_short(session: ChatSession) -> bool:
    """A title is not worth a prefill of a long chat."""
    return sum(len(message.content) for message in session.chat.messages(2)) <= MAX_READ_CHARS


def request_for(session: ChatSession) -> Request:
    """A request that shares the chat's cells, and leaves none behind."""
    chat = session.chat
    return Request(
        request_id=uuid.uuid4().hex,
        chat_id=f"{chat.id}{TITLE}",
        messages=(*session.requests.as_sent(chat.messages(2)), Message(Role.USER, WISH)),
        sampling=SamplingParams(temperature=0.0),
        max_tokens=MAX_TOKENS,
        keep_cells=False,
        template_variables='{"enable_thinking": false}',
    )


def written_title(text: str) -> str:
    """The model's title without thinking, quotes and the like; "" if nothing else is left."""
    answer = split_thinking(text)
    said = "" if answer.is_thinking else answer.answer
    line = next((line for line in said.splitlines() if line.strip(_QUOTES)), "")
    return title_from(_PREAMBLE.sub("", line.strip(_QUOTES)).strip(_QUOTES)) if line else ""
