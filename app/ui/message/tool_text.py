"""The arguments or the result of a call: coloured where it is JSON, in pages where it is long. GUI thread."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.look.fonts import code_font, small_font
from app.look.plain_text import PlainLabel
from app.ui.base.copy_button import CopyButton
from app.ui.message.code_text import CodeText
from app.ui.message.folding import unfold
from app.ui.message.long_text import LongText
from app.ui.message.passages import CopiedPassage, PassageKind
from app.ui.message.text_part import TextPart

HEAD = CopyButton.SIDE
MAX_CODE_CHARS = 8_000  # of JSON that is coloured: more is shown in pages


class ToolText(QWidget):
    """Exactly what was sent or came back, but for the white space of JSON."""

    height_changed = Signal()

    def __init__(self, copy_label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self._zoom = 0
        self._code: CodeText | None = None
        self._long: LongText | None = None
        self.title = PlainLabel(parent=self, tone="muted")
        self.title.setFont(small_font())
        self.copy = CopyButton(copy_label, lambda: self.text, self)

    @property
    def is_code(self) -> bool:
        return self._code is not None and not self._code.isHidden()

    def show_text(self, title: str, text: str, *, is_closed: bool = True) -> None:
        """While it is written, it is not closed."""
        self.title.setText(title)
        self.text = text
        is_code = text.lstrip()[:1] in ("{", "[") and len(text) <= MAX_CODE_CHARS
        if is_code:
            self._shown_code().show_code(text, "json", is_closed)
        else:
            self._shown_long().show_text(text)
        for view, is_shown in ((self._code, is_code), (self._long, not is_code)):
            if view:
                view.setVisible(is_shown)
                view.setAccessibleName(title)

    def text_parts(self) -> list[TextPart]:
        if self.is_code:
            return [TextPart((0,), self._code, self._copied)]
        return self._long.text_parts() if self._long else []

    def show_match(self, query: str, number: int) -> None:
        if self._long and not self.is_code:
            self._long.show_match(query, number)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        if self._code:
            self._code.set_code_font(code_font(zoom - 1))
        if self._long:
            self._long.set_reading_font(code_font(zoom - 1))

    def arrange(self, width: int) -> int:
        self.copy.move(width - HEAD, 0)
        self.title.setGeometry(0, 0, width - HEAD - 4, HEAD)
        view = self._code if self.is_code else self._long
        height = HEAD
        if view:
            view.move(0, HEAD)
            height += view.arrange(width)
        self.setFixedSize(width, height)
        return height

    def _copied(self, begin: int, end: int) -> list[CopiedPassage]:
        assert self._code
        return [
            CopiedPassage(PassageKind.CODE, text=unfold(self._code.toPlainText()[begin:end]), info="json")
        ]

    def _shown_code(self) -> CodeText:
        if self._code is None:
            self._code = CodeText(self)
            self._code.set_wrapped(True)
            self._code.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            self._code.set_code_font(code_font(self._zoom - 1))
        return self._code

    def _shown_long(self) -> LongText:
        if self._long is None:
            self._long = LongText(self)
            self._long.set_reading_font(code_font(self._zoom - 1))
            self._long.height_changed.connect(self.height_changed)
        return self._long
