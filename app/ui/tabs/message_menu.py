"""Chat > Message: the actions on one message, for keyboard and palette. GUI thread."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.look.words import mark, tr
from app.protocol.request import Role
from app.ui.base.actions import Shortcut, fill, make_action, submenu
from app.ui.tabs.chat_commands import ChatCommands
from app.ui.transcript.turn_actions import NUMS_OF_WAYS, TurnAction, menu_label

# Action and key. None is a separator.
_ACTIONS: tuple[tuple[TurnAction, str, str] | None, ...] = (
    (TurnAction.COPY, mark("Copy this message as Markdown"), ""),
    (TurnAction.COPY_PLAIN, mark("Copy this message without its Markdown"), ""),
    (TurnAction.SELECT, mark("Select several messages, to copy them"), ""),
    None,
    (TurnAction.EDIT, mark("Write this message anew; the former version is kept"), "Ctrl+Shift+E"),
    (TurnAction.ANSWER, mark("Have an answer to the last message, if it has none"), ""),
    (TurnAction.CONTINUE, mark("Let the model go on where this answer ended"), "Alt+Return"),
    (TurnAction.REGENERATE, mark("Have another answer; the former one is kept"), "Ctrl+R"),
    (TurnAction.COMPARE, mark("See all versions of the last answer at once"), ""),
    None,
    (TurnAction.FORK, mark("Go on in a copy of the chat that ends with this message"), ""),
    (TurnAction.TOKENS, mark("Show what else this answer could have said"), ""),
    (TurnAction.DETAILS, mark("Show tokens, times and speed of this answer"), ""),
    None,
    (TurnAction.DELETE, mark("Delete this message; it can be brought back"), ""),
)


class MessageMenu:
    """Its entries are enabled where they would do something."""

    def __init__(self, chats: ChatCommands, window: QWidget) -> None:
        self._chats = chats
        self._window = window
        self._states: dict[QAction, Callable[[], bool]] = {}
        self.menu = submenu(window, tr("&Message"))
        self._fill()
        self.menu.aboutToShow.connect(self.show_states)

    @Slot()
    def show_states(self) -> None:
        for action, is_possible in self._states.items():
            action.setEnabled(is_possible())

    def _fill(self) -> None:
        for row in _ACTIONS:
            fill(self.menu, row and self._of_turn(*row))
            if row and row[0] is TurnAction.REGENERATE:
                self._add_ways()
        fill(
            self.menu,
            self._version("previous", tr("Previo&us version"), tr("Show the version before"), -1, "Alt+Left"),
            self._version("next", tr("Ne&xt version"), tr("Show the version after"), 1, "Alt+Right"),
            None,
            self._draft("add", tr("Add without as&king"), tr("The draft becomes a message"), Role.USER),
            self._draft(
                "add-answer",
                tr("Add as mode&l's answer"),
                tr("The draft becomes an answer, as if the model had written it"),
                Role.ASSISTANT,
            ),
        )

    def _of_turn(self, action: TurnAction, tip: str, key: str) -> QAction:
        return self._new(
            action.value.replace(" ", "-"),
            menu_label(action),
            tr(tip),
            partial(self._chats.act, action),
            partial(self._chats.can, action),
            *([key] if key else []),
            needs=tr("There is no message for that now."),
        )

    def _add_ways(self) -> None:
        ways = QMenu(menu_label(TurnAction.WAYS), self._window)
        for number in NUMS_OF_WAYS:
            action = self._new(
                f"ways.{number}",
                tr("&{number} answers", number=number),
                tr("Have so many answers at once, side by side"),
                partial(self._chats.answer_in_ways, number),
                self._chats.can_answer_again,
                needs=tr("There is no message for that now."),
            )
            ways.addAction(action)
        self.menu.addMenu(ways)

    def _version(self, name: str, text: str, tip: str, step: int, key: str) -> QAction:
        return self._new(
            f"{name}-version",
            text,
            tip,
            partial(self._chats.show_version, step),
            partial(self._chats.can_show_version, step),
            key,
            needs=tr("There is no other version there."),
        )

    def _draft(self, name: str, text: str, tip: str, role: Role) -> QAction:
        return self._new(
            name,
            text,
            tip,
            partial(self._chats.add_without_asking, role),
            lambda: self._chats.has_draft,
            needs=tr("Write something first, while no answer is being written."),
        )

    def _new(
        self,
        name: str,
        text: str,
        tip: str,
        act: Callable[[], object],
        is_possible: Callable[[], bool],
        *keys: Shortcut,
        needs: str,
    ) -> QAction:
        action = make_action(self._window, f"message.{name}", text, tip, act, *keys, needs=needs)
        self._states[action] = is_possible
        return action
