"""The files attached to a message, above its text, with kind and number of tokens. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from app.bridge.token_counter import Counted, TokenCount
from app.chats.attachment import Attachment
from app.look.buttons import IconButton
from app.look.fonts import small_font, tabular
from app.look.icons import paint_icon
from app.look.layouts import FlowLayout, drop
from app.look.painted import paint_rounded
from app.look.plain_text import as_tooltip, one_line
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import mark, tr
from app.ui.base.attachment_words import icon_name, kind_label, title, tokens_text
from app.ui.base.thumbnails import Thumbnails

HEIGHT, SIDE, PADDING, GAP = 30, 22, 8, 6
MEDIA_HEIGHT, PICTURE_SIDE = 52, 40
MIN_NAME_WIDTH, MAX_NAME_WIDTH, MIN_WIDTH, MAX_WIDTH = 72, 220, 80, 420
END = GAP + SIDE + 4  # where the cross is
RADIUS = 8
_REMOVE = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
_OPEN = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class AttachmentChips(QScrollArea):
    """The chips in rows. It grows with them up to a height that is set, then it scrolls."""

    removed = Signal(int)
    moved = Signal(int, int)  # which of them, by how many places
    saved = Signal(int)  # its file is to be saved
    cancelled = Signal(int)  # which of the files that are still being read
    opened = Signal(int, object)  # which of them, its chip

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.chips: list[AttachmentChip] = []
        self.pending: list[PendingChip] = []
        self._attachments: tuple[Attachment, ...] = ()
        self._thumbnails: Thumbnails | None = None
        self._room = HEIGHT
        self._content = QWidget(self)
        self._flow = FlowLayout(self._content, GAP)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self._content.setAutoFillBackground(False)
        self.setAccessibleName(tr("Attachments"))
        self.hide()

    @property
    def pending_names(self) -> tuple[str, ...]:
        return tuple(chip.name for chip in self.pending)

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        """Where the small copies of pictures come from."""
        self._thumbnails = thumbnails
        thumbnails.loaded.connect(self._on_loaded)

    def set_max_height(self, height: int) -> None:
        """Shows as many whole rows as this height has room for, at least one."""
        self._room = height
        self.fit()

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        if tuple(attachments) == self._attachments:
            return
        self._attachments = tuple(attachments)
        self._drop(self.chips)
        self.chips = [self._new_chip(attachment, number) for number, attachment in enumerate(attachments)]
        for chip in self.pending:  # they come after the finished ones
            self._flow.removeWidget(chip)
            self._flow.addWidget(chip)
        self.fit()

    def show_pending(self, names: Sequence[str]) -> None:
        """Files that are still being read."""
        if tuple(names) == self.pending_names:
            return
        self._drop(self.pending)
        self.pending = [self._new_pending(name, number) for number, name in enumerate(names)]
        self.fit()

    def show_tokens(self, num_tokens: Callable[[Counted], TokenCount | None]) -> None:
        for chip in self.chips:
            chip.show_tokens(num_tokens(chip.attachment.media or chip.attachment.text))

    def focus_chip(self, number: int) -> bool:
        """False if there is none: the focus stays."""
        if not self.chips:
            return False
        chip = self.chips[min(number, len(self.chips) - 1)]
        chip.setFocus(Qt.FocusReason.OtherFocusReason)
        self.ensureWidgetVisible(chip)
        return True

    def _new_chip(self, attachment: Attachment, number: int) -> "AttachmentChip":
        if attachment.media:
            chip: AttachmentChip = MediaChip(attachment, self._thumbnails, self._content)
        else:
            chip = AttachmentChip(attachment, self._content)
        chip.saved.connect(lambda: self.saved.emit(number))
        chip.moved.connect(lambda step: self._move(number, step))
        chip.opened.connect(lambda: self.opened.emit(number, chip))
        chip.removed.connect(lambda: self.removed.emit(number))
        chip.stepped.connect(lambda step: self.focus_chip(max(0, number + step)))
        self._flow.addWidget(chip)
        chip.show()
        return chip

    def _move(self, number: int, step: int) -> None:
        if 0 <= number + step < len(self.chips):
            self.moved.emit(number, step)
            self.focus_chip(number + step)

    @Slot(str)
    def _on_loaded(self, sha256: str) -> None:
        for chip in self.chips:
            if chip.attachment.media and chip.attachment.media.sha256 == sha256:
                chip.update()

    def _new_pending(self, name: str, number: int) -> "PendingChip":
        chip = PendingChip(name, self._content)
        chip.removed.connect(lambda: self.cancelled.emit(number))
        self._flow.addWidget(chip)
        chip.show()
        return chip

    def _drop(self, chips: Sequence[QWidget]) -> None:
        for chip in chips:
            self._flow.removeWidget(chip)
            drop(chip)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """To its width, and the height that is set."""
        row = max((chip.HEIGHT for chip in self.chips), default=HEIGHT) + GAP
        room = max(1, (self._room + GAP) // row) * row - GAP
        self.setFixedHeight(min(room, self._flow.heightForWidth(self.viewport().width())))
        self.setVisible(bool(self.chips or self.pending))


class _Chip(QWidget):
    """An icon, a name and a quieter word, on one line. Its cross, Backspace or Delete removes it."""

    HEIGHT = HEIGHT

    removed = Signal()

    def __init__(self, name: str, icon: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = name
        self._icon = icon
        self.detail = ""
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.cross = IconButton("x", tr("Remove {name}", name=name), SIDE, self, icon_side=14)
        self.cross.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.cross.setCursor(Qt.CursorShape.ArrowCursor)
        self.cross.clicked.connect(self.removed)

    def show_detail(self, detail: str) -> None:
        if detail != self.detail:
            self.detail = detail
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        name = min(self._advance(self.name), MAX_NAME_WIDTH)
        detail = self._advance(self.detail)
        width = PADDING + 16 + GAP + name + (GAP + detail if detail else 0) + END
        return QSize(min(width, MAX_WIDTH), self.HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(MIN_WIDTH, self.HEIGHT)

    def _advance(self, text: str) -> int:
        """Rounded up: Qt rounds down and then elides the text."""
        return self.fontMetrics().horizontalAdvance(text) + 1 if text else 0

    def _paint_ground(self, painter: QPainter) -> None:
        tokens = current()
        paint_rounded(
            painter,
            self.rect(),
            RADIUS,
            0.5,
            fill=tokens.raised if self.underMouse() else tokens.surface,
            edge=tokens.accent if self.hasFocus() else tokens.hairline,
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens, metrics = current(), self.fontMetrics()
        painter = QPainter(self)
        self._paint_ground(painter)
        paint_icon(painter, self._icon, QRectF(PADDING, (HEIGHT - 15) / 2, 15, 15), tokens.muted)
        x = PADDING + 16 + GAP
        end = self.width() - END
        room = max(MIN_NAME_WIDTH, end - x - GAP - self._advance(self.detail))
        name = metrics.elidedText(self.name, Qt.TextElideMode.ElideMiddle, room)
        baseline = (HEIGHT + metrics.ascent() - metrics.descent()) // 2
        painter.setPen(QColor(tokens.text))
        painter.drawText(x, baseline, name)
        painter.setPen(QColor(tokens.muted))
        x += self._advance(name) + GAP
        detail = metrics.elidedText(self.detail, Qt.TextElideMode.ElideRight, end - x)
        painter.drawText(x, baseline, detail)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _REMOVE:
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.cross.move(self.width() - SIDE - 4, (self.HEIGHT - SIDE) // 2)


class PendingChip(_Chip):
    """A file that is still being read, which may take long."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(one_line(name), "hourglass", parent)
        self.show_detail(tr("reading…"))
        self.setAccessibleName(tr("Reading {name}", name=name))


