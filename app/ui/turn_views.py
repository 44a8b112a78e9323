"""One turn on the page: the user's words in a bubble, or an answer with a quiet line below it.

A view is bound to one turn after another as the page scrolls: `show_turn` gives it the next. GUI thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QTextEdit, QToolTip, QWidget

from app.chats.chat import Turn, TurnState
from app.engine.types import Role, SlotSnapshot
from app.look.fonts import reading_font, small_font, tabular
from app.look.plain_text import PlainLabel, as_table, one_line
from app.look.tokens import current
from app.look.words import tr
from app.ui.answer_body import AnswerBody
from app.ui.answer_text import (
    activity_line,
    can_continue,
    ended_early,
    finish_text,
    notice_line,
    prefix_end_text,
    stats_line,
    usage_rows,
    usage_times,
)
from app.ui.long_text import LongText
from app.ui.turn_actions import Place, TurnAction, TurnButtons, TurnMenu
from app.ui.turn_editor import TurnEditor

BUBBLE_RADIUS = 12
BUBBLE_PADDING_X = 14
BUBBLE_PADDING_TOP = 10
BUBBLE_PADDING_BOTTOM = 4  # the spacing of lines leaves room below the last one
BUBBLE_SHARE = 0.86  # of the column, at most
FOOTER = 28
GAP = 4
GAP_AFTER_USER = 4
GAP_AFTER_ANSWER = 20

TextPane = QTextEdit | QPlainTextEdit


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of the engine's work on the last turn of a chat."""

    slot: SlotSnapshot | None = None
    is_paused: bool = False  # as all chats are
    can_keep_going: bool = False  # the chat stops when it is full, and has another choice


NO_PROGRESS = Progress()


class TurnView(QWidget):
    """What both kinds have in common: actions, versions, an editor in place of the text."""

    acted = Signal(object, object)  # a TurnAction, the Turn
    version_requested = Signal(object, int)  # the Turn, -1 the version before or 1 the one after
    edited = Signal(object, str)  # the Turn, what it shall be
    height_changed = Signal(object)  # this view, which needs to be arranged anew

    GAP_AFTER = 0

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.turn = turn
        self.place = Place()
        self.editor: TurnEditor | None = None
        self._zoom = 0
        self._arranged_for = -1  # the width, where nothing has changed since
        self._arranged_height = 0
        self._is_hovered = False
        self._has_focus = False
        self.buttons = TurnButtons(turn.role, lambda: self.turn.text, self)
        self.buttons.chosen.connect(self.act)
        self.buttons.version_requested.connect(lambda step: self.version_requested.emit(self.turn, step))
        self.buttons.menu_requested.connect(self._popup_menu_of_button)

    @property
    def is_held(self) -> bool:
        """Somebody is at work in it, so it must not be given to another turn."""
        return self.editor is not None or self._has_focus or any(
            pane.textCursor().hasSelection() for pane in self.text_panes()
        )

    def show_turn(self, turn: Turn) -> None:
        self.turn = turn
        self.changed()

    def changed(self) -> None:
        """Its height has to be found out again."""
        self._arranged_for = -1

    def apply(self, place: Place, progress: Progress) -> None:
        """Draws what has changed about the turn."""
        raise NotImplementedError

    def arrange(self, width: int) -> int:
        """Takes this width and returns the height it needs for it, with the gap after it."""
        if width != self._arranged_for:
            self._arranged_height = self._arrange_editor(width) if self.editor else self._arrange_text(width)
            self.setFixedSize(width, self._arranged_height)
            self._arranged_for = width
        return self._arranged_height + self.GAP_AFTER

    def _arrange_text(self, width: int) -> int:
        raise NotImplementedError

    def _arrange_editor(self, width: int) -> int:
        assert self.editor
        return self.editor.arrange(width) + GAP

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        if self.editor:
            self.editor.set_reading_font(reading_font(zoom))
        self.changed()

    def plain_text(self) -> str:
        return "\n".join(pane.toPlainText() for pane in self.text_panes())

    def text_panes(self) -> Sequence[TextPane]:
        """The texts that can be read and searched, from top to bottom."""
        panes = [*self.findChildren(QTextEdit), *self.findChildren(QPlainTextEdit)]
        shown = [pane for pane in panes if not pane.isHidden() and not self._is_editors(pane)]
        return sorted(shown, key=lambda pane: pane.mapTo(self, QPoint(0, 0)).y())

    def show_match(self, _query: str, _number: int) -> None:
        """Makes the words that were found part of what is shown; they are already, unless a text is paged."""

    def _is_editors(self, pane: TextPane) -> bool:
        return self.editor is not None and self.editor.isAncestorOf(pane)

    # Actions

    def act(self, action: TurnAction) -> None:
        if action is TurnAction.DETAILS:
            self.show_details()
        elif action is TurnAction.EDIT:
            self.start_editing()
        else:
            self.acted.emit(action, self.turn)

    def show_details(self) -> None:
        pass  # only an answer has cost anything

    def start_editing(self) -> None:
        if self.editor:
            return
        self.editor = TurnEditor(self.turn.text, self._save_label(), self)
        self.editor.set_reading_font(reading_font(self._zoom))
        self.editor.saved.connect(self._on_saved)
        self.editor.cancelled.connect(self.stop_editing)
        self.editor.height_changed.connect(self._tell_height)
        self._show_text(False)
        self.editor.show()
        self._tell_height()
        self.editor.setFocus()

    def stop_editing(self) -> None:
        if not self.editor:
            return
        editor, self.editor = self.editor, None
        had_focus = self._has_focus
        self._show_text(True)
        if had_focus:
            self.buttons.more.setFocus()
        editor.hide()
        editor.deleteLater()
        self._tell_height()

    def _on_saved(self, text: str) -> None:
        turn = self.turn
        self.stop_editing()
        if text != turn.text:
            self.edited.emit(turn, text)

    def _save_label(self) -> str:
        raise NotImplementedError

    def _show_text(self, is_shown: bool) -> None:
        self.buttons.setVisible(is_shown)

    def _tell_height(self) -> None:
        self.changed()
        self.height_changed.emit(self)

    def _popup_menu_of_button(self) -> None:
        button = self.buttons.more
        self._popup_menu(button.mapToGlobal(QPoint(0, button.height())))

    def _popup_menu(self, place: QPoint) -> None:
        menu = TurnMenu(self.turn, self.place, self.act, self)
        menu.aboutToHide.connect(self._show_actions)
        menu.popup(place)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.editor is None:
            self._popup_menu(event.globalPos())

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._is_hovered = True
        self._show_actions()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._is_hovered = False
        self._show_actions()

    def set_has_focus(self, has_focus: bool) -> None:
        """Whether something in it has the keyboard."""
        self._has_focus = has_focus
        self._show_actions()

    def _show_actions(self) -> None:
        self.buttons.reveal(self._is_hovered or self._has_focus)


