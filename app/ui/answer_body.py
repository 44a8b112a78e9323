"""The text of an answer as a column of prose and code, drawn again only where it grows. GUI thread."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

from app.look.fonts import code_font, reading_font
from app.ui.code_block import CodeBlock
from app.ui.markdown import Block, BlockKind, parse_blocks
from app.ui.safe_browser import SafeBrowser

GAP = 10
MAX_PANE_CHARS = 4_000  # laying out a pane of this length takes a few milliseconds


class AnswerBody(QWidget):
    """Finished blocks stay as they are; the last one is parsed and drawn anew each time the text grows."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._zoom = 0
        self._source = ""
        self._num_frozen_chars = 0
        self._parts: list[_ProsePane | CodeBlock] = []
        self._tail: _ProsePane | CodeBlock | None = None

    def show_growing(self, source: str) -> None:
        if not source.startswith(self._source):
            self._clear()
        self._source = source
        self._draw(parse_blocks(source[self._num_frozen_chars :]))

    def show_whole(self, source: str) -> None:
        """Parses everything once more: a late line can change what an earlier one meant."""
        if source == self._source and self._num_frozen_chars == 0:
            return
        self._clear()
        self.show_growing(source)

    def plain_text(self) -> str:
        return "\n".join(part.plain_text() for part in self._parts)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for part in self._parts:
            self._apply_fonts(part)

    def arrange(self, width: int) -> int:
        y = 0
        for part in self._parts:
            part.move(0, y)
            y += part.arrange(width) + GAP
        height = max(0, y - GAP)
        self.setFixedSize(width, height)
        return height

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            for part in self._parts:
                if isinstance(part, _ProsePane):
                    part.redraw()

    def _draw(self, blocks: list[Block]) -> None:
        for index, block in enumerate(blocks):
            self._draw_tail(block)
            if index < len(blocks) - 1:
                self._freeze_tail()
        if blocks:
            self._num_frozen_chars += blocks[-1].start

    def _draw_tail(self, block: Block) -> None:
        wanted = CodeBlock if block.kind is BlockKind.CODE else _ProsePane
        if self._tail is not None and not isinstance(self._tail, wanted):
            self._drop_tail()
        if self._tail is None:
            self._tail = self._part_for(block)
        if isinstance(self._tail, CodeBlock):
            self._tail.show_block(block)
        else:
            self._tail.show_tail(block.html)

    def _part_for(self, block: Block) -> "_ProsePane | CodeBlock":
        last = self._parts[-1] if self._parts else None
        if block.kind is BlockKind.PROSE and isinstance(last, _ProsePane) and last.has_room:
            return last
        part = CodeBlock(self) if block.kind is BlockKind.CODE else _ProsePane(self)
        self._apply_fonts(part)
        self._parts.append(part)
        part.show()
        return part

    def _freeze_tail(self) -> None:
        if isinstance(self._tail, _ProsePane):
            self._tail.freeze()
        self._tail = None

    def _drop_tail(self) -> None:
        if isinstance(self._tail, _ProsePane) and self._tail.has_frozen:
            self._tail.show_tail("")
        elif self._tail is not None:
            self._parts.remove(self._tail)
            _discard(self._tail)
        self._tail = None

    def _clear(self) -> None:
        for part in self._parts:
            _discard(part)
        self._parts.clear()
        self._tail = None
        self._source = ""
        self._num_frozen_chars = 0

    def _apply_fonts(self, part: "_ProsePane | CodeBlock") -> None:
        if isinstance(part, CodeBlock):
            part.set_code_font(code_font(self._zoom))
        else:
            part.set_reading_font(reading_font(self._zoom))


class _ProsePane(SafeBrowser):
    """Consecutive blocks of prose in one view, so that a selection can span them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._frozen = ""
        self._tail = ""
        self.setAccessibleName("Answer")

    @property
    def has_room(self) -> bool:
        return len(self._frozen) < MAX_PANE_CHARS

    @property
    def has_frozen(self) -> bool:
        return bool(self._frozen)

    def show_tail(self, html: str) -> None:
        if html != self._tail:
            self._tail = html
            self.redraw()

    def freeze(self) -> None:
        self._frozen += self._tail
        self._tail = ""

    def redraw(self) -> None:
        self.show_html(self._frozen + self._tail)

    def plain_text(self) -> str:
        return self.toPlainText()


def _discard(part: QWidget) -> None:
    part.hide()
    part.deleteLater()
