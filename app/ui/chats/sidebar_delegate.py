"""Paints the rows of the sidebar, all of one height; creates the field to rename one. GUI thread."""

from typing import Any

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyleOptionViewItem, QWidget

from app.look import marks
from app.look.figures import count
from app.look.fonts import small_font
from app.look.icons import paint_icon
from app.look.list import AT_RIGHT, Index, ListDelegate, draw_text
from app.look.painted import paint_mark
from app.look.tokens import Tokens, current
from app.look.words import tr
from app.ui.base.titles import MAX_GIVEN_CHARS, STILL_EDITED
from app.ui.chats.sidebar_model import MARK, RowKind, SidebarModel, SidebarRow

_SIDE = 14  # of marks and icons
_INSET = 8
_INDENT = 16  # of chats in a folder
ELIDE = Qt.TextElideMode.ElideRight


class SidebarDelegate(ListDelegate):
    HEIGHT = 30

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: object) -> None:
        if not isinstance(row, SidebarRow):
            return
        tokens = current()
        rect: QRect = option.rect.adjusted(4, 1, -4, -1)
        if row.kind is RowKind.HEADING:
            place = rect.adjusted(_INSET, 6, -_INSET, 0)
            draw_text(painter, place, row.text, tokens.muted, small_font(), elide=ELIDE)
            return
        self._paint_ground(painter, option, index, rect, row, tokens)
        inner = rect.adjusted(_INSET, 0, -_INSET, 0)
        if row.kind is RowKind.FOLDER:
            self._paint_folder(painter, inner, row, tokens)
        else:
            self._paint_chat(painter, inner, row, index, tokens)

    def _paint_ground(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: Index,
        rect: QRect,
        row: SidebarRow,
        tokens: Tokens,
    ) -> None:
        state = option.state
        model = index.model()
        is_current = isinstance(model, SidebarModel) and model.is_current(row)
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        is_target = isinstance(model, SidebarModel) and model.is_target(row)
        has_focus = bool(state & QStyle.StateFlag.State_HasFocus) or is_target
        painter.setPen(QColor(tokens.accent) if has_focus else Qt.PenStyle.NoPen)
        if is_current or is_selected or state & QStyle.StateFlag.State_MouseOver or has_focus:
            ground = QColor(tokens.raised)
            if is_selected and not is_current:
                ground = QColor(tokens.hairline)
            painter.setBrush(ground)
            painter.drawRoundedRect(rect.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        if index.data(MARK) is not None:  # it has a tab
            height, colour = (rect.height() - 14, tokens.accent) if is_current else (8, tokens.muted)
            bar = QRectF(rect.left(), rect.center().y() + 0.5 - height / 2, 3, height)
            painter.fillRect(bar, QColor(colour))

    def _paint_folder(self, painter: QPainter, rect: QRect, row: SidebarRow, tokens: Tokens) -> None:
        chevron = "chevron-down" if row.is_open else "chevron-right"
        paint_icon(painter, chevron, _square(rect.left(), rect), tokens.muted)
        width = draw_text(painter, rect, count(row.num_chats), tokens.muted, alignment=AT_RIGHT)
        name = rect.adjusted(_SIDE + 6, 0, -width - 8, 0)
        if row.is_project:
            paint_icon(painter, "briefcase", _square(name.left(), rect), tokens.muted)
            name.setLeft(name.left() + _SIDE + 6)
        draw_text(painter, name, row.text, tokens.text, elide=ELIDE)

    def _paint_chat(
        self, painter: QPainter, rect: QRect, row: SidebarRow, index: Index, tokens: Tokens
    ) -> None:
        mark = index.data(MARK)
        if row.folder and not row.is_pinned:
            rect = rect.adjusted(_INDENT, 0, 0, 0)
        if mark is not None and mark is not marks.IDLE:
            paint_mark(painter, _square(rect.right() - _SIDE, rect), mark, tokens)
            rect = rect.adjusted(0, 0, -_SIDE - 4, 0)
        elif row.is_pinned:
            paint_icon(painter, "pin", _square(rect.right() - 12, rect, 12), tokens.muted)
            rect = rect.adjusted(0, 0, -_SIDE - 4, 0)
        draw_text(painter, rect, row.text, tokens.text, elide=ELIDE)

    # Renaming

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        edit = QLineEdit(parent)
        edit.setMaxLength(MAX_GIVEN_CHARS)
        edit.setProperty("place", "title")
        edit.setAccessibleName(tr("Title"))
        return edit

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Without this, Qt would end the editing whenever another window is activated."""
        is_left = event.type() == QEvent.Type.FocusOut
        if is_left and isinstance(event, QFocusEvent) and event.reason() in STILL_EDITED:
            return False
        return super().eventFilter(editor, event)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        editor.setText(str(index.data()))
        editor.selectAll()

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        model.setData(index, editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(4, 2, -4, -2))


def _square(left: float, rect: QRect, side: int = _SIDE) -> QRectF:
    return QRectF(left, rect.center().y() - side / 2 + 0.5, side, side)
