"""What lies over the window: popups, with round corners and a soft shadow, and windows beside it. GUI thread.

The shadow is painted in the window below, beneath the popup: that looks the same with a compositor, without
one, and for popups that are no windows. Corners are cut off where nothing can be seen through.
"""

import ctypes
from functools import cache, lru_cache
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBitmap, QColor, QGuiApplication, QPainter, QPaintEvent, QPixmap, QRegion
from PySide6.QtWidgets import QComboBox, QFrame, QMenu, QStyledItemDelegate, QWidget

from app.look.icons import paint_icon
from app.look.painted import paint_rounded
from app.look.tokens import Tokens, current

RADIUS = 10  # as in the style sheet
SPREAD, DROP = 24, 6  # how far the shadow reaches, and how much lower it lies
CORNER = 36  # of the shadow: RADIUS and SPREAD, and so much more that it is whole pixels at 125 % and 150 %
POPUP_CLOSED = QEvent.Type(QEvent.registerEventType())  # sent to the window that a popup was opened from
_FOLLOWED = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.ZOrderChange)


class Menu(QMenu):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        stand_out(self)


class Popover(QFrame):
    """A window that a click elsewhere closes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("popover")
        stand_out(self)


def stand_out(popup: QWidget) -> None:
    """Before it is first shown. A child of the window, or a window of its own."""
    popup.setProperty("stands", "out")  # for the style sheet
    if popup.isWindow() and QGuiApplication.platformName() != "cocoa":  # whose shadow has the popup's shape
        popup.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
    if popup.isWindow():
        popup.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground, is_composited())
    popup.installEventFilter(_Depth(popup))


def is_composited() -> bool:
    """Whether windows can be seen through. Without a compositor, X11 shows black there."""
    if QGuiApplication.platformName() != "xcb":
        return True
    x11 = _x11()
    return x11 is not None and x11.has_compositor()


class _Depth(QObject):
    """Keeps a popup's shadow beneath it as long as it is shown."""

    def __init__(self, popup: QWidget) -> None:
        super().__init__(popup)
        self._shadow: Shadow | None = None

    def eventFilter(self, popup: QObject, event: QEvent) -> bool:
        assert isinstance(popup, QWidget)
        if event.type() == QEvent.Type.Show:
            self._cut_corners(popup)
            self._cast(popup)
        elif event.type() == QEvent.Type.Hide:
            if host := _window_below(popup):
                QCoreApplication.postEvent(host, QEvent(POPUP_CLOSED))
            if self._shadow:
                self._shadow.setParent(None)  # now, and not later: the window below may be going, too
                self._shadow = None
        elif event.type() in _FOLLOWED and popup.isVisible():
            self._cut_corners(popup)
            if self._shadow:
                self._shadow.lie_under(popup)
        return False

    def _cast(self, popup: QWidget) -> None:
        host = _window_below(popup)
        if host and not self._shadow and not (popup.isWindow() and QGuiApplication.platformName() == "cocoa"):
            self._shadow = Shadow(host)
            self._shadow.lie_under(popup)
            self._shadow.show()

    def _cut_corners(self, popup: QWidget) -> None:
        if not popup.isWindow():
            return
        # Asked each time: a compositor may be started or stopped at any time.
        if is_composited() and popup.testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground):
            popup.clearMask()
        else:
            popup.setMask(_rounded(popup.size()))


def _window_below(popup: QWidget) -> QWidget | None:
    """The window it was opened from; for a submenu that of its menu."""
    parent = popup.parentWidget()
    while parent and parent.window().windowType() == Qt.WindowType.Popup:
        parent = parent.window().parentWidget()
    return parent.window() if parent else None


def _rounded(size: QSize) -> QRegion:
    shape = QBitmap(size)
    shape.clear()
    painter = QPainter(shape)
    painter.setBrush(Qt.GlobalColor.color1)
    painter.setPen(Qt.PenStyle.NoPen)
    radius = RADIUS + 1  # what the smooth corner only touches is cut off, too
    painter.drawRoundedRect(QRectF(QPoint(), size), radius, radius)
    painter.end()
    return QRegion(shape)


class Shadow(QWidget):
    """Lies in the window below, where clicks go through it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def lie_under(self, popup: QWidget) -> None:
        if popup.isWindow():
            corner = self._window.mapFromGlobal(popup.pos())
            self.raise_()
        else:
            corner = popup.mapTo(self._window, QPoint())
            self.stackUnder(popup)
        place = QRect(corner, popup.size())
        self.setGeometry(place.adjusted(-SPREAD, DROP - SPREAD, SPREAD, DROP + SPREAD))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """What lies under the popup itself is left out."""
        scale = self.devicePixelRatioF()
        picture, painter = _shadow(scale, current()), QPainter(self)
        for x, width, from_x, from_width in _thirds(self.width()):
            for y, height, from_y, from_height in _thirds(self.height()):
                if (x, y) != (CORNER, CORNER):
                    source = QRectF(from_x * scale, from_y * scale, from_width * scale, from_height * scale)
                    painter.drawPixmap(QRectF(x, y, width, height), picture, source)


def _thirds(length: int) -> tuple[tuple[int, int, int, int], ...]:
    """Where each begins and how long it is, then the same in the smallest shadow: the middle is stretched."""
    middle = length - 2 * CORNER
    return (0, CORNER, 0, CORNER), (CORNER, middle, CORNER, 1), (CORNER + middle, CORNER, CORNER + 1, CORNER)


@lru_cache(4)
def _shadow(scale: float, tokens: Tokens) -> QPixmap:
    """The smallest popup's: boxes one within the other, each a little darker, as a blur would be."""
    size = QSize(2 * CORNER + 1, 2 * CORNER + 1)
    picture = QPixmap(size * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    for inset in range(0, SPREAD, 2):
        share = (inset + 2) / SPREAD
        shade = QColor(0, 0, 0, round((14 if tokens.is_dark else 5) * share))
        box = QRectF(QPoint(), size).adjusted(inset, inset, -inset, -inset)
        paint_rounded(painter, box, RADIUS + SPREAD - inset, fill=shade.name(QColor.NameFormat.HexArgb))
    painter.end()
    return picture


class _X11:
    """A connection of our own: Qt does not tell about compositors."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.XOpenDisplay.restype = ctypes.c_void_p
        library.XInternAtom.restype = library.XGetSelectionOwner.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(library.XOpenDisplay(None))
        self._owner = ctypes.c_ulong(0)
        if self._display.value:
            name = b"_NET_WM_CM_S%d" % library.XDefaultScreen(self._display)
            self._owner = ctypes.c_ulong(library.XInternAtom(self._display, name, 0))

    def has_compositor(self) -> bool:
        return bool(self._owner.value and self._library.XGetSelectionOwner(self._display, self._owner))


@cache
def _x11() -> _X11 | None:
    try:
        return _X11(ctypes.CDLL("libX11.so.6"))
    except OSError:
        return None


class FlatCombo(QComboBox):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "flat")
        stand_out(self.view().window())
        self.setItemDelegate(QStyledItemDelegate(self))  # the usual one hears nothing of the theme

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        box = QRectF(self.width() - 20, (self.height() - 12) / 2, 12, 12)
        paint_icon(QPainter(self), "chevron-down", box, current().muted)


def come_up(window: QWidget) -> None:
    """In front, whether it was hidden, covered or never shown."""
    window.show()
    window.raise_()
    window.activateWindow()


FRAME = QSize(40, 80)  # what window managers and panels may need around one


def resize_to_fit(window: QWidget, wanted: QSize) -> None:
    window.resize(wanted.boundedTo(window.screen().availableSize() - FRAME))
