"""Markdown as a column of prose and code, redrawn only where it has changed. GUI thread.

Never holds the window: what takes longer than a frame is read, drawn and laid out in those that follow. The
end of a text in very many pieces is shown as it was written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.look.fonts import code_font, reading_font
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.frame_budget import frame_budget
from app.ui.message.code_block import CodeBlock
from app.ui.message.growing_markdown import GrowingMarkdown
from app.ui.message.long_text import LongText
from app.ui.message.markdown import Block, BlockKind
from app.ui.message.prose_pane import ProsePane
from app.ui.message.text_part import TextPart

GAP = 10
TABLE_SEAM = 4  # what Qt leaves free around a table, so that two of its pieces meet
MAX_CHARS = 100_000
MAX_PARTS = 200  # views of one text; each takes some 150 kB
MAX_PANE_CHARS = 4_000  # of HTML: laying out a pane of this length takes a few milliseconds


@dataclass(slots=True)
class _Part:
    """What one view shows. It is not current until it shows that, in the fonts and colours of now."""

    group: list[Block]
    view: ProsePane | CodeBlock | None = None
    is_current: bool = False
    zoom: int | None = None
    width: int = 0  # for which its height is right
    height: int = 0


class MarkdownColumn(QWidget):
    """The views depend on the blocks alone: the result is the same however the text was streamed."""

    height_changed = Signal()  # by itself: the text has not changed

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._zoom = 0
        self._width = 0  # until it has been arranged
        self._tokens = current()
        self._is_plain = False
        self._is_whole = False
        self._reader = GrowingMarkdown()
        self._parts: list[_Part] = []
        self._rest: LongText | None = None  # what is shown as it was written
        self._rest_start: int | None = None

    @property
    def parts(self) -> list[ProsePane | CodeBlock]:
        """The views that are there, from top to bottom."""
        return [part.view for part in self._parts if part.view]

    def show_growing(self, source: str) -> None:
        self._is_whole = False
        self._show(source, is_too_long=len(source) - len(self._reader.source) > MAX_CHARS)

    def show_whole(self, source: str) -> None:
        if not (self._is_whole and source == self._reader.source):
            self._is_whole = True
            self._show(source, is_too_long=len(source) > MAX_CHARS)

    def _show(self, source: str, is_too_long: bool) -> None:
        continues = source.startswith(self._reader.source)
        if is_too_long or self._is_plain:
            self._reader = GrowingMarkdown()
            self._reader.source = source
            self._show_groups([], 0)
        elif continues and self._rest_start:
            self._reader.take(source, self._is_whole)
            self._show_rest(source[self._rest_start :])
        else:
            if self._rest_start == 0:
                self._reader = GrowingMarkdown()
            self._reader.take(source, self._is_whole)
            with frame_budget().shared():
                self._read_on()
                self._go_on()

    def set_plain(self, is_plain: bool) -> None:
        """From the next text on: as it was written, without reading it as Markdown."""
        self._is_whole &= is_plain == self._is_plain
        self._is_plain = is_plain

    def finish(self) -> None:
        """Reads and draws what is left of it, at once."""
        while self._has_more:
            self._take_step()

    def text_parts(self) -> list[TextPart]:
        parts = [_text_part(index, part.view) for index, part in enumerate(self._parts) if part.view]
        rest = self._rest.text_parts() if self._rest else []
        return [*(part.under(0) for part in parts), *(part.under(1) for part in rest)]

    def plain_text(self) -> str:
        self.finish()
        texts = [part.plain_text() for part in self.parts]
        return "\n".join([*texts, self._rest.text] if self._rest else texts)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        self._draw_anew()
        if self._rest:
            self._rest.set_reading_font(reading_font(zoom))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and current() != self._tokens:
            self._tokens = current()
            self._draw_anew()

    def _draw_anew(self) -> None:
        for part in self._parts:
            part.is_current = False
        if self._parts:
            frame_budget().wait(self, self._on_turn)

    def arrange(self, width: int) -> int:
        self._lay_out(width)
        y = 0
        for part in self._parts:
            if part.view and part.height:
                y += _gap_before(part.group[0]) if y else 0
                part.view.move(0, y)
                part.view.show()
                y += part.height
        if self._rest:
            y += GAP if y else 0
            self._rest.move(0, y)
            y += self._rest.arrange(width)
        self.setFixedSize(width, y)
        return y

    # In pieces

    def _on_turn(self) -> None:
        self._go_on()
        self.height_changed.emit()  # whoever arranges it anew has the rest laid out, too

    def _go_on(self) -> None:
        """Draws the next view or reads the next window, and so on until the frame is spent."""
        while self._has_more:
            if frame_budget().is_spent:
                frame_budget().wait(self, self._on_turn)
                return
            self._take_step()

    @property
    def _has_more(self) -> bool:
        return not (self._reader.is_read or self._is_full) or self._next_part is not None

    def _take_step(self) -> None:
        if part := self._next_part:
            self._draw(part)
        else:
            self._read_on()

    @property
    def _next_part(self) -> _Part | None:
        return next((part for part in self._parts if not part.is_current), None)

    @property
    def _is_full(self) -> bool:
        return self._rest_start is not None

    def _lay_out(self, width: int) -> None:
        """First what can be seen, one part always. What has to wait is as high as before, or not there."""
        self._width = width
        due = [part for part in self._parts if part.width != width or not part.is_current]
        due.sort(key=lambda part: part.view is None or part.view.visibleRegion().isEmpty())
        for part in due:
            if frame_budget().is_spent and any(each.height for each in self._parts):
                frame_budget().wait(self, self._on_turn)
                return
            if not part.is_current:
                self._draw(part)
            if part.width != width:
                self._arrange(part)

    # Reading and drawing

    def _read_on(self) -> None:
        if not self._reader.is_read:
            self._reader.read_on()
        groups = list(islice(_groups(self._reader.blocks), MAX_PARTS + 1))
        has_rest = len(groups) > MAX_PARTS
        self._show_groups(groups[:MAX_PARTS], groups[-1][0].start if has_rest else None)

    def _show_groups(self, groups: list[list[Block]], rest_start: int | None) -> None:
        for index, group in enumerate(groups):
            if index == len(self._parts):
                self._parts.append(_Part(group))
            elif group != self._parts[index].group:
                self._parts[index].group = group
                self._parts[index].is_current = False
        for part in self._parts[len(groups) :]:
            discard(part.view)
        del self._parts[len(groups) :]
        self._rest_start = rest_start
        if rest_start is not None:
            self._show_rest(self._reader.source[rest_start:])
        elif self._rest:
            discard(self._rest)
            self._rest = None

    def _show_rest(self, text: str) -> None:
        """Shows the source: to read megabytes of Markdown, or thousands of pieces, would stop the window."""
        if self._rest is None:
            self._rest = LongText(self)
            self._rest.set_reading_font(reading_font(self._zoom))
            self._rest.height_changed.connect(self.height_changed)
            self._rest.show()
        is_end = bool(self._rest_start)
        note = tr("The rest is shown as plain text: it has too many parts.") if is_end else ""
        self._rest.show_text(text, note=note)

    @Slot()
    def _on_part_changed(self) -> None:
        for part in self._parts:
            if part.view is self.sender():
                part.width = 0
        self.height_changed.emit()

    def _draw(self, part: _Part) -> None:
        """Text and height change together: no frame shows the one without the other."""
        kind = CodeBlock if part.group[0].kind is BlockKind.CODE else ProsePane
        if not isinstance(part.view, kind):
            discard(part.view)
            part.view, part.zoom, part.height = kind(self), None, 0
            part.view.height_changed.connect(self._on_part_changed)
        if part.zoom != self._zoom:
            _apply_fonts(part.view, self._zoom)
        _show(part.view, part.group)
        part.is_current, part.zoom, part.width = True, self._zoom, 0
        if self._width:
            self._arrange(part)

    def _arrange(self, part: _Part) -> None:
        assert part.view
        part.height, part.width = part.view.arrange(self._width), self._width


def discard(view: QWidget | None) -> None:
    """Deletes it, one text in it a turn of the loop: those of a page take longer than a frame has."""
    if view:
        view.hide()
        for column in view.findChildren(MarkdownColumn):
            column.show_whole("")
        frame_budget().delete(view)


def _text_part(index: int, view: ProsePane | CodeBlock) -> TextPart:
    return TextPart((index,), view.text if isinstance(view, CodeBlock) else view, view.copied)


def _apply_fonts(view: ProsePane | CodeBlock, zoom: int) -> None:
    if isinstance(view, CodeBlock):
        view.set_code_font(code_font(zoom))
    else:
        view.set_reading_font(reading_font(zoom))


def _show(view: ProsePane | CodeBlock, group: list[Block]) -> None:
    if isinstance(view, CodeBlock):
        view.show_block(group[0])
    else:
        view.show_blocks(group)


def _gap_before(block: Block) -> int:
    if not block.joins:
        return GAP
    return -TABLE_SEAM if block.kind is BlockKind.TABLE else 0


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Groups of blocks for one view each: a piece of code, a piece of a long table, or prose."""
    group: list[Block] = []
    size = 0
    for block in blocks:
        stands_alone = block.kind in (BlockKind.CODE, BlockKind.FORMULA) or bool(block.widths)
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