class UserView(TurnView):
    """Exactly what was typed: no Markdown."""

    GAP_AFTER = GAP_AFTER_USER

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(turn, parent)
        self._shown: Turn | None = None
        self._text = LongText(self)
        self._text.height_changed.connect(self._tell_height)
        self.setAccessibleName(tr("You"))
        self.buttons.raise_()

    def apply(self, place: Place, _progress: Progress) -> None:
        self.place = place
        if self._shown is not self.turn:
            self._shown = self.turn
            self._text.show_text(self.turn.text, [one_line(file.name) for file in self.turn.attachments])
            self.changed()
        self.buttons.apply(self.turn, place)
        self.buttons.move(self.width() - self.buttons.width(), self.buttons.y())

    def set_zoom(self, zoom: int) -> None:
        self._text.set_reading_font(reading_font(zoom))
        super().set_zoom(zoom)

    def show_match(self, query: str, number: int) -> None:
        self._text.show_match(query, number)

    def _arrange_text(self, width: int) -> int:
        widest = int(width * BUBBLE_SHARE) - 2 * BUBBLE_PADDING_X
        text_height = self._text.arrange(widest)
        self._text.move(width - BUBBLE_PADDING_X - self._text.width(), BUBBLE_PADDING_TOP)
        bottom = BUBBLE_PADDING_TOP + text_height + BUBBLE_PADDING_BOTTOM
        self.buttons.move(width - self.buttons.width(), bottom + 2)
        return bottom + 2 + TurnButtons.HEIGHT

    def _save_label(self) -> str:
        return tr("Save & send").replace("&", "&&")

    def _show_text(self, is_shown: bool) -> None:
        super()._show_text(is_shown)
        self._text.setVisible(is_shown)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.editor:
            return
        bubble = self._text.geometry().adjusted(
            -BUBBLE_PADDING_X, -BUBBLE_PADDING_TOP, BUBBLE_PADDING_X, BUBBLE_PADDING_BOTTOM
        )
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current().raised))
        painter.drawRoundedRect(bubble, BUBBLE_RADIUS, BUBBLE_RADIUS)


