"""Small copies of pictures that the cells of chats are of. GUI thread."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QPixmap

from app.bridge.media_files import MediaFiles
from app.look.pixels import image_of
from app.protocol.media import Media, MediaKind, MediaSpan

MAX_HELD = 60


class Pictures(QObject):
    """Those of chats of this program; a caller's of the API are not kept."""

    loaded = Signal()  # another one can be shown

    def __init__(self, files: MediaFiles | None, parent: QObject) -> None:
        super().__init__(parent)
        self._files = files
        self._held: dict[str, QPixmap] = {}  # by SHA-256
        if files:
            files.thumbnail_loaded.connect(self._on_loaded)

    def of(self, span: MediaSpan) -> QPixmap | None:
        """None for a sound, and until it is loaded, which begins with this call."""
        if span.sha256 in self._held:
            return self._held[span.sha256]
        if self._files is None or span.kind is not MediaKind.PICTURE or not span.sha256:
            return None
        pixels = self._files.thumbnail(Media(span.kind, span.sha256, b""))
        if pixels is None:
            return None
        if len(self._held) >= MAX_HELD:
            self._held.clear()
        self._held[span.sha256] = QPixmap.fromImage(image_of(pixels))
        return self._held[span.sha256]

    @Slot(str)
    def _on_loaded(self, _sha256: str) -> None:
        self.loaded.emit()
