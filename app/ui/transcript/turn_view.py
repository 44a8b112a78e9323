"""The common base of views of user messages and answers. GUI thread."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent
from PySide6.QtWidgets import QWidget

from app.bridge.drafts import Drafts
from app.chats.attachment import Attachment
from app.chats.chat import Turn
from app.look.fonts import reading_font
from app.look.layouts import drop
from app.protocol.media import Encoding
from app.protocol.report import SlotSnapshot
from app.protocol.request import Overflow
from app.ui.base.kept_text import KeptText
from app.ui.base.keyboard import focus_chain
from app.ui.base.thumbnails import Thumbnails
from app.ui.message.message_text import written_text
from app.ui.message.text_part import SelectedText, TextPart
from app.ui.message.tool_words import Naming
from app.ui.transcript.turn_actions import Place, TurnAction, TurnButtons, TurnMenu, VersionSwitch
from app.ui.transcript.turn_editor import TurnEditor

GAP_AFTER_EDITOR = 16


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """The engine's progress on a chat."""

    is_busy: bool = False  # an answer is being written
    slot: SlotSnapshot | None = None
    is_paused: bool = False  # as all chats are
    way_on: Overflow | None = None  # what is offered where the chat stopped because it is full
    enter_sends: bool = True  # in the composer, and in an edit
    encoding: Encoding | None = None  # the answer waits for its pictures
    starting: tuple[str, ...] = ()  # MCP servers that the answer waits for


NO_PROGRESS = AnswerProgress()


