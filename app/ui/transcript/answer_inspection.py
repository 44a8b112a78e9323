"""Brings answers to the panels that are about one, and forks made there to the tabs.

GUI thread.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.chats.chat import Turn
from app.inspector.answer_finder import AnswerSource
from app.inspector.chat_names import chat_name
from app.inspector.docks import COMPARISON, LENS, InspectorDocks
from app.inspector.probabilities import ProbabilitiesPanel
from app.protocol.commands import Abort, Submit
from app.protocol.model import ModelInfo
from app.protocol.request import Request, Role

if TYPE_CHECKING:
    from app.inspector.answer_panel import AnswerPanel
    from app.inspector.dock_panel import DockPanel
    from app.inspector.lens_panel import LensPanel


class AnswerInspection(QObject):
    def __init__(self, docks: InspectorDocks, workspace: Workspace, engine: Engines, parent: QObject) -> None:
        super().__init__(parent)
        self._docks = docks
        self._workspace = workspace
        self._engine = engine
        self._panels: list[AnswerPanel] = []  # some are made when they are first seen
        docks.made.connect(self._on_made)
        workspace.opened.connect(lambda session, _index: session.loaded.connect(self._on_loaded))
        panel = docks.panel(ProbabilitiesPanel.NAME)
        assert isinstance(panel, ProbabilitiesPanel)
        self.panel = panel
        panel.fork_at_requested.connect(self.fork_at)
        self._serve(panel)

    @Slot(object)
    def _on_made(self, panel: DockPanel) -> None:
        if panel.NAME in (LENS.NAME, COMPARISON.NAME):
            self._serve(cast("AnswerPanel", panel))
            self._panels[-1].set_engine(self._engine.model is not None)

    def _serve(self, panel: AnswerPanel) -> None:
        self._panels.append(panel)
        panel.shown.connect(partial(self._on_shown, panel))
        panel.answer_wanted.connect(partial(self._on_answer_wanted, panel))
        panel.requested.connect(self._submit)
        panel.aborted.connect(lambda request_id: self._engine.post(Abort(request_id)))

    @Slot(object)
    def _submit(self, request: Request) -> None:
        if any(message.media for message in request.messages):
            spawn(self._submit_with_files(request))
        else:
            self._engine.post(Submit(request))

    async def _submit_with_files(self, request: Request) -> None:
        self._engine.post(Submit(await self._workspace.media.filled(request)))

    def set_model(self, model: ModelInfo | None) -> None:
        """The engine has changed."""
        for panel in self._panels:
            panel.set_engine(model is not None)

    @Slot(object, object)
    def show_answer(self, session: ChatSession, answer: Turn) -> None:
        """In the panel, which comes to the front."""
        self.panel.show_answer(_source(session, answer))
        self._docks.show_panel(ProbabilitiesPanel.NAME)

    def show_newest(self, session: ChatSession) -> None:
        if answer := _newest_answer(session):
            self.show_answer(session, answer)

    @Slot(object, object, str)
    def look_into(self, session: ChatSession, answer: Turn, text: str) -> None:
        """At the sentence of the answer in which `text` stands, in the panel, which comes to the front."""
        self._docks.show_panel(LENS.NAME)
        cast("LensPanel", self._docks.panel(LENS.NAME)).show_answer(_source(session, answer), text)

    def _on_shown(self, panel: AnswerPanel) -> None:
        """It begins with the open chat."""
        current, source = self._workspace.current, panel.finder.source
        if current and (source is None or source.chat_id != current.chat.id):
            self._on_answer_wanted(panel, current.chat.id)

    @Slot()
    def _on_loaded(self) -> None:
        """The turns of a chat, which may be the open one, are there only now."""
        for panel in self._panels:
            if panel.isVisible() and panel.finder.source is None:
                self._on_shown(panel)

    def _on_answer_wanted(self, panel: AnswerPanel, chat_id: str) -> None:
        if source := self._newest_source(chat_id, panel):
            panel.show_answer(source)

    def _newest_source(self, chat_id: str, panel: DockPanel) -> AnswerSource | None:
        session = self._workspace.session_of(chat_id)
        if session is None:  # such as a client of the local API
            return AnswerSource(chat_id, chat_name(chat_id, panel.titles))
        answer = _newest_answer(session)
        return _source(session, answer) if answer else None

    @Slot(object, str, object)
    def fork_at(self, source: AnswerSource, text: str, token_ids: tuple[int, ...], address: str = "") -> None:
        """With an `address`, the model there goes on."""
        session = self._workspace.session_of(source.chat_id)
        turns = session.chat.turns if session else []
        answer = next((turn for turn in turns if turn is source.turn), None)
        if session and answer:  # else its tab was closed meanwhile
            self._workspace.fork_at(session, answer, text, token_ids, address)


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
