"""The actions on a turn: when each is offered, as buttons and as a menu. GUI thread."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Self

from PySide6.QtCore import QDate, QDateTime, QLocale, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.chats.chat import Chat, Turn, TurnState
from app.look.buttons import IconButton
from app.look.fonts import small_font, tabular
from app.look.icons import icon
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import locale, mark, tr, tr_n
from app.protocol.request import Role
from app.ui.base.copy_button import CopyButton
from app.ui.transcript.answer_text import can_continue, has_details

NUMS_OF_WAYS = (2, 3, 4)
MAX_EDITED_CHARS = 200_000  # an editor with more would freeze the window


class TurnAction(StrEnum):
    COPY = "copy"
    COPY_PLAIN = "copy plain"
    EDIT = "edit"
    ANSWER = "answer"
    REGENERATE = "regenerate"
    WAYS = "ways"
    CONTINUE = "continue"
    FORK = "fork"
    TOKENS = "tokens"
    LENS = "lens"
    DETAILS = "details"
    SELECT = "select"
    DELETE = "delete"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a turn in its chat, for its widgets."""

    versions: tuple[Turn, ...] = ()  # all versions, oldest first
    is_last: bool = False
    is_busy: bool = False  # an answer is being written in this chat
    has_messages: bool = True  # before it, for the model to answer
    enter_saves: bool = True  # an edit; else Ctrl+Enter does
    answer: str = ""  # to it, once that is complete
    begins_day: bool = False  # the message before is of another day
    summed_up: tuple[Turn, ...] = ()  # for which its summary stands

    @classmethod
    def of(
        cls,
        turn: Turn,
        chat: Chat,
        *,
        is_last: bool,
        is_busy: bool,
        enter_saves: bool = True,
        before: Turn | None = None,
        after: Turn | None = None,
        summed_up: tuple[Turn, ...] = (),
    ) -> Self:
        has_messages = turn.role is Role.USER or chat.has_messages_before(turn)
        is_answered = turn.role is Role.USER and after and after.state is TurnState.DONE
        text = after.text if is_answered and after else ""
        begins_day = before is not None and day_of(before) != day_of(turn)
        versions = chat.versions_of(turn)
        return cls(versions, is_last, is_busy, has_messages, enter_saves, text, begins_day, summed_up)

    def number_of(self, turn: Turn) -> int:
        """Which of the versions it is, from 1."""
        return next((number for number, other in enumerate(self.versions, 1) if other is turn), 1)


def day_of(turn: Turn) -> QDate:
    """Here, where the user is."""
    return _moment_of(turn).date()


def time_of(turn: Turn) -> str:
    return locale().toString(_moment_of(turn).time(), QLocale.FormatType.ShortFormat)


def _moment_of(turn: Turn) -> QDateTime:
    return QDateTime.fromSecsSinceEpoch(int(turn.created_at))


TIME_GAP = 8
_LABELS = {
    TurnAction.COPY: (mark("&Copy"), "copy"),
    TurnAction.COPY_PLAIN: (mark("Copy as &plain text"), ""),
    TurnAction.EDIT: (mark("&Edit…"), "pencil"),
    TurnAction.ANSWER: (mark("&Answer this message"), "play"),
    TurnAction.REGENERATE: (mark("&Regenerate"), "refresh-cw"),
    TurnAction.WAYS: (mark("Several ans&wers"), "columns-3"),
    TurnAction.COMPARE: (mark("Show &versions side by side"), "columns-3"),
    TurnAction.CONTINUE: (mark("Co&ntinue"), "play"),
    TurnAction.FORK: (mark("&Fork the chat here"), "git-fork"),
    TurnAction.TOKENS: (mark("&Token probabilities"), "chart-bar-decreasing"),
    TurnAction.LENS: (mark("What was read for t&his"), "search"),
    TurnAction.DETAILS: (mark("Statistics &of this answer"), "info"),
    TurnAction.SELECT: (mark("&Select messages"), "list-checks"),
    TurnAction.DELETE: (mark("&Delete"), "trash-2"),
}
_USER_BUTTONS = (TurnAction.ANSWER, TurnAction.COPY, TurnAction.EDIT, TurnAction.FORK)
_ANSWER_BUTTONS = (
    TurnAction.COPY,
    TurnAction.REGENERATE,
    TurnAction.EDIT,
    TurnAction.FORK,
    TurnAction.TOKENS,
    TurnAction.DETAILS,
)
_GROUPS = (
    (TurnAction.COPY, TurnAction.COPY_PLAIN, TurnAction.SELECT),
    (
        TurnAction.EDIT,
        TurnAction.ANSWER,
        TurnAction.CONTINUE,
        TurnAction.REGENERATE,
        TurnAction.WAYS,
        TurnAction.COMPARE,
    ),
    (TurnAction.FORK, TurnAction.TOKENS, TurnAction.LENS, TurnAction.DETAILS),
    (TurnAction.DELETE,),
)
_WHILE_BUSY = (  # those that change neither turns nor the running answer
    TurnAction.COPY,
    TurnAction.COPY_PLAIN,
    TurnAction.FORK,
    TurnAction.TOKENS,
    TurnAction.LENS,
    TurnAction.DETAILS,
    TurnAction.SELECT,
)
_ASKING = (TurnAction.REGENERATE, TurnAction.WAYS, TurnAction.CONTINUE)  # what stands before an answer


