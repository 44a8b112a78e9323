"""Brings answers to the panel of token probabilities, and the forks made there to the tabs. GUI thread."""

from PySide6.QtCore import QObject, Slot

from app.bridge.active_engine import ActiveEngine
from app.bridge.chat_session import ChatSession
from app.bridge.workspace import Workspace
from app.chats.chat import Turn
from app.inspector.answer_tokens import AnswerSource
from app.inspector.docks import InspectorDocks
from app.inspector.probabilities import ProbabilitiesPanel
from app.inspector.sequence_rows import NO_TAB
from app.look.words import tr
from app.protocol.commands import Abort, Submit
from app.protocol.model import ModelInfo
from app.protocol.request import Role


class AnswerInspection(QObject):
    def __init__(
        self, docks: InspectorDocks, workspace: Workspace, engine: ActiveEngine, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._docks = docks
        self._workspace = workspace
        panel = docks.panel(ProbabilitiesPanel.NAME)
        assert isinstance(panel, ProbabilitiesPanel)
        self._panel = panel
        panel.shown.connect(self._on_shown)
        panel.answer_wanted.connect(self._on_answer_wanted)
        panel.requested.connect(lambda request: engine.post(Submit(request)))
        panel.aborted.connect(lambda request_id: engine.post(Abort(request_id)))
        panel.fork_at_requested.connect(self._on_fork_at_requested)

    def set_model(self, model: ModelInfo | None) -> None:
        """The engine has changed."""
        self._panel.set_engine(model is not None)

    @Slot(object, object)
    def show_answer(self, session: ChatSession, answer: Turn) -> None:
        """In the panel, which comes to the front."""
        self._panel.show_answer(_source(session, answer))
        self._docks.show_panel(ProbabilitiesPanel.NAME)

    def show_newest(self, session: ChatSession) -> None:
        if answer := _newest_answer(session):
            self.show_answer(session, answer)

    @Slot()
    def _on_shown(self) -> None:
        """It begins with the open chat."""
        current, source = self._workspace.current, self._panel.reader.source
        if current and (source is None or source.chat_id != current.chat.id):
            self._on_answer_wanted(current.chat.id)

    @Slot(str)
    def _on_answer_wanted(self, chat_id: str) -> None:
        session = self._workspace.session_of(chat_id)
        if session is None:  # such as a client of the local API
            self._panel.show_answer(AnswerSource(chat_id, self._panel.titles.get(chat_id) or tr(NO_TAB)))
        elif answer := _newest_answer(session):
            self._panel.show_answer(_source(session, answer))

    @Slot(object, str, object)
    def _on_fork_at_requested(self, source: AnswerSource, text: str, token_ids: tuple[int, ...]) -> None:
        session = self._workspace.session_of(source.chat_id)
        turns = session.chat.turns if session else []
        answer = next((turn for turn in turns if turn is source.turn), None)
        if session and answer:  # else its tab was closed meanwhile
            self._workspace.fork_at(session, answer, text, token_ids)


def _newest_answer(session: ChatSession) -> Turn | None:
    answers = (turn for turn in reversed(session.chat.turns) if turn.role is Role.ASSISTANT and turn.text)
    return next(answers, None)


def _source(session: ChatSession, answer: Turn) -> AnswerSource:
    return AnswerSource(
        chat_id=session.chat.id,
        title=session.chat.display_title,
        text=answer.text,
        turn=answer,
        reading=session.reading_of(answer),
        is_newest=answer is session.chat.turns[-1],
    )
