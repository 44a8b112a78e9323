"""Chat > Message: the actions on one message, for keyboard and palette. GUI thread."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.look.popups import Menu
from app.look.words import mark, tr
from app.protocol.request import Role
from app.ui.base.actions import command, fill, make_action, submenu
from app.ui.tabs.chat_commands import ChatCommands
from app.ui.transcript.turn_actions import NUMS_OF_WAYS, TurnAction, menu_label

# Action and key. None is a separator.
_ACTIONS: tuple[tuple[TurnAction, str, str] | None, ...] = (
    (TurnAction.COPY, mark("Copy this message as Markdown"), ""),
    (TurnAction.COPY_PLAIN, mark("Copy this message without Markdown"), ""),
    (TurnAction.SELECT, mark("Select several messages to copy"), ""),
    None,
    (TurnAction.EDIT, mark("Rewrite this message; the old version is kept"), "Ctrl+Shift+E"),
    (TurnAction.ANSWER, mark("Answer the last message, if it has no answer"), ""),
    (TurnAction.CONTINUE, mark("Continue this answer where it ended"), "Alt+Return"),
    (TurnAction.REGENERATE, mark("Get another answer; this one is kept"), "Ctrl+R"),
    (TurnAction.COMPARE, mark("Compare all versions of the last answer"), ""),
    None,
    (TurnAction.FORK, mark("Continue in a copy of the chat up to this message"), ""),
    (TurnAction.TOKENS, mark("Show the alternatives at each token of this answer"), ""),
    (TurnAction.LENS, mark("Show which messages and passages were read for this answer"), ""),
    (TurnAction.DETAILS, mark("Show tokens, times and speed of this answer"), ""),
    None,
    (TurnAction.DELETE, mark("Delete this message; this can be undone"), ""),
)


class MessageMenu:
    """Its entries are enabled where they would do something."""

    def __init__(self, chats: ChatCommands, window: QWidget) -> None:
        self._chats = chats
        self._window = window
        self._turn_actions: dict[QAction, TurnAction] = {}
        self._states: dict[QAction, Callable[[], bool]] = {}  # of the others
        self.menu = submenu(window, tr("&Message"))
        self._fill()
        self.menu.aboutToShow.connect(self.show_states)
        self.menu.aboutToHide.connect(self.show_keys)

    def show_keys(self) -> None:
        """While an answer is written, a key that cannot do anything says so."""
        self.show_states()
        if self._chats.is_busy:
            for action in self._turn_actions:
                action.setEnabled(True)

    @Slot()
    def show_states(self) -> None:
        meant = self._chats.turns_meant()
        for action, turn_action in self._turn_actions.items():
            action.setEnabled(turn_action in meant)
        for action, is_possible in self._states.items():
            action.setEnabled(is_possible())

    def _fill(self) -> None:
        for row in _ACTIONS:
            fill(self.menu, row and self._of_turn(*row))
            if row and row[0] is TurnAction.REGENERATE:
                self._add_ways()
        chats = self._chats
        for step, name in ((-1, "message.previous-version"), (1, "message.next-version")):
            act, is_possible = partial(chats.show_version, step), partial(chats.can_show_version, step)
            self.menu.addAction(self._add(command(self._window, name, act), is_possible))
        self.menu.addSeparator()
        for role, name in ((Role.USER, "message.add"), (Role.ASSISTANT, "message.add-answer")):
            action = command(self._window, name, partial(chats.add_without_asking, role))
            self.menu.addAction(self._add(action, lambda: chats.has_draft))

    def _of_turn(self, action: TurnAction, tip: str, key: str) -> QAction:
        name, act = action.value.replace(" ", "-"), partial(self._chats.act, action)
        return self._new(action, name, menu_label(action), tr(tip), act, key)

    def _add_ways(self) -> None:
        ways = Menu(menu_label(TurnAction.WAYS), self._window)
        tip = tr("Generate this many answers side by side")
        for number in NUMS_OF_WAYS:
            text, act = tr("&{number} answers", number=number), partial(self._chats.answer_in_ways, number)
            ways.addAction(self._new(TurnAction.WAYS, f"ways.{number}", text, tip, act))
        self.menu.addMenu(ways)

    def _new(
        self,
        turn_action: TurnAction,
        name: str,
        text: str,
        tip: str,
        act: Callable[[], object],
        key: str = "",
    ) -> QAction:
        keys, needs = [key] if key else [], tr("There is no message to edit.")
        action = make_action(self._window, f"message.{name}", text, tip, act, *keys, needs=needs)
        self._turn_actions[action] = turn_action
        return action

    def _add(self, action: QAction, is_possible: Callable[[], bool]) -> QAction:
        self._states[action] = is_possible
        return action
