"""Line icons from resources/icons, drawn in the colour asked for and crisp at any scale.

GUI thread.
"""

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.look.tokens import current
from app.system.paths import resources_dir

ICON_DIR = resources_dir() / "icons"
_SIZE = QSize(16, 16)
_SCALES = (1.0, 2.0, 3.0)


def icon(name: str, colour: str | None = None) -> QIcon:
    """The icon `name`.svg in `colour` (default: muted text), greyed when disabled."""
    tokens = current()
    return _coloured(name, colour or tokens.muted, tokens.hairline)


@cache  # what it has drawn is kept by Qt, for each icon anew
def app_icon() -> QIcon:
    return QIcon(str(ICON_DIR / "skein.svg"))


def paint_icon(painter: QPainter, name: str, rect: QRectF, colour: str) -> None:
    _renderer(name, colour).render(painter, rect)


@cache
def _coloured(name: str, colour: str, disabled: str) -> QIcon:
    result = QIcon()
    for scale in _SCALES:
        result.addPixmap(_pixmap(name, colour, scale), QIcon.Mode.Normal)
        result.addPixmap(_pixmap(name, disabled, scale), QIcon.Mode.Disabled)
    return result


def _pixmap(name: str, colour: str, scale: float) -> QPixmap:
    pixmap = QPixmap(_SIZE * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    _renderer(name, colour).render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return unpainted(pixmap)


def unpainted(pixmap: QPixmap) -> QPixmap:
    """For one that is kept: a copy without the engine that painted it, which takes 7 to 15 KB."""
    return pixmap.copy()


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    svg = (ICON_DIR / f"{name}.svg").read_text(encoding="utf-8")
    svg = svg.replace("currentColor", QColor(colour).name()).replace(
        'stroke-width="2"', 'stroke-width="1.75"'
    )
    return QSvgRenderer(QByteArray(svg.encode()), QGuiApplication.instance())
