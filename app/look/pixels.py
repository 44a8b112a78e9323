"""Decoded pictures as Qt paints them. GUI thread."""

from PySide6.QtGui import QImage

from app.media.reading import Pixels


def image_of(pixels: Pixels) -> QImage:
    """Its own copy: Qt keeps no reference to the bytes."""
    stride = 3 * pixels.width
    return QImage(pixels.rgb, pixels.width, pixels.height, stride, QImage.Format.Format_RGB888).copy()
