"""Small copies of the pictures of messages, as widgets paint them. GUI thread."""

from collections import OrderedDict

from PySide6.QtCore import QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from app.bridge.media_files import MediaFiles
from app.look.icons import paint_icon
from app.look.painted import image_of
from app.look.tokens import current
from app.protocol.media import Media, MediaKind

MAX_HELD = 60
RADIUS = 6


def fitted(media: Media, room: QSize) -> QSize:
    """The size in which a picture is shown in full, no larger than it is. All the room if it is unknown."""
    if not media.width or not media.height:
        return room
    size = QSize(media.width, media.height)
    return size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio).boundedTo(size).expandedTo(QSize(24, 24))


class Thumbnails(QObject):
    loaded = Signal(str)  # the SHA-256 of what is to be painted again: a picture has come, a sound plays

    def __init__(self, files: MediaFiles, parent: QObject) -> None:
        super().__init__(parent)
        self.files = files
        self._held: OrderedDict[str, QPixmap] = OrderedDict()
        files.thumbnail_loaded.connect(self.loaded)
        files.player.changed.connect(self.loaded)

    def of(self, media: Media) -> QPixmap | None:
        """None until it is loaded, which begins with this call."""
        if media.sha256 in self._held:
            self._held.move_to_end(media.sha256)
            return self._held[media.sha256]
        pixels = self.files.thumbnail(media)
        if pixels is None:
            return None
        self._held[media.sha256] = QPixmap.fromImage(image_of(pixels))
        if len(self._held) > MAX_HELD:
            self._held.popitem(last=False)
        return self._held[media.sha256]

    def paint(self, painter: QPainter, rect: QRect, media: Media, *, is_lit: bool = False) -> None:
        """Fills the rectangle, cut where it does not fit. An icon while it is not there.

        For a sound what a click does, and how much of it has been played.
        """
        tokens, box = current(), QRectF(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = QPainterPath()
        shape.addRoundedRect(box, RADIUS, RADIUS)
        painter.fillPath(shape, QColor(tokens.raised))
        if pixmap := self.of(media):
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.setClipPath(shape)
            painter.drawPixmap(box, pixmap, _cut(pixmap.size(), rect.size()))
            painter.restore()
        else:
            side = min(20, rect.width() - 4, rect.height() - 4)
            place = QRectF(0, 0, side, side)
            place.moveCenter(box.center())
            share = self.files.player.share_of(media)
            if media.kind is MediaKind.PICTURE:
                paint_icon(painter, "image", place, tokens.muted)
            else:
                paint_icon(painter, "play" if share is None else "stop", place, tokens.text)
            if share is not None:
                painter.fillRect(
                    QRectF(box.x(), box.bottom() - 3, box.width() * share, 3), QColor(tokens.accent)
                )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.accent if is_lit else tokens.hairline), 2 if is_lit else 1))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)


def _cut(picture: QSize, room: QSize) -> QRectF:
    """The middle of the picture that has the room's proportions."""
    size = room.scaled(picture, Qt.AspectRatioMode.KeepAspectRatio)
    part = QRectF(0, 0, size.width(), size.height())
    part.moveCenter(QRectF(0, 0, picture.width(), picture.height()).center())
    return part
