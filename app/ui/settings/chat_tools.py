"""The tools of the current chat: its button, its panel, what its cards call tools, entries of the palette.

One panel for all tabs. GUI thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.bridge.tasks import spawn
from app.bridge.token_counter import TokenCounter
from app.bridge.tool_list import CALL, DESCRIBE
from app.chats.tool_use import READ_MORE
from app.look.plain_text import one_line
from app.look.words import tr, tr_said
from app.services.tools import ServerState, ToolService
from app.tools.mcp_server import Status, with_unique_names
from app.tools.server_config import BUILT_IN
from app.tools.tool import Approval, Tool
from app.ui.message.tool_words import ToolLabel
from app.ui.settings.panel_of_chat import PanelOfChat
from app.ui.settings.tool_choice import (
    ALL,
    Keys,
    has_all,
    is_chosen,
    key_of,
    sentence_of,
    server_of,
    title_of,
    with_all,
)
from app.ui.settings.tools_panel import ToolGroup, ToolLine, ToolsPanel
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView


class ToolsOfChat(PanelOfChat[ToolsPanel]):
    def __init__(
        self,
        tabs: ChatTabs,
        service: ToolService,
        counter: TokenCounter,
        manage: Callable[[], object],
        parent: QWidget,
    ) -> None:
        super().__init__(tabs, parent)
        self._service = service
        self._manage = manage
        self._counter = counter  # of schemas
        self._labels: dict[Keys, dict[str, ToolLabel]] = {}  # by the names that a chat's model calls
        tabs.view_made.connect(self._on_view_made)
        service.changed.connect(self._on_service_changed)
        self._counter.counted.connect(self._show)

    def _new_panel(self) -> ToolsPanel:
        panel = ToolsPanel(self._window)
        panel.chosen.connect(self._on_chosen)
        panel.manage.clicked.connect(self._on_manage)
        return panel

    def _fill(self) -> None:
        """Servers that are on start, so that their tools are known."""
        self._show()
        self._counter.count([_schema(tool) for tool in self._known()])
        spawn(self._service.prepare([key_of(state.name, ALL) for state in self._service.servers]))

    def palette_entries(self) -> Iterator[tuple[str, str, bool, Callable[[], object]]]:
        """Each server's name and title, whether all of it is on in this chat, and what switches that."""
        view = self._tabs.current
        if view is None or view.notebook or not view.session.is_loaded:
            return
        keys = view.session.chat.tools
        for group in self._groups():
            is_on = has_all(keys, group.server)
            wanted = with_all(keys, group.server, is_on=not is_on)
            yield group.server, group.title, is_on, partial(view.session.set_tools, wanted)

    # What is shown

    def _show(self) -> None:
        if self._view and self._panel:
            keys = self._view.session.chat.tools
            are_listed = self._view.session.tools.are_listed
            self._panel.apply(self._groups(), keys, self._offered(keys), are_listed=are_listed)
            if self._panel.isVisible():
                self._panel.place_above(self._view.foot)

    def _groups(self) -> list[ToolGroup]:
        own = ToolGroup(BUILT_IN, tr("Built in"), tuple(map(self._line, self._service.built_in)))
        servers = (state for state in self._service.servers if state.is_enabled)
        return [own, *(self._group(state) for state in servers)]

    def _group(self, state: ServerState) -> ToolGroup:
        tools = tuple(map(self._line, state.tools))
        has_failed = state.status is Status.FAILED
        return ToolGroup(state.name, one_line(state.name), tools, _state_text(state), has_failed)

    def _line(self, tool: Tool) -> ToolLine:
        counted = self._counter.num_tokens(_schema(tool))
        number = counted.number if counted else None
        return ToolLine(tool.key, title_of(tool), sentence_of(tool), tool.writes, number)

    def _offered(self, keys: Keys) -> list[ToolLine]:
        """What the model is told of: no tool that may never be called."""
        chosen = [tool for tool in self._known() if is_chosen(keys, tool.key)]
        return [self._line(tool) for tool in chosen if self._service.approval(tool) is not Approval.NEVER]

    def _known(self) -> list[Tool]:
        servers = (state for state in self._service.servers if state.is_enabled)
        return [*self._service.built_in, *(tool for state in servers for tool in state.tools)]

    def _show_count(self, view: ChatView) -> None:
        """Each key of a server whose tools are not known yet counts."""
        keys = view.session.chat.tools
        servers = {tool.server for tool in self._known()}
        num_on = len(self._offered(keys))
        view.composer.tools.apply(num_on + sum(server_of(key) not in servers for key in keys))

    def _name(self, view: ChatView, name: str) -> ToolLabel | None:
        """What a tool is called that the model of this chat calls `name`."""
        keys = view.session.chat.tools
        if keys not in self._labels:
            self._labels[keys] = self._labels_for(keys)
        return self._labels[keys].get(name)

    def _labels_for(self, keys: Keys) -> dict[str, ToolLabel]:
        """Tools that are on have unique names; a tool that was on may still be known by its own."""
        known = self._known()
        chosen = with_unique_names([tool for tool in known if is_chosen(keys, tool.key)])
        own = {
            READ_MORE: ToolLabel(tr("Read more of a result"), BUILT_IN),
            DESCRIBE: ToolLabel(tr("Look up a tool"), BUILT_IN),
            CALL: ToolLabel(tr("Call a tool"), BUILT_IN, writes=True),
        }
        return own | {tool.name: _label(tool) for tool in (*known, *chosen)}

    # What is chosen

    def _on_chosen(self, keys: Keys) -> None:
        if self._view:
            self._view.session.set_tools(keys)
            self._show()

    def _on_manage(self) -> None:
        self.panel.close_up()
        self._manage()

    def _on_service_changed(self) -> None:
        self._labels.clear()
        if self._panel and self._panel.isVisible():
            self._counter.count([_schema(tool) for tool in self._known()])
        self._show()
        for view in self._tabs.views:
            self._show_count(view)

    # Views

    def _on_view_made(self, view: ChatView) -> None:
        view.composer.tools.requested.connect(partial(self.open_for, view))
        view.transcript.set_naming(partial(self._name, view))
        view.settings_shown.connect(self._show_count)
        self._show_count(view)


def _schema(tool: Tool) -> str:
    return json.dumps(tool.definition, ensure_ascii=False)


def _label(tool: Tool) -> ToolLabel:
    return ToolLabel(title_of(tool), tool.server, tool.writes, tool.always_asks)


def _state_text(state: ServerState) -> str:
    """Empty for one that works."""
    if not state.is_trusted:
        return tr("Confirm its command under Manage tools to start it.")
    match state.status:
        case Status.STARTING:
            return tr("starting…")
        case Status.FAILED | Status.WAITING:
            return tr_said(state.sentence)
        case Status.STOPPED if not state.tools:
            return tr("not running")
    return ""
