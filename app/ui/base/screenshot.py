"""Takes a picture of the screen, or of a part of it, while the window is out of the way. GUI thread.

Where no program may look at the screen itself, under Wayland, the desktop's own dialog takes it.
"""

from pathlib import Path

from PySide6.QtCore import QBuffer, QObject, QRect, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from app.bridge.tasks import spawn
from app.look.layouts import drop
from app.look.tokens import current
from app.look.words import tr, tr_said
from app.system import screen_portal
from app.system.screen_portal import ScreenPortalError

HIDDEN_AFTER_MS = 300  # until the window manager has taken the window away, and what was below it is painted
SHADE = QColor(0, 0, 0, 110)
MIN_SIDE = 8  # of a part; less is a click


class Screenshot(QObject):
    """Ends with `taken`, `kept` or `failed`, or is cancelled. Then the window is back."""

    taken = Signal(object)  # bytes of a PNG
    kept = Signal(object)  # the Path of a file that the desktop has made
    failed = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.areas: list[ScreenArea] = []  # one for each screen, while it is chosen from

    def begin(self) -> None:
        self._window.hide()
        QTimer.singleShot(HIDDEN_AFTER_MS, self, self._on_hidden)

    @Slot()
    def _on_hidden(self) -> None:
        if QGuiApplication.platformName() == "wayland":
            spawn(self._ask_the_desktop())
            return
        for screen in QGuiApplication.screens():
            area = ScreenArea(screen.grabWindow(0))
            area.chosen.connect(self._on_chosen)
            area.cancelled.connect(self._end)
            area.setGeometry(screen.geometry())
            area.showFullScreen()
            self.areas.append(area)
        self.areas[0].activateWindow()
        self.areas[0].setFocus()

    async def _ask_the_desktop(self) -> None:
        try:
            path: Path | None = await screen_portal.take()
        except ScreenPortalError as error:
            self.failed.emit(tr_said(str(error)))
        else:
            if path:
                self.kept.emit(path)
        finally:
            self._end()

    @Slot(QPixmap)
    def _on_chosen(self, part: QPixmap) -> None:
        self._end()
        buffer = QBuffer()
        if part.isNull() or not part.save(buffer, "PNG"):
            self.failed.emit(
                tr("The screen could not be read. Take a screenshot with another program and paste it.")
            )
        else:
            self.taken.emit(buffer.data().data())

    @Slot()
    def _end(self) -> None:
        self._window.show()  # first: with its last window a program ends
        self._window.raise_()
        self._window.activateWindow()
        drop(*self.areas)
        self.areas.clear()
        self.deleteLater()


class ScreenArea(QWidget):
    """One screen as it was. A part is dragged; a click or Enter takes all of it."""

    chosen = Signal(QPixmap)
    cancelled = Signal()

    def __init__(self, screen: QPixmap) -> None:
        super().__init__(None, Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint)
        self._screen = screen
        self._part = QRect()
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName(tr("Drag over a part of the screen, or press Enter for all of it"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawPixmap(self.rect(), self._screen)
        painter.fillRect(self.rect(), SHADE)
        if self._part.isEmpty():
            self._paint_hint(painter)
        else:
            painter.drawPixmap(QRectF(self._part), self._screen, self._source())
            painter.setPen(QPen(QColor(current().accent), 2))
            painter.drawRect(self._part)

    def _paint_hint(self, painter: QPainter) -> None:
        text = tr("Drag over a part of the screen. Click or Enter: all of it. Esc: cancel.")
        box = painter.fontMetrics().boundingRect(text).adjusted(-16, -10, 16, 10)
        box.moveCenter(self.rect().center())
        painter.fillRect(box, QColor(current().surface))
        painter.setPen(QColor(current().text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _source(self) -> QRectF:
        """The part in pixels of the screen."""
        scale = self._screen.width() / max(1, self.width())
        part = self._part & self.rect()
        return QRectF(part.x() * scale, part.y() * scale, part.width() * scale, part.height() * scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._part = QRect(event.position().toPoint(), event.position().toPoint())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._part.setBottomRight(event.position().toPoint())
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._part = self._part.normalized()
        if event.button() != Qt.MouseButton.LeftButton:
            self.cancelled.emit()
        elif max(self._part.width(), self._part.height()) < MIN_SIDE:
            self.chosen.emit(self._screen)
        else:
            self.chosen.emit(self._screen.copy(self._source().toAlignedRect()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(self._screen)
        elif event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
