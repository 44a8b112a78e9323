"""Rows and columns of widgets, written in the order in which they stand. GUI thread."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

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
