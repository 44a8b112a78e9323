"""A picture on the clipboard, or dropped, that is no file. GUI thread."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData
from PySide6.QtGui import QImage

_FORMATS = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/tiff", "image/bmp")


def has_picture(source: QMimeData) -> bool:
    return source.hasImage() or any(source.hasFormat(name) for name in _FORMATS)


def picture_bytes(source: QMimeData) -> bytes:
    """As the other program gave them, which are read elsewhere. Empty if there are none.

    Windows and macOS give pixels instead, or their own bitmap, which Qt has turned into an image: that is
    packed as PNG.
    """
    offered = set(source.formats())
    for name in _FORMATS:
        if name in offered and (content := source.data(name).data()):
            return bytes(content)
    image = source.imageData()
    if not isinstance(image, QImage) or image.isNull():
        return b""
    content_of_it = QByteArray()
    buffer = QBuffer(content_of_it)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(content_of_it.data())
