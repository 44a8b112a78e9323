"""Rows and columns of widgets, written in the order in which they stand, and rows that wrap. GUI thread."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QLayoutItem, QVBoxLayout, QWidget

TOP, CENTRE = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignHCenter


class Stretch(NamedTuple):
    """Takes the room that is left."""

    factor: int = 1


STRETCH = Stretch()
Item = QWidget | QLayout
# A number is so many pixels of room; with an item stand its stretch factor and its alignment.
Part = Item | int | Stretch | tuple[Item, int] | tuple[Item, int, Qt.AlignmentFlag]
Margins = int | tuple[int, int, int, int] | None  # left, top, right, bottom; None: the style's
_Box = TypeVar("_Box", bound=QBoxLayout)


def drop(*widgets: QWidget) -> None:
    """Also where it is one of these that is calling. Until they are gone, they would still be seen."""
    for widget in widgets:
        widget.hide()
        widget.deleteLater()


def hbox(
    *parts: Part, on: QWidget | None = None, margins: Margins = 0, spacing: int | None = 8
) -> QHBoxLayout:
    """A row, which fills the widget `on` if one is given. Without `spacing` the style's."""
    return _filled(QHBoxLayout(on) if on else QHBoxLayout(), parts, margins, spacing)


def vbox(
    *parts: Part, on: QWidget | None = None, margins: Margins = 0, spacing: int | None = 8
) -> QVBoxLayout:
    """The same as a column."""
    return _filled(QVBoxLayout(on) if on else QVBoxLayout(), parts, margins, spacing)


def _filled(box: _Box, parts: Iterable[Part], margins: Margins, spacing: int | None) -> _Box:
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            box.addSpacing(part)
        elif isinstance(part, Stretch):
            box.addStretch(part.factor)
        else:
            item, *how = part if isinstance(part, tuple) else (part,)
            add = box.addLayout if isinstance(item, QLayout) else box.addWidget
            add(item, *how)  # type: ignore[arg-type]
    return box


class FlowLayout(QLayout):
    def __init__(self, parent: QWidget, spacing: int, *parts: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, moves=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, rect: QRect, *, moves: bool) -> int:
        """Returns the height."""
        x, y, row_height = rect.x(), rect.y(), 0
        for item in self._items:
            size = item.sizeHint().boundedTo(QSize(rect.width(), item.sizeHint().height()))
            if x > rect.x() and x + size.width() > rect.x() + rect.width():
                x, y, row_height = rect.x(), y + row_height + self.spacing(), 0
            if moves:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self.spacing()
            row_height = max(row_height, size.height())
        return y + row_height - rect.y()