def menu_label(action: TurnAction) -> str:
    return tr(_LABELS[action][0])


def label_of(action: TurnAction) -> str:
    """Without the mnemonic, as a tooltip has it."""
    return tr(_LABELS[action][0]).replace("&", "")


def offered(turn: Turn, place: Place) -> frozenset[TurnAction]:
    """The actions that make sense for this turn, enabled or not."""
    if turn.role is Role.USER:
        actions = {TurnAction.COPY, TurnAction.EDIT, TurnAction.FORK, TurnAction.SELECT, TurnAction.DELETE}
        if place.is_last and not place.is_busy:
            actions |= {TurnAction.ANSWER, TurnAction.WAYS}
    else:
        actions = _offered_for_answer(turn, place)
    if len(turn.text) > MAX_EDITED_CHARS:
        actions.discard(TurnAction.EDIT)
    return frozenset(actions)


def _offered_for_answer(turn: Turn, place: Place) -> set[TurnAction]:
    actions = {TurnAction.SELECT}
    if turn.text or turn.rounds:
        actions |= {TurnAction.COPY, TurnAction.COPY_PLAIN}
    if turn.text:
        actions |= {TurnAction.TOKENS, TurnAction.LENS}
    if turn.state is TurnState.STREAMING:
        return actions
    actions |= {TurnAction.REGENERATE, TurnAction.DELETE}
    if turn.text or turn.rounds:
        actions |= {TurnAction.EDIT, TurnAction.FORK}
    if has_details(turn.usage):
        actions.add(TurnAction.DETAILS)
    if place.is_last:
        actions.add(TurnAction.WAYS)
        if len(place.versions) > 1:
            actions.add(TurnAction.COMPARE)
        if can_continue(turn):
            actions.add(TurnAction.CONTINUE)
    return actions


def is_possible(action: TurnAction, place: Place) -> bool:
    """While an answer is written, the turns before it cannot be changed."""
    return (not place.is_busy or action in _WHILE_BUSY) and not why_impossible(action, place)


def why_impossible(action: TurnAction, place: Place) -> str:
    """Where no time will help."""
    if action in _ASKING and not place.has_messages:
        return tr("There is no message before this answer to respond to.")
    return ""


