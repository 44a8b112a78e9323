"""Consecutive blocks of prose in one view, so that a selection can span them. Formulas are images in it.

GUI thread.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QCursor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QImage,
    QPainter,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFragment,
    QTextFrame,
    QTextLine,
    QTextTable,
)
from PySide6.QtWidgets import QTextEdit, QToolTip, QWidget

from app.look.icons import icon
from app.look.painted import paint_rounded
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.copy_button import copy_text
from app.ui.base.frame_budget import frame_budget
from app.ui.base.hidden_characters import mark_hidden
from app.ui.message.folding import fold, unfold
from app.ui.message.markdown import Block, BlockKind
from app.ui.message.markdown_html import COPY, MATH, formula_source
from app.ui.message.math_image import Drawn, Formula, formulas
from app.ui.message.passages import FAMILIES, CopiedPassage, is_framed_code, passages
from app.ui.message.safe_browser import LINE_HEIGHT, SafeBrowser
from app.ui.message.text_part import coloured

_DISPLAYED = ("", "$$", "\\[")
_COPY_SCHEME, _COPY_ICON = "copy", "icon:copy"
ICON = 13
EM = 1.2  # the letters of formulas are smaller than those of most text fonts
RADIUS = 8  # of code
BAR = 3  # beside a quotation
_OBJECT = "\ufffc"


class ProsePane(SafeBrowser):
    height_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._html = ""
        self._images: dict[str, QImage] = {}
        self._sources: dict[str, str] = {}  # of the images, by their name
        self._codes: list[str] = []  # in lists and quotations
        self._words: list[tuple[int, int]] = []  # of code, beside a formula: where they begin and end
        self._grounds: list[QRectF] | None = None  # of these words; None: to be laid out
        self._drawn: dict[Formula, Drawn] = {}
        self._former: dict[tuple[str, bool], Drawn] = {}  # by LaTeX: as they were until they are drawn anew
        self._awaited: set[Formula] = set()
        self._tokens = current()  # the colours it is drawn in
        self._room = 0  # for a formula, in pixels
        self._redraws = QTimer(self, singleShot=True, interval=30)
        self._redraws.timeout.connect(lambda: frame_budget().wait(self, self._redraw_with_formulas))
        self.setAccessibleName(tr("Answer"))
        formulas().drawn.connect(self._on_drawn)

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        self.set_scrolling(blocks[0].kind is BlockKind.FORMULA)
        rendered = "".join(block.html for block in blocks)
        if rendered != self._html or current() != self._tokens:
            self._html = rendered
            self.redraw()

    def redraw(self) -> None:
        """In the colours, the size and the resolution of now."""
        for kept in (self._awaited, self._images, self._sources, self._codes, self._words):
            kept.clear()
        self._grounds = None
        self._tokens = current()
        drawn, self._drawn = self._drawn, {}
        self._former |= {(each.latex, each.is_display): image for each, image in drawn.items()}
        rendered = MATH.sub(lambda found: self._formula(found, drawn), self._html)
        self.show_html(COPY.sub(self._copy_link, rendered) if "<copy" in rendered else rendered)
        self._put_formulas_on_the_line()
        if not self._awaited:
            self._former.clear()

    def set_reading_font(self, font: QFont) -> None:
        if font != self.document().defaultFont():
            super().set_reading_font(font)
            if "<math" in self._html:
                self.redraw()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._images:
            self.redraw()
        return super().event(event)

    def arrange(self, width: int) -> int:
        """A formula that is wider than the page is scaled down, or scrolls."""
        before, self._room = self._room or width, width
        if self.scrolls:
            return self._arrange_scrolling(width)
        if any(min(before, width) < _width(image) and before != width for image in self._images.values()):
            self.redraw()
        self._grounds = None
        return super().arrange(width)

    def _arrange_scrolling(self, width: int) -> int:
        wide = max([width, *(ceil(_width(image)) for image in self._images.values())])
        self.setLineWrapColumnOrWidth(wide)
        bar = self.horizontalScrollBar().sizeHint().height() if wide > width else 0
        height = int(self.document().size().height() + 0.99) + bar
        self.setFixedSize(width, height)
        return height

    def plain_text(self) -> str:
        return self._with_sources(
            unfold(self.toPlainText()), self.document().begin(), 0, len(self.toPlainText())
        )

    def copied(self, begin: int, end: int) -> list[CopiedPassage]:
        return passages(self.document(), begin, end, self._sources)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Only images that we have drawn ourselves."""
        image = self._images.get(name if isinstance(name, str) else name.toString())
        return image if image is not None else super().loadResource(kind, name)

    # What is selected

    def selected_pieces(self, begin: int, end: int) -> list[QTextEdit.ExtraSelection]:
        """Without the images, on which Qt paints the colour once more, and darker."""
        found = super().selected_pieces(begin, end)
        return [piece for each in found for piece in self._apart(each)] if self._images else found

    def _apart(self, selection: QTextEdit.ExtraSelection) -> Iterator[QTextEdit.ExtraSelection]:
        """Its images have no colour."""
        begin, end = selection.cursor.selectionStart(), selection.cursor.selectionEnd()
        for at, behind in self._images_in(begin, end):
            yield _part_of(selection, begin, at)
            yield coloured(self.document(), at, behind, None)
            begin = behind
        yield _part_of(selection, begin, end)

    def _images_in(self, begin: int, end: int) -> list[tuple[int, int]]:
        places = (
            (each.position(), each.position() + each.length())
            for each in self._image_fragments(self.document().findBlock(begin), end)
        )
        return [(at, behind) for at, behind in places if begin <= at and behind <= end]

    def _paint_selected_images(self, begin: int, end: int) -> None:
        painter, colour = QPainter(self.viewport()), self.selection_colour()
        painter.translate(-self.horizontalScrollBar().value(), 0)
        for at, behind in self._images_in(begin, end):
            block = self.document().findBlock(at)
            line = block.layout().lineForTextPosition(at - block.position())
            if not line.isValid():
                continue
            place = self.document().documentLayout().blockBoundingRect(block).topLeft()
            ends = [place.x() + _x_of(line, each - block.position()) for each in (at, behind)]
            left, top = ceil(ends[0]), floor(place.y() + line.y())
            painter.fillRect(QRectF(left, top, floor(ends[1]) - left, line.height()), colour)
        painter.end()

    # Quotations

    def paintEvent(self, event: QPaintEvent) -> None:
        if '<table class="quote"' in self._html or '<table class="code"' in self._html:
            self._paint_frames()
        if self._words:
            self._paint_ground_of_words()
        begin, end = self.selected_range
        if begin < end and self._images:
            self._paint_selected_images(begin, end)
        super().paintEvent(event)

    def _paint_frames(self) -> None:
        painter, bar = QPainter(self.viewport()), QColor(self._tokens.hairline)
        for frame in _frames(self.document().rootFrame()):
            place = self.document().documentLayout().frameBoundingRect(frame)
            if isinstance(frame, QTextTable):  # Qt gives the corner of the text in its cell
                look = frame.format()
                place.translate(-look.cellPadding(), -look.cellPadding())
                place.setWidth(place.width() - look.leftMargin() - look.rightMargin())
                place.setHeight(place.height() - look.topMargin() - look.bottomMargin())
                paint_rounded(painter, place, RADIUS, fill=self._tokens.raised)
            else:
                painter.fillRect(QRectF(place.left() + BAR, place.top(), BAR, place.height()), bar)
        painter.end()

    # Code in lists and quotations

    def _copy_link(self, found: re.Match[str]) -> str:
        """Messages cannot contain such a link: theirs lead to the web and to mail only."""
        self._codes.append(html.unescape(found[1]))
        self._images[_COPY_ICON] = self._copy_icon()
        self._sources[_COPY_ICON] = ""
        image = f'<img src="{_COPY_ICON}" style="vertical-align: middle">'
        return f'<a href="{_COPY_SCHEME}:{len(self._codes) - 1}">{image}</a>'

    def _copy_icon(self) -> QImage:
        scale = self.devicePixelRatioF()
        return icon("copy").pixmap(QSize(ICON, ICON), scale).toImage()

    def _on_anchor_clicked(self, url: QUrl) -> None:
        if url.scheme() != _COPY_SCHEME:
            super()._on_anchor_clicked(url)
        elif url.path().isdecimal() and int(url.path()) < len(self._codes):
            said = copy_text(self._codes[int(url.path())])
            QToolTip.showText(QCursor.pos(), said, self)

    def tip_of(self, target: str) -> str:
        return tr("Copy code") if target.startswith(f"{_COPY_SCHEME}:") else super().tip_of(target)

    # Formulas

    def _formula(self, found: re.Match[str], there: Mapping[Formula, Drawn]) -> str:
        opens, latex = html.unescape(found[1]), html.unescape(found[2])
        source = formula_source(opens, latex)
        font = self.document().defaultFont()
        formula = Formula(
            latex.strip(),
            opens in _DISPLAYED,
            em=QFontInfo(font).pixelSize() * EM,
            colour=current().text,
            scale=self.devicePixelRatioF(),
            line_descent=QFontMetricsF(font).descent(),
            x_height=QFontMetricsF(font).xHeight(),
            warning=current().danger,
        )
        drawn = there.get(formula) or formulas().find(formula)
        if drawn is not None:
            self._drawn[formula] = drawn
        else:
            self._awaited.add(formula)
            former = self._former.get((formula.latex, formula.is_display))
            if former is None:
                return f'<code class="source">{html.escape(fold(mark_hidden(source)))}</code>'
            drawn = former.in_colour(formula.colour)
        name = self._named(formula, drawn, source)
        is_too_wide = not self.scrolls and 0 < self._room < _width(drawn.image)
        return f'<img src="{name}"' + (f' width="{self._room}">' if is_too_wide else ">")

    def _named(self, formula: Formula, drawn: Drawn, source: str) -> str:
        """Each image needs a name of its own: the document keeps what it was given by name."""
        name = f"formula:{'middle' if drawn.is_centred else 'line'}:{hash((formula, source))}"
        self._images[name] = drawn.image
        self._sources[name] = source
        return name

    def _put_formulas_on_the_line(self) -> None:
        if not self._images:
            return
        self.setAccessibleDescription(self.plain_text())  # screen readers cannot read images
        spacing = QTextBlockFormat()  # the same between lines that are high and those that are not
        distance = QFontMetricsF(self.document().defaultFont()).height() * (LINE_HEIGHT / 100 - 1)
        spacing.setLineHeight(distance, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()  # or each change would lay out its whole paragraph again
        for fragment in self._image_fragments(self.document().begin(), self.document().characterCount()):
            name = fragment.charFormat().toImageFormat().name()
            where = QTextCharFormat.VerticalAlignment
            if not name.startswith("formula:"):
                continue
            spot = where.AlignMiddle if name.startswith("formula:middle") else where.AlignBaseline
            cursor.setPosition(fragment.position())
            cursor.setPosition(fragment.position() + fragment.length(), cursor.MoveMode.KeepAnchor)
            change = QTextCharFormat()
            change.setVerticalAlignment(spot)
            cursor.mergeCharFormat(change)
            if cursor.blockFormat().lineHeightType() != spacing.lineHeightType():
                cursor.mergeBlockFormat(spacing)
                self._take_ground_of_words(cursor.block())
        cursor.endEditBlock()

    def _take_ground_of_words(self, block: QTextBlock) -> None:
        """Qt would paint the ground of code as high as the formula beside it."""
        plain = QTextCharFormat()
        plain.setBackground(QColor(0, 0, 0, 0))
        cursor = QTextCursor(block)
        pieces = [piece.fragment() for piece in block]  # type: ignore[attr-defined]
        for fragment in pieces:
            look = fragment.charFormat()
            if look.hasProperty(FAMILIES) and not look.isImageFormat():
                begin, end = fragment.position(), fragment.position() + fragment.length()
                cursor.setPosition(begin)
                cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(plain)
                self._words.append((begin, end))

    def _paint_ground_of_words(self) -> None:
        """Each ground is as high as the letters around it."""
        painter, colour = QPainter(self.viewport()), QColor(self._tokens.raised)
        if self._grounds is None:
            self._grounds = list(self.grounds_of_words())
        for rect in self._grounds:
            painter.fillRect(rect, colour)
        painter.end()

    def grounds_of_words(self) -> Iterator[QRectF]:
        """One for each line of each."""
        metrics = QFontMetricsF(self.document().defaultFont())
        for begin, end in self._words:
            block = self.document().findBlock(begin)
            place, at = self.document().documentLayout().blockBoundingRect(block).topLeft(), block.position()
            layout = block.layout()
            for line in map(layout.lineAt, range(layout.lineCount())):
                first = max(begin - at, line.textStart())
                last = min(end - at, line.textStart() + line.textLength())
                if first < last:
                    ends = sorted(place.x() + _x_of(line, each) for each in (first, last))
                    top = place.y() + line.y() + line.ascent() - metrics.ascent()
                    yield QRectF(ends[0], top, ends[1] - ends[0], metrics.height())

    def _image_fragments(self, block: QTextBlock, end: int) -> list[QTextFragment]:
        found: list[QTextFragment] = []
        while block.isValid() and block.position() < end:
            found += [
                piece.fragment()
                for piece in block  # type: ignore[attr-defined]
                if piece.fragment().charFormat().isImageFormat()
            ]
            block = block.next()
        return found

    def _with_sources(self, text: str, block: QTextBlock, begin: int, end: int) -> str:
        """The text with formulas as written, instead of their images."""
        if _OBJECT not in text:
            return text
        sources = [
            self._sources.get(fragment.charFormat().toImageFormat().name(), "")
            for fragment in self._image_fragments(block, end)
            for position in range(fragment.position(), fragment.position() + fragment.length())
            if begin <= position < end
        ]
        pieces = text.split(_OBJECT)
        return "".join(piece + source for piece, source in zip(pieces, [*sources, ""], strict=False))

    def _on_drawn(self, formula: Formula, drawn: Drawn) -> None:
        if formula in self._awaited:
            self._drawn[formula] = drawn
            self._redraws.start()

    def _redraw_with_formulas(self) -> None:
        self.redraw()
        self.height_changed.emit()


def _frames(frame: QTextFrame) -> Iterator[QTextFrame]:
    """Code, which is a table, and quotations: frames that are no tables. Images are empty frames to Qt."""
    for inner in frame.childFrames():
        if isinstance(inner, QTextTable):
            if inner.rows() == inner.columns() == 1 and is_framed_code(inner):
                yield inner
        else:
            if inner.firstPosition() <= inner.lastPosition():
                yield inner
            yield from _frames(inner)


def _part_of(selection: QTextEdit.ExtraSelection, begin: int, end: int) -> QTextEdit.ExtraSelection:
    part = coloured(selection.cursor.document(), begin, end, None)
    part.format = selection.format
    return part


def _x_of(line: QTextLine, position: int) -> float:
    return float(line.cursorToX(position)[0])  # type: ignore[index]


def _width(image: QImage) -> float:
    return image.width() / image.devicePixelRatio()
