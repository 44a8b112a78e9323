"""Menu commands on the current chat, and on one of its messages. GUI thread.

That is the focused message, or else the last one to which the command applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.chats.chat import Turn
from app.chats.tool_use import Decision, ToolUse
from app.look.words import tr
from app.protocol.request import Role
from app.ui.message.message_text import written_text
from app.ui.message.tool_words import asking_uses
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.answer_inspection import AnswerInspection
from app.ui.transcript.turn_actions import Place, TurnAction, is_possible, offered

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView
    from app.ui.transcript.selection import PageSelection

BUSY_FOR_MS = 5_000
MAX_LOOKED_AT = 40  # turns, from the last one back


class ChatCommands(QObject):
    def __init__(self, tabs: ChatTabs, answers: AnswerInspection, parent: QObject) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._answers = answers

    # The chat

    @property
    def is_busy(self) -> bool:
        return self._tabs.current is not None and self._tabs.current.session.is_busy

    @property
    def has_turns(self) -> bool:
        return self._tabs.current is not None and bool(self._tabs.current.session.chat.turns)

    @property
    def can_find(self) -> bool:
        """There are messages to search."""
        return self.has_turns and self._tabs.current is not None and not self._tabs.current.notebook

    @property
    def has_draft(self) -> bool:
        """A draft that can be added without asking for an answer."""
        view = self._tabs.current
        return view is not None and view.composer.more.add.isEnabled()

    def stop(self) -> None:
        if self._tabs.current:
            self._tabs.current.session.stop()

    @property
    def asking_tool(self) -> ToolUse | None:
        """The first call of the current chat that waits for the user."""
        view = self._tabs.current
        return next(asking_uses(view.session.chat), None) if view else None

    def decide_tool(self, decision: Decision) -> None:
        if self._tabs.current and (use := self.asking_tool):
            self._tabs.current.session.decide(use, decision)

    @property
    def can_sum_up(self) -> bool:
        return self._tabs.current is not None and self._tabs.current.session.can_sum_up

    def sum_up(self) -> None:
        if self._tabs.current:
            self._tabs.current.session.sum_up()

    @property
    def can_hand_out(self) -> bool:
        return self._tabs.current is not None and self._tabs.current.session.can_hand_out

    def hand_out(self) -> None:
        """Asks for the tasks first."""
        if not self.can_hand_out or not (view := self._tabs.current):
            return
        from app.ui.tabs.tasks_dialog import TasksDialog

        dialog = TasksDialog("", self._tabs.window())
        dialog.chosen.connect(view.session.hand_out)
        dialog.open()
        dialog.text.setFocus()

    def copy_last_answer(self) -> None:
        turns = self._tabs.current.session.chat.turns if self._tabs.current else []
        answers = (turn for turn in reversed(turns) if turn.role is Role.ASSISTANT)
        if text := next(filter(None, map(written_text, answers)), ""):
            QGuiApplication.clipboard().setText(text)

    def show_tokens(self) -> None:
        if self._tabs.current:
            self._answers.show_newest(self._tabs.current.session)

    def attach(self) -> None:
        if self._tabs.current and not self._tabs.current.notebook:
            self._tabs.current.message_draft.choose_files()

    @property
    def sees(self) -> bool:
        """A picture can be attached that the model is shown."""
        view = self._tabs.current
        senses = view.session.requests.senses if view and not view.notebook else None
        return senses is not None and senses.sees

    def take_screenshot(self) -> None:
        if (view := self._tabs.current) and self.sees:
            view.message_draft.take_screenshot()

    def add_without_asking(self, role: Role) -> None:
        if view := self._tabs.current:
            more = view.composer.more
            (more.add if role is Role.USER else more.add_answer).trigger()

    def find(self) -> None:
        if self._tabs.current:
            self._tabs.current.finder.open()

    def find_next(self, step: int) -> None:
        if self._tabs.current:
            self._tabs.current.finder.step(step)

    @property
    def selection(self) -> PageSelection | None:
        """The selection in the messages, if they have the focus and nothing else there can be copied."""
        view = self._tabs.current
        return view.transcript.selection_in_focus if view and not view.notebook else None

    # One message

    def turns_meant(self) -> dict[TurnAction, Turn]:
        """The message that each action would act on. Actions that would do nothing are left out."""
        view = self._tabs.current
        if view is None or view.notebook:
            return {}
        meant: dict[TurnAction, Turn] = {}
        focused = view.transcript.focused_turn
        for turn in (focused,) if focused else _newest(view):
            place = _place(view, turn)
            for action in offered(turn, place):
                if action not in meant and is_possible(action, place):
                    meant[action] = turn
        return meant

    def act(self, action: TurnAction) -> None:
        view, turn = self._tabs.current, self.turns_meant().get(action)
        turn_view = view.transcript.show_turn(turn) if view and turn else None
        if turn_view:
            turn_view.act(action)
        elif view and view.session.is_busy:
            busy = tr("An answer is being written. Stop it first (Esc), or wait for its end.")
            view.composer.notice.say(busy, lasts_ms=BUSY_FOR_MS)

    def answer_in_ways(self, num_ways: int) -> None:
        if self._tabs.current and TurnAction.WAYS in self.turns_meant():
            self._tabs.current.turn_actions.answer_in_ways(num_ways)

    def can_show_version(self, step: int) -> bool:
        return self._version(step) is not None

    def show_version(self, step: int) -> None:
        """The previous (-1) or next (1) version of the message."""
        version = self._version(step)
        if self._tabs.current and version:
            self._tabs.current.session.show_version(version)

    def _version(self, step: int) -> Turn | None:
        """A version of the message with the focus, or else of the last message that has several."""
        view = self._tabs.current
        if view is None or view.notebook or view.session.is_busy:
            return None
        focused = view.transcript.focused_turn
        for turn in (focused,) if focused else _newest(view):
            versions = view.session.chat.versions_of(turn)
            number = next(index for index, version in enumerate(versions) if version is turn) + step
            if len(versions) > 1:
                return versions[number] if 0 <= number < len(versions) else None
        return None


def _place(view: ChatView, turn: Turn) -> Place:
    chat = view.session.chat
    return Place.of(turn, chat, is_last=turn is chat.turns[-1], is_busy=view.session.is_busy)


def _newest(view: ChatView) -> list[Turn]:
    """The last one first. Limited: this runs whenever something changes, in chats of any length."""
    return view.session.chat.turns[: -MAX_LOOKED_AT - 1 : -1]
