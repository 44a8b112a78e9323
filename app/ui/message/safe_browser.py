"""A text view for untrusted text: loads nothing, follows no links, drops no text.

Has no scroll bar upright: it is as high as its text, which `arrange` returns. GUI thread.
"""

from math import floor
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QCursor,
    QFont,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextList,
    QTextOption,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit, QToolTip, QWidget

from app.look.fonts import code_font
from app.look.icons import icon
from app.look.plain_text import as_tooltip
from app.look.popups import Menu
from app.look.tokens import Tokens, current
from app.look.words import tr
from app.ui.base.citations import SCHEME, open_source, sources_of, with_links
from app.ui.base.copy_button import copy_text
from app.ui.base.hidden_characters import mark_hidden
from app.ui.message.folding import fold
from app.ui.message.link_doubts import Doubt, LinkPrompt, doubts, real_target
from app.ui.message.markdown_html import is_safe_link
from app.ui.message.text_part import SelectedText, coloured

LINE_HEIGHT = 125.0  # percent of the font's own: with Inter a line is 1.5 times as high as its letters
INDENT = 32  # of a list
MARK = 20  # of an item, with the space after it
QUOTE_INDENT = 15
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


class SafeBrowser(SelectedText, QTextBrowser):
    scrolls = False  # sideways: what it shows may be wider than the page

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
        self.document().setIndentWidth(INDENT)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def set_reading_font(self, font: QFont) -> None:
        self.document().setDefaultFont(font)

    def set_scrolling(self, scrolls: bool) -> None:
        self.scrolls = scrolls
        modes, policies = self.LineWrapMode, Qt.ScrollBarPolicy
        self.setLineWrapMode(modes.FixedPixelWidth if scrolls else modes.WidgetWidth)
        self.setHorizontalScrollBarPolicy(
            policies.ScrollBarAsNeeded if scrolls else policies.ScrollBarAlwaysOff
        )

    def show_plain(self, text: str) -> None:
        self.setPlainText(fold(mark_hidden(text)))
        everything = QTextCursor(self.document())
        everything.select(QTextCursor.SelectionType.Document)
        spacing = QTextBlockFormat()
        spacing.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        everything.mergeBlockFormat(spacing)

    def show_html(self, html: str) -> None:
        """Replaces the text; a link that has the focus keeps it where nothing has changed."""
        selected = self.textCursor()
        anchor, position = selected.anchor(), selected.position()
        had_selection = selected.hasSelection()
        points = self.document().defaultFont().pointSizeF()
        families = ", ".join(f"'{family}'" for family in code_font().families())
        self.document().setDefaultStyleSheet(prose_style_sheet(current(), points, families))
        is_source = sources_of(self)
        self.setHtml(with_links(html, is_source) if is_source else html)
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
        self._settle_viewport()
        if self.document().textWidth() != width:  # Qt would lay out everything again for the same width
            self.document().setTextWidth(width)
        height = int(self.document().size().height() + 0.99)
        self.setFixedSize(width, height)
        return height

    def resizeEvent(self, event: QResizeEvent) -> None:
        """`arrange` lays it out; Qt would do so again, and for the width that a new view has until then."""
        size = event.size()
        if self.scrolls:
            super().resizeEvent(event)
        elif self.document().textWidth() == size.width():
            super().resizeEvent(QResizeEvent(size, QSize(size.width(), event.oldSize().height())))

    def ideal_width(self) -> int:
        """What the text would take without wrapping."""
        self._settle_viewport()
        self.document().setTextWidth(-1)
        return int(self.document().idealWidth()) + 2

    def _settle_viewport(self) -> None:
        """In a hidden view Qt would do so while it lays out the text, and then for that width."""
        self.viewport().resize(self.size())

    def loadResource(self, kind: int, _name: QUrl | str) -> Any:
        """Nothing is ever loaded by name: an image path may be a pipe, a device or a tracker.

        An image must be answered by an image: for anything else Qt opens the file itself.
        """
        return _NO_IMAGE if kind == _IMAGE else ""

    def selected_pieces(self, begin: int, end: int) -> list[QTextEdit.ExtraSelection]:
        """One that leaves a table or a quotation would take in all of that.

        The first letter of a list item stands for its mark, too, which has no look of its own.
        """
        document, colour, text = self.document(), self.selection_colour(), QColor(current().text)
        found: list[QTextEdit.ExtraSelection] = []
        block, start, before = document.findBlock(begin), begin, -1
        while block.isValid() and block.position() <= end:
            here, at = _frame_of(block), block.position()
            if here != before and before >= 0:
                found.append(coloured(document, start, at - 1, colour))
                start = at
            if _is_item(block) and begin <= at < end:
                found += [coloured(document, start, at, colour), coloured(document, at, at + 1, None, text)]
                start = at + 1
            before, block = here, block.next()
        return [*found, coloured(document, start, end, colour)]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt paints what is selected, but for the marks of list items."""
        begin, end = self.selected_range
        if begin < end:
            self._paint_selected_marks(begin, end)
        super().paintEvent(event)

    def _paint_selected_marks(self, begin: int, end: int) -> None:
        painter, block = QPainter(self.viewport()), self.document().findBlock(begin)
        while block.isValid() and block.position() < end:
            if _is_item(block) and block.position() >= begin and block.layout().lineCount():
                line = block.layout().lineAt(0)
                place = block.layout().position()
                left, right = line.x() - MARK, float(line.cursorToX(1)[0])  # type: ignore[index]
                rect = QRectF(place.x() + left, place.y() + line.y(), right - left, line.height())
                rect.moveTop(floor(rect.top()))
                rect.setRight(floor(rect.right()))  # where the letters' colour begins: both are translucent
                painter.fillRect(rect, self.selection_colour())
            block = block.next()
        painter.end()

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
        QToolTip.showText(event.globalPos(), self.tip_of(target) if target else "", self)

    def tip_of(self, target: str) -> str:
        """The tooltip of a link."""
        if target.startswith(f"{SCHEME}:"):
            return tr("Open this source")
        return f"<span>{as_tooltip(real_target(QUrl(target)))}</span>"

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Up and down is for the page."""
        if self.scrolls and abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _SCROLL_KEYS and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        target = self.anchorAt(event.pos())
        if not is_safe_link(target):
            event.ignore()  # then it is about what is selected, or the whole message
            return
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("globe"), tr("&Open link…")).triggered.connect(
            lambda: self.anchorClicked.emit(QUrl(target))
        )
        menu.addAction(icon("copy"), tr("&Copy link address")).triggered.connect(lambda: copy_text(target))
        menu.popup(event.globalPos())

    def _on_anchor_clicked(self, url: QUrl) -> None:
        """Asks first: only the system's browser and mail program are ever given a link, and by the user."""
        if url.scheme() == SCHEME and sources_of(self):
            open_source(url.path(), self._said_before_click())
        elif is_safe_link(url.toString()):
            prompt = LinkPrompt(url, self._doubts_about(url), self)
            prompt.popup(QCursor.pos() if self.underMouse() else self._place_of_cursor())

    def _said_before_click(self) -> str:
        """The paragraph up to the link that was clicked or has the keyboard."""
        place = self.viewport().mapFromGlobal(QCursor.pos())
        cursor = self.cursorForPosition(place) if self.underMouse() else self.textCursor()
        return cursor.block().text()[: cursor.positionInBlock() + len("[00000]")]

    def _doubts_about(self, url: QUrl) -> tuple[Doubt, ...]:
        """The doubts about all links to that target: Qt does not say which one was clicked."""
        found = [doubt for words in self._words_of(url) for doubt in doubts(words, url.toString())]
        return tuple(dict.fromkeys(found))

    def _words_of(self, url: QUrl) -> list[str]:
        words: list[str] = []
        block = self.document().begin()
        while block.isValid():
            parts = ""
            for piece in block:  # type: ignore[attr-defined]
                fragment = piece.fragment()
                is_of_link = QUrl(fragment.charFormat().anchorHref()) == url
                if not is_of_link and parts:
                    words.append(parts)
                parts = parts + fragment.text() if is_of_link else ""
            if parts:
                words.append(parts)
            block = block.next()
        return words

    def _place_of_cursor(self) -> QPoint:
        return self.viewport().mapToGlobal(self.cursorRect().bottomLeft())