class AnswerView(TurnView):
    """Text, then why it ended early if it did, then what it cost.

    The last line is there from the start, so that nothing moves when the answer ends.
    """

    GAP_AFTER = GAP_AFTER_ANSWER
    keep_going_requested = Signal()

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(turn, parent)
        self._shown: tuple[Turn, int, TurnState, str] | None = None
        self._stats = ""
        self.body = AnswerBody(self)
        self.notice = PlainLabel(parent=self, tone="muted")
        self.notice.setWordWrap(True)
        self.notice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.footer = PlainLabel(parent=self, tone="muted")
        self.footer.setFont(tabular(small_font()))
        self.go_on = _offer(tr("Continue"), tr("Let the model go on where it stopped"), self)
        self.go_on.clicked.connect(lambda: self.act(TurnAction.CONTINUE))
        self.keep_going = _offer(
            tr("Keep going with a rolling window"),
            tr("From now on the oldest turns are left out; the system prompt stays"),
            self,
        )
        self.keep_going.clicked.connect(self.keep_going_requested)
        self.buttons.raise_()
        self.set_zoom(0)

    def apply(self, place: Place, progress: Progress) -> None:
        self.place = place
        turn = self.turn
        text = (turn, len(turn.text), turn.state, turn.notice)
        if text != self._shown:
            self._shown = text
            self._show_turn()
            self.changed()
        self._show_offers(progress)
        self._show_footer(progress)
        self.buttons.apply(turn, place)
        self._place_footer(self.width())

    def _show_turn(self) -> None:
        turn = self.turn
        if turn.state is TurnState.STREAMING:
            self.body.show_growing(turn.text)
        else:
            self.body.show_whole(turn.text)
        self.notice.setText(notice_line(turn))
        self.notice.set_tone("danger" if turn.state is TurnState.FAILED else "muted")
        name = one_line(turn.model)
        self.setAccessibleName(tr("Answer by {model}", model=name) if name else tr("Answer"))

    def _show_offers(self, progress: Progress) -> None:
        turn, place = self.turn, self.place
        is_full = turn.overflowed and progress.can_keep_going
        offers = (
            (self.keep_going, place.is_last and is_full),
            (self.go_on, place.is_last and not is_full and ended_early(turn) and can_continue(turn)),
        )
        for button, is_offered in offers:
            if button.isHidden() == is_offered:
                button.setVisible(is_offered)
                self.changed()

    def _show_footer(self, progress: Progress) -> None:
        is_streaming = self.turn.state is TurnState.STREAMING
        line = activity_line(progress.slot, progress.is_paused) if is_streaming else stats_line(self.turn)
        self._stats = one_line(line)
        self.footer.setToolTip("" if is_streaming else details_tooltip(self.turn))

    def show_details(self) -> None:
        button = self.buttons.button(TurnAction.DETAILS)
        QToolTip.showText(button.mapToGlobal(QPoint(0, button.height())), details_tooltip(self.turn), button)

    def set_zoom(self, zoom: int) -> None:
        self.body.set_zoom(zoom)
        self.notice.setFont(reading_font(zoom))
        super().set_zoom(zoom)

    def _arrange_text(self, width: int) -> int:
        y = self.body.arrange(width)
        has_notice = bool(self.notice.text())
        self.notice.setVisible(has_notice)
        if has_notice:
            y += GAP if y else 0
            height = self.notice.heightForWidth(width)
            self.notice.setGeometry(0, y, width, height)
            y += height
        for button in (self.go_on, self.keep_going):
            if not button.isHidden():
                button.adjustSize()
                button.move(0, y + 2 * GAP)
                y += button.height() + 3 * GAP
        y += GAP if y else 0
        self.footer.move(0, y)
        self._place_footer(width)
        return y + FOOTER

    def _place_footer(self, width: int) -> None:
        """What the answer cost gives way to the buttons where there is no room for both."""
        room = width - self.buttons.width() - 8
        metrics = self.footer.fontMetrics()
        line = metrics.elidedText(self._stats, Qt.TextElideMode.ElideRight, room)
        if line != self.footer.text():
            self.footer.setText(line)
        taken = metrics.horizontalAdvance(line) + 2 if line else 0
        y = self.footer.y()
        self.footer.setGeometry(0, y, taken, FOOTER)
        self.buttons.move(taken + 8 if line else -4, y + (FOOTER - TurnButtons.HEIGHT) // 2)

    def _save_label(self) -> str:
        return tr("Save as a new version")

    def _show_text(self, is_shown: bool) -> None:
        super()._show_text(is_shown)
        for part in (self.body, self.footer):
            part.setVisible(is_shown)
        self.notice.setVisible(is_shown and bool(self.notice.text()))
        for offer in (self.go_on, self.keep_going):
            offer.hide()  # `apply` brings back what is still offered


def details_tooltip(turn: Turn) -> str:
    usage = turn.usage
    if not usage_rows(usage):
        return ""
    below = (prefix_end_text(usage.prefix_end), usage_times(usage), finish_text(turn))
    return as_table(usage_rows(usage), below)


def kind_of(turn: Turn) -> type[UserView] | type[AnswerView]:
    return UserView if turn.role is Role.USER else AnswerView


def _offer(text: str, tip: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setToolTip(tip)
    button.hide()
    return button
