"""Shows the open chat in the panel of branches, and does what is asked for there. GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.workspace import Workspace
from app.chats.branches import branches_of
from app.chats.chat import Turn
from app.chats.options import ChatOptions
from app.inspector.docks import TREE, InspectorDocks
from app.protocol.report import SlotSnapshot
from app.services.presets import Presets
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.inspector.dock_panel import DockPanel
    from app.inspector.tree_panel import TreePanel
    from app.ui.tabs.chat_view import ChatView
    from app.ui.tabs.ways_dialog import Ways


class TreeCommands(QObject):
    def __init__(
        self,
        docks: InspectorDocks,
        workspace: Workspace,
        tabs: ChatTabs,
        presets: Presets,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._workspace, self._tabs, self._presets = workspace, tabs, presets
        self._panel: TreePanel | None = None  # made when it is first seen
        self._timer = QTimer(self, singleShot=True, interval=0)  # once, however many turns have changed
        self._timer.timeout.connect(self._show)
        # Names of models that could answer beside that of a chat, by their addresses.
        self.other_models: Callable[[str], Mapping[str, str]] = lambda _address: {}
        docks.made.connect(self._on_made)
        tabs.view_made.connect(self._on_view_made)
        workspace.opened.connect(self._on_opened)
        workspace.closed.connect(self._timer.start)
        workspace.current_changed.connect(self._timer.start)
        for session in workspace.sessions:
            self._follow(session)

    @Slot(object)
    def _on_made(self, panel: DockPanel) -> None:
        if panel.NAME != TREE.NAME:
            return
        self._panel = cast("TreePanel", panel)
        self._panel.last_turn_in = self._last_turn_in
        self._panel.shown.connect(self._timer.start)
        self._panel.turn_activated.connect(self._on_turn_activated)
        self._panel.answers_requested.connect(self._on_answers_requested)

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, _index: int) -> None:
        self._follow(session)
        self._timer.start()

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        view.turn_actions.ways_dialog_requested.connect(self._on_answers_requested)

    def _follow(self, session: ChatSession) -> None:
        session.changed.connect(self._timer.start)

    @Slot()
    def _show(self) -> None:
        current = self._workspace.current
        if current is None or self._panel is None or not self._panel.isVisible():
            return
        loaded = [session.chat for session in self._workspace.sessions if session.is_loaded]
        others = [chat for chat in loaded if not chat.is_notebook]
        rows = () if current.chat.is_notebook else branches_of(current.chat, others)
        self._panel.show_chat(current.chat.display_title, rows)

    def _last_turn_in(self, slot: SlotSnapshot) -> Turn | None:
        """The answer that is computed there, or was computed last."""
        session = self._workspace.any_session_of(slot.chat_id or "")
        if session and slot.request_id and (answer := session.answers.turn_of(slot.request_id)):
            return answer
        answered = (
            (turn for turn in session.chat.all_turns() if turn.usage.num_prompt_tokens) if session else ()
        )
        return max(answered, key=lambda turn: turn.created_at, default=None)

    @Slot(str, object)
    def _on_turn_activated(self, chat_id: str, turn: Turn) -> None:
        session = self._workspace.session_of(chat_id)
        if session is None:
            return
        self._workspace.set_current(session)
        if not session.chat.shows(turn):
            session.show_version(turn)
        if view := self._tabs.current:
            view.transcript.show_turn(turn)

    @Slot(str, object)
    def _on_answers_requested(self, chat_id: str, turn: Turn) -> None:
        session = self._workspace.session_of(chat_id)
        if session is None:
            return
        from app.ui.tabs.ways_dialog import WaysDialog

        options, models = ChatOptions.of(session.chat), self.other_models(session.address)
        dialog = WaysDialog(options, self._presets.all, self._tabs.window(), models)
        dialog.chosen.connect(lambda ways: self._ask(chat_id, turn, ways))
        dialog.open()

    def _ask(self, chat_id: str, turn: Turn, ways: Ways) -> None:
        """Shown side by side."""
        session = self._workspace.session_of(chat_id)
        if session is None:
            return
        self._workspace.set_current(session)
        if session.answer_with(ways, turn) and (view := self._tabs.current):
            view.transcript.set_comparing(True)
            view.transcript.follow_end()
