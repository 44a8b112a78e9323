"""What MCP servers offer besides tools: prompts after "/", resources after "@", and questions to the user.

GUI thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.chats.attachment import Attachment, valid_unicode
from app.look.plain_text import one_line
from app.look.words import tr, tr_said
from app.services.tools import Resource, ServerPrompt, ServerState, ToolService
from app.tools.mcp_server import Status
from app.tools.tool import ToolError
from app.ui.composer.completion import Suggestion
from app.ui.settings.question_dialog import PageDialog, PromptDialog, QuestionDialog
from app.ui.settings.tool_choice import server_of
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView

SAID_FOR_MS = 5_000
FRESH_S = 20.0  # so long a list is not asked for again
MAX_NAME_CHARS = 200
RESOURCE = "resource"  # the kind of attachment

Listed = tuple[ServerPrompt, ...] | tuple[Resource, ...]


class ToolExtras(QObject):
    def __init__(self, tabs: ChatTabs, service: ToolService, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._service = service
        self._lists: dict[tuple[str, str], Listed] = {}  # by sign and server
        self._asked_at: dict[tuple[str, str], float] = {}
        self._dialogs: dict[
            Callable[..., object], QuestionDialog | PageDialog
        ] = {}  # by what takes the answer
        tabs.view_made.connect(self._on_view_made)
        service.elicitation.connect(self._on_elicitation)
        service.page_asked.connect(self._on_page_asked)
        service.elicitation_over.connect(self._on_elicitation_over)

    @property
    def questions(self) -> tuple[QuestionDialog | PageDialog, ...]:
        return tuple(self._dialogs.values())

    # Suggestions

    def _on_view_made(self, view: ChatView) -> None:
        view.composer.completion.set_source(partial(self._suggestions, view))

    def _suggestions(self, view: ChatView, sign: str) -> list[Suggestion]:
        """The known prompts or resources; others come as soon as their server has listed them."""
        found: list[Suggestion] = []
        for state in self._servers(view, sign):
            self._ask_for(view, sign, state.name)
            for each in self._lists.get((sign, state.name), ()):
                if isinstance(each, ServerPrompt):
                    found.append(self._of_prompt(view, state.name, each))
                else:
                    found.append(self._of_resource(view, state.name, each))
        known = found or [self._note(view, state) for state in self._not_running()]
        compact = Suggestion("/compact", "", tr("Sum up earlier messages"), partial(_sum_up, view))
        return [*known, compact] if sign == "/" else known

    def _not_running(self) -> list[ServerState]:
        servers = (one for one in self._service.servers if one.is_enabled and one.is_trusted)
        return [one for one in servers if one.status in (Status.STOPPED, Status.STARTING)]

    def _note(self, view: ChatView, state: ServerState) -> Suggestion:
        """Why a server that does not run offers nothing."""
        is_used = state.name in map(server_of, view.session.chat.tools)
        used, unused = (
            tr("It is starting…"),
            tr("It is not running: switch on one of its tools in this chat."),
        )
        return Suggestion(one_line(state.name), "", used if is_used else unused)

    def _servers(self, view: ChatView, sign: str) -> Iterator[ServerState]:
        """The servers that run, and those that this chat uses."""
        used = {server_of(key) for key in view.session.chat.tools}
        for state in self._service.servers:
            if not (state.is_enabled and state.is_trusted):
                continue
            has_some = state.info.has_prompts if sign == "/" else state.info.has_resources
            if has_some if state.status is Status.READY else state.name in used:
                yield state

    def _ask_for(self, view: ChatView, sign: str, server: str) -> None:
        now = time.monotonic()
        if now - self._asked_at.get((sign, server), -FRESH_S) >= FRESH_S:
            self._asked_at[sign, server] = now
            spawn(self._fetch(view, sign, server))

    async def _fetch(self, view: ChatView, sign: str, server: str) -> None:
        ask = self._service.prompts if sign == "/" else self._service.resources
        try:
            self._lists[sign, server] = await ask(server)
        except ToolError:  # its state says why
            self._lists.pop((sign, server), None)
        if isValid(view):
            view.composer.completion.refresh()

    def _of_prompt(self, view: ChatView, server: str, prompt: ServerPrompt) -> Suggestion:
        name = f"/{prompt.name}"
        sentence = prompt.description or prompt.title
        return Suggestion(name, server, sentence, partial(self._choose_prompt, view, server, prompt))

    def _of_resource(self, view: ChatView, server: str, resource: Resource) -> Suggestion:
        name, sentence = resource.name or resource.uri, resource.description or resource.uri
        return Suggestion(name, server, sentence, partial(self._choose_resource, view, server, resource))

    # Taking one

    def _choose_prompt(self, view: ChatView, server: str, prompt: ServerPrompt) -> None:
        if not prompt.arguments:
            spawn(self._insert_prompt(view, server, prompt, {}))
            return
        dialog = PromptDialog(server, prompt, self._window)
        dialog.given.connect(lambda values: spawn(self._insert_prompt(view, server, prompt, values)))
        dialog.open()

    async def _insert_prompt(
        self, view: ChatView, server: str, prompt: ServerPrompt, arguments: Mapping[str, str]
    ) -> None:
        try:
            text = await self._service.get_prompt(server, prompt.name, arguments)
        except ToolError as error:
            self._complain(view, tr("The prompt could not be read: {reason}", reason=tr_said(str(error))))
            return
        if isValid(view):
            draft = view.composer.editor.toPlainText()
            view.composer.set_text("\n\n".join(part for part in (draft, valid_unicode(text)) if part.strip()))
            view.composer.setFocus()

    def _choose_resource(self, view: ChatView, server: str, resource: Resource) -> None:
        spawn(self._attach(view, server, resource))

    async def _attach(self, view: ChatView, server: str, resource: Resource) -> None:
        try:
            text = await self._service.read_resource(server, resource.uri)
        except ToolError as error:
            self._complain(view, tr("The resource could not be read: {reason}", reason=tr_said(str(error))))
            return
        if isValid(view):
            name = one_line(f"{server}: {resource.name or resource.uri}")[:MAX_NAME_CHARS]
            session = view.session
            added = Attachment(name, valid_unicode(text), RESOURCE)
            session.draft_attachments = (*session.draft_attachments, added)
            view.composer.set_attachments(session.draft_attachments)

    def _complain(self, view: ChatView, sentence: str) -> None:
        if isValid(view):
            view.composer.notice.add_problem(sentence)

    # Questions

    def _on_elicitation(
        self, server: str, message: str, schema: Mapping[str, Any], answer: Callable[..., object]
    ) -> None:
        dialog = QuestionDialog(server, message, schema or {}, self._window, self._service.drafts)
        self._show(dialog, answer)

    def _on_page_asked(self, server: str, message: str, url: str, answer: Callable[..., object]) -> None:
        self._show(PageDialog(server, message, url, self._window), answer)

    def _show(self, dialog: QuestionDialog | PageDialog, answer: Callable[..., object]) -> None:
        """Not modal: other chats go on."""
        self._dialogs[answer] = dialog
        dialog.answered.connect(partial(self._on_answered, answer))
        dialog.show()

    def _on_answered(self, answer: Callable[..., object], content: Mapping[str, Any] | None) -> None:
        if self._dialogs.pop(answer, None):
            answer(content)

    def _on_elicitation_over(self, answer: Callable[..., object]) -> None:
        if dialog := self._dialogs.pop(answer, None):
            dialog.close()


def _sum_up(view: ChatView) -> None:
    if view.session.can_sum_up:
        view.session.sum_up()
    else:
        view.composer.notice.say(tr("There is nothing to sum up yet."), lasts_ms=SAID_FOR_MS)