class AttachmentChip(_Chip):
    """A click or Enter opens what was read from the file."""

    opened = Signal()
    saved = Signal()
    stepped = Signal(int)  # to the next or the previous chip
    moved = Signal(int)  # by so many places
    HINT = mark("Click to see what the model will read.")

    def __init__(self, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(title(attachment), icon_name(attachment), parent)
        self.attachment = attachment
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_tokens(None)

    def show_tokens(self, counted: TokenCount | None) -> None:
        parts = (kind_label(self.attachment), tokens_text(counted))
        self.show_detail(" · ".join(part for part in parts if part))
        self.setAccessibleName(tr("Attachment: {name}", name=self.name))
        self.setAccessibleDescription(self.detail)
        lines = (self.name, self.detail, tr(self.HINT))
        self.setToolTip(as_tooltip("\n".join(line for line in lines if line)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _OPEN:
            self.opened.emit()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            is_moved = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.moved if is_moved else self.stepped).emit(1 if event.key() == Qt.Key.Key_Right else -1)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("&Open"), self.opened.emit)
        if self.attachment.media:
            menu.addAction(tr("&Save as…"), self.saved.emit)
        menu.addSeparator()
        menu.addAction(tr("Move to the &left"), lambda: self.moved.emit(-1))
        menu.addAction(tr("Move to the &right"), lambda: self.moved.emit(1))
        menu.addSeparator()
        menu.addAction(tr("&Remove"), self.removed.emit)
        menu.popup(event.globalPos())


class MediaChip(AttachmentChip):
    """A small copy of a picture, its name, and below it what it takes."""

    HEIGHT = MEDIA_HEIGHT
    HINT = mark("Click to enlarge a picture, or to play a sound. Ctrl+Left and Ctrl+Right move it.")

    def __init__(self, attachment: Attachment, thumbnails: Thumbnails | None, parent: QWidget) -> None:
        super().__init__(attachment, parent)
        self._thumbnails = thumbnails

    def sizeHint(self) -> QSize:
        name = min(self._advance(self.name), MAX_NAME_WIDTH)
        words = max(name, self._advance(self.detail))
        return QSize(min(PADDING + PICTURE_SIDE + GAP + words + END, MAX_WIDTH), self.HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens, metrics = current(), self.fontMetrics()
        painter = QPainter(self)
        self._paint_ground(painter)
        assert self.attachment.media
        place = QRect(6, (self.HEIGHT - PICTURE_SIDE) // 2, PICTURE_SIDE, PICTURE_SIDE)
        if self._thumbnails:
            self._thumbnails.paint(painter, place, self.attachment.media)
        x = place.right() + 1 + GAP
        room = self.width() - END - x
        y = (self.HEIGHT - 2 * metrics.lineSpacing()) // 2 + metrics.ascent()
        painter.setPen(QColor(tokens.text))
        painter.drawText(x, y, metrics.elidedText(self.name, Qt.TextElideMode.ElideMiddle, room))
        painter.setPen(QColor(tokens.muted))
        detail = metrics.elidedText(self.detail, Qt.TextElideMode.ElideRight, room)
        painter.drawText(x, y + metrics.lineSpacing(), detail)
