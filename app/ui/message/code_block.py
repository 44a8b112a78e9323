"""A code block: its language, buttons to wrap, save and copy it, and the code. GUI thread."""

import asyncio
import base64
import json
import uuid
import zlib
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.look.buttons import IconButton, quiet_button
from app.look.file_dialog import SAVED, file_dialog
from app.look.fonts import small_font
from app.look.painted import paint_rounded
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import current
from app.look.words import tr, tr_n
from app.ui.base.copy_button import CopyButton, copy_text
from app.ui.base.hidden_characters import num_hidden, without_hidden
from app.ui.message.code_colours import file_name
from app.ui.message.code_text import CodeText
from app.ui.message.folding import unfold
from app.ui.message.markdown import Block
from app.ui.message.passages import CopiedPassage, PassageKind

RADIUS = 8
PADDING = 12
HEADER = 32
SIDE = CopyButton.SIDE


class CodeBlock(QWidget):
    height_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._block: Block | None = None
        self._language = PlainLabel(parent=self, tone="muted")
        self._language.setFont(small_font())
        self.text = CodeText(self)
        self.wrap = IconButton("wrap-text", tr("Wrap long lines"), SIDE, self)
        self.wrap.setCheckable(True)
        self.wrap.setProperty("kind", "chip")  # which is seen to be pressed
        self.wrap.setStyleSheet("QToolButton { padding: 3px; }")
        self.wrap.toggled.connect(self._on_wrap_toggled)
        self.save = IconButton("download", tr("Save to a file"), SIDE, self)
        self.save.clicked.connect(self._choose_file)
        self.copy = CopyButton(tr("Copy code"), lambda: self._code, self)
        self.note = PlainLabel(parent=self)
        self.note.setFont(small_font())
        self.note.hide()
        self.copy_clean = quiet_button(tr("Copy without them"), self, "bar")
        self.copy_clean.hide()
        self.copy_clean.setFont(small_font())
        self.copy_clean.clicked.connect(
            lambda: QGuiApplication.clipboard().setText(without_hidden(self._code))
        )
        self.copy.clicked.connect(self._warn_of_copy)
        self.copy_link = quiet_button(tr("Copy for mermaid.live"), self, "bar")
        self.copy_link.setToolTip(tr("Copy a link that shows the diagram in a browser"))
        self.copy_link.setFont(small_font())
        self.copy_link.hide()
        self.copy_link.clicked.connect(self._copy_link)

    @property
    def _code(self) -> str:
        return self._block.code if self._block else ""

    def show_block(self, block: Block) -> None:
        if block == self._block:
            return
        is_same_language = self._block is not None and block.info == self._block.info
        self._block = block
        if not is_same_language:
            self._language.setText(one_line(block.info) or tr("text"))
            self.text.setAccessibleName(tr("Code, {language}", language=self._language.text()))
        code = block.code.rstrip("\n") if block.is_closed else block.code.removesuffix("\n")
        self.text.show_code(code, _language_of(block.info), block.is_closed)
        self.copy_link.setVisible(_language_of(block.info) == "mermaid" and block.is_closed)
        self._show_hidden()

    def _show_hidden(self) -> None:
        number = num_hidden(self._code)
        self.copy_clean.setVisible(number > 0)
        note = tr_n("{n} hidden character", "{n} hidden characters", number)
        self._show_note(f"⚠ {note}" if number else "", "danger")

    def _warn_of_copy(self) -> None:
        if number := num_hidden(self._code):
            note = tr_n("Copied with {n} hidden character", "Copied with {n} hidden characters", number)
            self._show_note(f"⚠ {note}", "danger")

    def _copy_link(self) -> None:
        self._show_note(copy_text(mermaid_link(self._code)), "muted")

    def _show_note(self, text: str, tone: str) -> None:
        self.note.setText(text)
        self.note.set_tone(tone)
        self.note.setVisible(bool(text))
        self._place_header()

    def set_code_font(self, font: QFont) -> None:
        self.text.set_code_font(font)

    def arrange(self, width: int) -> int:
        height = HEADER + self.text.arrange(width - 2 * PADDING) + PADDING
        self.text.move(PADDING, HEADER)
        self.setFixedSize(width, height)
        self._place_header()
        return height

    def _place_header(self) -> None:
        """The buttons at the edge; the name of the language gets the rest."""
        x = self.width() - 4
        for button in (self.copy, self.save, self.wrap):
            x -= SIDE
            button.move(x, (HEADER - SIDE) // 2)
        for part in (self.copy_link, self.copy_clean, self.note):
            if not part.isHidden():
                part.adjustSize()
                x -= part.width() + 4
                part.move(x, (HEADER - part.height()) // 2)
        self._language.setGeometry(PADDING, 0, max(0, x - PADDING - 4), HEADER)

    def plain_text(self) -> str:
        return self.text.toPlainText()

    def copied(self, begin: int, end: int) -> list[CopiedPassage]:
        code = unfold(self.text.toPlainText()[begin:end])
        return [
            CopiedPassage(
                PassageKind.CODE, text=code, info=_language_of(self._block.info) if self._block else ""
            )
        ]

    def _on_wrap_toggled(self, is_wrapped: bool) -> None:
        self.text.set_wrapped(is_wrapped)
        self.height_changed.emit()

    def _choose_file(self) -> None:
        code = self._code
        dialog = file_dialog(self.window(), tr("Save code"), SAVED)
        dialog.selectFile(file_name(_language_of(self._block.info if self._block else "")))
        dialog.fileSelected.connect(lambda name: self.save_as(Path(name), code))
        dialog.open()

    def save_as(self, path: Path, code: str) -> None:
        spawn(self._save(path, code))

    async def _save(self, path: Path, code: str) -> None:
        try:
            await asyncio.to_thread(write_text_file, path, code)
        except OSError as error:
            said = tr("{name} could not be written: {reason}.", name=path.name, reason=error.strerror)
            tone = "danger"
        else:
            said, tone = tr("Saved in {name}.", name=one_line(path.name)), "muted"
        if isValid(self):  # the chat may have been closed
            self._show_note(one_line(said), tone)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_rounded(painter, self.rect(), RADIUS, fill=current().raised)

    def sizeHint(self) -> QSize:
        return self.size()


def _language_of(info: str) -> str:
    return info.split()[0].lower() if info.split() else ""


def mermaid_link(diagram: str) -> str:
    """Where mermaid.live shows the diagram: it reads what follows the #, which no browser sends.

    https://github.com/mermaid-js/mermaid-live-editor, src/lib/util/serde.ts
    """
    state = {"code": diagram, "mermaid": '{"theme": "default"}', "autoSync": True, "updateDiagram": True}
    packed = zlib.compress(json.dumps(state).encode(), 9)
    return f"https://mermaid.live/edit#pako:{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def write_text_file(path: Path, text: str) -> None:
    """Atomically: the old file stays if the disk is full. Raises OSError."""
    unfinished = path.with_name(f".{uuid.uuid4().hex}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="replace", newline="")
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
