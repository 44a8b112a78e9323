"""Renders a formula as an image, within limits: it is untrusted, and its cost can double with each brace.

Pure function, made for a worker thread. Knows no widget.
"""

import math
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from types import FrameType
from xml.etree import ElementTree as ET

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QObject,
    QRectF,
    Qt,
    QThreadPool,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.ui.base.hidden_characters import num_hidden

MAX_CHARS = 2_000
MAX_DEPTH = 40
MAX_SECONDS = 0.8  # most take a hundredth of that
MAX_SIDE = 4_000  # device pixels
_SHAPES = {"svg", "g", "path", "rect", "line", "title"}

# The font of formulas has Latin, Greek and signs, the system's fonts have Chinese, Japanese and Korean.
# Others would be drawn as empty boxes.
_NOT_IN_FONT = re.compile(
    "[^\x00-\u058f\u1e00-\u2bff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U0001d400-\U0001d7ff]"
)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula to render: LaTeX, size (pixels of an em), colours, and the screen's resolution.

    `warning`: the colour of commands that are not known. `line_descent`: how far the text around it reaches
    below its line, in pixels. `x_height`: of its letters.
    """

    latex: str
    is_display: bool
    em: float
    colour: str
    scale: float = 1.0
    line_descent: float = 0.0
    x_height: float = 0.0
    warning: str = "#ff0000"


@dataclass(frozen=True, slots=True)
class Drawn:
    """An image, padded so that Qt can align it with the text.

    If `is_centred` its middle lies near the line, else it reaches `line_descent` below it.
    """

    image: QImage
    is_centred: bool = False

    def in_colour(self, colour: str) -> "Drawn":
        """All of it in one colour."""
        image = self.image.copy()
        painter = QPainter(image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(image.rect(), QColor(colour))
        painter.end()
        return replace(self, image=image)


class _TooSlowError(Exception):
    pass


def draw_formula(formula: Formula) -> Drawn | None:
    """None: invalid or unsupported LaTeX, or too expensive."""
    latex = formula.latex
    if len(latex) > MAX_CHARS or _depth(latex) > MAX_DEPTH:
        return None
    if _NOT_IN_FONT.search(latex) or num_hidden(latex):  # as text they are visible
        return None
    try:
        from app.ui.message.math_tree import math_tree, mend_ziamath

        mend_ziamath()
        with _time_limit(MAX_SECONDS):
            tree = math_tree(
                latex,
                is_display=formula.is_display,
                em=formula.em,
                colour=formula.colour,
                warning=formula.warning,
            )
            svg = tree.svgxml()
    except Exception:  # an untrusted formula may raise anything in the parser
        return None
    return _drawn(svg, formula)


def _drawn(svg: ET.Element, formula: Formula) -> Drawn | None:
    """Qt puts the end of an image, or its middle, at fixed places only: padding moves it where it belongs.

    The middle is a quarter of an x above the line (QTextDocumentLayout::resizeInlineObject).
    """
    for shape in svg.iter():
        if shape.get("fill") == "black":  # ziamath draws the lines of \overline and \underline so
            shape.set("fill", formula.colour)
    renderer, box = _renderer(svg, formula.em)
    if not 0 < box.width() * formula.scale <= MAX_SIDE or not 0 < box.height() * formula.scale <= MAX_SIDE:
        return None
    if formula.is_display:
        return Drawn(_image(renderer, box, formula.scale))
    is_centred = box.bottom() > formula.line_descent
    if is_centred:
        raised = formula.x_height / 4
        half = math.ceil(2 * max(-box.top() - raised, box.bottom() + raised)) / 2
        box.setTop(-half - raised)
        box.setBottom(half - raised)
    else:
        box.setBottom(formula.line_descent)
        box.setTop(formula.line_descent - math.ceil(box.height()))
    return Drawn(_image(renderer, box, formula.scale), is_centred)


def _renderer(svg: ET.Element, em: float) -> tuple[QSvgRenderer, QRectF]:
    """And the place of what is drawn. The baseline is at 0.

    It ends where the ink does, but for spaces at the sides: what ziamath says may be far from that.
    """
    ink = ET.Element("g", id="ink")
    ink.extend(list(svg))
    svg[:] = [ink]
    said = QRectF(*map(float, svg.attrib["viewBox"].split()))
    if {each.tag for each in ink.iter()} - _SHAPES:
        return QSvgRenderer(), QRectF()
    renderer = QSvgRenderer(QByteArray(ET.tostring(svg)))
    held = renderer.boundsOnElement("ink")
    if held.isEmpty():
        return renderer, QRectF()
    sides = 2 * em
    return renderer, said.united(held) & held.adjusted(-sides, 0, sides, 0)


def _image(renderer: QSvgRenderer, box: QRectF, scale: float) -> QImage:
    image = QImage(
        max(1, math.ceil(box.width() * scale)),
        max(1, math.ceil(box.height() * scale)),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    image.fill(QColor(Qt.GlobalColor.transparent))
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    renderer.setViewBox(box)
    renderer.render(painter, QRectF(0, 0, box.width(), box.height()))
    painter.end()
    return image.copy()  # without the engine that painted it, which takes 7 to 15 KB


def _depth(latex: str) -> int:
    depth = deepest = 0
    for char in latex:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return deepest


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises in this thread when its time is up: threads cannot be killed, but Python checks at each call.

    CPU time of this thread: a busy machine makes no formula invalid.
    """
    end = time.thread_time() + seconds
    before = sys.getprofile()

    def watch(_frame: FrameType, event: str, _argument: object) -> None:
        # Python would swallow it while closing a generator, and print to stderr.
        if event == "c_call" and time.thread_time() > end:
            raise _TooSlowError

    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