class TurnView(QWidget):
    """Actions, versions, and an editor that replaces the text.

    Reused for one turn after another as the page scrolls: `show_turn` binds it to the next.
    """

    acted = Signal(object, object)  # a TurnAction, the Turn
    ways_requested = Signal(int)  # so many more answers to the last message
    version_requested = Signal(object, object)  # the Turn, and the one to replace it
    edited = Signal(object, str, object)  # the Turn, what it shall be, and its attachments
    edit_left = Signal(object, str, bool)  # the Turn, what it was to be, whether that is kept
    menu_requested = Signal(object, QPoint)  # this view, and where on the screen
    decided = Signal(object, object)  # the ToolUse that asks, a Decision
    height_changed = Signal(object)  # this view, which must be arranged anew

    GAP_AFTER = 0
    IS_WIDE = False  # takes the full width of the page

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.turn = turn
        self.place = Place()
        self.editor: TurnEditor | None = None
        self._thumbnails: Thumbnails | None = None
        self._drafts, self._chat_id = Drafts(), ""
        self._zoom = 0
        self._arranged_for = -1  # the width of the last arrangement, if still valid
        self._arranged_height = 0
        self._is_hovered = False
        self._has_focus = False
        self.buttons = TurnButtons(turn.role, lambda: written_text(self.turn), self)
        self.buttons.chosen.connect(self.act)
        self.versions = VersionSwitch(self)
        self.versions.requested.connect(self._on_version_requested)
        self.buttons.more.clicked.connect(self._popup_menu_of_button)

    @property
    def is_held(self) -> bool:
        """It is being edited or has the focus, so it must not be reused for another turn."""
        return self.editor is not None or self._has_focus

    def show_turn(self, turn: Turn) -> None:
        self.turn = turn
        self.changed()

    def changed(self) -> None:
        """Its height must be measured again."""
        self._arranged_for = -1

    def apply(self, place: Place, progress: AnswerProgress) -> None:
        """Draws what has changed about the turn."""
        raise NotImplementedError

    def show_progress(self, progress: AnswerProgress) -> None:
        """The engine has made progress; the text is drawn at its own pace."""

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
        return self.editor.arrange(width) + GAP_AFTER_EDITOR

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        if self.editor:
            self.editor.set_reading_font(reading_font(zoom))
        self.changed()

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        """Where the small copies of pictures come from; only the user's messages have them."""
        self._thumbnails = thumbnails

    def set_drafts(self, drafts: Drafts, chat_id: str) -> None:
        """Where an edit is kept until it is saved."""
        self._drafts, self._chat_id = drafts, chat_id

    def set_plain(self, is_plain: bool) -> None:
        """From the next `apply` on: as it was written. What the user wrote always is."""

    def plain_text(self) -> str:
        return "\n".join(pane.toPlainText() for pane in self.text_panes())

    def text_panes(self) -> list[SelectedText]:
        """The text widgets for search and selection, in reading order."""
        return [part.pane for part in self.text_parts() if part.pane and part.pane.isVisibleTo(self)]

    def text_parts(self) -> list[TextPart]:
        """Its texts in reading order, those that are not shown, too."""
        raise NotImplementedError

    @property
    def shows_more_than_written(self) -> bool:
        """More than `written_text` has, such as thinking that was opened."""
        return False

    def finish(self) -> None:
        """Draws what is left of its texts, at once."""

    def focus_chain(self) -> list[QWidget]:
        """What Tab can reach, in reading order."""
        return focus_chain(self)

    def set_naming(self, naming: Naming) -> None:
        """What tools are called; only answers call them."""

    def show_match(self, _query: str, _number: int) -> None:
        """Makes a match visible: in a paged text, or in a folded card."""

    # Actions

    def act(self, action: TurnAction) -> None:
        if action is TurnAction.DETAILS:
            self.show_details()
        elif action is TurnAction.EDIT:
            self.start_editing()
        else:
            self.acted.emit(action, self.turn)

    def _on_version_requested(self, step: int) -> None:
        number = self.place.number_of(self.turn) + step
        if 1 <= number <= len(self.place.versions):
            self.version_requested.emit(self.turn, self.place.versions[number - 1])

    def show_details(self) -> None:
        pass  # only answers have statistics

    def start_editing(self, *, takes_focus: bool = True) -> None:
        """With what was typed the last time, if it was neither saved nor given up."""
        if self.editor:
            return
        turn = self.turn
        self.editor = TurnEditor(turn.text, self._save_label(), self, turn.attachments, self._thumbnails)
        self.editor.enter_saves = self.place.enter_saves
        self.editor.set_reading_font(reading_font(self._zoom))
        self.editor.saved.connect(self._on_saved)
        self.editor.cancelled.connect(self._on_cancelled)
        KeptText(self.editor.text, self._drafts, (self._chat_id, turn.id))
        self.editor.height_changed.connect(self._emit_height_changed)
        self._show_text(False)
        self.editor.show()
        self._emit_height_changed()
        if takes_focus:
            self.editor.setFocus()

    def stop_editing(self) -> None:
        if not self.editor:
            return
        editor, self.editor = self.editor, None
        had_focus = self._has_focus
        self._show_text(True)
        if had_focus:
            self.buttons.more.setFocus()
        drop(editor)
        self._emit_height_changed()

    def _on_saved(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        turn = self.turn
        self.stop_editing()
        if text != turn.text or attachments != turn.attachments:
            self.edited.emit(turn, text, attachments)

    def _on_cancelled(self, is_kept: bool) -> None:
        turn, text = self.turn, self.editor.text.toPlainText() if self.editor else ""
        self.stop_editing()
        self.edit_left.emit(turn, text, is_kept)

    def _save_label(self) -> str:
        raise NotImplementedError

    def _show_text(self, is_shown: bool) -> None:
        self.buttons.setVisible(is_shown)
        self.versions.setVisible(is_shown and len(self.place.versions) > 1)

    def _emit_height_changed(self) -> None:
        self.changed()
        self.height_changed.emit(self)

    def _popup_menu_of_button(self) -> None:
        button = self.buttons.more
        self.popup_menu(button.mapToGlobal(QPoint(0, button.height())))

    def popup_menu(self, place: QPoint) -> None:
        menu = TurnMenu(self.turn, self.place, self)
        menu.chosen.connect(self.act)
        menu.ways_chosen.connect(self.ways_requested)
        menu.aboutToHide.connect(self._show_actions)
        menu.popup(place)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.editor is None:
            self.menu_requested.emit(self, event.globalPos())

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._is_hovered = True
        self._show_actions()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._is_hovered = False
        self._show_actions()

    def set_has_focus(self, has_focus: bool) -> None:
        """Whether something in it has the focus."""
        self._has_focus = has_focus
        self._show_actions()

    @property
    def is_revealed(self) -> bool:
        """Its actions are visible."""
        return self._is_hovered or self._has_focus

    def _show_actions(self) -> None:
        self.buttons.reveal(self.is_revealed)
