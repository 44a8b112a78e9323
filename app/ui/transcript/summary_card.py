"""The summary that the model reads in the place of the messages above it. GUI thread."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.bridge.drafts import Drafts, Field
from app.chats.chat import Turn
from app.chats.summary import Summary, files_of
from app.look.buttons import quiet_button
from app.look.figures import count
from app.look.fonts import reading_font, small_font
from app.look.layouts import drop
from app.look.painted import flowed, paint_rounded
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import current
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.ui.base.kept_text import KeptText
from app.ui.message.folded_section import FoldedSection
from app.ui.message.text_part import TextPart
from app.ui.transcript.turn_editor import TurnEditor

PADDING, GAP, RADIUS = 12, 6, 10
MAX_FILES, MAX_NAME_CHARS = 12, 40


class SummaryAction(StrEnum):
    EDIT = "edit"
    AGAIN = "again"
    UNDO = "undo"
    STOP = "stop"


_BUTTONS = (
    (SummaryAction.STOP, mark("Stop"), mark("The messages stay as they are")),
    (
        SummaryAction.EDIT,
        mark("Edit"),
        mark("Change what the model reads in the place of the messages above"),
    ),
    (SummaryAction.AGAIN, mark("Write again"), mark("Have the model write another summary")),
    (SummaryAction.UNDO, mark("Undo"), mark("Remove the summary: the model reads all messages again")),
)


class SummaryCard(QWidget):
    height_changed = Signal()
    acted = Signal(object)  # a SummaryAction, but for an edit
    edited = Signal(str)  # what it shall say
    turn_requested = Signal(object)  # the Turn with a file that is named

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor: TurnEditor | None = None
        self._summary = Summary()
        self._shown: object = None
        self._field: tuple[Drafts, Field] = (Drafts(), ("", ""))  # where an edit is kept until it is saved
        self._zoom = 0
        self.enter_saves = True  # an edit; else Ctrl+Enter does
        self.section = FoldedSection(self)
        self.section.height_changed.connect(self.height_changed)
        self.notice = PlainLabel(parent=self, tone="warning", wraps=True)
        self.notice.setFont(small_font())
        self.files: list[QPushButton] = []
        self.buttons = {action: self._button(action, label, tip) for action, label, tip in _BUTTONS}

    def _button(self, action: SummaryAction, label: str, tip: str) -> QPushButton:
        button = quiet_button(tr(label), self, "bar")
        button.setToolTip(tr(tip))
        button.clicked.connect(
            self.start_editing if action is SummaryAction.EDIT else lambda: self.acted.emit(action)
        )
        return button

    def apply(self, summary: Summary, turns: Sequence[Turn], drafts: Drafts, field: Field) -> bool:
        """`turns` are those it stands for. Whether something has changed."""
        self._field = drafts, field
        if self._shown == (summary, len(turns)):
            return False
        self._shown, self._summary = (summary, len(turns)), summary
        self.section.apply(title(summary, len(turns)), summary.text, is_growing=summary.is_growing)
        told = tr_said(summary.notice)
        self.notice.say(
            sentences(told, tr("It is not used: edit it, or have it written again.")) if told else ""
        )
        self._show_files(turns if not summary.is_growing else ())
        self._show_buttons()
        self.setAccessibleName(self.section.header.text())
        return True

    def _show_buttons(self) -> None:
        is_growing, is_edited = self._summary.is_growing, self.editor is not None
        for action, button in self.buttons.items():
            button.setVisible(not is_edited and is_growing == (action is SummaryAction.STOP))

    def _show_files(self, turns: Sequence[Turn]) -> None:
        found = [(file, turn) for turn in turns for file in files_of(turn.attachments)][:MAX_FILES]
        drop(*self.files)
        self.files = []
        for file, turn in found:
            name = one_line(file.name)
            button = quiet_button(
                name if len(name) <= MAX_NAME_CHARS else f"{name[:MAX_NAME_CHARS]}…", self, "bar"
            )
            button.setToolTip(tr("Show the message with {name}", name=name))
            button.clicked.connect(lambda _checked=False, turn=turn: self.turn_requested.emit(turn))
            button.show()
            self.files.append(button)

    def text_parts(self) -> list[TextPart]:
        return self.section.text_parts()

    def set_plain(self, is_plain: bool) -> None:
        self.section.set_plain(is_plain)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        self.section.set_zoom(zoom)
        if self.editor:
            self.editor.set_reading_font(reading_font(zoom))

    @Slot()
    def start_editing(self) -> None:
        """With what was typed the last time, if it was neither saved nor given up."""
        if self.editor:
            return
        self.editor = TurnEditor(self._summary.text, tr("Save"), self)
        self.editor.text.setAccessibleName(tr("Edited summary"))
        self.editor.enter_saves = self.enter_saves
        self.editor.set_reading_font(reading_font(self._zoom))
        KeptText(self.editor.text, *self._field)
        self.editor.saved.connect(lambda text, _attachments: self._end_edit(text))
        self.editor.cancelled.connect(lambda is_kept: self._end_edit("", is_kept=is_kept))
        self.editor.height_changed.connect(self.height_changed)
        self.section.hide()
        self._show_buttons()
        self.editor.show()
        self.height_changed.emit()
        self.editor.setFocus()

    def _end_edit(self, text: str, *, is_kept: bool = False) -> None:
        editor, self.editor = self.editor, None
        assert editor
        self.section.show()
        self._show_buttons()
        self.buttons[SummaryAction.EDIT].setFocus()
        drop(editor)
        drafts, field = self._field
        if not is_kept:
            drafts.put(field, "")
        self.height_changed.emit()
        if text and text != self._summary.text:
            self.edited.emit(text)

    def arrange(self, width: int) -> int:
        inner, y = width - 2 * PADDING, GAP
        if self.editor:
            self.editor.move(0, 0)
            y = self.editor.arrange(width)
        else:
            self.section.move(PADDING, y)
            y += self.section.arrange(inner) + GAP
        if self.notice.text():
            height = self.notice.heightForWidth(inner)
            self.notice.setGeometry(PADDING, y, inner, height)
            y += height + GAP
        for row in (self.files, [button for button in self.buttons.values() if not button.isHidden()]):
            y = self._arrange_row(row, y, inner)
        self.setFixedSize(width, y if self.editor else y + GAP // 2)
        return self.height()

    def _arrange_row(self, row: Sequence[QPushButton], y: int, inner: int) -> int:
        """Below each other where there is no room beside."""
        if not row:
            return y
        line = max(button.sizeHint().height() for button in row) + GAP
        places = flowed((button.sizeHint().width() for button in row), inner, GAP, line)
        for button, place in zip(row, places, strict=True):
            size = button.sizeHint()
            button.setGeometry(PADDING + int(place.x()), y + int(place.y()), size.width(), size.height())
        return y + int(places[-1].bottom())

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.editor:
            return
        colours = current()
        edge = colours.accent if self._summary.is_growing else colours.hairline
        paint_rounded(QPainter(self), self.rect(), RADIUS, 0.5, edge=edge)


def title(summary: Summary, num_turns: int) -> str:
    if summary.is_growing:
        return tr_n("Summing up the message above…", "Summing up the {n} messages above…", num_turns)
    name = tr_n("Summary of the message above", "Summary of the {n} messages above", num_turns)
    if summary.notice or not summary.num_tokens:
        return name
    figures = {"tokens": count(summary.num_tokens), "replaced": count(summary.num_replaced)}
    return f"{name} · {tr('{tokens} tokens in the place of {replaced}', **figures)}"