MAX_KEPT = 1_000
MAX_KEPT_BYTES = 16_000_000
MAX_WAITING = 200


class Formulas(QObject):
    """Renders a missing one on request, and gives it away by `drawn`: it may not be kept."""

    drawn = Signal(object, object)  # the Formula, what is Drawn of it
    _finished = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[Formula, Drawn | None] = OrderedDict()
        self._kept_bytes = 0
        self._waiting: set[Formula] = set()
        self._thread = QThreadPool(self)
        self._thread.setMaxThreadCount(1)
        self._finished.connect(self._on_finished)
        if app := QCoreApplication.instance():
            app.aboutToQuit.connect(self._thread.clear)

    def find(self, formula: Formula) -> Drawn | None:
        """None: not ready, or it cannot be rendered. Its source is shown then.

        If too many are waiting, it is rendered when it is requested again.
        """
        if formula in self._kept:
            self._kept.move_to_end(formula)
            return self._kept[formula]
        if formula not in self._waiting and len(self._waiting) < MAX_WAITING:
            self._waiting.add(formula)
            self._thread.start(lambda: self._draw(formula))
        return None

    def _draw(self, formula: Formula) -> None:
        """The drawing thread."""
        drawn = draw_formula(formula)
        with suppress(RuntimeError):  # the program has ended meanwhile, and this object with it
            self._finished.emit(formula, drawn)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @Slot(object, object)
    def _on_finished(self, formula: Formula, drawn: Drawn | None) -> None:
        self._waiting.discard(formula)
        self._kept[formula] = drawn
        self._kept_bytes += _size_bytes(drawn)
        while len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            self._kept_bytes -= _size_bytes(self._kept.popitem(last=False)[1])
        if drawn is not None:
            self.drawn.emit(formula, drawn)


def _size_bytes(drawn: Drawn | None) -> int:
    return drawn.image.sizeInBytes() if drawn else 0


@cache
def formulas() -> Formulas:
    """The shared instance for all chats."""
    return Formulas(QCoreApplication.instance())
