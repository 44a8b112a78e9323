"""The text of an answer: its thinking, collapsed, and the reply. GUI thread."""

from functools import cached_property

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.chats.thinking import Split
from app.look.figures import seconds
from app.look.words import tr
from app.ui.message.code_block import CodeBlock
from app.ui.message.folded_section import FoldedSection
from app.ui.message.markdown_column import MarkdownColumn
from app.ui.message.prose_pane import ProsePane
from app.ui.message.text_part import TextPart

GAP = 8


class AnswerBody(QWidget):
    height_changed = Signal()  # by itself: a formula is drawn, something was unfolded

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._zoom = 0
        self._is_plain = False
        self.column = MarkdownColumn(self)
        self.column.height_changed.connect(self.height_changed)

    @cached_property
    def thinking(self) -> FoldedSection:
        """Made when it is first needed: most answers begin without."""
        thinking = FoldedSection(self)
        thinking.hide()
        thinking.set_zoom(self._zoom)
        thinking.set_plain(self._is_plain)
        thinking.height_changed.connect(self.height_changed)
        return thinking

    @property
    def _thoughts(self) -> FoldedSection | None:
        """None if none are shown."""
        made: FoldedSection | None = self.__dict__.get("thinking")
        return None if made is None or made.isHidden() else made

    @property
    def parts(self) -> list[ProsePane | CodeBlock]:
        """The views of the answer, from top to bottom."""
        return self.column.parts

    def show_growing(self, split: Split, thinking_s: float = 0.0) -> None:
        self._show_thinking(split, split.is_thinking, thinking_s)
        self.column.show_growing(split.answer)

    def show_whole(self, split: Split, thinking_s: float = 0.0) -> None:
        self._show_thinking(split, False, thinking_s)
        self.column.show_whole(split.answer)

    def _show_thinking(self, split: Split, is_thinking: bool, thinking_s: float) -> None:
        if split.thinking or is_thinking:
            self.thinking.show()
            title = _thinking_title(is_thinking, thinking_s)
            self.thinking.apply(title, split.thinking, is_growing=is_thinking)
        elif self._thoughts:
            self._thoughts.hide()

    def set_plain(self, is_plain: bool) -> None:
        """From the next text on: as it was written, without reading it as Markdown."""
        self._is_plain = is_plain
        if "thinking" in self.__dict__:
            self.thinking.set_plain(is_plain)
        self.column.set_plain(is_plain)

    def plain_text(self) -> str:
        """The answer as rendered text, without the thinking."""
        return self.column.plain_text()

    @property
    def shows_thinking(self) -> bool:
        return self._thoughts is not None and self._thoughts.is_open

    def text_parts(self) -> list[TextPart]:
        thoughts = self._thoughts.text_parts() if self._thoughts and self._thoughts.is_open else []
        return [*(part.under(0) for part in thoughts), *(part.under(1) for part in self.column.text_parts())]

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        if "thinking" in self.__dict__:
            self.thinking.set_zoom(zoom)
        self.column.set_zoom(zoom)

    def arrange(self, width: int) -> int:
        y = 0
        if self._thoughts:
            y = self._thoughts.arrange(width)
            y += GAP if self.column.parts else 0
        self.column.move(0, y)
        y += self.column.arrange(width)
        self.setFixedSize(width, y)
        return y


def _thinking_title(is_thinking: bool, thinking_s: float) -> str:
    if is_thinking:
        return tr("Thinking…")
    return tr("Thought for {time}", time=seconds(thinking_s)) if thinking_s > 0 else tr("Thought")
