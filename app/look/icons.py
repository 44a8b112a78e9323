"""Line icons from resources/icons, drawn in the colours of the theme of now and crisp at any scale.

GUI thread.
"""

from functools import cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.look.tokens import current
from app.system.paths import resources_dir

ICON_DIR = resources_dir() / "icons"
_SIZE = QSize(16, 16)


@cache
def icon(name: str, colour: str = "muted", on: str = "") -> QIcon:
    """The icon `name`.svg, or while its button is checked `on`.svg, greyed when disabled.

    `colour`: a token's name, or a colour. Such a token's is taken anew each time it is drawn.
    """
    return QIcon(_Engine(name, colour, on or name))


@cache  # what it has drawn is kept by Qt, for each icon anew
def app_icon() -> QIcon:
    return QIcon(str(ICON_DIR / "skein.svg"))


def paint_icon(painter: QPainter, name: str, rect: QRectF, colour: str) -> None:
    _renderer(name, colour).render(painter, rect)


class _Engine(QIconEngine):
    def __init__(self, name: str, colour: str, on: str) -> None:
        super().__init__()
        self._name, self._colour, self._on = name, colour, on

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        tokens = current()
        colour = tokens.hairline if mode is QIcon.Mode.Disabled else self._colour
        name = self._on if state is QIcon.State.On else self._name
        paint_icon(painter, name, QRectF(rect), getattr(tokens, colour, colour))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, pixmap.rect(), mode, state)
        painter.end()
        return pixmap

    def actualSize(self, size: QSize, _mode: QIcon.Mode, _state: QIcon.State) -> QSize:
        """Lists allow more."""
        return size.boundedTo(_SIZE)

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._colour, self._on)


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