class TurnMenu(Menu):
    """Lives as long as it is open. Use `popup`: `exec` would stop every coroutine."""

    chosen = Signal(object)  # a TurnAction
    ways_chosen = Signal(int)  # so many more answers; 0: as is chosen in a dialog

    def __init__(self, turn: Turn, place: Place, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setToolTipsVisible(True)
        wanted = offered(turn, place)
        for group in _GROUPS:
            for action in (action for action in group if action in wanted):
                self._add(action, place)
            self.addSeparator()

    def _add(self, action: TurnAction, place: Place) -> None:
        text, name = _LABELS[action]
        entry = self.addMenu(self._ways(text)) if action is TurnAction.WAYS else self.addAction(tr(text))
        if name:
            entry.setIcon(icon(name))
        entry.setEnabled(is_possible(action, place))
        entry.setToolTip(why_impossible(action, place))
        entry.triggered.connect(lambda: self.chosen.emit(action))

    def _ways(self, text: str) -> QMenu:
        menu = Menu(tr(text), self)
        for number in NUMS_OF_WAYS:
            entry = menu.addAction(tr_n("{n} answer", "{n} answers", number))
            entry.triggered.connect(lambda _checked=False, n=number: self.ways_chosen.emit(n))
        menu.addSeparator()
        menu.addAction(tr("Other models or settings…")).triggered.connect(lambda: self.ways_chosen.emit(0))
        return menu


class TurnButtons(QWidget):
    """A row of buttons that always takes its room."""

    chosen = Signal(object)  # a TurnAction

    HEIGHT = CopyButton.SIDE

    def __init__(self, role: Role, copied_text: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._shown: tuple[object, ...] | None = None
        self._buttons: dict[TurnAction, IconButton] = {}
        for action in _USER_BUTTONS if role is Role.USER else _ANSWER_BUTTONS:
            self._buttons[action] = self._new_button(action, copied_text)
        self.more = IconButton("ellipsis", tr("More actions"), self.HEIGHT, self, is_quiet=True)
        self._time = ""  # of the message, before the buttons
        self._is_revealed = False
        self.setFont(tabular(small_font()))

    def _new_button(self, action: TurnAction, copied_text: Callable[[], str]) -> IconButton:
        if action is TurnAction.COPY:
            return CopyButton(label_of(action), copied_text, self, is_quiet=True)
        name = _LABELS[action][1]
        button = IconButton(name, label_of(action), self.HEIGHT, self, is_quiet=True)
        button.clicked.connect(lambda: self.chosen.emit(action))
        return button

    def button(self, action: TurnAction) -> IconButton:
        return self._buttons[action]

    def apply(self, turn: Turn, place: Place) -> None:
        wanted = offered(turn, place)
        time = time_of(turn)
        shown = (wanted, place.is_busy, place.has_messages, time)
        if shown == self._shown:
            return
        self._shown = shown
        self._time = time
        for action, button in self._buttons.items():
            button.setVisible(action in wanted)
            button.setEnabled(is_possible(action, place))
            if action in _ASKING:
                button.setToolTip(why_impossible(action, place) or label_of(action))
        self._lay_out()

    def reveal(self, is_revealed: bool) -> None:
        self._is_revealed = is_revealed
        self.update()
        for button in (*self._buttons.values(), self.more):
            button.reveal(is_revealed)

    def _lay_out(self) -> None:
        x = self.fontMetrics().horizontalAdvance(self._time) + TIME_GAP
        for widget in (*self._buttons.values(), self.more):
            widget.move(x, 0)
            x += 0 if widget.isHidden() else widget.width()
        self.setFixedSize(x, self.HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._is_revealed:
            painter = QPainter(self)
            painter.setPen(QColor(current().muted))
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._time
            )


class VersionSwitch(QWidget):
    """‹ 2/3 ›, always visible if there is more than one."""

    requested = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self._shown: tuple[int, int, bool] | None = None
        self.setFont(tabular(small_font()))
        self.hide()

    # Made when they are first needed: most turns have one version.

    @cached_property
    def previous(self) -> IconButton:
        return self._new_button("chevron-left", tr("Previous version"), -1)

    @cached_property
    def next(self) -> IconButton:
        return self._new_button("chevron-right", tr("Next version"), 1)

    def _new_button(self, icon_name: str, label: str, step: int) -> IconButton:
        button = IconButton(icon_name, label, CopyButton.SIDE, self, icon_side=14)
        button.clicked.connect(lambda: self.requested.emit(step))
        button.show()
        return button

    def apply(self, turn: Turn, place: Place) -> None:
        number, total = place.number_of(turn), len(place.versions)
        if (number, total, place.is_busy) == self._shown:
            return
        self._shown = (number, total, place.is_busy)
        self.setVisible(total > 1)
        if total == 1:
            return
        self.text = f"{number}/{total}"
        self.setAccessibleName(tr("Version {number} of {total}", number=number, total=total))
        self.previous.setEnabled(number > 1 and not place.is_busy)
        self.next.setEnabled(number < total and not place.is_busy)
        middle = self.fontMetrics().horizontalAdvance(self.text) + 2
        self.next.move(self.previous.width() + middle, 0)
        self.setFixedSize(self.next.x() + self.next.width(), TurnButtons.HEIGHT)
        self.update()

    @property
    def taken_width(self) -> int:
        return 0 if self.isHidden() else self.width()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(current().muted)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text)
