"""A text view for words that are not ours: loads nothing, follows nothing, loses nothing.

Has no scroll bars; it is as high as its text, and whoever places it asks for that by `arrange`. GUI thread.
"""

from typing import Any

from PySide6.QtCore import QEvent, QMimeData, Qt, QUrl
from PySide6.QtGui import (
    QContextMenuEvent,
    QDesktopServices,
    QFont,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QToolTip, QWidget

from app.look.plain_text import as_tooltip
from app.look.tokens import Tokens, current
from app.ui.markdown import fold, is_safe_link, unfold

LINE_HEIGHT = 145.0  # percent
_IMAGE = QTextDocument.ResourceType.ImageResource.value
_NO_IMAGE = QImage(1, 1, QImage.Format.Format_ARGB32)
_NO_IMAGE.fill(0)
_SCROLL_KEYS = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
)


class SafeBrowser(QTextBrowser):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def set_reading_font(self, font: QFont) -> None:
        self.document().setDefaultFont(font)

    def show_plain(self, text: str) -> None:
        self.setPlainText(fold(text))
        everything = QTextCursor(self.document())
        everything.select(QTextCursor.SelectionType.Document)
        spacing = QTextBlockFormat()
        spacing.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        everything.mergeBlockFormat(spacing)

    def show_html(self, html: str) -> None:
        """Replaces the text; what is selected stays selected where it did not change."""
        selected = self.textCursor()
        anchor, position = selected.anchor(), selected.position()
        had_selection = selected.hasSelection()
        self.document().setDefaultStyleSheet(prose_style_sheet(current()))
        self.setHtml(html)
        if had_selection:
            self._select(anchor, position)

    def _select(self, anchor: int, position: int) -> None:
        cursor = self.textCursor()
        last = self.document().characterCount() - 1
        cursor.setPosition(min(anchor, last))
        cursor.setPosition(min(position, last), cursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def arrange(self, width: int) -> int:
        """Takes this width and returns the height it needs for it."""
        self.document().setTextWidth(width)
        height = int(self.document().size().height() + 0.99)
        self.setFixedSize(width, height)
        return height

    def ideal_width(self) -> int:
        """What the text would take without wrapping."""
        self.document().setTextWidth(-1)
        return int(self.document().idealWidth()) + 2

    def loadResource(self, kind: int, _name: QUrl | str) -> Any:
        """Nothing is ever loaded by name: an image path may be a pipe, a device or somebody's tracker.

        An image must be answered by an image: for anything else Qt opens the file itself.
        """
        return _NO_IMAGE if kind == _IMAGE else ""

    def createMimeDataFromSelection(self) -> QMimeData:
        data = super().createMimeDataFromSelection()
        plain = QMimeData()
        plain.setText(unfold(data.text()))
        return plain

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_target(event)
            return True
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_target(event)
            return True
        return super().viewportEvent(event)

    def _show_target(self, event: QHelpEvent) -> None:
        target = self.anchorAt(event.pos())
        QToolTip.showText(event.globalPos(), as_tooltip(real_target(target)) if target else "", self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _SCROLL_KEYS and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu(event.pos())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def _on_anchor_clicked(self, url: QUrl) -> None:
        if is_safe_link(url.toString()):
            QDesktopServices.openUrl(url)


def real_target(target: str) -> str:
    """Where a link really leads, with look-alike letters made visible."""
    return bytes(QUrl(target).toEncoded().data()).decode("ascii", "replace")


def prose_style_sheet(tokens: Tokens) -> str:
    return f"""
        p, li, h1, h2, h3, h4, h5, h6 {{ line-height: {LINE_HEIGHT:.0f}%; color: {tokens.text}; }}
        p {{ margin-top: 0; margin-bottom: 8px; }}
        ul, ol {{ margin-top: 0; margin-bottom: 8px; }}
        li {{ margin-top: 0; margin-bottom: 2px; }}
        h1 {{ font-size: x-large; font-weight: 600; margin-top: 12px; margin-bottom: 6px; }}
        h2 {{ font-size: large; font-weight: 600; margin-top: 12px; margin-bottom: 6px; }}
        h3, h4, h5, h6 {{ font-size: medium; font-weight: 600; margin-top: 8px; margin-bottom: 4px; }}
        a {{ color: {tokens.accent}; text-decoration: underline; }}
        code {{ background-color: {tokens.raised}; }}
        pre {{ background-color: {tokens.raised}; margin-top: 4px; margin-bottom: 8px; }}
        hr {{ background-color: {tokens.hairline}; }}
        td, th {{ line-height: 125%; color: {tokens.text}; }}
        table {{ margin-top: 4px; margin-bottom: 12px; }}
        .grid {{ border-style: solid; border-color: {tokens.hairline}; border-collapse: collapse; }}
        .quote td {{ border-left: 3px solid {tokens.hairline}; padding-left: 10px; color: {tokens.muted}; }}
    """
