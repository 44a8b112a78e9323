"""Line icons from resources/icons, drawn in the colours of the theme of now and crisp at any scale.

GUI thread.
"""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QByteArray, QPointF, QRect, QRectF, QSize, Qt
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

    def draw(painter: QPainter, mode: QIcon.Mode, state: QIcon.State) -> None:
        tokens = current()
        chosen = "hairline" if mode is QIcon.Mode.Disabled else colour
        shown = on if on and state is QIcon.State.On else name
        paint_icon(painter, shown, QRectF(QPointF(), _SIZE), getattr(tokens, chosen, chosen))

    return QIcon(PaintedIcon(_SIZE, draw))


@cache  # what it has drawn is kept by Qt, for each icon anew
def app_icon() -> QIcon:
    return QIcon(str(ICON_DIR / "skein.svg"))


def paint_icon(painter: QPainter, name: str, rect: QRectF, colour: str) -> None:
    _renderer(name, colour).render(painter, rect)


class PaintedIcon(QIconEngine):
    """Drawn anew each time, thus in the colours of now, and in any size. `draw` takes it to be of `size`."""

    def __init__(self, size: QSize, draw: Callable[[QPainter, QIcon.Mode, QIcon.State], None]) -> None:
        super().__init__()
        self._size, self._draw = size, draw

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        scale = rect.height() / self._size.height()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(rect.topLeft())
        painter.scale(scale, scale)
        self._draw(painter, mode, state)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(self._size.scaled(size, Qt.AspectRatioMode.KeepAspectRatio))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, pixmap.rect(), mode, state)
        painter.end()
        return pixmap

    def actualSize(self, size: QSize, _mode: QIcon.Mode, _state: QIcon.State) -> QSize:
        """Lists allow more."""
        return self._size.scaled(size, Qt.AspectRatioMode.KeepAspectRatio).boundedTo(self._size)

    def clone(self) -> QIconEngine:
        _clones.append(PaintedIcon(self._size, self._draw))
        return _clones[-1]


_clones: list[PaintedIcon] = []  # PySide forgets what `clone` returns, and Qt goes on with it


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    svg = (ICON_DIR / f"{name}.svg").read_text(encoding="utf-8")
    svg = svg.replace("currentColor", QColor(colour).name()).replace(
        'stroke-width="2"', 'stroke-width="1.75"'
    )
    return QSvgRenderer(QByteArray(svg.encode()), QGuiApplication.instance())
