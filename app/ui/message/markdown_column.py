"""Markdown as a column of prose and code, drawn again only where it has changed. GUI thread."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QWidget

from app.look.fonts import code_font, reading_font
from app.ui.message.code_block import CodeBlock
from app.ui.message.growing_markdown import GrowingMarkdown
from app.ui.message.long_text import LongText
from app.ui.message.markdown import Block, BlockKind
from app.ui.message.prose_pane import ProsePane

GAP = 10
TABLE_SEAM = 4  # what Qt leaves free around a table, so that two of its pieces meet
MAX_CHARS = 100_000
MAX_PANE_CHARS = 4_000  # of HTML: laying out a pane of this length takes a few milliseconds


class MarkdownColumn(QWidget):
    """Which view shows which block depends on the blocks alone: however a text came, it ends up the same."""

    height_changed = Signal()  # by itself: the text has not changed

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._zoom = 0
        self._reader = GrowingMarkdown()
        self._long: LongText | None = None
        self._is_whole = False
        self._groups: list[list[Block]] = []
        self.parts: list[ProsePane | CodeBlock] = []

    def show_growing(self, source: str) -> None:
        self._is_whole = False
        if not self._show_as_written(source, len(source) - len(self._reader.source) > MAX_CHARS):
            self._reader.feed(source)
            self._draw(list(_groups(self._reader.blocks)))

    def show_whole(self, source: str) -> None:
        if self._is_whole and source == self._reader.source:
            return
        self._is_whole = True
        if not self._show_as_written(source, len(source) > MAX_CHARS):
            self._reader.finish(source)
            self._draw(list(_groups(self._reader.blocks)))

    def _show_as_written(self, source: str, is_too_long: bool) -> bool:
        """Reading megabytes of Markdown would stop the window."""
        if is_too_long and self._long is None:
            self._long = LongText(self)
            self._long.set_reading_font(reading_font(self._zoom))
            self._long.height_changed.connect(self.height_changed)
            self._long.show()
            self._draw([])
            self._reader = GrowingMarkdown()
        if is_too_long and self._long:
            self._reader.source = source
            self._long.show_text(source)
        elif self._long:
            self._long.hide()
            self._long.deleteLater()
            self._long = None
            self._reader = GrowingMarkdown()
        return is_too_long

    def plain_text(self) -> str:
        if self._long:
            return self._reader.source
        return "\n".join(part.plain_text() for part in self.parts)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for part in self.parts:
            self._apply_fonts(part)
        if self._long:
            self._long.set_reading_font(reading_font(zoom))

    def arrange(self, width: int) -> int:
        y = self._long.arrange(width) if self._long else 0
        for part, group in zip(self.parts, self._groups, strict=True):
            y += _gap_before(group[0]) if y else 0
            part.move(0, y)
            y += part.arrange(width)
        self.setFixedSize(width, y)
        return y

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            for part in self.parts:
                if isinstance(part, ProsePane):
                    part.redraw()

    def _draw(self, groups: list[list[Block]]) -> None:
        for index, group in enumerate(groups):
            wanted = CodeBlock if group[0].kind is BlockKind.CODE else ProsePane
            if index < len(self.parts) and not isinstance(self.parts[index], wanted):
                self._discard_from(index)
            if index == len(self.parts):
                self.parts.append(self._new_part(wanted))
            elif group == self._groups[index]:
                continue
            part = self.parts[index]
            if isinstance(part, CodeBlock):
                part.show_block(group[0])
            else:
                part.show_blocks(group)
        self._discard_from(len(groups))
        self._groups = groups

    def _new_part(self, kind: type[ProsePane] | type[CodeBlock]) -> ProsePane | CodeBlock:
        part = kind(self)
        part.height_changed.connect(self.height_changed)
        self._apply_fonts(part)
        part.show()
        return part

    def _discard_from(self, index: int) -> None:
        for part in self.parts[index:]:
            part.hide()
            part.deleteLater()
        del self.parts[index:]
        del self._groups[index:]

    def _apply_fonts(self, part: ProsePane | CodeBlock) -> None:
        if isinstance(part, CodeBlock):
            part.set_code_font(code_font(self._zoom))
        else:
            part.set_reading_font(reading_font(self._zoom))


def _gap_before(block: Block) -> int:
    if not block.joins:
        return GAP
    return -TABLE_SEAM if block.kind is BlockKind.TABLE else 0


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """What stands in one view: a piece of code, a piece of a long table, or some prose."""
    group: list[Block] = []
    size = 0
    for block in blocks:
        stands_alone = block.kind is BlockKind.CODE or bool(block.widths)
        if group and (stands_alone or size >= MAX_PANE_CHARS):
            yield group
            group, size = [], 0
        if stands_alone:
            yield [block]
            continue
        group.append(block)
        size += len(block.html)
    if group:
        yield group
