"""What is being dropped or pasted: a model for the window, files or a picture for a message. GUI thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData
from PySide6.QtGui import QImage

from app.look.words import tr, tr_n


def dropped_model(data: QMimeData) -> Path | None:
    """The first local .gguf file."""
    for url in data.urls():
        if url.isLocalFile() and url.toLocalFile().lower().endswith(".gguf"):
            return Path(url.toLocalFile())
    return None


def drop_text(data: QMimeData) -> str:
    """What dropping it would do; "": nothing."""
    if model := dropped_model(data):
        return tr("Open {name}", name=model.name)
    if len(files := dropped_files(data)) > 1:
        return tr_n("Attach {n} file", "Attach {n} files", len(files))
    return tr("Attach {name}", name=files[0].name) if files else ""


def dropped_files(data: QMimeData) -> list[Path]:
    """All local files; none if a model is among them, which is for the window."""
    if dropped_model(data):
        return []
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


_FORMATS = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/tiff", "image/bmp")


def has_picture(source: QMimeData) -> bool:
    return source.hasImage() or any(source.hasFormat(name) for name in _FORMATS)


def picture_bytes(source: QMimeData) -> bytes:
    """The picture in the other program's format, which is read elsewhere. Empty if there is none.

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
