"""The pictures and sounds of a sent message, above its text. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QContextMenuEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.chats.attachment import Attachment
from app.look.fonts import small_font, tabular
from app.look.layouts import drop
from app.look.plain_text import as_tooltip, one_line
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import tr
from app.protocol.media import MediaKind
from app.ui.base.attachment_words import media_label, size_label
from app.ui.base.thumbnails import Thumbnails, fitted

ONE, EACH = QSize(320, 240), QSize(200, 150)  # the room of a picture alone, and of one of several
SOUND = QSize(180, 44)
GAP = 6


class MediaStrip(QWidget):
    """In rows from the right, as the bubbles are."""

    opened = Signal(int)  # which of them
    saved = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._thumbnails: Thumbnails | None = None
        self.tiles: list[MediaTile] = []
        self.hide()

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        self._thumbnails = thumbnails
        thumbnails.loaded.connect(self._on_loaded)

    def show_media(self, attachments: Sequence[Attachment]) -> None:
        drop(*self.tiles)
        self.tiles = [self._new_tile(attachment, number) for number, attachment in enumerate(attachments)]

    def _new_tile(self, attachment: Attachment, number: int) -> "MediaTile":
        tile = MediaTile(attachment, self._thumbnails, self)
        tile.clicked.connect(lambda: self.opened.emit(number))
        tile.saved.connect(lambda: self.saved.emit(number))
        return tile

    def arrange(self, width: int) -> int:
        """Takes this width, and returns the height."""
        room = (ONE if len(self.tiles) == 1 else EACH).boundedTo(QSize(width, ONE.height()))
        rows: list[list[MediaTile]] = []
        taken = 0
        for tile in self.tiles:
            tile.resize(tile.size_in(room))
            if not rows or taken + GAP + tile.width() > width:
                rows.append([])
                taken = -GAP
            rows[-1].append(tile)
            taken += GAP + tile.width()
        y = 0
        for row in rows:
            x = width - sum(tile.width() for tile in row) - GAP * (len(row) - 1)
            for tile in row:
                tile.move(QPoint(x, y))
                tile.show()
                x += tile.width() + GAP
            y += max(tile.height() for tile in row) + GAP
        height = max(0, y - GAP)
        self.setFixedSize(width, height)
        self.setVisible(bool(self.tiles))
        return height

    @Slot(str)
    def _on_loaded(self, sha256: str) -> None:
        for tile in self.tiles:
            if tile.media.sha256 == sha256:
                tile.update()


class MediaTile(QAbstractButton):
    saved = Signal()

    def __init__(self, attachment: Attachment, thumbnails: Thumbnails | None, parent: QWidget) -> None:
        super().__init__(parent)
        assert attachment.media
        self.media = attachment.media
        self._thumbnails = thumbnails
        self._name = one_line(attachment.name)
        self._is_picture = self.media.kind is MediaKind.PICTURE
        self.setFont(tabular(small_font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        named = (
            tr("Picture: {name}", name=self._name)
            if self._is_picture
            else tr("Sound: {name}", name=self._name)
        )
        self.setAccessibleName(named)
        label = media_label(attachment)
        self.setAccessibleDescription(label)
        self.setToolTip(as_tooltip("\n".join(part for part in (self._name, label) if part)))

    @property
    def is_painted(self) -> bool:
        """Its picture is there, not only its place."""
        return self._thumbnails is not None and self._thumbnails.of(self.media) is not None

    def size_in(self, room: QSize) -> QSize:
        return fitted(self.media, room) if self._is_picture else SOUND.boundedTo(room)

    def sizeHint(self) -> QSize:
        return self.size()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._thumbnails:
            return
        painter = QPainter(self)
        if self._is_picture:
            self._thumbnails.paint(painter, self.rect(), self.media, is_lit=self.hasFocus())
            return
        icon = QRect(0, 0, self.height(), self.height())
        self._thumbnails.paint(painter, icon, self.media, is_lit=self.hasFocus())
        x, metrics = icon.right() + 1 + 8, self.fontMetrics()
        y = (self.height() - 2 * metrics.lineSpacing()) // 2 + metrics.ascent()
        painter.setPen(QColor(current().text))
        painter.drawText(x, y, metrics.elidedText(self._name, Qt.TextElideMode.ElideMiddle, self.width() - x))
        painter.setPen(QColor(current().muted))
        painter.drawText(x, y + metrics.lineSpacing(), size_label(self.media))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("&Open") if self._is_picture else tr("&Play or stop"), self.click)
        menu.addAction(tr("&Save as…"), self.saved.emit)
        menu.popup(event.globalPos())