def _is_item(block: QTextBlock) -> bool:
    listed: QTextList | None = block.textList()
    return listed is not None


def _frame_of(block: QTextBlock) -> int:
    """Where the frame or the cell around it begins."""
    cursor = QTextCursor(block)
    table: QTextTable | None = cursor.currentTable()
    around = table.cellAt(cursor) if table is not None else cursor.currentFrame()
    return around.firstPosition()


def prose_style_sheet(tokens: Tokens, points: float, code_families: str) -> str:
    return f"""
        p, li, h1, h2, h3, h4, h5, h6 {{ line-height: {LINE_HEIGHT:.0f}%; color: {tokens.text}; }}
        p {{ margin-top: 0; margin-bottom: 10px; }}
        ul, ol {{ margin-top: 0; margin-bottom: 8px; }}
        li {{ margin-top: 0; margin-bottom: 2px; }}
        h1 {{ font-size: x-large; font-weight: 600; margin-top: 12px; margin-bottom: 6px; }}
        h2 {{ font-size: large; font-weight: 600; margin-top: 12px; margin-bottom: 6px; }}
        h3, h4, h5, h6 {{ font-size: medium; font-weight: 600; margin-top: 8px; margin-bottom: 4px; }}
        .cjk {{ font-weight: 700; }}
        a {{ color: {tokens.accent}; text-decoration: underline; }}
        code, kbd {{ background-color: {tokens.raised}; }}
        code, kbd, pre {{ font-family: {code_families}; }}
        p code, li code, td code, kbd, pre {{ font-size: {points - 1:g}pt; }}
        pre {{ margin-top: 0; margin-bottom: 0; line-height: 100%; }}
        .language {{ color: {tokens.muted}; font-size: small; margin-bottom: 4px; line-height: 100%; }}
        .keyword {{ color: {tokens.keyword}; }}
        .string {{ color: {tokens.string}; }}
        .number {{ color: {tokens.number}; }}
        .comment {{ color: {tokens.muted}; font-style: italic; }}
        .function {{ color: {tokens.function}; }}
        .type {{ color: {tokens.type_}; }}
        .operator {{ color: {tokens.operator}; }}
        .added, .tip {{ color: {tokens.ok}; }}
        .removed, .caution {{ color: {tokens.danger}; }}
        .note, .important {{ color: {tokens.accent}; }}
        .warning {{ color: {tokens.warning}; }}
        hr {{ background-color: {tokens.hairline}; }}
        td, th {{ line-height: 125%; color: {tokens.text}; }}
        table {{ margin-top: 4px; margin-bottom: 12px; }}
        .quote {{ -qt-table-type: frame; margin-left: {QUOTE_INDENT}px; margin-bottom: 0; }}
        .grid th {{ background-color: {tokens.raised}; }}
        .grid th, .grid td {{ border-bottom: 1px solid {tokens.hairline}; }}
        .piece {{ margin-top: 0; margin-bottom: 0; }}
        ul ul, ul ol, ol ul, ol ol {{ margin-top: 2px; margin-bottom: 0; }}
        .more {{ margin-bottom: 2px; }}
        p.more {{ margin-bottom: 0; }}
        .footnote {{ color: {tokens.muted}; font-size: small; }}
        .badge {{ color: {tokens.warning}; background-color: {tokens.raised}; font-size: small; }}
        .source {{ color: {tokens.muted}; }}
        .grid {{ border-style: solid; border-color: {tokens.hairline}; border-collapse: collapse; }}
    """
